"""Facts of a run that its bag states before the first state: scenario, engine, seed, versions.

A bag is the recording of a run in the format of ROS 2. The facts are what is needed to repeat the
run: the recorder (writer.py) writes them as JSON on the topic `scenario`, together with the robot's
description and its surroundings (`first_messages`). Keys of `facts` are in users' bags and stay;
readers must accept older bags without a new key.
"""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from roboaccord.bag.topics import DESCRIPTION, SCENARIO, SURROUNDINGS
from roboaccord.cdr import encode_string, encode_surfaces
from roboaccord.contract.results import Json
from roboaccord.scenario import Setup, surfaces_around


def facts(
    setup: Setup, engine: str, engine_version: str, transport: str, controller: str = ""
) -> str:
    """Return what is needed to repeat a run, as JSON: scenario, engine, seed and versions.

    The initial states of all switches are included, so that a reader of the bag can follow them
    without knowing the robot.

    Args:
        setup: robot and scenario.
        engine, engine_version: what simulates the robot.
        transport: how controller and simulator exchange messages, `direct` within one process.
        controller: name and hash of a user's own (`scenario.origin_of`), which nobody imports.
    """
    package = setup.robot.package
    versions = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "numpy": np.__version__,
        "roboaccord": distribution_version("roboaccord"),
        package: distribution_version(package),
    }
    data: dict[str, Json] = {
        "scenario": setup.scenario.data(),
        "engine": engine,
        "engine_version": engine_version,
        "transport": transport,
        "seed": setup.scenario.seed,
        "switches": dict(setup.initial.switches),
        "versions": versions,
        **({"controller": controller} if controller else {}),
    }
    return json.dumps(data, sort_keys=True)


def first_messages(setup: Setup, facts_json: str) -> dict[str, bytes]:
    """Return the messages that come before the first state, by name of the topic.

    Args:
        setup: robot and scenario.
        facts_json: what `facts` returns.
    """
    return {
        DESCRIPTION: encode_string(setup.urdf()),
        SCENARIO: encode_string(facts_json),
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
