"""Versions of the software that results depend on, and a digest of the code of all packages.

Two lists of versions are printed: `versions_of` in reports of cross-checks and of studies, and
`made_with` on the page of a figure. A third, `software`, is compared by files of results and by
workers of a cluster, so that results of other code are not reused: it has the `libraries` whose
versions can change figures, and the digest of the code. The digest covers modules, docstrings
included, and the data in the folders DATA_FOLDERS of each package; what it covers must stay, or old
results would be taken for new ones (test_pieces).
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from roboaccord.bag.run_facts import distribution_version
from roboaccord.contract.plugins import entries
from roboaccord.description.resources import modules_of, share
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

# Folders of data that motions depend on, in a package's share.
DATA_FOLDERS = ("config", "meshes", "scenarios", "urdf")
CORE_LIBRARIES = ("numpy", "scipy", "numba")  # distributions that every motion is computed with
ROBOT_LIBRARIES = ("coal", "pin")  # distributions that the reference models of some robots use
CORE = __name__.partition(".")[0]  # "roboaccord"


def versions_of(setup: Setup, simulators: Iterable[Simulator] = ()) -> dict[str, str]:
    """Return the versions of Python, the core, the robot's package and the simulators, by name."""
    versions = {"python": platform.python_version(), "platform": platform.platform()}
    for name in ("roboaccord", setup.robot.package, "numpy", "numba", "rclpy"):
        versions[name] = distribution_version(name)
    for simulator in simulators:
        versions[simulator.name] = simulator.version
    return versions


def made_with(*names: str) -> dict[str, str]:
    """Return the versions of Python, the core, NumPy and the named distributions, for a page."""
    versions = {name: distribution_version(name) for name in ("roboaccord", *names, "numpy")}
    return {"python": platform.python_version(), **versions}


@cache
def packages() -> frozenset[str]:
    """Return the import names of the core and of all packages that extend it by entry points."""
    groups = ("robots", "engines", "commands", "controllers")
    modules = (entry.module for group in groups for entry in entries(group).values())
    return frozenset({CORE, *(module.partition(".")[0] for module in modules)})


@cache
def libraries() -> tuple[str, ...]:
    """Return the distributions whose versions can change results, installed or not."""
    from roboaccord.engines import engine_names, spec

    engines = (spec(name).package for name in engine_names())
    return (*CORE_LIBRARIES, *engines, *ROBOT_LIBRARIES)


@cache
def software() -> dict[str, str]:
    """Return the versions of Python and of `libraries`, and the digest of the code, by name."""
    # Results do not depend on the patch level of Python.
    versions = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in libraries():
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions | {"code": code_digest()}


def code_digest() -> str:
    """Return the digest of all `packages`, 16 hexadecimal digits of SHA-256."""
    digests = [f"{package} {_digest(package)}" for package in sorted(packages())]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()[:16]


def _digest(package: str) -> str:
    """Return the digest of one package: the names and bytes of its modules and its data."""
    digest = hashlib.sha256()
    folders = [(share(package) / name, "*") for name in DATA_FOLDERS]
    if modules := modules_of(package):
        folders.append((modules, "*.py"))
    for top, pattern in folders:
        for path in sorted(p for p in top.rglob(pattern) if p.is_file()):
            digest.update(f"{path.relative_to(top.parent)}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
