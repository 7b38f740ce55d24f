"""Whether a run is held: paused or stopped by a person, and the steps that it takes even so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Tell = Callable[[Any], object]  # takes one argument


class Halt:
    """Holds a run while it is paused, except for the steps of one request at a time.

    Attributes:
        paused: whether a person has paused the run.
        stopped: whether it was paused by being stopped, which puts it back to its start.
    """

    def __init__(self) -> None:
        self.paused = self.stopped = False
        self._steps = self._taken = 0  # control periods of the request, 0 without one, and taken
        # Called after each of them with `_taken`, and once with why they were not all taken, or "".
        self._tell: tuple[Tell, Tell] = str, str

    @property
    def holds(self) -> bool:
        """Whether no control period is to be taken."""
        return self.paused and not self._steps

    def pause(self, paused: bool) -> None:
        """Pause, or go on."""
        self.end("pause" if paused else "play")
        self.paused, self.stopped = paused, False

    def begin(self, count: int, on_step: Tell, on_end: Tell) -> None:
        """Let steps be taken.

        Args:
            count: how many, at least one.
            on_step: called after each with the number of those taken.
            on_end: called once, with why not all were taken, or "".
        """
        self._steps, self._taken, self._tell = count, 0, (on_step, on_end)

    def count(self, over: str = "") -> None:
        """Count a control period; `over` is why none follows, or ""."""
        if self._steps:
            self._taken += 1
            self._tell[0](self._taken)
            if over or self._taken == self._steps:
                self.end(over)

    def end(self, why: str) -> None:
        """End the steps, if some are to be taken; `why` counts if they are not complete."""
        steps, self._steps = self._steps, 0
        if steps:
            complete = self._taken == steps
            self._tell[1]("" if complete else f"{self._taken} of {steps} steps were taken: {why}")
