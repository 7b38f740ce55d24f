"""Software that results depend on: versions of libraries, and a digest of the own code.

Libraries that change figures may be added to ALWAYS, those of a robot's reference to ROBOTS;
those of engines are in their specifications. Data that motions depend on must be in a folder of
SHARED. Files of results and workers of a cluster compare the digest, which covers docstrings, too:
what it covers must stay, or old results pass for new ones (test_pieces).
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from roboaccord.bag.topics import distribution_version
from roboaccord.contract.plugins import entries
from roboaccord.description.resources import modules_of, share
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

SHARED = ("config", "meshes", "scenarios", "urdf")  # what motions depend on beside the code
ALWAYS = ("numpy", "scipy", "numba")  # libraries of every motion
ROBOTS = ("coal", "pin")  # libraries of robots' references
CORE = __name__.partition(".")[0]


def versions_of(setup: Setup, simulators: Iterable[Simulator] = ()) -> dict[str, str]:
    """Return the versions of Python, the workspace and its libraries, and the simulators."""
    versions = {"python": platform.python_version(), "platform": platform.platform()}
    for name in ("roboaccord", setup.robot.package, "numpy", "numba", "rclpy"):
        versions[name] = distribution_version(name)
    for simulator in simulators:
        versions[simulator.name] = simulator.version
    return versions


def made_with(*names: str) -> dict[str, str]:
    """Return the versions of Python, the core and distributions by name, for a result's page."""
    every = ("roboaccord", *names, "numpy")
    return {"python": platform.python_version(), **{n: distribution_version(n) for n in every}}


@cache
def packages() -> frozenset[str]:
    """Return the core, and the packages that add robots, engines, commands or controllers."""
    groups = ("robots", "engines", "commands", "controllers")
    modules = (entry.module for group in groups for entry in entries(group).values())
    return frozenset({CORE, *(module.partition(".")[0] for module in modules)})


@cache
def libraries() -> tuple[str, ...]:
    """Return the libraries that results depend on, installed or not."""
    from roboaccord.engines import engine_names, spec

    return (*ALWAYS, *(spec(name).package for name in engine_names()), *ROBOTS)


@cache
def software() -> dict[str, str]:
    """Return the versions of Python and the libraries that are installed, and the code's digest."""
    versions = {"python": ".".join(platform.python_version_tuple()[:2])}  # patches change nothing
    for name in libraries():
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions | {"code": code_digest()}


def code_digest() -> str:
    """Return a digest of all packages."""
    digests = [f"{package} {_digest(package)}" for package in sorted(packages())]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()[:16]


def _digest(package: str) -> str:
    """Return a digest of modules, and of descriptions, parameters and scenarios."""
    digest = hashlib.sha256()
    folders = [(share(package) / name, "*") for name in SHARED]
    if modules := modules_of(package):
        folders.append((modules, "*.py"))
    for top, pattern in folders:
        for path in sorted(p for p in top.rglob(pattern) if p.is_file()):
            digest.update(f"{path.relative_to(top.parent)}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
