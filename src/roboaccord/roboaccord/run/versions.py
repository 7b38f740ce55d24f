"""Versions of the software behind a result."""

from __future__ import annotations

import platform
from collections.abc import Iterable

from roboaccord.bag.topics import distribution_version
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator


def versions(setup: Setup, simulators: Iterable[Simulator] = ()) -> dict[str, str]:
    """Return the versions of Python, the workspace and its libraries, and the simulators."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for name in ("roboaccord", setup.robot.package, "numpy", "numba", "rclpy"):
        found[name] = distribution_version(name)
    for simulator in simulators:
        found[simulator.name] = simulator.version
    return found


def made_with(*names: str) -> dict[str, str]:
    """Return the versions of Python, the core and distributions by name, for a result's page."""
    every = ("roboaccord", *names, "numpy")
    return {"python": platform.python_version(), **{n: distribution_version(n) for n in every}}
