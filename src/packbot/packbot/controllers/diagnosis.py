"""What is found of failed joints, the protocol of what finds it, and `told`, which need not look.

A diagnosis of your own may be added: a class with `reset`, `update` and `probe`, made known by the
entry point `packbot.NAME` of `roboaccord.controllers` and chosen by `controller.diagnosis`.
Verdicts are what `accord packbot reach` prints as `kind`: those there stay, and others may be
added. SAME, a guard against rounding, stays.

The controller `recover` takes its diagnosis by name, `controller.diagnosis`: `told` reads the
scenario's faults; other packages add those that look at the motion (entry points
`roboaccord.controllers`, `packbot.NAME`). Change here what a finding is; how one is come by is up
to the diagnosis.
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
KINDS: dict[str, Verdict] = {kind: kind for kind in get_args(Verdict)}
SAME = 1e-9  # s: times that differ by less are one


@dataclass(frozen=True)
class Detection:
    """What was found of a joint.

    Args:
        joint: name.
        kind: `frozen`, `loose`, or `undetermined` as long as what is measured fits both; `healthy`
            where a name is taken back; `unexplained` where no failure fits: the model does not.
            Partial failures are those of `Fault`.
        time: when it was found [s].
        delay: since it began, as estimated [s].
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
        """The fault; None where it is none, or its kind is not known."""
        if self.kind in ("loose", "frozen"):
            return Fault(self.joint, self.kind, self.time - self.delay)
        return None


class Diagnosis(Protocol):
    """What finds failures, state by state."""

    def reset(self) -> None:
        """Forget all, as at the start of a run."""

    def update(self, state: RobotState, effort: Array) -> Sequence[Detection]:
        """Return the joints of which something else is found now than before.

        Args:
            state: as measured.
            effort: commanded over the period before (7,) [N m].
        """
        ...

    def probe(self, q: Array, joint: int) -> Array | None:
        """Return by how much to turn a joint (7,) [rad] that seems loose, to see whether it is.

        None where there is no doubt, or no such motion is safe at the angles q (7,) [rad].
        """
        ...


class Told:
    """Report the scenario's faults as they come; kinds that have no name here are left out."""

    def __init__(self, setup: Setup, **_: object) -> None:
        self._faults = [fault for fault in setup.faults if fault.kind in KINDS]
        self.reset()

    def reset(self) -> None:
        """Forget that any came."""
        self._left = list(self._faults)

    def update(self, state: RobotState, effort: Array) -> Sequence[Detection]:
        """Return those that have come since the last state."""
        due = [fault for fault in self._left if fault.time <= state.time + SAME]
        self._left = [fault for fault in self._left if fault not in due]
        now = state.time
        return [Detection(f.joint, KINDS[f.kind], now, now - f.time, size=f.size) for f in due]

    def probe(self, q: Array, joint: int) -> Array | None:
        """Return None: what is told is so."""
        return None


def make_diagnosis(setup: Setup, name: str, **keys: Any) -> Diagnosis:
    """Return the diagnosis of a name, made with keys of the controller.

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
        """Return a measured state as the arm really is."""
        ...

    def driven(self, command: Command, limits: Array) -> Command:
        """Return the command by which the drives give the efforts of one."""
        ...


def known_arm(identified: str) -> KnownArm | None:
    """Return the arm that was identified, by its file; None for none.

    Raises:
        AccordError: if it cannot be read, or the package that reads it is not installed.
    """
    if not identified:
        return None
    found: KnownArm = part_of("packbot", "identified", "unknown part ").read(identified)
    return found
