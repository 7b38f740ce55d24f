"""Online detection of frozen and loose joints, from joint states and commanded efforts alone.

Kalman filters of the arm, healthy and with each failure of each joint, run side by side; what one
of them explains better than the healthy one is summed, and begins anew where it is none (the
cumulative sum [Page 1954] of a multiple-model filter [Magill 1965]).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.checks import clip_efforts
from roboaccord.contract.fault import Fault
from roboaccord.contract.results import Quantity
from roboaccord.contract.state import Array
from roboaccord.scenario.setup import Setup

from packbot.detection.filters import FROZEN, LOOSE, Prediction, advance
from packbot.detection.touching import Touching
from packbot.model.parameters import JOINTS

Verdict = Literal["frozen", "loose", "undetermined"]
KINDS: tuple[Verdict, Verdict] = ("loose", "frozen")  # in the order of the filters
NOISE = (1e-3, 1e-2)  # rad, rad/s: standard deviations of what is measured
ERRORS = (0.2, 0.3)  # of the payload and of each joint's friction, relative, at most
MODEL = 2e-4  # part of the efforts by which the rest of the model may be off, at random
THRESHOLD = 30.0  # chi^2
MARGIN = 10.0  # chi^2 by which a joint beats the others,
APART = 30.0  # and its one failure the other
PAST = 0.05  # s: for so long an effort may have lacked before it shows
LOST = 80.0  # chi^2 of a state that no filter predicts: all begin anew,
BLIND = 0.1  # s: and tell nothing for so long
LOOSELY = 16.0  # chi^2 by which a state may be off, and as much over the square root of states
PATIENCE = 0.12  # s for which a failure stands whose kind stays open
CLEAR = 8.0  # chi^2 against an explanation that excludes it,
LATELY = 1.0  # s in which it is gathered
JOLT = 0.3  # part of a change of rate that an impact within a tick leaves open
DRIFT = 0.01  # 1/s^0.5: by which errors wander, relative to the largest
SIGMAS = 3.0  # of the noise of rates: slower joints may stick
STOP = 100.0  # N m: standard deviation of what a stop may give
UNIFORM = 3.0**-0.5  # standard deviation of an error that is uniform up to 1


@dataclass(frozen=True)
class Detection:
    """Hold a joint that was found failed.

    Args:
        joint: name.
        kind: `frozen`, `loose`, or `undetermined` as long as what is measured fits both.
        time: when it was found [s].
        delay: since it began, as far as can be told [s].
    """

    joint: Annotated[str, Quantity("")]
    kind: Annotated[Verdict, Quantity("", form="s")]
    time: Annotated[float, Quantity("s", form=".2f")]
    delay: Annotated[float, Quantity("s", form=".2f")]

    @property
    def fault(self) -> Fault | None:
        """The fault; None as long as its kind is not known."""
        if self.kind == "undetermined":
            return None
        return Fault(self.joint, self.kind, self.time - self.delay)


class Detector:
    """Watch the arm, state by state.

    Args:
        setup: robot and scenario.
        payload: at the finger tips, as known [kg].
        threshold: of the likelihood ratio, chi^2 with one degree of freedom.
    """

    def __init__(self, setup: Setup, payload: float = 0.0, threshold: float = THRESHOLD) -> None:
        self._threshold, self._limits = threshold, setup.effort_limits
        self._prediction = Prediction(setup, payload)
        self._touching = Touching(setup, NOISE[0])
        self._variances = np.array(NOISE) ** 2
        self._prior = UNIFORM * np.array([ERRORS[0] * payload, *[ERRORS[1]] * len(JOINTS)])
        self.reset()

    def reset(self) -> None:
        """Forget all, as at the start of a run."""
        n = len(JOINTS)
        k = 1 + 2 * n  # filters: of the healthy arm, of loose joints, of frozen ones
        self._touching.reset()
        self._time: float | None = None
        self._known = np.zeros(n, dtype=np.int64)
        self._told: dict[int, Verdict] = {}
        self._states, self._spreads = np.zeros((k, 3 * n + 1)), np.zeros((k, 3 * n + 1, 3 * n + 1))
        self._spreads[0, 2 * n :, 2 * n :] = np.diag(self._prior**2)
        self._fits, self._lacking = np.zeros((k, 2)), np.zeros((2 * n, n))
        self._evidence, self._against, self._since, self._misfit, self._ticks = np.zeros((5, k))
        self._doubtful, self._blind = np.zeros(n), -np.inf

    def update(self, time: float, q: Array, qd: Array, effort: Array) -> tuple[Detection, ...]:
        """Take what was measured, and the effort that was commanded up to then.

        Args:
            time: of the state [s].
            q, qd: measured (7,) [rad, rad/s].
            effort: commanded over the period before (7,) [N m]; of the first state it counts not.

        Returns:
            joints that are found failed now, or whose kind is known now.
        """
        impulses, stops = self._touching.look(time, q, qd)
        seen = np.concatenate([q, qd])
        if self._time is None:
            self._time = time
            self._start(time, seen)
            return ()
        period, self._time = time - self._time, time
        tau = clip_efforts(effort, self._limits)
        faults, lead = self._faults(), int(self._evidence.argmax())
        given = np.where(faults[lead] == LOOSE, 0.0, tau)
        held = np.flatnonzero(faults[lead] == FROZEN)
        met = seen if impulses.any() or stops.any() else None
        motion, pushed, change = self._prediction.over(self._states[lead], given, period, held, met)
        slack = MODEL * np.abs(tau) + stops.any(axis=1) * STOP
        slack += (np.abs(qd) < SIGMAS * NOISE[1]) * self._prediction.breakaway
        forces = impulses / period**2 + np.diag(slack**2)
        jolt = (qd - self._states[lead, len(q) : len(seen)]) * impulses.any()
        jolts = np.concatenate([0.5 * period * jolt, JOLT * jolt]) ** 2
        drift = DRIFT**2 * period * self._prior**2
        advance(
            motion, pushed, change, lead, faults, tau, forces, jolts, drift, seen,
            self._variances, self._states, self._spreads, self._fits,
        )  # fmt: skip
        self._lacking = pushed * tau * (PAST / period)
        self._weigh(time, period)
        if self._fits[:, 0].min() > LOST:
            self._start(time, seen)
            self._blind = time + BLIND
        if time < self._blind:
            return ()
        return self._tell(time, period)

    def open_explanations(self) -> dict[str, tuple[str, ...]]:
        """Return, by joint, what cannot be told apart by what was measured lately.

        A joint that stood still may be frozen; one whose effort would not have moved it, loose.
        """
        found = dict[str, tuple[str, ...]]()
        loose, frozen = self._against[1:].reshape(2, -1)
        for j, joint in enumerate(JOINTS):
            if self._told.get(j, "undetermined") != "undetermined":
                continue
            doubts = {"healthy": j not in self._told}
            doubts |= {"frozen": frozen[j] > -CLEAR, "loose": loose[j] > -CLEAR}
            if doubts["frozen"] or doubts["loose"]:
                found[joint] = tuple(kind for kind, open_ in doubts.items() if open_)
        return found

    def _start(self, time: float, seen: Array) -> None:
        """Begin with a state, and the errors as known."""
        n, spread = len(seen), self._spreads[0]
        self._states[0, :n] = seen
        spread[:n] = spread[:, :n] = 0.0
        spread[:n, :n] = np.diag(np.repeat(self._variances, n // 2))
        self._anew(slice(None), time)

    def _anew(self, which: slice | NDArray[np.bool_], time: float) -> None:
        """Let filters begin where the first one is, and loose joints' with what it missed."""
        self._states[which], self._spreads[which] = self._states[0], self._spreads[0]
        self._evidence[which] = self._misfit[which] = self._ticks[which] = 0.0
        for j, way in enumerate(self._lacking.T):
            if self._evidence[1 + j] == 0.0:
                self._spreads[1 + j, : len(way), : len(way)] += np.outer(way, way)
        self._since[which] = time

    def _faults(self) -> NDArray[np.int64]:
        """Return the joints' failures by filter (15, 7): known ones, and one more each."""
        n = len(JOINTS)
        faults = np.tile(self._known, (1 + 2 * n, 1))
        for j in np.flatnonzero(self._known == 0):
            faults[1 + j, j], faults[1 + n + j, j] = LOOSE, FROZEN
        return faults

    def _weigh(self, time: float, period: float) -> None:
        """Add to the evidence for each failure, which begins anew where there is none."""
        chi, scale = (self._fits[0] - self._fits).T
        gain = chi + np.minimum(scale, 0.0)
        self._evidence = np.maximum(0.0, self._evidence + gain)
        self._against = np.clip(self._against * (1.0 - period / LATELY) + gain, -10.0 * CLEAR, 0.0)
        self._misfit += self._fits[:, 0]
        self._ticks += 1.0
        self._anew(self._evidence == 0.0, time)

    def _tell(self, time: float, period: float) -> tuple[Detection, ...]:
        """Return the joint whose failure explains what no other does, and how it failed."""
        most = 2.0 * len(JOINTS) + LOOSELY * (1.0 + np.sqrt(1.0 / np.maximum(self._ticks, 1.0)))
        fits = self._misfit <= most * self._ticks
        both = np.where(fits, self._evidence, 0.0)[1:].reshape(2, -1)
        each = both.max(axis=0)
        joint = int(each.argmax())
        rival = np.delete(self._evidence[1:].reshape(2, -1).max(axis=0), joint).max()
        if each[joint] < self._threshold or each[joint] < rival + MARGIN:
            self._doubtful[:] = 0.0
            return ()
        which = int(both[:, joint].argmax())
        kind = KINDS[which]
        if both[which, joint] < both[1 - which, joint] + APART:
            kind = "undetermined"
            self._doubtful[joint] += period
            if self._doubtful[joint] < PATIENCE or joint in self._told:
                return ()
        self._told[joint] = kind
        found = 1 + which * len(JOINTS) + joint
        since = float(self._since[found])
        if kind != "undetermined":
            self._known[joint] = LOOSE if kind == "loose" else FROZEN
            self._states[0], self._spreads[0] = self._states[found], self._spreads[found]
            self._anew(slice(None), time)
        return (Detection(JOINTS[joint], kind, time, time - since),)


def detections(
    detector: Detector, time: Array, q: Array, qd: Array, effort: Array
) -> list[Detection]:
    """Return what a detector finds in a motion.

    Args:
        detector: new, or reset.
        time: (k,) [s].
        q, qd, effort: as `Detector.update` takes them (k, 7).
    """
    rows = zip(time.tolist(), q, qd, effort, strict=True)
    return [found for row in rows for found in detector.update(*row)]
