"""Whether a run is held: paused or stopped by a person, and the steps that it takes even so.

pacing.py asks `Halt` before each control period. Its services (standard.py, simulator.py) pause the
run, let it go on, or let it take a number of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class StepRequest:
    """A request to take some control periods during a pause.

    Args:
        count: how many, at least one.
        on_step: called after each with the number of those taken.
        on_end: called once, with the reason why not all were taken, or "".
        taken: number of those taken.
    """

    count: int
    on_step: Callable[[int], object]
    on_end: Callable[[str], object]
    taken: int = 0


class Halt:
    """Holds a run while it is paused, except for the steps of one request at a time.

    Attributes:
        paused: whether a person has paused the run.
        stopped: whether it was paused by being stopped, which puts it back to its start.
    """

    def __init__(self) -> None:
        self.paused = self.stopped = False
        self._request: StepRequest | None = None

    @property
    def is_holding(self) -> bool:
        """Whether no control period is to be taken."""
        return self.paused and self._request is None

    def pause(self, paused: bool) -> None:
        """Pause, or go on; steps that were requested end."""
        self.end_steps("pause" if paused else "play")
        self.paused, self.stopped = paused, False

    def begin_steps(self, request: StepRequest) -> None:
        """Let the steps of a request be taken."""
        self._request = request

    def count_step(self, end_reason: str = "") -> None:
        """Count a control period that was taken; `end_reason` is why none follows, or ""."""
        if request := self._request:
            request.taken += 1
            request.on_step(request.taken)
            if end_reason or request.taken == request.count:
                self.end_steps(end_reason)

    def end_steps(self, reason: str) -> None:
        """End the steps of a request, if there is one; the reason counts if not all were taken."""
        request, self._request = self._request, None
        if request:
            message = f"{request.taken} of {request.count} steps were taken: {reason}"
            request.on_end("" if request.taken == request.count else message)
