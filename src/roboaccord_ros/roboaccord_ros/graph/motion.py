"""The motion of a run, kept or, where the run has no end, hashed as it goes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from roboaccord.contract.state import RobotState
from roboaccord.contract.trajectory import Event, Trajectory

BLOCK = 1000  # states of a run without end that are kept before they are hashed


class Motion:
    """Collect states and events of a run.

    Args:
        joints: joint names.
        endless: whether only the hash of the motion is kept, and its last part.
    """

    def __init__(self, joints: Sequence[str], *, endless: bool) -> None:
        self._joints, self._endless = joints, endless
        self.clear()

    def clear(self) -> None:
        """Begin, or begin again."""
        self._states: list[RobotState] = []
        self._events: list[Event] = []
        self._hash = hashlib.sha256()

    def add(self, state: RobotState, events: Sequence[Event] = ()) -> None:
        """Take a state, and the events that led to it."""
        if self._endless and len(self._states) >= BLOCK:
            self._hash.update(self.trajectory.hashed_bytes())
            self._states, self._events = [], []
        self._states.append(state)
        self._events.extend(events)

    @property
    def trajectory(self) -> Trajectory:
        """The motion so far; of a run without end the last of it."""
        return Trajectory.from_states(self._joints, self._states, self._events)

    @property
    def sha256(self) -> str:
        """The hash of the motion so far: `Trajectory.sha256`, for a run without end too."""
        whole = self._hash.copy()
        whole.update(self.trajectory.hashed_bytes())
        return whole.hexdigest()
