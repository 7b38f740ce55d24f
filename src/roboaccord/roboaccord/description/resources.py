"""Find the files of a package, whether pip, colcon or a development install put them there."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import suppress
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
    if not package.isidentifier():
        raise AccordError(f"{package[:80]!r} is no name of a package")
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


def package_folders(package: str, path: Path, packages: Mapping[str, Path]) -> Iterator[Path]:
    """Yield where a package that a file names may be: as said, above the file, or as installed."""
    if package in packages:
        yield packages[package]
    for start in dict.fromkeys((path, path.resolve())):
        yield from (above / package for above in start.parents)
    with suppress(AccordError):
        yield share(package)
