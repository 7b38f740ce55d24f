"""Gazebo as an engine of the workspace: `--engine gz`, never a default.

To add a setting, add a field to `GazeboSettings`, and document it in docs/gazebo.md: it is a key of
`engine_options.gz`. `SPEC` and its names stay, for setup.cfg and users have them. Import Gazebo's
bindings inside functions only, for this is read to list engines. What is simulated is in
simulator.py.
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
    """The keys below `engine_options.gz`.

    Args:
        contacts: with what the robot touches the ground: one of its `contact_shapes`.
        world: that the robot is put into, by name or file; empty: the scenario's or terrain's.
        physics: dartsim, bullet-featherstone, or another engine or library that Gazebo has.
    """

    contacts: str = ""
    world: str = ""
    physics: str = ""


def check_bindings() -> None:
    """Import Gazebo's bindings.

    Raises:
        AccordError: naming the package that is missing.
    """
    from roboaccord_ros.gazebo.transport import load, message

    for module in ("gz.sim8", "gz.math7", "gz.transport13"):
        load(module)
    message("WorldControlState")


def _version() -> str:
    from roboaccord_ros.gazebo.world import gazebo_version

    check_bindings()
    return gazebo_version()


def _whole() -> Callable[[Setup], GazeboSimulator]:
    from roboaccord_ros.gazebo.simulator import GazeboSimulator

    def make(setup: Setup) -> GazeboSimulator:
        asked = settings(setup)
        return GazeboSimulator(setup, _version(), contacts(setup), asked.world, asked.physics)

    return make


def settings(setup: Setup) -> GazeboSettings:
    """Return what a scenario asks of Gazebo."""
    return read_settings(setup.scenario.engine_options, "gz", GazeboSettings)


def contacts(setup: Setup) -> str:
    """Return with what the robot of a setup touches the ground in Gazebo."""
    from roboaccord.crosscheck import contacts_of

    settings(setup)
    return contacts_of(setup, "direct")


@dataclass(frozen=True, kw_only=True)
class GazeboSpec(EngineSpec):
    """Specify Gazebo: it has a ground of its own, and a twin for some robots."""

    def grounded(self, setup: Setup) -> Setup:
        from roboaccord.gazebo import on_ground

        return on_ground(setup, contacts(setup))

    def case(self, setup: Setup) -> Case:
        from roboaccord.contract import HOLDING
        from roboaccord.crosscheck import HELD
        from roboaccord.gazebo import gazebo_case

        if any(fault.kind in HOLDING for fault in setup.faults):
            raise AccordError(HELD)
        if (physics := settings(setup).physics) not in ("", "dartsim"):
            raise AccordError(f"there is no twin of Gazebo's physics {physics}")
        return gazebo_case(setup, contacts(setup))


SPEC = GazeboSpec(
    name="gz", package="ros_gz", version=_version, whole=_whole, settings=GazeboSettings,
    also=("gazebo", "ignition"),
)  # fmt: skip
