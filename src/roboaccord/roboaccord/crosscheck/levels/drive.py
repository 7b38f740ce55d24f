"""Level `drive`: the efforts that an engine puts in force, beside those that it was commanded.

Errors to recognise may be added, to `Kind`, to `kinds_of` and to the words in report/words.py; the
order in `kinds_of` is that of the results. KEPT, MOST_LATE and EVIDENCE may be
tuned. ROUND_OFF and FITTED stay at round-off, since this level allows no other error. test_drive
plants errors and checks kind and size.

All other levels take the efforts in force for granted. Here they must be what the limits and faults
of the scenario make of the controller's command, tick by tick and to round-off, and a switch must
be as it was commanded. No state holds a wrench or twist in force: the motion alone shows these.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Literal

import numpy as np

from roboaccord.contract.checks import clip_efforts
from roboaccord.contract.fault import Fault
from roboaccord.contract.outcome import Code, Finding, because, unless_few
from roboaccord.contract.results import Quantity, Seconds
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.motion import CheckCase
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.faults import JointFaults, weakened, without_loose

Kind = Literal["lost", "reversed", "late", "swapped", "clipped", "scaled"]
ROUND_OFF = 1e-12  # of the largest effort of a joint so far, or of 1 N m
FITTED = 1e-9  # likewise: a factor or a limit that is read off the efforts
KEPT = 2000  # ticks of which the kind is found, those around the first that is off
MOST_LATE = 20  # ticks
EVIDENCE = 3  # ticks: through fewer goes any factor


@dataclass(frozen=True)
class Disobedience:
    """Hold what explains the efforts of a joint that are not as commanded.

    Args:
        kind: of the error.
        size: ticks by which they are late, limit [N m] or factor; 0 of other kinds.
        other: the joint with which they are swapped; else "".
    """

    kind: Kind
    size: Annotated[float, Quantity("", "ticks, N m or factor")] = 0.0
    other: str = ""


@dataclass(frozen=True)
class DriveCheck:
    """Hold how efforts and switches in force differ from what the commands make of them.

    Args:
        judged, ticks: number of ticks whose command is known, and of all.
        off: number of those with a difference.
        error: largest difference of an effort.
        where: the joint that is off first; "" where none is.
        time: when the first tick begins that is off there; None likewise.
        kinds: all that explain the efforts of the joint, in a fixed order.
        joints: number of joints that are off.
        switch, since: the first that is not as commanded, and from when on; "" where all are.
    """

    judged: int
    ticks: int
    off: int = 0
    error: Annotated[float, Quantity("N m", "largest difference of an effort")] = 0.0
    where: str = ""
    time: Seconds | None = None
    kinds: Sequence[Disobedience] = ()
    joints: int = 0
    switch: str = ""
    since: Seconds | None = None


class DriveTicks:
    """Compare the ticks of a run with its commands, one by one as they come.

    Args:
        setup: robot and scenario, with the faults of the joints.
        late: ticks by which a command may act late, where nothing waits for it.
    """

    def __init__(self, setup: Setup, late: int = 0) -> None:
        self._setup, self._limits = setup, setup.effort_limits
        n = len(setup.joints)
        self._largest, self._errors = np.ones(n), np.zeros(n)
        self._since = np.full(n, np.inf)
        self._faults = JointFaults(setup.faults, setup.joints, setup.tree.hinges)
        self._late, self._unsure = late, late  # ticks in which an unknown command may act
        self._asked = deque[Command](maxlen=late + 1)
        self._rows = deque[tuple[Array, Array]](maxlen=KEPT)
        self._switch: tuple[str, float | None] = "", None
        self.judged = self.ticks = self.off = 0
        self._last = math.inf  # tick whose efforts are kept

    def failing(self, faults: Iterable[Fault]) -> None:
        """Let joints fail as these faults specify, beside those of the scenario."""
        self._faults.foresee(faults)

    def take(self, before: RobotState, after: RobotState, command: Command | None) -> None:
        """Compare a tick.

        Args:
            before, after: samples; the efforts of `after` were in force.
            command: that answered `before`; None where it is not known.
        """
        self.ticks += 1
        for _ in self._faults.due(before) if self._faults.possible else ():
            pass
        if command is None or not (len(self._errors) or command.switches):
            self._asked.clear()
            self._unsure = self._late
            return
        self._asked.appendleft(command)
        meant = self._transmitted(before, command)
        self._largest = np.maximum(self._largest, np.abs(meant))
        wrong, floor = np.abs(after.effort - meant), ROUND_OFF * self._largest
        bad = wrong > floor
        if bad.any():
            late = (self._transmitted(before, one) for one in islice(self._asked, 1, None))
            bad &= not any((np.abs(after.effort - one) <= floor).all() for one in late)
        self._unsure = max(self._unsure - 1, 0)
        if bad.any() and self._unsure:
            return
        self.judged += 1
        self._errors = np.where(bad, np.maximum(self._errors, wrong), self._errors)
        self._since = np.where(bad, np.minimum(self._since, before.time), self._since)
        turned = [n for n, on in command.switches.items() if after.switches.get(n, on) is not on]
        if turned and not self._switch[0]:
            self._switch = turned[0], before.time
        self.off += bool(bad.any() or turned)
        if bad.any():
            self._last = min(self._last, self.judged + KEPT // 2)
        if self.judged <= self._last:
            self._rows.append((meant, after.effort))

    def check(self) -> DriveCheck:
        """Return what was found so far."""
        counts, (switch, since) = (self.judged, self.ticks, self.off), self._switch
        if not self._errors.any():
            return DriveCheck(*counts, switch=switch, since=since)
        joint = int(np.argmin(self._since))  # whose efforts around that time are kept
        meant, force = (np.array(part) for part in zip(*self._rows, strict=True))
        return DriveCheck(
            *counts,
            error=float(self._errors[joint]),
            where=self._setup.joints[joint],
            time=float(self._since[joint]),
            kinds=kinds_of(meant, force, joint, self._setup.joints),
            joints=int(np.count_nonzero(self._errors)),
            switch=switch,
            since=since,
        )

    def _transmitted(self, state: RobotState, command: Command) -> Array:
        """Return what limits and faults make of the efforts of a command (n,).

        Of a command that acts late no gap of a drive is followed.
        """
        effort, faults = clip_efforts(command.effort, self._limits), self._faults
        if not faults.possible:
            return effort
        if self._late:
            return weakened(without_loose(effort, faults.in_force), faults.in_force)
        return faults.transmitted(command, effort, state)


def check_drive(setup: Setup, run: Trajectory) -> DriveCheck:
    """Compare all ticks of a fresh run."""
    drive = DriveTicks(setup)
    for i in range(len(run) - 1):
        drive.take(run.state(i), run.state(i + 1), run.asked(i))
    return drive.check()


def kinds_of(
    meant: Array, force: Array, joint: int, joints: Sequence[str]
) -> Sequence[Disobedience]:
    """Return all kinds of errors that explain the efforts of a joint, in a fixed order.

    Args:
        meant, force: efforts of ticks as commanded, and in force (k, n) [N m].
        joint: its number.
        joints: names (n,).
    """
    own, is_ = meant[:, joint], force[:, joint]
    scale = max(1.0, float(np.abs(own).max(initial=0.0)))
    bad = np.abs(is_ - own) > ROUND_OFF * scale
    first, a, b = int(np.argmax(bad)), own[bad], is_[bad]
    if not len(b):
        return []

    def same(one: Array, other: Array, least: float = ROUND_OFF) -> bool:
        return bool((np.abs(one - other) <= least * scale).all())

    if same(b, 0.0 * b):
        return [Disobedience("lost")]
    if same(b, -a):
        return [Disobedience("reversed")]
    found = []
    begin = ((n, max(first, n)) for n in range(1, min(MOST_LATE, len(own) - 1)))
    late = (n for n, i in begin if same(is_[i:], own[i - n : len(own) - n]))
    if ticks := next(late, 0):
        found.append(Disobedience("late", float(ticks)))
    others = (k for k in range(len(joints)) if k != joint and same(b, meant[bad, k]))
    found += [Disobedience("swapped", other=joints[k]) for k in others][:1]
    limit = float(np.abs(b).max())
    good = np.abs(own[first:][~bad[first:]]).max(initial=0.0) <= limit + ROUND_OFF * scale
    if good and same(b, np.sign(a) * limit, FITTED) and (np.abs(a) > limit).all():
        found.append(Disobedience("clipped", limit))
    factor = float(a @ b) / float(a @ a) if a.any() else 0.0
    if factor and len(b) >= EVIDENCE and same(b, factor * a, FITTED):
        found.append(Disobedience("scaled", factor))
    return found


class DriveLevel(Level[DriveCheck]):
    """Whatever is not as commanded is outside, beyond round-off."""

    name = "drive"
    title = "Drive: efforts in force, as commanded"
    of_motion = False

    def measure(self, case: CheckCase) -> DriveCheck:
        return check_drive(case.setup, case.run)

    def judge(self, check: DriveCheck, tolerances: Tolerances) -> Finding:
        if not check.judged:
            return Finding.does_not_apply(because(Code.NO_COMMAND))
        if not check.off:
            return unless_few(Finding.within(), check.judged, check.ticks)
        counts = {"off": check.off, "judged": check.judged}
        reasons = []
        if check.joints:
            figures = {n: getattr(check, n) for n in ("where", "joints", "time", "error", "kinds")}
            reasons.append(because(Code.DISOBEYED, **figures, **counts))
        if check.switch:
            figures = {"switch": check.switch, "since": check.since}
            reasons.append(because(Code.SWITCH_DISOBEYED, **figures, **counts))
        if check.joints:
            return Finding.outside(*reasons, quantity="effort", where=check.where, size=check.error)
        return Finding.outside(*reasons, quantity="switch", where=check.switch)

    def rows(self, check: DriveCheck) -> Rows:
        return {
            "ticks": Entry(check.judged),
            "off": Entry(check.off),
            "largest difference": Entry(check.error, "N m", ".2g"),
            "joint or switch": Entry(check.where or check.switch),
        }
