"""Software that results depend on: versions of libraries, and a digest of the own code."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from pathlib import Path

LIBRARIES = ("numpy", "scipy", "numba", "dartpy", "mujoco", "drake", "coal", "pin")


@cache
def packages() -> frozenset[str]:
    """Return the core and the packages of the robots that are installed."""
    robots = entry_points(group="roboaccord.robots")
    return frozenset({__name__.partition(".")[0], *(e.module.partition(".")[0] for e in robots)})


@cache
def software() -> dict[str, str]:
    """Return the versions of Python and the libraries that are installed, and the code's digest."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found | {"code": _digest()}


def _digest() -> str:
    """Return a digest of the modules and the scenarios of all packages, wherever they lie."""
    digest = hashlib.sha256()
    for package in sorted(packages()):
        spec = find_spec(package)
        for top in map(Path, (spec.submodule_search_locations if spec else None) or ()):
            for path in sorted(top.rglob("*.py")):
                digest.update(f"{package}/{path.relative_to(top)}\n".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
