"""Find the files of a package, whether pip, colcon or a development install put them there."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from pathlib import Path

from roboaccord.contract.errors import AccordError


def share(package: str) -> Path:
    """Return the share folder of a ROS package.

    A source tree is laid out like a share folder, so where the package is imported from its
    source (pip -e, colcon --symlink-install) that is the answer. Otherwise looks in every prefix
    of AMENT_PREFIX_PATH, then in the prefix of this Python.

    Raises:
        AccordError: if the package is installed in none of them.
    """
    spec = importlib.util.find_spec(package)
    if spec and spec.origin:
        source = Path(spec.origin).resolve().parents[1]
        if (source / "package.xml").is_file():
            return source
    prefixes = [p for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    prefixes += [sys.prefix, sysconfig.get_path("data")]
    for prefix in prefixes:
        folder = Path(prefix) / "share" / package
        if (folder / "package.xml").is_file():
            return folder
    raise AccordError(f"package {package} is not installed: no share/{package} in any prefix")
