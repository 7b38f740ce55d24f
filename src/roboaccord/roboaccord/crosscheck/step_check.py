"""Check of a single run, one control period at a time, from a bag (a recorded run) or live.

Each control period is compared with the reference (the analytical model) and the engine's twin
(our equations under its integration scheme) in period_reference.py, and its efforts with the
commanded ones (level `drive`). The errors are added to `ErrorSums` of period_errors.py, which
`judge_rates` of levels/one_step.py judges. recorded.py and the live node both use `StepCheck`, so
that they give the same verdict. In Gazebo commands act late by an unknown number of periods, which
is first estimated from the errors.

EQUAL_DELAY_RATIO, ESTIMATION_PERIODS, TWIN_INTERVAL, MAX_UNPACED_DELAY and MAX_GAZEBO_DELAY may be
tuned; test_recorded (snake) has verdicts of sound and of wrong runs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from roboaccord.bag.topics import FREE
from roboaccord.contract import AccordError, Array, Command, Event, Fault, RobotState, fault_of
from roboaccord.contract.outcome import Code, Reason, because
from roboaccord.crosscheck.levels.drive import DriveTicks
from roboaccord.crosscheck.levels.one_step import Rates
from roboaccord.crosscheck.levels.recorded_step import RecordedStep
from roboaccord.crosscheck.period_errors import ErrorSums, PeriodErrors
from roboaccord.crosscheck.period_reference import PeriodReference
from roboaccord.crosscheck.report import Report, report_of_run
from roboaccord.crosscheck.ticks import TIME_ROUND_OFF
from roboaccord.crosscheck.twin_ticks import GAZEBO, HELD, HOLDING_EVENTS
from roboaccord.engines import REFERENCE
from roboaccord.numerics.ranking import first_largest
from roboaccord.scenario.setup import Setup

# Number of control periods from one comparison with the twin to the next where contacts make the
# twin slow: its steps then add a twentieth of the time.
TWIN_INTERVAL = 20
# Longest delay of a command if the simulation does not wait [control periods]: 0.2 s at 1 kHz, the
# delay that run/pace.py makes up for (LONGEST_DELAY).
MAX_UNPACED_DELAY = 200
# Sum of squared errors, over the smallest one, up to which a delay explains as much. Chance hardly
# reaches it in ESTIMATION_PERIODS, for which see below.
EQUAL_DELAY_RATIO = 2.0
# Longest delay of a command in Gazebo [control periods]: as MOST_LATE of causes/samples.py.
MAX_GAZEBO_DELAY = 3
# Number of control periods by which the delay is estimated, 0.2 s at 1 kHz: by chance the sums of
# 200 squares differ by EQUAL_DELAY_RATIO in less than one of 100 000 runs.
ESTIMATION_PERIODS = 200


class StepCheck:
    """Compare control periods with the reference, one by one as they come.

    The caller passes events by `note_events` and periods to `compare`, calls `choose_delay` at the
    end of the run, and reads `verdict` or `checks` at any time.

    Args:
        setup: robot and scenario.
        engine, version: of the run, as a bag or `/R/scenario` states.
        tolerance: relative error allowed beyond what time stepping explains; 0 for the scenario's
            number or allowance.
        transport: of the run; in Gazebo it states with what the robot touches the ground.

    Attributes:
        compared, left_out, skipped: numbers of periods, as of `RecordedStep`.
    """

    def __init__(
        self, setup: Setup, engine: str, version: str, tolerance: float = 0.0, transport: str = ""
    ) -> None:
        self._engine = engine
        self._period = setup.scenario.control_period  # [s]
        self._tolerance = tolerance
        self._reference = PeriodReference(setup, engine, version, transport)
        self._drive = DriveTicks(self.setup, MAX_UNPACED_DELAY if FREE in transport else 0)
        self._event_times: list[float] = []  # of events to come [s], in order
        self._periods_near_event = 0  # periods to come in which the twin is not compared
        self._refused: Reason | None = None  # why the reference refused a state, the first time
        # The delay of commands [periods], None until it is estimated: efforts of the last periods,
        # the latest first, and the errors of each period by possible delay.
        max_delay = MAX_GAZEBO_DELAY if engine == GAZEBO else 0
        self._delay = None if max_delay else 0
        self._last_efforts: deque[Array] = deque(maxlen=1 + max_delay)
        self._errors_by_delay: list[list[PeriodErrors]] = []
        self._sums = ErrorSums(len(setup.joints))
        self.left_out = 0
        self.skipped = 0

    @property
    def setup(self) -> Setup:
        """Robot and scenario as the reference has them, with the joints that have failed."""
        return self._reference.setup

    @property
    def compared(self) -> int:
        """Number of control periods that were compared."""
        return self._sums.periods

    def note_events(self, events: Sequence[Event]) -> None:
        """Note events of the run, before the period in which they happened is compared."""
        self._event_times = sorted([*self._event_times, *(event.time for event in events)])
        faults = [fault for fault in map(fault_of, events) if fault]
        if unforeseen := [fault for fault in faults if not self._is_foreseen(fault)]:
            self._reference.add_faults(unforeseen)
            self._drive.add_faults(unforeseen)
        twin = self._reference.twin
        is_held = any(event.kind in HOLDING_EVENTS for event in events)
        if self._engine == GAZEBO and twin and is_held:
            twin.stop(HELD)

    def _is_foreseen(self, fault: Fault) -> bool:
        """Return whether a fault that happened is one of the scenario's."""
        failure_of = attrgetter("joint", "kind", "size")
        planned = [f for f in self.setup.faults if failure_of(f) == failure_of(fault)]
        delays = [fault.time - expected.time for expected in planned]
        return any(-TIME_ROUND_OFF <= delay < self._period + TIME_ROUND_OFF for delay in delays)

    def compare(
        self,
        before: RobotState,
        after: RobotState,
        wrench: Array | None = None,
        twist: Array | None = None,
        command: Command | None = None,
    ) -> list[RobotState]:
        """Compare one control period.

        Args:
            before, after: states at its ends; efforts and switches of `after` were in force in it.
            wrench, twist: commanded for the period.
            command: efforts commanded for the period; None where they are not known.

        Returns:
            errors of the newly compared states; none while the delay is being estimated.
        """
        has_event = self._drop_events_until(after.time)
        # Missing samples: nothing to compare.
        periods = round((after.time - before.time) / self._period)
        if periods != 1:
            self.skipped += max(periods, 1)
            self._last_efforts.clear()
            self._drive.compare(before, after, None)
            return []
        # Efforts in force by possible delay; in Gazebo those of earlier periods are needed.
        self._drive.compare(before, after, command)
        efforts = self._last_efforts
        efforts.appendleft(after.effort)
        delays = [self._delay] if self._delay is not None else range(efforts.maxlen or 1)
        if len(efforts) <= max(delays):
            self.skipped += 1
            return []
        signals = (after.switches, wrench, twist)
        commands = [Command(efforts[delay], *signals, in_force=True) for delay in delays]
        if self._reference.twin and not (wrench is None and twist is None):
            self._reference.twin.stop("a wrench or a twist is commanded")
        return self._compare_by_delay(before, after, commands, has_event=has_event)

    def _drop_events_until(self, time: float) -> bool:
        """Drop events up to a time [s]; return whether there were any."""
        count = bisect_right(self._event_times, time + TIME_ROUND_OFF)
        del self._event_times[:count]
        return count > 0

    def _compare_by_delay(
        self, before: RobotState, after: RobotState, commands: Sequence[Command], *, has_event: bool
    ) -> list[RobotState]:
        """Compare a control period under one command for each possible delay.

        Args:
            before, after: samples.
            commands: in force, by delay.
            has_event: whether an event of the run happened in it.

        Returns:
            errors of the newly compared states, as `compare` returns them.
        """
        # Compare with the reference, and with the twin if it is due and no event is near.
        is_due = (self.compared + len(self._errors_by_delay)) % TWIN_INTERVAL == 0
        with_twin = (is_due or not self._reference.has_contacts) and not self._periods_near_event
        compare = self._reference.compare
        try:
            compared = [compare(before, after, c, with_twin=with_twin) for c in commands]
        except AccordError as error:  # such as a ball that was driven off its terrain
            why = because(Code.REFUSED_STATE, time=before.time, text=str(error))
            self._refused = self._refused or why
            self.left_out += 1
            return []
        # Leave out periods with an event or a joint at its stop: no scheme places these within a
        # step. A chaotic motion has joints at their stops; Gazebo's magnets yield a little.
        has_event = has_event or any(events for _, events in compared)
        self._periods_near_event = 2 if has_event else max(self._periods_near_event - 1, 0)
        by_delay = [errors for errors, _ in compared]
        chaotic = self.setup.scenario.crosscheck.statistics
        stops = chaotic and by_delay[0].from_twin is None and self._reference.at_stop(before, after)
        special = has_event or stops or self._reference.yields_at_rest(by_delay[0])
        if special and self._engine != REFERENCE:
            self.left_out += 1
            return []
        if self._delay is None:
            self._errors_by_delay.append(by_delay)
            return self.choose_delay() if len(self._errors_by_delay) == ESTIMATION_PERIODS else []
        return [self._add(by_delay[0])]

    def choose_delay(self) -> list[RobotState]:
        """Choose the smallest delay that explains the periods so far, and add their errors.

        Gazebo's engine takes forward Euler steps, whose error no delay has to explain.
        """
        periods = self._errors_by_delay
        if self._delay is not None or not periods:
            return []
        # Errors by period, delay and rate, of which the squares are summed up for each delay.
        unexplained = [[e.rates.beyond_twin - e.rates.euler for e in errors] for errors in periods]
        sums = np.square(unexplained).sum(axis=(0, 2))
        self._delay = delay = int(np.flatnonzero(sums <= EQUAL_DELAY_RATIO * sums.min())[0])
        self._errors_by_delay = []
        return [self._add(by_delay[delay]) for by_delay in periods]

    def _add(self, errors: PeriodErrors) -> RobotState:
        """Add the errors of a period to the sums, and return those of the joints as a state."""
        self._sums.add(errors.rates)
        if self._reference.twin is not None and errors.from_twin is not None:
            self._reference.twin.add(errors.before, errors.after, errors.command, errors.from_twin)
        joint_rates = errors.rates.error[: len(errors.position)]
        no_effort = np.zeros_like(joint_rates)
        return RobotState(errors.after.time, errors.position, joint_rates, no_effort)

    def verdict(self, ticks: int = 0) -> Report:
        """Return the verdict so far, of a run with at least `ticks` control periods."""
        return report_of_run(self.setup, self._engine, self.checks(ticks))

    def checks(self, ticks: int = 0) -> dict[str, Any]:
        """Return the checks so far by level, of a run with at least `ticks` control periods."""
        total = max(self.compared + self.left_out + self.skipped, ticks)
        checks: dict[str, Any] = {"one_step": self._one_step_check(total)}
        if (drive := self._drive.check()).judged:
            checks["drive"] = drive
        if (twin := self._reference.twin) is not None:
            others = self.left_out if self._reference.has_contacts else total - twin.judged
            checks["scheme"] = twin.check(others)
        return checks

    def _one_step_check(self, total: int) -> RecordedStep:
        """Return the comparison with the reference.

        Args:
            total: number of control periods of the run.
        """
        tolerances = self.setup.scenario.crosscheck.tolerances.at(self._period)
        tolerance = self._tolerance or tolerances.one_step
        # Root mean squares (2,) of joints and base, relative to the change of their rates.
        rms = self._sums.rms_by_group()
        change = np.maximum(rms.change, rms.recorded_change)
        shares = _ratios(rms.beyond_twin, change)
        explained = _ratios(rms.explained(self._reference.pyramid), change)
        # Of joints and base, the one that exceeds what is allowed by more comes first.
        groups = "joints" if self.setup.joints else "base", "base"
        twin = self._reference.twin
        scheme = twin is not None and twin.compares and not self._reference.has_contacts
        rates = list[Rates]()
        for whose, share, explained_share in zip(groups, shares, explained):
            why = because(Code.STEPPING_EXPLAINS, share=explained_share, scheme=scheme)
            rates.append(Rates(whose, share, explained_share, why))
        rates.sort(key=lambda rate: rate.share / rate.allowed(tolerance), reverse=True)
        return RecordedStep(
            ticks=total,
            compared=self.compared,
            left_out=self.left_out,
            skipped=self.skipped,
            delay=self._delay or 0,
            rms=float(rms.error[0]),
            max=self._sums.largest,
            relative=rates[0].share,
            allowed=rates[0].allowed(tolerance),
            rates=tuple(rates),
            tolerance=tolerance,
            largest=float(rms.beyond_twin.max()),
            least=min((part for part, size in zip(explained, change) if size), default=0.0),
            period=self._period,
            refused=self._refused,
        )

    @property
    def worst(self) -> str:
        """Joint whose error exceeds most what time stepping explains, or `base_link`."""
        sums = self._sums.root_sum_squares()
        index = first_largest(sums.beyond_twin - sums.explained(self._reference.pyramid))
        return self.setup.joints[index] if index < len(self.setup.joints) else "base_link"


def _ratios(sizes: Array, changes: Array) -> list[float]:
    """Return sizes (2,) over changes (2,), 0 where nothing changes."""
    return [float(size / change) if change > 0.0 else 0.0 for size, change in zip(sizes, changes)]
