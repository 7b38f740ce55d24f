"""Periodic orbits: gaits that repeat exactly, with their figures and their stability.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. Its state is (th1, th2, w1, w2): the angle of the held
link from hanging straight down, that of the elbow, and their rates. A cycle of a gait starts right
after an impact, from the state x = (th1, th2, w1, w2) in the frame of the hand that holds. The
return map P takes x through the gait's phases to the same instant of the next cycle. If x = P(x),
the gait repeats, and its motion is called an orbit; Newton's method finds x. The eigenvalues of
dP/dx, the Floquet multipliers, show whether disturbances fade: all of them must be inside the unit
circle.

Shipped gaits are entries in config/gaits.yaml of the MonkeyBot, each with a scenario of its name.
MAX_RESIDUAL, which defines an orbit, stays. So do the fields of Orbit and the order of `to_json`,
for `accord monkeybot gaits` prints them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from monkeybot.gaits.gait import Gait, evaluate, wrap
from monkeybot.gaits.multipliers import Multipliers, eigenvalues, map_slope
from monkeybot.model.events import linear
from monkeybot.model.hybrid import Then
from monkeybot.model.motion import Motion
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import AccordError, Array, Json, Quantity, check_known, to_json
from roboaccord.description import read_yaml, share
from roboaccord.numerics import central_slope, newton_steps

from roboaccord_studies.monkeybot.kinds import KINDS, Kind, gait_of

FINE_TOLERANCE = 1e-13  # tolerance of the integrator: 450 eps, the finest that it reaches
NEWTON_STEPS = 40  # largest number; shortened steps of 0.2 cross 2 rad in ten
# rad, rad/s, s and N m alike: longer steps of Newton's method are shortened: 11 degrees; longer
# ones leave the events of a gait.
LONGEST_STEP = 0.2
# Residual that an orbit must reach, and at which the search ends; 1e-12 is ten times
# FINE_TOLERANCE.
MAX_RESIDUAL, TARGET_RESIDUAL = 1e-9, 1e-12
# Step of the finite differences in the search: FINE_TOLERANCE / 1e-6 = 1e-7 by round-off, which
# only slows Newton's method.
DIFFERENCE_STEP = 1e-6
ROUND_OFF = 1e-12  # s: a phase with less time left has ended: times of some s have 1e-15
# s: motion away from a turning point before the search of the next one: a millionth of a cycle.
INSTANT = 1e-6

Radius = Annotated[float, Quantity("1", "of the multipliers, stable below 1", "radius", ".5f")]


@dataclass(frozen=True)
class Orbit:
    """A periodic orbit and its figures.

    Args:
        kind: of the gait.
        controls: the numbers that the gait is made from, by name [s, N m].
        start: (th1, th2, w1, w2) right after the impact (4,).
        times: duration of every phase [s].
        period: of a cycle.
        changes: of hands in a cycle.
        stride: forwards, per change of hands.
        drop: downwards, per change of hands.
        work: integral of |torque x rate of the elbow|, per change of hands.
        multipliers: of the return map, the largest first (4,).
        residual: norm of P(start) - start, with the error of the rise.
    """

    kind: Kind
    controls: Mapping[str, float]
    start: Annotated[Array, Quantity("rad, rad/s", name="post-impact th1, th2, w1, w2", form=".5f")]
    times: Array
    period: Annotated[float, Quantity("s", form=".6f")]
    changes: int
    stride: Annotated[float, Quantity("m", "of a change of hands, as drop and work", form=".6f")]
    drop: Annotated[float, Quantity("m", form=".3f", shown="mm")]
    work: Annotated[float, Quantity("J", form=".5f")]
    multipliers: Annotated[Multipliers, Quantity("1", form=".5f")]
    residual: float

    @property
    def gait(self) -> Gait:
        """The gait itself."""
        return gait_of(self.kind, self.controls)

    @property
    def settings(self) -> Annotated[str, Quantity("", "in s and N m", "controls", "text")]:
        """The controls as text."""
        return _as_text(self.controls)

    @property
    def torque(self) -> Annotated[float | None, Quantity("N m", form=".6f")]:
        """The torque of a gait that has one."""
        return self.controls.get("torque")

    @property
    def spectral_radius(self) -> Radius:
        """Spectral radius of the Poincare map: below 1 the gait is stable."""
        return float(np.abs(self.multipliers).max())

    def to_json(self) -> dict[str, Json]:
        """Return the controls, and the figures by name."""
        names = ("period", "multipliers", "spectral_radius", "stride", "work", "drop")
        figures = {name: to_json(getattr(self, name)) for name in names}
        return {"controls": dict(self.controls), "post_impact": to_json(self.start), **figures}

    def cost_of_transport(self, parameters: MonkeyBotParameters) -> float:
        """Return work / (weight stride); infinite for a gait that does not move forward."""
        weight_times_stride = parameters.mass * parameters.gravity * abs(self.stride)
        return self.work / weight_times_stride if weight_times_stride else float("inf")


def find_orbit(
    kind: Kind,
    parameters: MonkeyBotParameters,
    controls: Mapping[str, float],
    start: Array,
    *,
    rise: float = 0.0,
) -> Orbit:
    """Find the periodic orbit near a guess, by Newton's method.

    Args:
        kind: of the gait.
        parameters: of the robot.
        controls: all controls of the kind; those that are solved for are guesses.
        start: guess of (th1, th2, w1, w2) right after the impact (4,).
        rise: wanted rise of a cycle [m], if the kind has a control to meet it.

    Raises:
        AccordError: if none is found.
    """
    unknowns = np.concatenate([start, [controls[name] for name in kind.solved]])
    closing, norm = Closing(kind, parameters, controls, rise), math.inf
    path = closing.newton(unknowns, DIFFERENCE_STEP, longest=LONGEST_STEP, steps=NEWTON_STEPS)
    for root, residual in path:
        new_norm = float(np.linalg.norm(residual))
        if norm < MAX_RESIDUAL and not new_norm < norm:
            break
        unknowns, norm = root, new_norm
        if norm < TARGET_RESIDUAL:
            break
    if not norm < MAX_RESIDUAL:
        text = _as_text(controls)
        raise AccordError(f"no gait of kind {kind.name} was found near the guess: {text}")
    return describe(kind, parameters, closing.controls_at(unknowns), unknowns[:4], residual=norm)


def describe(
    kind: Kind,
    parameters: MonkeyBotParameters,
    controls: Mapping[str, float],
    start: Array,
    *,
    residual: float = 0.0,
) -> Orbit:
    """Return the orbit with its figures from a start (4,) that is known to repeat."""
    gait, start = gait_of(kind, controls), np.asarray(start, dtype=float)
    cycle = evaluate(gait, parameters, start, tolerance=FINE_TOLERANCE)
    if not np.isfinite(cycle.times).all():
        raise AccordError(f"the gait of kind {kind.name} misses an event: {_as_text(controls)}")
    changes = sum(p.then in (Then.CHANGE, Then.GRIP_OTHER) for p in gait.phases)
    # `cycle` has one row, for the only start; its travel is to the right and up [m].
    return Orbit(
        kind=kind,
        controls=dict(controls),
        start=start,
        times=cycle.times[0],
        period=float(cycle.times[0].sum()),
        changes=changes,
        stride=float(cycle.travel[0, 0]) / changes,
        drop=-float(cycle.travel[0, 1]) / changes,
        work=work_of(gait, parameters, start, cycle.times[0]) / changes,
        multipliers=eigenvalues(map_slope(gait, parameters, start)),
        residual=residual,
    )


def work_of(gait: Gait, parameters: MonkeyBotParameters, start: Array, times: Array) -> float:
    """Return the integral of |torque w2| over a cycle [J].

    Under a constant torque this is |torque| times the path of th2, which is summed up from one
    turning point of th2 to the next. `hand_state` begins with (th1, th2, w1, w2).
    """
    motion = Motion(parameters, np.concatenate([start, np.zeros(4)]))
    work = 0.0
    for phase, duration in zip(gait.phases, times, strict=True):
        end = motion.time + float(duration)
        while end - motion.time > ROUND_OFF:
            th2_before = motion.hand_state[1]
            motion.advance(min(INSTANT, end - motion.time), phase.torque)  # off a turning point
            turning = linear("turning", w2=-1.0 if motion.hand_state[3] > 0.0 else 1.0)
            motion.advance(max(end - motion.time, 0.0), phase.torque, until=turning)
            work += abs(phase.torque * (motion.hand_state[1] - th2_before))
        motion.end_phase(phase.then)
    return work


class Closing(NamedTuple):
    """The conditions for a gait to repeat: P(x) = x, and the wanted rise of a cycle.

    Args:
        kind: of the gait.
        parameters: of the robot.
        controls: all controls of the kind.
        rise: wanted rise of a cycle [m], if the kind has a control to meet it.
        tolerance: of the integrator.
    """

    kind: Kind
    parameters: MonkeyBotParameters
    controls: Mapping[str, float]
    rise: float
    tolerance: float = FINE_TOLERANCE

    def residual(self, start: Array) -> Array:
        """Return P(x) - x, then the error of the rise for each solved control (4 + solved,)."""
        gait = gait_of(self.kind, self.controls)
        cycle = evaluate(gait, self.parameters, start, tolerance=self.tolerance)
        change = cycle.final[0] - start  # of the only start (4,)
        change[:2] = wrap(change[:2])
        return np.array([*change, *[cycle.travel[0, 1] - self.rise] * len(self.kind.solved)])

    def controls_at(self, z: Array) -> dict[str, float]:
        """Return all controls for unknowns z: the start (4,), then the solved controls."""
        return {**self.controls, **dict(zip(self.kind.solved, z[4:].tolist(), strict=True))}

    def newton(
        self, z: Array, step: float, *, longest: float, steps: int
    ) -> Iterator[tuple[Array, Array]]:
        """Yield the unknowns and the residual of every step of Newton's method.

        Args:
            z: guess of the unknowns (4 + solved,).
            step: of the finite differences.
            longest: largest norm of a step.
            steps: largest number of steps.
        """

        def residual(z: Array) -> Array:
            """Return the residual with the controls of z."""
            return self._replace(controls=self.controls_at(z)).residual(z[:4])

        slope = partial(central_slope, residual, steps=step)
        return newton_steps(residual, slope, z, longest=longest, steps=steps)


def _as_text(controls: Mapping[str, float]) -> str:
    """Return controls by name as text."""
    return ", ".join(f"{name} {value:g}" for name, value in controls.items())


@cache
def shipped_data() -> dict[str, dict[str, Any]]:
    """Return the contents of config/gaits.yaml, by name of the gait."""
    return read_yaml(share("monkeybot") / "config" / "gaits.yaml")


def shipped_gait(name: str, parameters: MonkeyBotParameters) -> Orbit:
    """Return a shipped gait, refined for these parameters.

    Raises:
        AccordError: for an unknown name, or parameters with which no such gait is near.
    """
    gaits = shipped_data()
    check_known("unknown gait ", name, gaits)
    data = gaits[name]
    kind, start = KINDS[data["kind"]], np.array(data["post_impact"])
    return find_orbit(kind, parameters, data["controls"], start, rise=data.get("rise", 0.0))
