"""Interfaces of the project: controllers, inputs, simulators, force laws and observers.

They are protocols (classes whose methods others implement without inheritance): the controllers of
robots and users, all engines, and whatever follows a run. Names, arguments and meanings must stay,
because code outside of the repository depends on them; a method may be added with a default, like
`faults` of Inputs. AnySimulator and AnyEngine have only the methods that robots call; the complete
classes are in simulators/base.py and engines/spec.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.fault import Fault
from roboaccord.contract.state import NO_SWITCHES, Array, Command, RobotState, Target
from roboaccord.contract.trajectory import Event, Trajectory


@runtime_checkable
class Controller(Protocol):
    """Turns states into commands; the same states and seed must give the same commands."""

    def reset(self, seed: int) -> None:
        """Return to the initial condition; `seed` is that of all that is random."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the command for the next control period, over which it is constant."""


AnyController = str | Callable[..., Controller] | Controller
"""A user's controller: `package.module:Class`, a class that is called with the setup, or an object
of such a class. "" is the controller of the scenario."""


@runtime_checkable
class Inputs(Protocol):
    """What comes into a run from outside, tick by tick: from a person, or from a bag.

    `over` becomes True when the inputs end the run.
    """

    over: bool

    def target(self, state: RobotState) -> Target | None:
        """Return the target at the tick of a state; the same object until the target changes."""

    def switches(self, state: RobotState) -> Mapping[str, bool]:
        """Return the switches to set at the tick of a state; they prevail over the controller's."""
        return NO_SWITCHES

    def faults(self, state: RobotState) -> Sequence[Fault]:
        """Return the faults that begin at the tick of a state; by default none."""
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
    """A `simulators.base.Simulator`, as `Robot.reference` and `Robot.engine` return it."""

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot into `state`, and return the state that the simulator has then."""

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance by `duration` [s] under a constant command, and return the new state."""


class AnyEngine(Protocol):
    """An `engines.spec.EngineSpec`, as `Robot.engine` is given it."""

    @property
    def name(self) -> str:
        """Name of the engine in commands, scenarios and results."""


Engine = str | AnyEngine
"""An engine: its name, or its specification, which may be wrapped, such as by errors."""


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

    def velocity_at(self, link: int, x: Array) -> Array:
        """Return the velocity of a point that is fixed to a link (3,) [m/s].

        Args:
            link: index of the link.
            x: the point, in the world (3,) [m].
        """
        return np.asarray(self.linear[link] + np.cross(self.angular[link], x - self.position[link]))

    def at(self, links: NDArray[np.int64] | slice) -> LinkMotion:
        """Return the motion of the links at the given indices."""
        return LinkMotion(
            self.rotation[links], self.position[links], self.linear[links], self.angular[links]
        )


class ForceLaw(Protocol):
    """External forces on links as a function of their motion, the same in every engine.

    `links` names the links, in the order of the rows of `LinkMotion`.
    """

    links: tuple[str, ...]

    def wrenches(self, motion: LinkMotion) -> tuple[Array, Array]:
        """Return forces (k, 3) [N] and torques about the centres of mass (k, 3) [N m]."""


class Odometry(Protocol):
    """Computes the path of a base that, in the simulation, turns without moving on."""

    def reset(self, state: RobotState) -> RobotState:
        """Start at the position of a state; return the state with what odometry adds."""

    def follow(self, state: RobotState) -> RobotState:
        """Return the next state with the position that the base has reached by rolling."""


class Observer(Protocol):
    """Follows a run, such as a recorder, a viewer or a progress bar.

    A class that derives from it need not have `on_command` and `on_event`.
    """

    def on_state(self, state: RobotState) -> None:
        """Receive the state of one control tick."""

    def on_command(self, state: RobotState, command: Command) -> None:
        """Receive the command that answers `state`; by default, do nothing."""
        return

    def on_event(self, event: Event) -> None:
        """Receive one event; by default, do nothing."""
        return


class Tally(Protocol):
    """Computes figures of a motion that comes in parts, without keeping the motion."""

    def add(self, part: Trajectory) -> None:
        """Add a part, without events; its first sample is the last one of the previous part."""

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return the figures of all parts by name, given the events of the whole motion."""
