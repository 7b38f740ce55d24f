"""Online detection of frozen and loose joints, from joint states and commanded efforts alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from roboaccord.contract.fault import Fault
from roboaccord.contract.state import Array
from roboaccord.scenario.setup import Setup

from packbot.failures.evidence import CLEAR, EFFORT, FROZEN, LOOSE, judge, learn, missing, still
from packbot.failures.momentum import MomentumBalance
from packbot.failures.touching import Touching
from packbot.model.parameters import JOINTS

Verdict = Literal["frozen", "loose", "undetermined"]
KINDS: dict[int, Verdict] = {LOOSE: "loose", FROZEN: "frozen", LOOSE | FROZEN: "undetermined"}
FAULTS = ("frozen", "loose")
BLOCK = 0.02  # s: states are averaged over
BLOCKS = 130  # that are remembered: windows up to 2.56 s
LEARN = 8  # blocks from which errors of the model are learned,
LATE = 25  # blocks later: from a failure, nothing is learned before it is found
CONFIRM = 2  # blocks in which a failure must stand alike,
PATIENCE = 6  # and for how many if its kind stays open
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

    joint: str
    kind: Verdict
    time: float
    delay: float

    @property
    def fault(self) -> Fault | None:
        """The fault; None as long as its kind is not known."""
        if self.kind == "undetermined":
            return None
        return Fault(self.joint, self.kind, self.time - self.delay)


@dataclass(frozen=True, kw_only=True)
class Uncertainty:
    """Hold what the detector has to reckon with.

    Args:
        q, qd: standard deviations of what is measured [rad, rad/s].
        payload: largest error, relative.
        friction: largest error of each joint's friction, relative.
        model: part of efforts and gravity by which the rest of the model may be off.
    """

    q: float = 1e-3
    qd: float = 1e-2
    payload: float = 0.2
    friction: float = 0.3
    model: float = 1e-5


class Detector:
    """Watch the arm, state by state.

    Args:
        setup: robot and scenario.
        payload: at the finger tips, as known [kg].
        uncertainty: noise, and errors of the model.
        threshold: of the likelihood ratio, chi^2 with one degree of freedom.
        least: missing motion that is looked for [rad].
    """

    def __init__(
        self,
        setup: Setup,
        payload: float = 0.0,
        uncertainty: Uncertainty | None = None,
        threshold: float = 25.0,
        least: float = 0.015,
    ) -> None:
        u = self._uncertainty = uncertainty or Uncertainty()
        self._period = setup.scenario.control_period
        self._ticks = max(1, round(BLOCK / self._period))
        self._balance = MomentumBalance(setup, payload, (u.q, u.qd), u.model)
        self._touching = Touching(setup, u.q)
        variances = u.q**2 / self._ticks, u.qd**2 / self._ticks
        self._options = np.array([threshold, least, self._ticks * self._period, *variances])
        self._most = np.array([u.payload * payload, *[u.friction] * len(JOINTS)])
        self._prior = np.diag(self._most**2) * UNIFORM**2
        self.reset()

    def reset(self) -> None:
        """Forget all, as at the start of a run."""
        n = len(JOINTS)
        self._balance.reset()
        self._touching.reset()
        self._count = self._tick = 0
        self._series, self._stops = np.zeros((BLOCKS, n, 7)), np.zeros((BLOCKS, n, 2), np.bool_)
        self._forces = np.zeros((BLOCKS, n, n))
        self._noises = np.zeros((BLOCKS, n, n))
        self._errors, self._spreads = np.zeros((BLOCKS, n + 1)), np.zeros((BLOCKS, n + 1, n + 1))
        self._rings = (
            self._series, self._stops, self._forces, self._noises, self._errors, self._spreads
        )  # fmt: skip
        self._error, self._spread = np.zeros(n + 1), self._prior.copy()
        self._suspicion = False
        self._known = np.zeros(n, dtype=np.bool_)
        self._told: dict[int, Verdict] = {}
        self._last: dict[int, tuple[Verdict | None, int]] = {}
        self._clear()

    def update(self, time: float, q: Array, qd: Array, effort: Array) -> tuple[Detection, ...]:
        """Take what was measured, and the effort that was commanded up to then.

        Args:
            time: of the state [s].
            q, qd: measured (7,) [rad, rad/s].
            effort: commanded over the period before (7,) [N m]; of the first state it counts not.

        Returns:
            joints that are found failed now, or whose kind is known now.
        """
        self._sum += self._balance.add(time, q, qd, effort)
        forces, stops = self._touching.look(time, q, qd)
        self._force += forces + self._balance.unrest
        self._stopped |= stops
        self._tick += 1
        if self._tick < self._ticks:
            return ()
        self._push()
        return self._judge(time)

    def open_explanations(self) -> dict[str, tuple[str, ...]]:
        """Return, by joint, what cannot be told apart by what was measured lately.

        A joint that stood still may be frozen; one whose effort would not have moved it, loose.
        """
        found = dict[str, tuple[str, ...]]()
        have = min(self._count, BLOCKS)
        if have < 4:
            return dict.fromkeys(JOINTS, ("healthy", *FAULTS))
        series, period = self._series[-have:], self._options[2]
        inertia = 1.0 / np.diag(np.linalg.inv(self._balance.mass))
        for j, joint in enumerate(JOINTS):
            told = self._told.get(j)
            if told:
                if told == "undetermined":
                    found[joint] = FAULTS
                continue
            given = series[:, j, EFFORT]
            pull = np.abs(np.diff(given)).sum() / (have - 1) / period
            idle = missing(pull, inertia[j], self._balance.viscous[j], have * period)
            kinds = ["frozen"] if still(series, j, 0, self._options) < CLEAR else []
            kinds += ["loose"] if idle < self._options[1] else []
            if kinds:
                found[joint] = ("healthy", *kinds)
        return found

    def _clear(self) -> None:
        n = len(JOINTS)
        self._tick = 0
        self._sum, self._stopped = np.zeros((n, 7)), np.zeros((n, 2), dtype=np.bool_)
        self._force = np.zeros((n, n))

    def _push(self) -> None:
        """Complete a block."""
        for ring in self._rings:
            ring[:-1] = ring[1:]
        self._series[-1] = self._sum / self._ticks
        self._stops[-1] = self._stopped
        self._forces[-1] += self._force
        self._forces -= self._forces[0]
        self._count += 1
        self._clear()

    def _judge(self, time: float) -> tuple[Detection, ...]:
        have = min(self._count, BLOCKS)
        series, forces = self._series[-have:], self._forces[-have:]
        mass, viscous = self._balance.mass, self._balance.viscous
        _, _, _, angle, rate = self._options
        self._noises[-1] = rate * mass @ mass + np.diag(angle * viscous**2)
        noise = self._noises[-have:]
        old = have - LATE
        if self._count % LEARN == 0 and old > LEARN + 1 and not self._suspicion:
            past = series[:old], LEARN, self._error, self._spread, noise[:old], forces[:old]
            learn(*past, self._known, angle)
            np.clip(self._error, -self._most, self._most, out=self._error)
        self._errors[-1], self._spreads[-1] = self._error, self._spread
        found = np.empty((len(JOINTS), 4))
        judge(
            series, self._stops[-have:], self._errors[-have:], self._spreads[-have:], noise,
            forces, np.linalg.inv(mass), viscous, self._known, self._options, found,
        )  # fmt: skip
        self._suspicion = bool((found[:, 0] > 0.0).any())
        return tuple(
            detection
            for joint in range(len(JOINTS))
            if (detection := self._tell(joint, time, found[joint]))
        )

    def _tell(self, joint: int, time: float, found: Array) -> Detection | None:
        kind = KINDS.get(int(found[2])) if found[0] > 0.0 else None
        before, times = self._last.get(joint, (None, 0))
        times = times + 1 if kind == before else 1
        self._last[joint] = kind, times
        wanted = PATIENCE if kind == "undetermined" else CONFIRM
        if kind is None or times < wanted or kind == self._told.get(joint):
            return None
        self._told[joint] = kind
        self._known[joint] = kind != "undetermined"
        return Detection(JOINTS[joint], kind, time, float(found[3]) * self._options[2])


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
