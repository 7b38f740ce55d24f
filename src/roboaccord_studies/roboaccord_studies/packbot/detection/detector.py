"""Online detection of failed joints, from joint states and commanded efforts alone.

Kalman filters of the arm run side by side, as it was last taken to be and with each other kind of
each joint (bank.py). A joint is named when the filter of one of its other kinds fits, and the
evidence for that filter exceeds THRESHOLD and all other joints' evidence by MARGIN. Its kind is
named when it exceeds the joint's other kind by KIND_MARGIN. Each filter estimates what is not known
of the arm, so that an arm that differs from its model is not taken for a broken one. A joint that
was named can be found healthy later: the name is taken back.

The constants are choices that may be tuned, but not on the arms of the table in
docs/packbot_failures.md, for which `make detection` is then to be run again. test_detector checks
that failures are found and healthy arms not called broken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from packbot.controllers.diagnosis import Detection, Verdict
from packbot.model.parameters import JOINTS
from roboaccord.contract import Array, RobotState, clip_efforts
from roboaccord.scenario import Setup

from roboaccord_studies.packbot.detection.balance import Balance, Tick
from roboaccord_studies.packbot.detection.bank import EXCLUDED, KINDS, RESTARTED, TAKEN, FilterBank
from roboaccord_studies.packbot.detection.filters import HEALTHY, LOOSE, N
from roboaccord_studies.packbot.detection.noise import SETTLED, Noise
from roboaccord_studies.packbot.detection.touching import Touching
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty

THRESHOLD = 40.0  # chi^2 of evidence; docs/packbot_failures.md has false alarms with 10, 40 and 80
MARGIN = 10.0  # chi^2 by which a joint exceeds all others
KIND_MARGIN = 40.0  # chi^2 by which its one kind exceeds the other
PATIENCE = 0.3  # s for which a failure lasts whose kind is open, or that nothing explains
LOST = 200.0  # chi^2 of rates that no filter predicts: all restart
AFTER = 0.5  # s for which nothing is reported after a name: the other filters are shaken, too
EARLY = 2.0  # factor on the threshold as long as the arm is not known
FITTING = 3.0  # mean square of the errors, over their variance, up to which a filter fits
TURNED = 0.05  # rad by which a loose joint has turned when it is taken to have fallen
JOLT = 0.3  # fraction of a change of rate that an impact within a tick leaves open
DRIFT = 0.01  # 1/s^0.5: random walk of the unknowns, over their prior
SIGMAS = 3.0  # standard deviations of the noise of rates, and
SLOW = 0.02  # rad/s: joints slower than their sum may stick
STOP = 100.0  # N m: standard deviation of what a stop may give, of the size of the drives' limits
ROUNDING = 0.3  # standard deviation of a reading in counts, over a count: about 1 / sqrt(12)


class Detector:
    """Detector that watches the arm, state by state.

    Args:
        setup: robot and scenario.
        payload: at the finger tips, as known [kg].
        threshold: of the evidence for a failure [chi^2].
        uncertainty: of the arm.

    Attributes:
        tick: terms of the balance over the last tick.
        noise: estimate of the noise of angles and rates.
    """

    tick: Tick

    def __init__(
        self, setup: Setup, payload: float = 0.0, threshold: float = THRESHOLD,
        uncertainty: Uncertainty | None = None,
    ) -> None:  # fmt: skip
        u = uncertainty or Uncertainty()
        self._threshold, self._limits = threshold, setup.effort_limits
        self._balance = Balance(setup, payload, u)
        self._bank = FilterBank(self._balance)
        first = float(np.hypot(u.angle_noise, ROUNDING * u.quantisation)), u.rate_noise
        self.noise = Noise(first, float(setup.parameters.of_joints("speed_limit").min()))
        self._touching = Touching(setup, u.angle_noise, u.encoder_offset, u.length)
        self.reset()

    def reset(self) -> None:
        """Forget all, as at the start of a run."""
        self._bank.reset()
        self._touching.reset()
        self._balance.reset()
        self.noise.reset()
        self._time: float | None = None  # of the last state [s]
        self._unmodelled = np.zeros(N, dtype=np.bool_)  # joints whose effort may be anything
        self._reported: dict[int, Verdict] = {}  # last verdict by joint
        self._doubtful = np.zeros(N)  # time for which a failure's kind has been open [s]
        self._named_at = np.zeros(N)  # angles at which joints were named [rad]
        self._strange = 0.0  # time for which no filter has fitted [s]

    def update(self, state: RobotState, effort: Array) -> tuple[Detection, ...]:
        """Take what was measured, and the effort that was commanded up to then.

        Args:
            state: as measured.
            effort: commanded over the period before (7,) [N m]; ignored with the first state.

        Returns:
            new findings about joints.
        """
        time = state.time
        if self._time is None:
            self._time = self._begun = time
            self._touching.look(time, state.q, state.qd)
            self._balance.begin(state.q)
            self._restart(time, state.qd, self.noise.see(state.q, state.qd, 0.0)[1])
            return ()
        period, self._time = time - self._time, time
        self._advance(state, effort, period)
        self._bank.weigh(time, period, settled=time > self._begun + SETTLED)
        if self._bank.least_misfit() > LOST:
            self._restart(time, state.qd, self.tick.noise)
        if time < self._bank.blind_until:
            if self._reported:
                self._bank.restart(slice(None), time)
            elif self._bank.evidence[RESTARTED] > MARGIN:
                self._bank.take(RESTARTED, time)
            return ()
        return self._report(time, period)

    def _restart(self, time: float, rates: Array, noise: float) -> None:
        """Let all filters begin with measured rates (7,) and their noise [rad/s]."""
        self._strange = 0.0
        self._bank.start(time, rates, noise)

    def _advance(self, state: RobotState, effort: Array, period: float) -> None:
        """Advance all filters over a tick that ends in a measured state."""
        bank, q, qd = self._bank, state.q, state.qd
        angle_noise, rate_noise = self.noise.see(q, qd, period)
        self._touching.noise = float(angle_noise)
        impulses, stops = self._touching.look(state.time, q, qd)
        tick = self._balance.tick(
            q, bank.states[TAKEN], bank.spreads[TAKEN], bank.kinds == LOOSE,
            clip_efforts(effort, self._limits), period, float(angle_noise),
        )  # fmt: skip
        white = tick.white + (stops.any(axis=1) | self._unmodelled) * STOP**2
        sticks = np.abs(qd) < SIGMAS * rate_noise + SLOW
        white = white + sticks * self._balance.sticking**2
        jolts = (JOLT * impulses.any() * (qd - bank.states[TAKEN, :N])) ** 2
        tick.drift[N:] = DRIFT**2 * period * self._balance.unknowns.prior[N:] ** 2
        touched = bool(impulses.any() or stops.any())
        self.tick = tick._replace(touched=touched, noise=float(rate_noise))
        bank.advance(tick, impulses / period**2 + np.diag(white), jolts, qd, rate_noise**2)

    @property
    def unknowns(self) -> Array:
        """Estimate of the unknowns by the likeliest filter, without wandering efforts (m,)."""
        unknowns = np.array(self._bank.states[TAKEN, N:])
        unknowns[self._balance.unknowns.wandering] = 0.0
        return unknowns

    @property
    def spread(self) -> Array:
        """Covariance of the unknowns, wandering efforts included (m, m)."""
        return np.array(self._bank.spreads[TAKEN, N:, N:])

    def exempt(self, joint: int, unknowns: Array, spread: Array) -> None:
        """Let the effort of a joint be anything from now on, and restore earlier unknowns.

        Args:
            joint: whose failure the filters do not know.
            unknowns, spread: as before it failed (m,), (m, m).
        """
        assert self._time is not None
        bank = self._bank
        self._unmodelled[joint], bank.kinds[joint] = True, HEALTHY
        bank.states[TAKEN, N:], bank.spreads[TAKEN, N:, N:] = unknowns, spread
        self._restart(self._time, bank.rates, bank.variance**0.5)

    def open_explanations(self) -> dict[str, tuple[str, ...]]:
        """Return, by joint, what recent measurements cannot distinguish.

        A joint that stood still may be frozen; one whose effort would not have moved it, loose.
        """
        explanations = dict[str, tuple[str, ...]]()
        loose, frozen = self._bank.by_joint(self._bank.recent) > -EXCLUDED
        for j, joint in enumerate(JOINTS):
            verdict = self._reported.get(j)
            if verdict in (None, "undetermined", "healthy", "unexplained"):
                kinds = ["healthy"] if verdict != "undetermined" else []
                kinds += ["frozen"] * bool(frozen[j]) + ["loose"] * bool(loose[j])
                if frozen[j] or loose[j]:
                    explanations[joint] = tuple(kinds)
        return explanations

    def _report(self, time: float, period: float) -> tuple[Detection, ...]:
        """Return the joint of which another kind explains the rates, and nothing else does."""
        bank = self._bank
        if bank.evidence[RESTARTED] > MARGIN and bank.evidence.argmax() == len(bank.evidence) - 1:
            bank.take(RESTARTED, time)  # nothing failed: the unknowns were estimated wrongly
            return ()
        fits = bank.errors.mean(axis=1) <= FITTING
        by_kind = bank.by_joint(np.where(fits, bank.evidence, 0.0))
        # A loose joint that has turned since, and is at rest, lies on something.
        turned = np.abs(self._balance.angles - self._named_at) > TURNED
        by_kind[0, (bank.kinds == LOOSE) & turned] = 0.0
        evidence = by_kind.max(axis=0)
        joint = int(evidence.argmax())
        rival = np.delete(bank.by_joint(bank.evidence).max(axis=0), joint).max()
        rival = max(rival, bank.evidence[RESTARTED])
        threshold = self._threshold * (EARLY if time < self._begun + SETTLED else 1.0)
        if evidence[joint] < threshold or evidence[joint] < rival + MARGIN:
            self._doubtful[:] = 0.0
            return self._unexplained(time, period, fits)
        self._strange = 0.0
        return self._named(joint, by_kind[:, joint] > 0.0, time, period)

    def _named(
        self, joint: int, possible: NDArray[np.bool_], time: float, period: float
    ) -> tuple[Detection, ...]:
        """Return what is reported of a joint that is not what it was taken to be.

        Args:
            joint: index.
            possible: whether each of its two other kinds has evidence (2,).
            time, period: of the tick [s].
        """
        bank = self._bank
        preference = bank.by_joint(bank.kind_evidence)[:, joint]
        which = int(np.where(possible, preference, -np.inf).argmax())
        hypothesis = 1 + which * N + joint
        number = int(bank.faults[hypothesis, joint])
        kind = KINDS[number]
        if preference[which] < preference[1 - which] + KIND_MARGIN:
            if bank.kinds[joint] != HEALTHY:
                return ()
            kind = "undetermined"
            self._doubtful[joint] += period
            if self._doubtful[joint] < PATIENCE or self._reported.get(joint) == kind:
                return ()
        self._reported[joint] = kind
        delay = time - float(bank.since[hypothesis])
        missing = float(bank.states[TAKEN, N + joint])
        if kind != "undetermined":
            bank.kinds[joint] = number
            self._named_at[joint] = self._balance.angles[joint]
            bank.take(hypothesis, time)
            bank.blind_until = time + AFTER
        return (Detection(JOINTS[joint], kind, time, delay, missing),)

    def _unexplained(
        self, time: float, period: float, fits: NDArray[np.bool_]
    ) -> tuple[Detection, ...]:
        """Return the joint that fits least, where no filter has fitted for a while."""
        self._strange = 0.0 if fits.any() else self._strange + period
        if self._strange < PATIENCE:
            return ()
        joint = int(self._bank.errors[TAKEN].argmax())
        if self._reported.get(joint) == "unexplained":
            return ()
        self._reported[joint] = "unexplained"
        missing = float(self._bank.states[TAKEN, N + joint])
        return (Detection(JOINTS[joint], "unexplained", time, self._strange, missing),)
