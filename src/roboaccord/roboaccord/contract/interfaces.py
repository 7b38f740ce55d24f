"""Interfaces of the workspace: controllers, inputs, force laws and observers.

Every robot's controllers, every engine and every user's own controller implement these methods:
names, arguments and meanings must stay, or code outside of the repository breaks. A method may be
added where it has a default, as `faults` of Inputs and `on_event` of Observer do. AnySimulator and
AnyEngine list only what robots call; all of it is in simulators/base.py and engines/spec.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.fault import Fault
from roboaccord.contract.state import NO_SWITCHES, Array, Command, RobotState, Target
from roboaccord.contract.trajectory import Event, Trajectory


@runtime_checkable
class Controller(Protocol):
    """Turn states into commands, deterministically, in the loop, in a node and in a sweep."""

    def reset(self, seed: int) -> None:
        """Forget everything; take `seed` for whatever is random."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the command to hold over the next control period."""


@runtime_checkable
class Inputs(Protocol):
    """What comes into a run from outside, tick by tick: from a person, or from a bag.

    `over` is True once a person has ended the run.
    """

    over: bool

    def target(self, state: RobotState) -> Target | None:
        """Return the target in force at the tick of a state, the same object until it changes."""

    def switches(self, state: RobotState) -> Mapping[str, bool]:
        """Return switches to set at the tick of a state, whatever the controller commands."""
        return NO_SWITCHES

    def faults(self, state: RobotState) -> Sequence[Fault]:
        """Return what fails from the tick of a state on; by default nothing."""
        return ()


@dataclass(frozen=True, slots=True)
class Acceleration:
    """Accelerations of a robot in one state.

    Args:
        base: linear then angular acceleration of `base_link` in the world (6,)
            [m/s^2, rad/s^2]; zero for a fixed base.
        joints: joint accelerations (n,) [rad/s^2].
    """

    base: Array
    joints: Array


class AnySimulator(Protocol):
    """What `Robot.reference` and `Robot.engine` make: a `simulators.base.Simulator`."""

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`, and return the state as the simulator has it."""

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance by `duration` [s] under a held command."""


class AnyEngine(Protocol):
    """What `Robot.engine` is given: an `engines.spec.EngineSpec`."""

    @property
    def name(self) -> str:
        """Its name in commands, scenarios and results."""


Engine = str | AnyEngine
"""An engine by its name, or by a specification, which may be wrapped."""


@dataclass(frozen=True, slots=True)
class LinkMotion:
    """Motion of k links in the world.

    Args:
        rotation: link to world (k, 3, 3).
        position: centres of mass (k, 3) [m].
        linear: velocities of the centres of mass (k, 3) [m/s].
        angular: angular velocities (k, 3) [rad/s].
    """

    rotation: Array
    position: Array
    linear: Array
    angular: Array

    def at(self, links: NDArray[np.int64] | slice) -> LinkMotion:
        """Return the motion of some of the links."""
        return LinkMotion(
            self.rotation[links], self.position[links], self.linear[links], self.angular[links]
        )


class ForceLaw(Protocol):
    """External forces on links as a function of their motion, alike in every engine.

    `links` names the links in the order of the arrays of `LinkMotion`.
    """

    links: tuple[str, ...]

    def wrenches(self, motion: LinkMotion) -> tuple[Array, Array]:
        """Return forces (k, 3) [N] and torques about the centres of mass (k, 3) [N m]."""


class Odometry(Protocol):
    """The path of a `base_link` that turns in place in the simulation."""

    def reset(self, state: RobotState) -> RobotState:
        """Start at the place of a state; return it completed."""

    def follow(self, state: RobotState) -> RobotState:
        """Return the next state with the position that the base has reached."""


class Observer(Protocol):
    """Follow a run: a recorder, a viewer, a progress bar.

    One that derives from it need not take commands and events.
    """

    def on_state(self, state: RobotState) -> None:
        """Take the state of one control tick."""

    def on_command(self, state: RobotState, command: Command) -> None:
        """Take the command that answers `state`; by default, do nothing."""
        return

    def on_event(self, event: Event) -> None:
        """Take one event; by default, do nothing."""
        return


class Tally(Protocol):
    """Measure figures of a motion that comes in parts, without keeping it."""

    def add(self, part: Trajectory) -> None:
        """Take a part, without events; its first sample is the last one of the part before."""

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return the figures of all parts, given the events of the whole motion."""
