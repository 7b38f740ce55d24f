"""Level `drive`: the efforts in force in an engine must be the commanded ones.

An effort is the torque or force of a joint's motor. All other levels take the efforts in force from
the recorded states for granted. Here they are compared, in every control period (tick) and to
round-off, with the controller's command after the effort limits and joint faults of the scenario;
switches, such as magnets, must be on or off as commanded. If efforts differ, `kinds_of` finds which
simple errors explain them: lost, reversed, late, swapped, clipped or scaled. External wrenches and
twists are not part of a state, so this level does not check them.

`check_drive` compares a finished run, and `DriveTicks` one tick after the other, for live runs
(step_check.py). To recognise another error, extend `Kind`, `kinds_of` (its order is that of the
results) and report/words.py. STORED_TICKS, MAX_DELAY and MIN_TICKS may be tuned.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Literal

import numpy as np

from roboaccord.contract.checks import clip_efforts
from roboaccord.contract.fault import Fault
from roboaccord.contract.outcome import Code, Finding, because, unless_few
from roboaccord.contract.results import Quantity, Seconds
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.round_off import ROUND_OFF
from roboaccord.crosscheck.ticks import Mask
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.faults import JointFaults, weakened, without_loose

Kind = Literal["lost", "reversed", "late", "swapped", "clipped", "scaled"]
# Tolerance, relative to the largest effort, where a factor or limit is computed from the efforts of
# up to STORED_TICKS ticks: far above 2000 roundings (4e-13), far below any error that matters.
FIT_TOLERANCE = 1e-9
# Number of ticks stored around the first difference, by which its kind is found: 2 s at 1 kHz, and
# 100 times MAX_DELAY.
STORED_TICKS = 2000
# Longest delay that is tried [ticks]: 20 ms at 1 kHz. Drives are faster, and each one costs time.
MAX_DELAY = 20
# Fewest ticks that show a factor: one always fits a single tick, and may fit two by chance.
MIN_TICKS = 3


@dataclass(frozen=True)
class Disobedience:
    """A simple error that explains a joint's efforts that are not as commanded.

    Args:
        kind: of the error.
        size: of a late effort the delay [ticks], of a clipped one the limit [N m], of a scaled one
            the factor; 0 for other kinds.
        other: name of the joint whose command acts on a swapped joint; "" for other kinds.
    """

    kind: Kind
    size: Annotated[float, Quantity("", "ticks, N m or factor")] = 0.0
    other: str = ""


@dataclass(frozen=True)
class DriveCheck:
    """Differences of efforts and switches in force from the commanded ones.

    Args:
        judged, ticks: number of ticks with a known command, and of all.
        off: number of judged ticks with a difference.
        error: largest difference of an effort of joint `where` [N m].
        where: the joint that differs first; "" where none does.
        time: when the first tick begins that differs there [s]; None where none does.
        kinds: all errors that explain the efforts of that joint, in a fixed order.
        joints: number of joints that differ.
        switch, since: the first switch that is not as commanded, and since when; "" for none.
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
    """Comparison of a run's efforts and switches with its commands, one tick after the other.

    Args:
        setup: robot and scenario, with the faults of the joints.
        late: number of ticks by which a command may act late, where the simulation does not wait
            for the controller.

    Attributes:
        judged, ticks, off: as of `DriveCheck`.
    """

    def __init__(self, setup: Setup, late: int = 0) -> None:
        self._setup, self._limits = setup, setup.effort_limits
        self._faults = JointFaults(setup.faults, setup.joints, setup.tree.hinges)
        # By joint (n,): largest command so far, at least 1, and largest difference from it [N m];
        # when the first tick begins that differs [s].
        n = len(setup.joints)
        self._largest_commands, self._errors = np.ones(n), np.zeros(n)
        self._error_times = np.full(n, np.inf)
        # The last commands, the newest first, and the number of ticks to come in which a command
        # that is not known may still act.
        self._commands = deque[Command](maxlen=late + 1)
        self._late, self._ticks_unknown = late, late
        # Commanded efforts and those in force, for `kinds_of`, and the number of judged ticks up to
        # which they are stored.
        self._efforts = deque[tuple[Array, Array]](maxlen=STORED_TICKS)
        self._stored_until = math.inf
        # Name of the first switch that is not as commanded, and since when [s].
        self._wrong_switch: tuple[str, float | None] = "", None
        # Numbers of ticks, as of `DriveCheck`.
        self.judged = self.ticks = self.off = 0

    def add_faults(self, faults: Iterable[Fault]) -> None:
        """Add faults of joints to those of the scenario."""
        self._faults.schedule(faults)

    def compare(self, before: RobotState, after: RobotState, command: Command | None) -> None:
        """Compare one tick.

        Args:
            before, after: states at its ends; the efforts of `after` were in force during the tick.
            command: the controller's answer to `before`; None if it is not known.
        """
        self.ticks += 1
        if self._faults.possible:
            list(self._faults.begin_due(before))  # each fault is in force once it is yielded
        if command is None or not (len(self._errors) or command.switches):
            self._commands.clear()
            self._ticks_unknown = self._late
            return
        self._commands.appendleft(command)
        commanded = self._transmitted(before, command)
        self._largest_commands = np.maximum(self._largest_commands, np.abs(commanded))
        errors = np.abs(after.effort - commanded)
        differs = self._differs(before, after.effort, errors)
        # A difference counts only if no unknown command may act in this tick.
        self._ticks_unknown = max(self._ticks_unknown - 1, 0)
        if differs.any() and self._ticks_unknown:
            return
        self.judged += 1
        self._errors = np.where(differs, np.maximum(self._errors, errors), self._errors)
        times = np.minimum(self._error_times, before.time)
        self._error_times = np.where(differs, times, self._error_times)
        # Switches: the first that is not as commanded is reported.
        in_force = {**command.switches, **after.switches}
        wrong_switches = [name for name, on in command.switches.items() if in_force[name] is not on]
        if wrong_switches and not self._wrong_switch[0]:
            self._wrong_switch = wrong_switches[0], before.time
        self.off += bool(differs.any() or wrong_switches)
        # Store efforts up to STORED_TICKS / 2 ticks after the first difference.
        if differs.any():
            self._stored_until = min(self._stored_until, self.judged + STORED_TICKS // 2)
        if self.judged <= self._stored_until:
            self._efforts.append((commanded, after.effort))

    def _differs(self, before: RobotState, effort: Array, errors: Array) -> Mask:
        """Return which efforts (n,) follow neither the command of a tick nor a late one.

        Args:
            before: state at the start of the tick.
            effort: in force (n,) [N m].
            errors: differences from the command of the tick (n,) [N m].
        """
        tolerance = ROUND_OFF * self._largest_commands
        differs = errors > tolerance
        if differs.any():
            earlier = (self._transmitted(before, past) for past in islice(self._commands, 1, None))
            differs &= not any((np.abs(effort - past) <= tolerance).all() for past in earlier)
        return differs

    def check(self) -> DriveCheck:
        """Return the comparison of all ticks so far."""
        switch, since = self._wrong_switch
        check = DriveCheck(self.judged, self.ticks, self.off, switch=switch, since=since)
        if not self._errors.any():
            return check
        joint = int(np.argmin(self._error_times))  # efforts around that time are stored
        commanded, in_force = (np.array(efforts) for efforts in zip(*self._efforts, strict=True))
        kinds = kinds_of(commanded, in_force, joint, self._setup.joints)
        error, time = float(self._errors[joint]), float(self._error_times[joint])
        check = replace(check, error=error, where=self._setup.joints[joint], time=time)
        return replace(check, kinds=kinds, joints=int(np.count_nonzero(self._errors)))

    def _transmitted(self, state: RobotState, command: Command) -> Array:
        """Return the efforts of a command after limits and faults (n,) [N m].

        Backlash of a drive depends on the state, so it is not applied where commands may act late.
        """
        effort, faults = clip_efforts(command.effort, self._limits), self._faults
        if not faults.possible:
            return effort
        if self._late:
            return weakened(without_loose(effort, faults.in_force), faults.in_force)
        return faults.transmitted(command, effort, state)


def check_drive(setup: Setup, run: Trajectory) -> DriveCheck:
    """Compare all ticks of a simulated run with its commands."""
    drive = DriveTicks(setup)
    for i in range(len(run) - 1):
        drive.compare(run.state(i), run.state(i + 1), run.requested(i))
    return drive.check()


def kinds_of(
    commanded: Array, in_force: Array, joint: int, joints: Sequence[str]
) -> Sequence[Disobedience]:
    """Return all kinds of errors that explain the efforts of a joint, in a fixed order.

    Args:
        commanded: efforts after limits and faults, by tick (k, n) [N m].
        in_force: efforts in force (k, n) [N m].
        joint: index of the joint.
        joints: names of all joints (n,).
    """
    command, effort = commanded[:, joint], in_force[:, joint]
    scale = max(1.0, float(np.abs(command).max(initial=0.0)))
    round_off, fit_error = ROUND_OFF * scale, FIT_TOLERANCE * scale  # [N m]
    differs = np.abs(effort - command) > round_off
    if not differs.any():
        return []
    # In the ticks that differ: the commanded efforts, and those in force.
    expected, measured = command[differs], effort[differs]
    if _agree(measured, 0.0 * measured, round_off):
        return [Disobedience("lost")]
    if _agree(measured, -expected, round_off):
        return [Disobedience("reversed")]
    kinds = []
    # Late: from the first difference on, efforts are the commands of some ticks before.
    first = int(np.argmax(differs))
    for delay in range(1, min(MAX_DELAY, len(command) - 1)):
        start = max(first, delay)
        if _agree(effort[start:], command[start - delay : len(command) - delay], round_off):
            kinds.append(Disobedience("late", float(delay)))
            break
    # Swapped: efforts are the commands of another joint, the first that fits.
    for other, name in enumerate(joints):
        if other != joint and _agree(measured, commanded[differs, other], round_off):
            kinds.append(Disobedience("swapped", other=name))
            break
    # Clipped: all larger efforts are cut to one limit, and no obeyed effort exceeds it.
    limit = float(np.abs(measured).max())
    largest_obeyed = np.abs(command[first:][~differs[first:]]).max(initial=0.0)
    is_limit = largest_obeyed <= limit + round_off and (np.abs(expected) > limit).all()
    if is_limit and _agree(measured, np.sign(expected) * limit, fit_error):
        kinds.append(Disobedience("clipped", limit))
    # Scaled: least-squares factor between efforts in force and commands.
    factor = float(expected @ measured) / float(expected @ expected) if expected.any() else 0.0
    if factor and len(measured) >= MIN_TICKS and _agree(measured, factor * expected, fit_error):
        kinds.append(Disobedience("scaled", factor))
    return kinds


def _agree(efforts: Array, explained: Array, tolerance: float) -> bool:
    """Return whether efforts (k,) equal explained ones within a tolerance, all in N m."""
    return bool((np.abs(efforts - explained) <= tolerance).all())


class DriveLevel(Level[DriveCheck]):
    """Judge efforts and switches: any difference beyond round-off is outside."""

    name = "drive"
    title = "Drive: efforts in force, as commanded"
    of_motion = False

    def measure(self, case: CheckCase) -> DriveCheck:
        """Compare efforts and switches in force with the commands, in all ticks."""
        return check_drive(case.setup, case.run)

    def judge(self, check: DriveCheck, tolerances: Tolerances) -> Finding:
        """Return `outside` if any effort or switch was not as commanded."""
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
        """Return the numbers of ticks, the largest difference, and the joint or switch."""
        return {
            "ticks": Entry(check.judged),
            "off": Entry(check.off),
            "largest difference": Entry(check.error, "N m", ".2g"),
            "joint or switch": Entry(check.where or check.switch),
        }
