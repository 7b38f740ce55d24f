"""Findings about failed joints, the protocol of a diagnosis, and the diagnosis `told`.

The controller `recover` takes its diagnosis by name, `controller.diagnosis`. `told` reads the
scenario's faults; other packages add those that look at the motion, by entry points `packbot.NAME`
of `roboaccord.controllers`.

A diagnosis may be added: a class with `reset`, `update` and `probe`. Verdicts are printed as `kind`
by `accord packbot reach`: existing ones stay, and others may be added. test_packbot_recovery tests
`told`, and what is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, get_args

from roboaccord.contract import AccordError, Array, Command, Fault, Quantity, RobotState
from roboaccord.scenario import Setup, part_of

Verdict = Literal[
    "healthy", "loose", "frozen", "undetermined", "unexplained", "weak", "slipping", "stuck"
]
KINDS: dict[str, Verdict] = {kind: kind for kind in get_args(Verdict)}  # kinds of `Fault`, too
SAME = 1e-9  # s: times that differ by less differ by rounding


@dataclass(frozen=True)
class Detection:
    """A finding about a joint.

    Args:
        joint: name.
        kind: `frozen`, `loose`, or `undetermined` as long as the measurements fit both; `healthy`
            if an earlier finding is taken back; `unexplained` if no failure fits, so that the model
            must be wrong. Partial failures are those of `Fault`.
        time: of the finding [s].
        delay: since the failure began, as estimated [s].
        residual: effort that is missing [N m].
        size: of a partial failure, as of `Fault`.
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
    def fault(self) -> Fault | None:
        """The fault of a loose or frozen joint; None for any other finding."""
        if self.kind in ("loose", "frozen"):
            return Fault(self.joint, self.kind, self.time - self.delay)
        return None


class Diagnosis(Protocol):
    """Protocol of what finds failures, state by state."""

    def reset(self) -> None:
        """Forget all, as at the start of a run."""

    def update(self, state: RobotState, effort: Array) -> Sequence[Detection]:
        """Return new findings about joints; earlier ones hold until then.

        Args:
            state: as measured.
            effort: commanded over the period before (7,) [N m].
        """
        ...

    def probe(self, q: Array, joint: int) -> Array | None:
        """Return a motion (7,) [rad] from angles q (7,) that shows whether a joint is loose.

        None if there is no doubt, or no such motion is safe.
        """
        ...


class Told:
    """Report the scenario's faults when they come; kinds that are no verdicts are left out."""

    def __init__(self, setup: Setup, **_: object) -> None:
        self._faults = [fault for fault in setup.faults if fault.kind in KINDS]
        self.reset()

    def reset(self) -> None:
        """Forget that any came."""
        self._waiting = list(self._faults)  # that have not come yet

    def update(self, state: RobotState, effort: Array) -> Sequence[Detection]:
        """Return those that have come since the last state."""
        due = [fault for fault in self._waiting if fault.time <= state.time + SAME]
        self._waiting = [fault for fault in self._waiting if fault not in due]
        now = state.time
        return [Detection(f.joint, KINDS[f.kind], now, now - f.time, size=f.size) for f in due]

    def probe(self, q: Array, joint: int) -> Array | None:
        """Return None: what is told needs no test."""
        return None


def make_diagnosis(setup: Setup, name: str, **keys: Any) -> Diagnosis:
    """Return a diagnosis by its name, made with keys of the controller.

    Raises:
        AccordError: for an unknown one, or one whose package is not installed.
    """
    if name == "told":
        return Told(setup)
    try:
        kind: Callable[..., Diagnosis] = part_of("packbot", name, "unknown diagnosis ", ["told"])
    except AccordError as error:
        raise type(error)(
            f"{error}; with controller.diagnosis=told the faults are read instead"
        ) from None
    return kind(setup, **keys)


class KnownArm(Protocol):
    """The arm as it was identified, by the key `identified` of a controller."""

    def setup(self, setup: Setup) -> Setup:
        """Return the setup of this arm."""
        ...

    def seen(self, state: RobotState) -> RobotState:
        """Return a measured state, corrected for the encoders' zeros."""
        ...

    def driven(self, command: Command, limits: Array) -> Command:
        """Return the command at which the drives really give the efforts of `command`."""
        ...


def known_arm(identified: str) -> KnownArm | None:
    """Return the arm that was identified, by its file; None for none.

    Raises:
        AccordError: if it cannot be read, or the package that reads it is not installed.
    """
    if not identified:
        return None
    arm: KnownArm = part_of("packbot", "identified", "unknown part ").read(identified)
    return arm
