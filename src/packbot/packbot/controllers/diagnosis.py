"""Reports of failed joints, the protocol of a diagnosis, and the diagnosis `told`.

A diagnosis examines the measured states of the arm one by one, and reports failed joints. The
controller `recover` uses the one that the key `controller.diagnosis` of a scenario names. `told`
does not diagnose: it reports the faults that the scenario injects. Other packages add diagnoses
that examine the motion, by entry points `packbot.NAME` of `roboaccord.controllers`.

Verdicts are output of `accord packbot reach-target` and must stay. test_packbot_recovery tests
`told`, and which names are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, get_args

from roboaccord.contract import FOUND, AccordError, Array, Event, Fault, Quantity, RobotState
from roboaccord.scenario import Setup, part_of

Verdict = Literal[
    "healthy", "loose", "frozen", "undetermined", "unexplained", "weak", "slipping", "stuck"
]
KINDS: dict[str, Verdict] = {kind: kind for kind in get_args(Verdict)}  # some are kinds of `Fault`
# s; times that differ by less are the same: above round-off, below a control period
SAME_TIME = 1e-9


@dataclass(frozen=True)
class Detection:
    """A report about a joint.

    Args:
        joint: name of the joint.
        kind: `frozen`, `loose`, or `undetermined` as long as the measurements fit both; `healthy`
            if an earlier report is taken back; `unexplained` if no failure fits, so that the model
            must be wrong; otherwise a partial failure, see `Fault`.
        time: time of the report [s].
        delay: estimated time since the failure began [s].
        residual: effort that is missing [N m].
        size: size of a partial failure, see `Fault`.
    """

    joint: Annotated[str, Quantity("")]
    kind: Annotated[Verdict, Quantity("", form="s")]
    time: Annotated[float, Quantity("s", form=".2f")]
    delay: Annotated[float, Quantity("s", form=".2f")]
    residual: Annotated[float, Quantity("N m", form=".2f")] = 0.0
    size: Annotated[float, Quantity("1, N m", form=".2f")] = 0.0

    def __str__(self) -> str:
        """Return one line for a person."""
        at = f"at {self.time:.2f} s"
        if self.kind == "healthy":
            return f"{self.joint} is healthy after all: found {at}"
        if self.kind == "unexplained":
            lacks = f"{self.joint} lacks {self.residual:.2g} N m"
            return f"the model does not fit, and no failure does: {lacks} {at}"
        since = f"{self.delay:.2f} s after it failed"
        if self.kind == "undetermined":
            return f"{self.joint} failed, frozen or loose: found {at}, {since}"
        by = f" ({self.size:.2g})" if self.size else ""
        return f"{self.joint} is {self.kind}{by}: found {at}, {since}"

    @property
    def event(self) -> Event:
        """The event that reports it in a run."""
        return Event(self.time, FOUND + self.kind, self.joint)

    @property
    def fault(self) -> Fault | None:
        """The fault of a loose or frozen joint; None for any other finding."""
        if self.kind in ("loose", "frozen"):
            return Fault(self.joint, self.kind, self.time - self.delay)
        return None


class Diagnosis(Protocol):
    """Protocol of a diagnosis, which takes measured states one by one."""

    def reset(self) -> None:
        """Return to the state at the start of a run."""

    def update(self, state: RobotState, effort: Array) -> Sequence[Detection]:
        """Return new reports about joints; earlier reports remain valid until then.

        Args:
            state: measured state.
            effort: commanded over the period before it (7,) [N m].
        """

    def probe(self, q: Array, joint: int) -> Array | None:
        """Return a motion (7,) [rad] from angles q (7,) that shows whether a joint is loose.

        None if there is no doubt, or no such motion is safe.
        """


class Told:
    """Diagnosis that reports the scenario's faults when they occur, if they are verdicts."""

    def __init__(self, setup: Setup, **_: object) -> None:
        self._faults = [fault for fault in setup.faults if fault.kind in KINDS]
        self.reset()

    def reset(self) -> None:
        """Return to the start of a run."""
        self._pending = list(self._faults)  # faults that have not occurred yet

    def update(self, state: RobotState, effort: Array) -> Sequence[Detection]:
        """Report the faults that have occurred since the last state."""
        due = [fault for fault in self._pending if fault.time <= state.time + SAME_TIME]
        self._pending = [fault for fault in self._pending if fault not in due]
        now = state.time
        return [Detection(f.joint, KINDS[f.kind], now, now - f.time, size=f.size) for f in due]

    def probe(self, q: Array, joint: int) -> Array | None:
        """Return None, as there is no doubt about injected faults."""
        return None


def make_diagnosis(setup: Setup, name: str, **keys: Any) -> Diagnosis:
    """Return the diagnosis of a name, made with `keys` of the controller as arguments.

    Raises:
        AccordError: for an unknown one, or one whose package is not installed.
    """
    if name == "told":
        return Told(setup)
    try:
        kind: Callable[..., Diagnosis] = part_of("packbot", name, "unknown diagnosis ", ["told"])
    except AccordError as error:
        hint = "with controller.diagnosis=told the faults are read instead"
        raise type(error)(f"{error}; {hint}") from None
    return kind(setup, **keys)
