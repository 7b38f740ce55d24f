"""The motion of a run as it goes: kept, or hashed and measured in constant memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from roboaccord.contract.interfaces import Observer, Tally
from roboaccord.contract.state import Command, RobotState
from roboaccord.contract.trajectory import Event, Trajectory

BLOCK = 1000  # states that are kept before they are hashed and measured


class KeptMotion(Observer):
    """Keep the states, events and commands of a run."""

    def __init__(self, joints: Sequence[str]) -> None:
        self._joints = joints
        self._states: list[RobotState] = []
        self._events: list[Event] = []
        self._commands: list[Command] = []

    def on_state(self, state: RobotState) -> None:
        """Keep a state; one at an earlier time begins anew."""
        if self._states and state.time < self._states[-1].time:
            self._states, self._events, self._commands = [], [], []
        self._states.append(state)

    def on_command(self, state: RobotState, command: Command) -> None:
        """Keep a command."""
        self._commands.append(command)

    def on_event(self, event: Event) -> None:
        """Keep an event."""
        self._events.append(event)

    @property
    def trajectory(self) -> Trajectory:
        """The motion so far."""
        return Trajectory.from_states(self._joints, self._states, self._events, self._commands)


class Motion(Observer):
    """Hash and measure a motion block by block; the states themselves are the recorder's to keep.

    Args:
        joints: joint names.
        make_tally: makes what measures the figures; None for the hash alone, without events.

    Attributes:
        states: how many came.
        events: in the order in which they came; empty without a tally.
    """

    def __init__(
        self, joints: Sequence[str], make_tally: Callable[[], Tally] | None = None
    ) -> None:
        self._joints, self._make_tally = joints, make_tally
        self.clear()

    def clear(self) -> None:
        """Begin, or begin again."""
        self._tally = self._make_tally() if self._make_tally else None
        self._hash = hashlib.sha256()
        self._block: list[RobotState] = []
        self._hashed = 0  # states of the block that are hashed and measured already
        self.states = 0
        self.events: list[Event] = []

    def on_state(self, state: RobotState) -> None:
        """Take the state of one control tick."""
        self._block.append(state)
        self.states += 1
        if len(self._block) > BLOCK:
            self._close_block()

    def on_event(self, event: Event) -> None:
        """Take one event."""
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
        """Hash and measure the block; its last state begins the next one."""
        if self._hashed == len(self._block):
            return
        part = Trajectory.from_states(self._joints, self._block)
        self._hash.update(part.hashed_bytes(self._hashed))
        if self._tally:
            self._tally.add(part)
        self._block, self._hashed = self._block[-1:], 1
