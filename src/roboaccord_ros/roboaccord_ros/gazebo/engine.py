"""Gazebo as an engine of the workspace: chosen by `--engine gz`, never by default.

SPEC is the specification by which the core finds the engine (entry point in setup.cfg). The engine
simulates a whole setup (simulator.py): robot, ground and faults together. For the cross-check,
which compares it with the reference simulation, it also states what the reference must have: the
same ground, and the twin of its integration scheme (the reference's equations, integrated as Gazebo
does). This module is read to list engines, so it imports Gazebo's bindings inside functions only.

A setting is a field of GazeboSettings, which is a key of `engine_options.gz` and documented in
docs/gazebo.md. SPEC and its names stay, for setup.cfg and users have them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from roboaccord.contract import AccordError
from roboaccord.engines import Case, EngineSpec, read_settings

if TYPE_CHECKING:
    from roboaccord.scenario import Setup

    from roboaccord_ros.gazebo.simulator import GazeboSimulator


@dataclass(frozen=True)
class GazeboSettings:
    """Keys below `engine_options.gz`.

    Args:
        contacts: name of the shapes that touch the ground, one of the robot's `contact_shapes`.
        world: name or file of the world; empty for that of the scenario or its terrain.
        physics: physics engine of Gazebo, such as dartsim or bullet-featherstone, or a library.
    """

    contacts: str = ""
    world: str = ""
    physics: str = ""


def check_bindings() -> None:
    """Import Gazebo's bindings.

    Raises:
        AccordError: that names the missing package.
    """
    from roboaccord_ros.gazebo.transport import gazebo_module, message_class

    for role in ("sim", "math", "transport"):
        gazebo_module(role)
    message_class("WorldControlState")


def _version() -> str:
    """Return the version of Gazebo; raise AccordError if its bindings are missing."""
    from roboaccord_ros.gazebo.world import gazebo_version

    check_bindings()
    return gazebo_version()


def _simulator_maker() -> Callable[[Setup], GazeboSimulator]:
    """Return the function that makes the simulator of a setup."""
    from roboaccord_ros.gazebo.simulator import GazeboSimulator

    def make(setup: Setup) -> GazeboSimulator:
        options = gazebo_settings(setup)
        contacts = contacts_name(setup)
        return GazeboSimulator(setup, _version(), contacts, options.world, options.physics)

    return make


def gazebo_settings(setup: Setup) -> GazeboSettings:
    """Return the settings that a scenario has for Gazebo."""
    return read_settings(setup.scenario.engine_options, "gz", GazeboSettings)


def contacts_name(setup: Setup) -> str:
    """Return the name of the shapes with which a robot touches the ground in Gazebo."""
    from roboaccord.crosscheck import contacts_of

    gazebo_settings(setup)  # refuses unknown keys
    return contacts_of(setup, "direct")


@dataclass(frozen=True, kw_only=True)
class GazeboSpec(EngineSpec):
    """Specification of Gazebo, which has its own ground, and a twin for some robots.

    Both methods override those of `EngineSpec`.
    """

    def grounded(self, setup: Setup) -> Setup:
        """Return a setup whose reference has the ground that the robot has in Gazebo."""
        from roboaccord.gazebo import on_ground

        return on_ground(setup, contacts_name(setup))

    def case(self, setup: Setup) -> Case:
        """Return the twin of a setup; AccordError if Gazebo has none for it."""
        from roboaccord.contract import HOLDING
        from roboaccord.crosscheck import HELD
        from roboaccord.gazebo import gazebo_case

        if any(fault.kind in HOLDING for fault in setup.faults):
            raise AccordError(HELD)
        physics = gazebo_settings(setup).physics
        if physics not in ("", "dartsim"):
            raise AccordError(f"there is no twin of Gazebo's physics {physics}")
        return gazebo_case(setup, contacts_name(setup))


SPEC = GazeboSpec(
    name="gz",
    package="ros_gz",
    version=_version,
    whole=_simulator_maker,
    settings=GazeboSettings,
    bodies=True,
    also=("gazebo", "ignition"),
)
