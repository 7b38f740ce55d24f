"""What a bag states about its run before the first state: scenario, engine, seed and versions.

These facts are what is needed to repeat a run; they are recorded as JSON on the topic `scenario`.
Keys of `facts` are in users' bags and stay; readers must accept older bags without a new key.
"""

from __future__ import annotations

import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from roboaccord.bag.topics import DESCRIPTION, SCENARIO, SURROUNDINGS
from roboaccord.cdr import encode_string, encode_surfaces
from roboaccord.contract.results import Json
from roboaccord.scenario import Setup, surfaces_around


def facts(setup: Setup, engine: str, engine_version: str, transport: str) -> str:
    """Return what is needed to repeat a run, as JSON: scenario, engine, seed and versions.

    The initial states of all switches are included, so that a reader of the bag can follow them
    without knowing the robot.
    """
    data: dict[str, Json] = {
        "scenario": setup.scenario.data(),
        "engine": engine,
        "engine_version": engine_version,
        "transport": transport,
        "seed": setup.scenario.seed,
        "switches": dict(setup.initial.switches),
        "versions": {
            "python": platform.python_version(),
            "platform": platform.platform(),
            "numpy": sys.modules["numpy"].__version__,
            "roboaccord": distribution_version("roboaccord"),
            setup.robot.package: distribution_version(setup.robot.package),
        },
    }
    return json.dumps(data, sort_keys=True)


def first_messages(setup: Setup, facts: str) -> dict[str, bytes]:
    """Return the messages on the topics FIRST, by name of the topic."""
    return {
        DESCRIPTION: encode_string(setup.urdf()),
        SCENARIO: encode_string(facts),
        SURROUNDINGS: encode_surfaces(surfaces_around(setup)),
    }


def distribution_version(package: str) -> str:
    """Return the version of a package; its distribution may have the prefix `roboaccord-`."""
    for name in (package, f"roboaccord-{package.replace('_', '-')}"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "unknown"
