"""The motion of a run: kept in memory, or hashed and measured block by block in constant memory.

A motion is the sequence of states at the control ticks; a figure is a number that sums it up, such
as the work of the joints. Both classes are observers, which a run calls with each state.
`KeptMotion` keeps all states. `Motion` keeps BLOCK of them at a time, hashes them and passes them
to a tally, an object that computes figures of a motion which comes in parts. `GeneralFigures` is
the tally of the figures that every robot has; each robot has one of its own, and `Figures` is both.
Hash and figures do not depend on BLOCK (test_motion).

A figure of one robot is computed in its tally, one of all robots in `GeneralFigures`; its unit is
added to `_NAMES_BY_UNIT`. Names of figures are keys of the JSON, of `--figure` and of scenarios,
and stay.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from roboaccord.contract import Event, Observer, Tally, Trajectory, count_steps
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.scenario.setup import Setup

BLOCK = 1000  # states of a block: 1 s of motion at 1 ms, 1.4 MB of the snake's 21 joints
_NAMES_BY_UNIT = {
    "J": "work net_work",
    "N m": "peak_effort",
    "N s": "largest_impulse",
    "m/s": "speed largest_slip",
    "rad": "tilt heading heading_overshoot heading_error_max",
    "s": "held settling_time waypoints_time",
    "m": "displacement_x displacement_y path_length closure largest_offset travel_per_cycle "
    "travel_per_cycle_spread travel rise least_distance tip_error",
    "1": "grips",
}
# Units of the figures, by name.
UNITS = {name: unit for unit, names in _NAMES_BY_UNIT.items() for name in names.split()}


def work_of(trajectory: Trajectory) -> float:
    """Return the integral of sum |effort qd| dt [J]; efforts are constant between samples."""
    return float(np.abs(joint_work(trajectory)).sum())


def joint_work(trajectory: Trajectory) -> Array:
    """Return the work of each joint between samples (k - 1, n) [J]: effort times change of q.

    It is the exact integral of effort qd dt, for efforts are constant between samples.
    """
    return np.asarray(trajectory.effort[1:] * np.diff(trajectory.q, axis=0))


class GeneralFigures(Tally):
    """Figures that every robot's motion has: work, net work and the largest effort."""

    def __init__(self) -> None:
        self._work = 0.0  # integral of sum |effort qd| dt [J]
        self._net_work = 0.0  # integral of sum effort qd dt [J]
        self._peak_effort = 0.0  # [N m]

    def add(self, part: Trajectory) -> None:
        """Add the next part of the motion."""
        self._work += work_of(part)
        self._net_work += float(joint_work(part).sum())
        self._peak_effort = max(self._peak_effort, float(np.abs(part.effort).max(initial=0.0)))

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return work, net work [J] and the largest effort [N m]."""
        return {"work": self._work, "net_work": self._net_work, "peak_effort": self._peak_effort}


class Figures(Tally):
    """The general figures of a run and those of its robot, from parts of the motion.

    Args:
        setup: robot and scenario.
        ticks: number of control periods of the run; by default those of the scenario's duration.
    """

    def __init__(self, setup: Setup, ticks: int | None = None) -> None:
        if ticks is None:
            ticks = count_steps(setup.scenario.duration, setup.scenario.control_period, "duration")
        of_robot = setup.robot.tally(setup, ticks)  # None for a robot without figures of its own
        self._tallies = [GeneralFigures(), of_robot] if of_robot else [GeneralFigures()]

    def add(self, part: Trajectory) -> None:
        """Add the next part of the motion."""
        for tally in self._tallies:
            tally.add(part)

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return all figures by name."""
        figures: dict[str, float] = {}
        for tally in self._tallies:
            figures |= tally.figures(events)
        return figures


def metrics_of(setup: Setup, trajectory: Trajectory) -> dict[str, float]:
    """Return the general figures of a whole motion and those of its robot, by name."""
    tally = Figures(setup, len(trajectory) - 1)
    tally.add(trajectory)
    return dict(tally.figures(trajectory.events))


class KeptMotion(Observer):
    """The states, events and commands of a run, kept in memory.

    Args:
        joints: joint names.
    """

    def __init__(self, joints: Sequence[str]) -> None:
        self._joints = joints
        self._states: list[RobotState] = []
        self._events: list[Event] = []
        self._commands: list[Command] = []

    def on_state(self, state: RobotState) -> None:
        """Add a state; one that is earlier than the last begins a new motion."""
        if self._states and state.time < self._states[-1].time:
            self._states, self._events, self._commands = [], [], []
        self._states.append(state)

    def on_command(self, state: RobotState, command: Command) -> None:
        """Add a command."""
        self._commands.append(command)

    def on_event(self, event: Event) -> None:
        """Add an event."""
        self._events.append(event)

    @property
    def trajectory(self) -> Trajectory:
        """The motion so far."""
        return Trajectory.from_states(self._joints, self._states, self._events, self._commands)


class Motion(Observer):
    """Hashes a motion and computes its figures, block by block, without keeping the states.

    Args:
        joints: joint names.
        make_tally: makes the tally that computes the figures; None for the hash alone.

    Attributes:
        states: number of states so far.
        events: in order of time; empty without a tally.
        divergence: a sentence that states from when on the motion diverges; "" where it does not.
    """

    def __init__(
        self, joints: Sequence[str], make_tally: Callable[[], Tally] | None = None
    ) -> None:
        self._joints, self._make_tally = joints, make_tally
        self.clear()

    def clear(self) -> None:
        """Begin a new motion."""
        self._tally = self._make_tally() if self._make_tally else None
        self._hash = hashlib.sha256()
        self._block: list[RobotState] = []
        self._hashed = 0  # number of states of the block that are already hashed and measured
        self.states = 0
        self.divergence = ""
        self.events: list[Event] = []

    def on_state(self, state: RobotState) -> None:
        """Add the state of one control tick."""
        self._block.append(state)
        self.states += 1
        if len(self._block) > BLOCK:
            self._close_block()

    def on_event(self, event: Event) -> None:
        """Add one event."""
        if self._tally:
            self.events.append(event)

    @property
    def last(self) -> RobotState:
        """The newest state."""
        return self._block[-1]

    @property
    def sha256(self) -> str:
        """The hash of the motion so far, as `Trajectory.sha256`."""
        self._close_block()
        return self._hash.hexdigest()

    def figures(self) -> Mapping[str, float]:
        """Return the figures of the motion so far; none without a tally."""
        self._close_block()
        return self._tally.figures(self.events) if self._tally else {}

    def _close_block(self) -> None:
        """Hash and measure the block; its last state is also the first of the next block."""
        if self._hashed == len(self._block):
            return
        motion = Trajectory.from_states(self._joints, self._block)
        self._hash.update(motion.hashed_bytes(self._hashed))
        self.divergence = self.divergence or motion.divergence
        if self._tally:
            self._tally.add(motion)
        self._block, self._hashed = self._block[-1:], 1
