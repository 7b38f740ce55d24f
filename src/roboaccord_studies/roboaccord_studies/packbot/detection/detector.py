"""Online detection of failed joints, from joint states and commanded efforts alone.

THRESHOLD, MARGIN, APART and the times below decide when a joint is named. They may be tuned, but
not on the arms of the table in docs/packbot_failures.md, for which `make detection` is then to be
run again. Failures must be found and healthy arms not called broken (test_detector). `Tick` is what
`diagnosis` and the filters read.

Kalman filters of the arm, as it was last taken to be and with each other kind of each joint, run
side by side; what one of them explains better is summed, and begins anew where it is none (the
cumulative sum [Page 1954] of a multiple-model filter [Magill 1965]). What is not known of the arm
is estimated by each of them, so that an arm that is not its model is distinguished from a broken
one. A joint that was named can be found healthy later: the name is taken back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from packbot.controllers.diagnosis import Detection, Verdict
from packbot.model.parameters import JOINTS
from roboaccord.contract import Array, RobotState, clip_efforts
from roboaccord.scenario import Setup

from roboaccord_studies.packbot.detection.bank import CLEAR, KINDS, FilterBank
from roboaccord_studies.packbot.detection.filters import HEALTHY, LOOSE, Balance, N, advance
from roboaccord_studies.packbot.detection.noise import SETTLED, Noise
from roboaccord_studies.packbot.detection.touching import Touching
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty

THRESHOLD = 40.0  # chi^2
MARGIN = 10.0  # chi^2 by which a joint beats the others,
APART = 40.0  # and its one kind the other
PATIENCE = 0.3  # s for which a failure stands whose kind stays open, or that nothing explains
LOST = 200.0  # chi^2 of rates that no filter predicts: all restart
AFTER = 0.5  # s for which nothing is reported after a name: others are shaken, too
EARLY = 2.0  # by how much more it takes while an arm is not known yet
LOOSELY = 3.0  # and how much larger than expected they may be
TURNED = 0.05  # rad
JOLT = 0.3  # part of a change of rate that an impact within a tick leaves open
DRIFT = 0.01  # 1/s^0.5: by which the unknowns wander, of their prior
SIGMAS, SLOW = 3.0, 0.02  # of the noise of rates, rad/s: slower joints may stick
STOP = 100.0  # N m: standard deviation of what a stop may give


class Tick(NamedTuple):
    """A tick as `filters.advance` takes it, and what was measured in it.

    Args:
        keep, free, known, motor, effects: as of `filters.Balance.over`.
        touched: whether contact or a stop may have pushed.
        noise: standard deviation of the rates [rad/s].
    """

    keep: Array
    free: Array
    known: Array
    motor: Array
    effects: Array
    touched: bool
    noise: float


class Detector(FilterBank):
    """Watch the arm, state by state.

    Args:
        setup: robot and scenario.
        payload: at the finger tips, as known [kg].
        threshold: of the likelihood ratio, chi^2 with one degree of freedom.
        uncertainty: of the arm.

    Attributes:
        tick: the last one.
        noise: of what is measured.
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
        first = float(np.hypot(u.angle_noise, 0.3 * u.quantisation)), u.rate_noise
        self.noise = Noise(first, float(setup.parameters.of_joints("speed_limit").min()))
        self._touching = Touching(setup, u.angle_noise, u.encoder_offset, u.length)
        self.reset()

    def reset(self) -> None:
        """Forget all, as at the start of a run."""
        self._clear(self._balance)
        self._touching.reset()
        self._balance.reset()
        self.noise.reset()
        self._time: float | None = None
        self._left = np.zeros(N, dtype=np.bool_)  # joints whose effort is anything
        self._reported: dict[int, Verdict] = {}
        self._doubtful, self._named = np.zeros((2, N))

    def update(self, state: RobotState, effort: Array) -> tuple[Detection, ...]:
        """Take what was measured, and the effort that was commanded up to then.

        Args:
            state: as measured.
            effort: commanded over the period before (7,) [N m]; of the first state it counts not.

        Returns:
            joints of which something else is found now than before.
        """
        time, q, qd = state.time, state.q, state.qd
        if self._time is None:
            self._time = self._begun = time
            self._touching.look(time, q, qd)
            self._balance.begin(q)
            self._start(time, qd, self.noise.see(q, qd, 0.0)[1])
            return ()
        period, self._time = time - self._time, time
        noise = self.noise.see(q, qd, period)
        self._seen, self._variance = qd, noise[1] ** 2
        self._touching.noise = float(noise[0])
        impulses, stops = self._touching.look(time, q, qd)
        tau = clip_efforts(effort, self._limits)
        keep, free, modelled, motor, effects, white, fade, drift = self._balance.over(
            q, self._states[0], self._spreads[0], self._known == LOOSE, tau, period, float(noise[0])
        )
        white = white + (stops.any(axis=1) | self._left) * STOP**2
        sticks = np.abs(qd) < SIGMAS * noise[1] + SLOW
        white = white + sticks * self._balance.sticking**2
        jolts = (JOLT * impulses.any() * (qd - self._states[0, :N])) ** 2
        drift[N:] = DRIFT**2 * period * self._balance.prior[N:] ** 2
        touched = bool(impulses.any() or stops.any())
        self.tick = Tick(keep, free, modelled, motor, effects, touched, float(noise[1]))
        advance(
            self._faults(), keep, free, modelled, motor, effects, self._balance.driven,
            impulses / period**2 + np.diag(white), jolts, fade, drift, qd, noise[1] ** 2,
            self._states, self._spreads, self._fits,
        )  # fmt: skip
        self._weigh(time, period)
        if (self._fits[:, 1:] ** 2).sum(axis=1).min() > LOST:
            self._start(time, qd, noise[1])
        if time < self._blind:
            if self._reported:
                self._anew(slice(None), time)
            elif self._evidence[-1] > MARGIN:
                self._take(len(self._evidence) - 1, time)
            return ()
        return self._report(time, period)

    def leave(self, joint: int, unknowns: Array, spread: Array) -> None:
        """Take the effort of a joint for anything from now on, and unknowns for what they were.

        Args:
            joint: whose failure the filters do not know.
            unknowns, spread: as before it failed (m,), (m, m).
        """
        assert self._time is not None
        self._left[joint], self._known[joint] = True, HEALTHY
        self._states[0, N:], self._spreads[0, N:, N:] = unknowns, spread
        self._start(self._time, self._seen, self._variance**0.5)

    def open_explanations(self) -> dict[str, tuple[str, ...]]:
        """Return, by joint, what recent measurements cannot distinguish.

        A joint that stood still may be frozen; one whose effort would not have moved it, loose.
        """
        kinds = dict[str, tuple[str, ...]]()
        first, second = self._against[1:-1].reshape(2, -1)
        for j, joint in enumerate(JOINTS):
            if self._reported.get(j, "undetermined") not in (
                "undetermined",
                "healthy",
                "unexplained",
            ):
                continue
            doubts = {"healthy": self._reported.get(j) != "undetermined"}
            doubts |= {"frozen": second[j] > -CLEAR, "loose": first[j] > -CLEAR}
            if doubts["frozen"] or doubts["loose"]:
                kinds[joint] = tuple(kind for kind, open_ in doubts.items() if open_)
        return kinds

    def _report(self, time: float, period: float) -> tuple[Detection, ...]:
        """Return the joint whose other kind explains what nothing else does."""
        last = len(self._evidence) - 1
        if self._evidence[last] > MARGIN and self._evidence.argmax() == last:
            self._take(last, time)  # the arm is as it was taken to be, and was known wrongly
            return ()
        fits = self._errors.mean(axis=1) <= LOOSELY
        both = np.where(fits, self._evidence, 0.0)[1:-1].reshape(2, -1)
        # A loose joint that has turned since, and is at rest, lies on something.
        turned = np.abs(self._balance.angles - self._named) > TURNED
        both[0, (self._known == LOOSE) & turned] = 0.0
        evidence = both.max(axis=0)
        joint = int(evidence.argmax())
        rival = np.delete(self._evidence[1:-1].reshape(2, -1).max(axis=0), joint).max()
        rival = max(rival, self._evidence[-1])
        least = self._threshold * (EARLY if time < self._begun + SETTLED else 1.0)
        if evidence[joint] < least or evidence[joint] < rival + MARGIN:
            self._doubtful[:] = 0.0
            return self._unexplained(time, period, fits)
        self._strange = 0.0
        kinds = self._kinds[1:-1].reshape(2, -1)[:, joint]
        which = int(np.where(both[:, joint] > 0.0, kinds, -np.inf).argmax())
        hypothesis = 1 + which * N + joint
        number = int(self._faults()[hypothesis, joint])
        kind = KINDS[number]
        open_ = kinds[which] < kinds[1 - which] + APART
        if open_ and self._known[joint] == HEALTHY:
            kind = "undetermined"
            self._doubtful[joint] += period
            if self._doubtful[joint] < PATIENCE or self._reported.get(joint) == kind:
                return ()
        elif open_:
            return ()
        self._reported[joint] = kind
        since = float(self._since[hypothesis])
        missing = float(self._states[0, N + joint])
        if kind != "undetermined":
            self._known[joint] = number
            self._named[joint] = self._balance.angles[joint]
            self._take(hypothesis, time)
            self._blind = time + AFTER
        return (Detection(JOINTS[joint], kind, time, time - since, missing),)

    def _unexplained(
        self, time: float, period: float, fits: NDArray[np.bool_]
    ) -> tuple[Detection, ...]:
        """Return the joint that fits least, where no filter fits for a while."""
        self._strange = 0.0 if fits.any() else self._strange + period
        if self._strange < PATIENCE:
            return ()
        joint = int(self._errors[0].argmax())
        if self._reported.get(joint) == "unexplained":
            return ()
        self._reported[joint] = "unexplained"
        missing = float(self._states[0, N + joint])
        return (Detection(JOINTS[joint], "unexplained", time, self._strange, missing),)
