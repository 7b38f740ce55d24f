"""Command `accord monkeybot lqr`: LQR of the report's gait by the time of the exchange of hands.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. LQR is the linear quadratic regulator, the feedback with
the least quadratic cost. A cycle of the gait begins when the held link hangs straight down, th1 =
0, with x = (th2, w1, w2). The map from there to the next such instant, linearised about a gait that
repeats from x*, is

    x' - x* = A (x - x*) + b (s - s*),

where s is the time until the hands change. It is stabilised by s = s* - K (x - x*), the feedback
with the least sum of (x - x*)' Q (x - x*) + R (s - s*)^2 over all cycles. With S from the discrete
Riccati equation, K = (R + b' S b)^-1 b' S A. The motor's time and torque are not changed; but B has
columns for these inputs, too, beside b, to show how much they differ in effect (`conditioning`).

STATE_COST and TIME_COST may be changed; then the gain in the scenario report_lqr must be changed as
well. CONTROL_PERIOD is that of the report's controller, and stays; so does the order of INPUTS, the
columns of B.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import scipy
import typer
from monkeybot import MonkeyBotParameters, evaluate
from monkeybot.cli.options import Changes, robot_parameters
from monkeybot.gaits.multipliers import Multipliers, eigenvalues, map_slope
from roboaccord.cli import Result
from roboaccord.contract import INLINE, AccordError, Array, Quantity, Seconds

from roboaccord_studies.monkeybot.kinds import REPORT, gait_of
from roboaccord_studies.monkeybot.orbits import FINE_TOLERANCE, Orbit, shipped_gait
from roboaccord_studies.monkeybot.rollouts import Feedback

CONTROL_PERIOD = 1e-3  # s: period of the report's controller, to which times are rounded
# s, N m: step of the differences by a control. Their truncation is its fourth power, 1e-20, their
# round-off orbits.FINE_TOLERANCE / 1e-5 = 1e-8.
STEP = 1e-5
INPUTS = ("switch", "motor", "torque")  # controls of the gait: columns of B, in this order
# Weights Q of deviations of th2 [1/rad^2], w1 and w2 [s^2/rad^2], and R of the time [1/s^2]: by
# choice all 1, in SI units.
STATE_COST, TIME_COST = (1.0, 1.0, 1.0), 1.0
# Changes of the inputs that `conditioning` compares: the times by a CONTROL_PERIOD, to which they
# are rounded, and by choice 1 % of the torque, which a drive hardly keeps more exactly.
TIME_CHANGE, TORQUE_SHARE = 1e-3, 0.01
# How two fields are printed: unit, explanation, heading, format.
TARGET = Quantity("rad, rad/s", name="target th2, w1, w2", form=".7f")
CONDITION = Quantity("1", "condition number", "three inputs at once", ".0f")
# Options of the command.
GAIT = typer.Option("--gait", metavar="NAME", help="A gait of the report's kind.")
TICK = typer.Option(min=0.0, max=1.0, help="Period of the controller, to which times are rounded.")


@dataclass(frozen=True, kw_only=True)
class TimeLaw:
    """The parameters of the feedback law as plain numbers.

    Args:
        switch: time from the vertical until the hands change, on the orbit.
        motor: how long the motor is on after that.
        torque: of the motor, in the frame of the held hand.
        target: (th2, w1, w2) at the vertical on the orbit, in that frame.
        gain: by how much earlier the hands change, per deviation from the target (3,).
        sample: period to whose multiples both times are rounded [s]; 0: not rounded.
    """

    switch: Annotated[float, Quantity("s", form=".7f")]
    motor: Annotated[float, Quantity("s", form="g")]
    torque: Annotated[float, Quantity("N m", form="g")]
    target: Annotated[tuple[float, float, float], TARGET]
    gain: Annotated[tuple[float, float, float], Quantity("s/rad, s^2/rad", form=".7f")]
    sample: float = CONTROL_PERIOD

    @property
    def feedback(self) -> Feedback:
        """The same law in the form that `rollouts.walk` takes."""
        gains = np.zeros((3, 4))
        gains[0, 1:] = [-gain for gain in self.gain]
        return Feedback(gains, self.sample)


def linearise(orbit: Orbit, parameters: MonkeyBotParameters) -> tuple[Array, Array]:
    """Return A (3, 3) and B (3, 3) of the map between verticals, by finite differences.

    The columns of B are for the time of the change, the time of the motor, and its torque.

    Raises:
        AccordError: for a gait of another kind.
    """
    if orbit.kind is not REPORT:
        raise AccordError(f"gaits of kind {orbit.kind.name} do not begin at the vertical")

    def end(name: str, shift: float) -> Array:
        """Return (th2, w1, w2) at the next vertical (3,), with one control shifted."""
        controls = {**orbit.controls, name: orbit.controls[name] + shift}
        gait = gait_of(orbit.kind, controls)
        return evaluate(gait, parameters, orbit.start, tolerance=FINE_TOLERANCE).final[0, 1:]

    def slope(name: str) -> Array:
        """Return the derivative of the end by a control (3,), by five-point differences."""
        one_step = end(name, STEP) - end(name, -STEP)
        two_steps = end(name, 2.0 * STEP) - end(name, -2.0 * STEP)
        return np.asarray((8.0 * one_step - two_steps) / (12.0 * STEP))

    A = map_slope(orbit.gait, parameters, orbit.start)[1:, 1:]
    return A, np.column_stack([slope(name) for name in INPUTS])


def controllability(A: Array, b: Array) -> Array:
    """Return the singular values of (b, A b, A^2 b): all positive if every state can be reached.

    Args:
        A: (3, 3).
        b: of one input (3,).
    """
    return np.asarray(np.linalg.svd(np.column_stack([b, A @ b, A @ A @ b]))[1])


def lqr_gain(A: Array, b: Array) -> Array:
    """Return the gain K (3,) of u = -K x that minimises the sum of x' Q x + R u^2 over all cycles.

    Raises:
        AccordError: if the input cannot stabilise the gait.
    """
    column, R = b[:, None], np.array([[TIME_COST]])
    try:
        S = scipy.linalg.solve_discrete_are(A, column, np.diag(STATE_COST), R)
    except np.linalg.LinAlgError:
        raise AccordError("the time of the change cannot hold this gait") from None
    return np.asarray(np.linalg.solve(R + column.T @ S @ column, column.T @ S @ A)[0])


def conditioning(B: Array, torque: float) -> float:
    """Return the condition number of B for three inputs at once: 1 ms, 1 ms and 1 % of the torque.

    A little more time of the motor and a little more torque have the same effect, so their columns
    are nearly parallel. A feedback that uses both would add large inputs of opposite sign.

    Args:
        B: columns of the inputs (3, 3).
        torque: of the motor [N m].
    """
    return float(np.linalg.cond(B * [TIME_CHANGE, TIME_CHANGE, TORQUE_SHARE * torque]))


def time_law(
    orbit: Orbit, parameters: MonkeyBotParameters, *, sample: float = CONTROL_PERIOD
) -> TimeLaw:
    """Return the feedback law that stabilises an orbit of the report's kind.

    Raises:
        AccordError: for a gait of another kind, or one that cannot be stabilised.
    """
    A, B = linearise(orbit, parameters)
    th2, w1, w2 = orbit.start[1:].tolist()
    k1, k2, k3 = lqr_gain(A, B[:, 0]).tolist()
    return TimeLaw(
        **{name: float(orbit.controls[name]) for name in INPUTS},
        target=(th2, w1, w2),
        gain=(k1, k2, k3),
        sample=sample,
    )


def closed_loop_multipliers(orbit: Orbit, parameters: MonkeyBotParameters) -> Multipliers:
    """Return the multipliers of the map with the feedback, for times that are not rounded (3,)."""
    A, B = linearise(orbit, parameters)
    column = B[:, 0]
    return eigenvalues(A - np.outer(column, lqr_gain(A, column)))


def gait_with_feedback(name: str, parameters: MonkeyBotParameters) -> tuple[Orbit, Feedback | None]:
    """Return a shipped gait and its feedback, None for a gait that needs none.

    Raises:
        AccordError: for an unknown name, or parameters with which the gait does not exist.
    """
    orbit = shipped_gait(name, parameters)
    return orbit, time_law(orbit, parameters).feedback if orbit.kind is REPORT else None


@dataclass(frozen=True)
class LqrResult:
    """The feedback of a gait, and the stability without and with it."""

    law: TimeLaw = field(metadata=INLINE)
    open_radius: Annotated[float, Quantity("1", "spectral radius", form=".4f")]
    closed_radius: Annotated[float, Quantity("1", "with feedback", form=".4f")]
    controllability: Annotated[Array, Quantity("1", "singular values", form=".3g")]
    three_inputs_condition: Annotated[float, CONDITION]


def lqr_command(
    name: Annotated[str, GAIT] = "report_lqr",
    sample: Annotated[Seconds, TICK] = CONTROL_PERIOD,
    changes: Changes = None,
) -> Result:
    """Find the feedback on the time of the change of hands that holds the report's gait.

    The change comes gain . (x - target) earlier, with x = (th2, w1, w2) where the held link hangs
    straight down. The numbers are those of the scenario `report_lqr`.

    Examples:

      accord monkeybot lqr

      accord monkeybot lqr --json
    """
    parameters = robot_parameters(changes)
    orbit = shipped_gait(name, parameters)
    law, (A, B) = time_law(orbit, parameters, sample=sample), linearise(orbit, parameters)
    closed = float(np.abs(closed_loop_multipliers(orbit, parameters)).max())
    reached, condition = controllability(A, B[:, 0]), conditioning(B, law.torque)
    return Result(LqrResult(law, orbit.spectral_radius, closed, reached, condition))
