"""Online detection of failed joints, from joint states and commanded efforts alone.

Sixteen Kalman filters of the arm run side by side (bank.py): one with the current belief about the
kind of each joint (healthy, loose or frozen), and one for each other kind of each joint. Each
filter also estimates what is unknown of the arm, so that an arm that merely differs from its model
is not called broken. Evidence is twice the logarithm of a likelihood ratio, in units of chi^2. In
each tick (control period):

 1. All filters predict and correct the joint rates, and the evidence for each is updated.
 2. If no filter predicts the rates at all, all restart. Nothing is reported for a while after a
    restart or a report.
 3. If the evidence is best for the belief with older unknowns, these are restored.
 4. A joint is reported if a filter of one of its other kinds fits, and the evidence for it exceeds
    a threshold, and the evidence for every other joint by MIN_LEAD. Which of the two other kinds is
    reported is decided when one is ahead of the other by MIN_KIND_LEAD; "undetermined" if that
    takes longer than PATIENCE. "healthy" takes an earlier report back.
 5. If no filter has fitted for PATIENCE, the joint that fits worst is reported as "unexplained".

The constants may be tuned, but not on the arms of the table in docs/packbot_failures.md; run `make
detection` again for that table, and test_detector.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from packbot.controllers.diagnosis import Detection, Verdict
from packbot.model.parameters import JOINTS
from roboaccord.contract import Array, RobotState, clip_efforts
from roboaccord.scenario import Setup

from roboaccord_studies.packbot.detection.balance import Balance, Belief, Tick
from roboaccord_studies.packbot.detection.bank import BELIEF, EXCLUDED, KINDS, RESTARTED, FilterBank
from roboaccord_studies.packbot.detection.filters import HEALTHY, LOOSE, N
from roboaccord_studies.packbot.detection.noise import SETTLING_TIME, Noise
from roboaccord_studies.packbot.detection.touching import Touching
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty

# Thresholds of the evidence. docs/packbot_failures.md has false alarms with thresholds 10, 40, 80.
THRESHOLD = 40.0  # chi^2; evidence from which a joint is reported
# chi^2; lead that this evidence needs over that of all other joints: a likelihood ratio of exp(5) =
# 150.
MIN_LEAD = 10.0
# chi^2; lead that one kind of the joint needs over its other one, as THRESHOLD
MIN_KIND_LEAD = 40.0
# s; a failure is reported as undetermined or unexplained after this time: 30 ticks, in which a
# joint that moves shows its kind.
PATIENCE = 0.3
# chi^2 of the rates in one tick; above it in all filters, all of them restart: expected are 7, so
# they are off fivefold.
RESTART_MISFIT = 200.0
# s; nothing is reported for this time after a report, until the filters have settled: a half longer
# than bank.SQUARE_TIME, by which it is known whether they fit
QUIET_TIME = 0.5
# Factor on the threshold until the unknowns of the arm are estimated: to 80, the largest threshold
# of the figure in docs/packbot_failures.md, as errors of the model look like failures until then.
EARLY_FACTOR = 2.0
# Bound of the mean square of a filter's normalised errors, up to which it fits: expected is 1;
# errors of the model double it.
MAX_MEAN_SQUARE = 3.0
# What the filters allow for.
# rad; a loose joint that has turned by more since its report has fallen: ten times the prior of
# encoder zeros, 5 mrad.
FALLEN_ANGLE = 0.05
# Standard deviation of a rate after an impact within a tick, over its change: contacts that begin
# within a tick act for part of it, uniformly (0.29).
JOLT_SHARE = 0.3
# 1/s^0.5; random walk of the unknowns, over their prior standard deviation: 10 % of the prior in
# 100 s.
DRIFT_RATE = 0.01
# Dry friction may hold a joint whose rate is below REST_RATE plus SIGMAS standard deviations of its
# noise (a joint at rest has a larger one by chance in 3 of 1000).
SIGMAS = 3.0
REST_RATE = 0.02  # rad/s; the rate DRY_RATE of balance.py
# N m; standard deviation of the effort of a stop, about that of the drives' limits
STOP_EFFORT = 100.0
# standard deviation of an angle in encoder counts, over a count: 1 / sqrt(12)
ROUNDING_COUNTS = 0.3


class Detector:
    """Detector of failed joints, which takes the measured states of the arm one by one.

    Args:
        setup: robot and scenario.
        payload: known payload at the finger tips [kg].
        threshold: evidence from which a joint is reported [chi^2].
        uncertainty: by how much the arm may differ from its model.

    Attributes:
        tick: terms of the balance of efforts over the last tick.
        noise: estimate of the noise of angles and rates.
    """

    tick: Tick

    def __init__(
        self,
        setup: Setup,
        payload: float = 0.0,
        threshold: float = THRESHOLD,
        uncertainty: Uncertainty | None = None,
    ) -> None:
        u = uncertainty or Uncertainty()
        self._threshold, self._limits = threshold, setup.effort_limits
        self._balance = Balance(setup, payload, u)
        self._bank = FilterBank(self._balance)
        angle_noise = float(np.hypot(u.angle_noise, ROUNDING_COUNTS * u.quantisation))
        slowest = float(setup.parameters.of_joints("speed_limit").min())
        self.noise = Noise((angle_noise, u.rate_noise), slowest)
        self._touching = Touching(setup, u.angle_noise, u.encoder_offset, u.length)
        self.reset()

    def reset(self) -> None:
        """Return to the state at the start of a run."""
        self._bank.reset()
        self._touching.reset()
        self._balance.reset()
        self.noise.reset()
        self._time: float | None = None  # of the last state [s]
        self._start_time = 0.0  # of the first state [s]
        self._unmodelled = np.zeros(N, dtype=np.bool_)  # joints whose effort may be anything
        self._reported: dict[int, Verdict] = {}  # last verdict, by index of the joint
        self._open_times = np.zeros(N)  # time for which the kind of a failure has been open [s]
        self._report_angles = np.zeros(N)  # angle of each joint when it was last reported [rad]
        self._misfit_time = 0.0  # time for which no filter has fitted [s]

    def update(self, state: RobotState, effort: Array) -> tuple[Detection, ...]:
        """Process a measured state, and the effort that was commanded until then.

        Args:
            state: measured state.
            effort: commanded over the period before it (7,) [N m]; ignored with the first state.

        Returns:
            the joint that is reported now, or nothing.
        """
        time = state.time
        if self._time is None:
            self._time = self._start_time = time
            self._touching.update(time, state.q, state.qd)
            self._balance.angles = state.q
            self._restart(time, state.qd, self.noise.update(state.q, state.qd, 0.0)[1])
            return ()
        period = time - self._time
        self._time = time
        self._advance(state, effort, period)
        self._bank.add_evidence(time, period, settled=time > self._start_time + SETTLING_TIME)
        if self._bank.least_misfit() > RESTART_MISFIT:
            self._restart(time, state.qd, self.tick.noise)
        if time < self._bank.blind_until:
            if self._reported:
                self._bank.restart(slice(None), time)
            elif self._bank.evidence[RESTARTED] > MIN_LEAD:
                self._bank.adopt(RESTARTED, time)
            return ()
        return self._report(time, period)

    def _restart(self, time: float, rates: Array, noise: float) -> None:
        """Restart all filters at measured rates (7,) with their noise [rad/s]."""
        self._misfit_time = 0.0
        self._bank.start(time, rates, noise)

    def _advance(self, state: RobotState, effort: Array, period: float) -> None:
        """Advance all filters over a tick that ends in a measured state."""
        bank, q, qd = self._bank, state.q, state.qd
        # What is measured: noise, and contacts and stops that may have acted.
        angle_noise, rate_noise = self.noise.update(q, qd, period)
        self._touching.noise = float(angle_noise)
        impulses, stops = self._touching.update(state.time, q, qd)
        # Balance of efforts by the current belief.
        belief = Belief(bank.states[BELIEF], bank.spreads[BELIEF], bank.kinds == LOOSE)
        clipped = clip_efforts(effort, self._limits)
        tick = self._balance.tick(q, belief, clipped, period, float(angle_noise))
        # Variances of efforts that the balance does not contain: stops, joints with an unknown
        # failure, and dry friction of joints that may stick.
        white = tick.white + (stops.any(axis=1) | self._unmodelled) * STOP_EFFORT**2
        sticks = np.abs(qd) < SIGMAS * rate_noise + REST_RATE
        white = white + sticks * self._balance.sticking**2
        # Variances of the rates by an impact at an unknown time within the tick.
        jolts = (JOLT_SHARE * impulses.any() * (qd - bank.states[BELIEF, :N])) ** 2
        tick.drift[N:] = DRIFT_RATE**2 * period * self._balance.unknowns.prior[N:] ** 2
        touched = bool(impulses.any() or stops.any())
        self.tick = tick._replace(touched=touched, noise=float(rate_noise))
        bank.advance(tick, impulses / period**2 + np.diag(white), jolts, qd, rate_noise**2)

    @property
    def unknowns(self) -> Array:
        """Unknowns as estimated by filter 0, with wandering efforts set to 0 (m,)."""
        unknowns = np.array(self._bank.states[BELIEF, N:])
        unknowns[self._balance.unknowns.wandering] = 0.0
        return unknowns

    @property
    def spread(self) -> Array:
        """Covariance of the unknowns of filter 0, wandering efforts included (m, m)."""
        return np.array(self._bank.spreads[BELIEF, N:, N:])

    def exempt(self, joint: int, unknowns: Array, spread: Array) -> None:
        """Allow any effort of a joint from now on, and restore earlier unknowns.

        Args:
            joint: index of the joint, which has a failure that no filter models.
            unknowns: unknowns as estimated before it failed (m,).
            spread: their covariance (m, m).
        """
        assert self._time is not None
        bank = self._bank
        self._unmodelled[joint], bank.kinds[joint] = True, HEALTHY
        bank.states[BELIEF, N:], bank.spreads[BELIEF, N:, N:] = unknowns, spread
        self._restart(self._time, bank.rates, bank.variance**0.5)

    def open_explanations(self) -> dict[str, tuple[str, ...]]:
        """Return the kinds between which recent measurements cannot decide, by name of the joint.

        A joint that stood still may be frozen. A joint whose effort would not have moved it may be
        loose.
        """
        explanations = dict[str, tuple[str, ...]]()
        loose, frozen = self._bank.by_joint(self._bank.recent) > -EXCLUDED
        for j, joint in enumerate(JOINTS):
            verdict = self._reported.get(j)
            if verdict in (None, "undetermined", "healthy", "unexplained"):
                healthy = verdict != "undetermined"
                possible = {"healthy": healthy, "frozen": frozen[j], "loose": loose[j]}
                if frozen[j] or loose[j]:
                    explanations[joint] = tuple(kind for kind in possible if possible[kind])
        return explanations

    def _report(self, time: float, period: float) -> tuple[Detection, ...]:
        """Return the report about the joint with the clearest evidence, if it is clear enough.

        Args:
            time: end of the tick [s].
            period: length of the tick [s].
        """
        bank = self._bank
        # No joint failed if older unknowns explain the rates best: the newer ones were wrong.
        if bank.evidence[RESTARTED] > MIN_LEAD and bank.evidence.argmax() == len(bank.evidence) - 1:
            bank.adopt(RESTARTED, time)
            return ()
        # Evidence by other kind and joint (2, 7), of filters that fit.
        fits = bank.errors.mean(axis=1) <= MAX_MEAN_SQUARE
        by_kind = bank.by_joint(np.where(fits, bank.evidence, 0.0))
        # A loose joint that has fallen and is at rest lies on something: it is not frozen (the
        # first other kind of a loose joint).
        fallen = np.abs(self._balance.angles - self._report_angles) > FALLEN_ANGLE
        by_kind[0, (bank.kinds == LOOSE) & fallen] = 0.0
        # The joint with the most evidence, and the most evidence for anything else.
        evidence = by_kind.max(axis=0)
        joint = int(evidence.argmax())
        rival = np.delete(bank.by_joint(bank.evidence).max(axis=0), joint).max()
        rival = max(rival, bank.evidence[RESTARTED])
        is_early = time < self._start_time + SETTLING_TIME
        threshold = self._threshold * (EARLY_FACTOR if is_early else 1.0)
        if evidence[joint] < threshold or evidence[joint] < rival + MIN_LEAD:
            self._open_times[:] = 0.0
            return self._unexplained(time, period, fits)
        self._misfit_time = 0.0
        return self._kind_report(joint, by_kind[:, joint] > 0.0, time, period)

    def _kind_report(
        self, joint: int, possible: NDArray[np.bool_], time: float, period: float
    ) -> tuple[Detection, ...]:
        """Return the report about a joint that is not of the believed kind.

        Args:
            joint: index of the joint.
            possible: whether each of its two other kinds has evidence (2,).
            time: end of the tick [s].
            period: length of the tick [s].
        """
        bank = self._bank
        # The more likely one of the two other kinds, and its filter (the order is in bank.py).
        preference = bank.by_joint(bank.kind_evidence)[:, joint]
        likelier = int(np.where(possible, preference, -np.inf).argmax())
        hypothesis = 1 + likelier * N + joint
        number = int(bank.faults[hypothesis, joint])
        kind = KINDS[number]
        # If its lead is small: wait; a healthy joint is then undetermined, others keep their kind.
        if preference[likelier] < preference[1 - likelier] + MIN_KIND_LEAD:
            if bank.kinds[joint] != HEALTHY:
                return ()
            kind = "undetermined"
            self._open_times[joint] += period
            if self._open_times[joint] < PATIENCE or self._reported.get(joint) == kind:
                return ()
        self._reported[joint] = kind
        delay = time - float(bank.since[hypothesis])
        missing = float(bank.states[BELIEF, N + joint])  # wandering effort of the joint [N m]
        # A determined kind becomes the belief, from which all filters go on.
        if kind != "undetermined":
            bank.kinds[joint] = number
            self._report_angles[joint] = self._balance.angles[joint]
            bank.adopt(hypothesis, time)
            bank.blind_until = time + QUIET_TIME
        return (Detection(JOINTS[joint], kind, time, delay, missing),)

    def _unexplained(
        self, time: float, period: float, fits: NDArray[np.bool_]
    ) -> tuple[Detection, ...]:
        """Report the joint with the largest errors as unexplained if no filter fits for a while.

        Args:
            time: end of the tick [s].
            period: length of the tick [s].
            fits: whether each filter fits (16,).
        """
        self._misfit_time = 0.0 if fits.any() else self._misfit_time + period
        if self._misfit_time < PATIENCE:
            return ()
        joint = int(self._bank.errors[BELIEF].argmax())
        if self._reported.get(joint) == "unexplained":
            return ()
        self._reported[joint] = "unexplained"
        missing = float(self._bank.states[BELIEF, N + joint])
        return (Detection(JOINTS[joint], "unexplained", time, self._misfit_time, missing),)
