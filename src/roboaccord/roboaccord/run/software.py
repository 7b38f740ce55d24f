"""Software that results depend on: versions of libraries, and a digest of the own code."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, entry_points, version

from roboaccord.description.resources import modules_of, share

SHARED = ("config", "meshes", "scenarios", "urdf")  # what motions depend on beside the code
LIBRARIES = ("numpy", "scipy", "numba", "dartpy", "mujoco", "drake", "coal", "pin")


@cache
def packages() -> frozenset[str]:
    """Return the core and the packages of the robots that are installed."""
    robots = entry_points(group="roboaccord.robots")
    return frozenset({__name__.partition(".")[0], *(e.module.partition(".")[0] for e in robots)})


@cache
def software() -> dict[str, str]:
    """Return the versions of Python and the libraries that are installed, and the code's digest."""
    return {**library_versions(LIBRARIES), "code": code_digest()}


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python and of those libraries that are installed."""
    found = {"python": platform.python_version()}
    for name in names:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def code_digest() -> str:
    """Return a digest of all packages: modules, and descriptions, parameters and scenarios."""
    digest = hashlib.sha256()
    for package in sorted(packages()):
        places = [(share(package) / name, "*") for name in SHARED]
        if modules := modules_of(package):
            places.insert(0, (modules, "*.py"))
        for top, pattern in places:
            for path in sorted(p for p in top.rglob(pattern) if p.is_file()):
                digest.update(f"{package}/{path.relative_to(top.parent)}\n".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
