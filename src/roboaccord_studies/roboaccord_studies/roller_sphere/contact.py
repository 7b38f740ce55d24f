"""Command `accord roller-sphere contact`: how the ball turns in engines, compared with the model.

Two rollers drive a ball of radius r by friction. Roller i has the peripheral speed nu_i, and its
axis the angle alpha_i to the plane of both contacts and the ball's centre, whose normal is e. The
angular velocity w of the ball has the component w_t in this plane and the component w_s along e.

The model of the paper (Kimura, Ogata and Ishii 2019; roller_sphere/model/rig.py) has the w that
minimises the squared slips, as viscous friction does. Dry friction of two equally pressed rollers
only demands that both slips oppose each other along the plane. So w_t is that of the model, while
w_s may settle anywhere between nu_i sin(alpha_i) / r of both rollers, equation (9).

MAX_DEVIATION and MAX_BEYOND decide whether DART passes and must not be widened; STEADY may be
tuned. A case may be added in `cases`. Fields of `ContactFinding` are JSON keys and stay;
benchmarks/campaigns/settings.py compares engine settings by them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from roboaccord.cli import Result, counted, in_pieces, numbers
from roboaccord.contract import Quantity, Trajectory, check_known
from roboaccord.engines import REFERENCE, engine_names, spec
from roboaccord.run import make_simulator, run_pieces, run_setup
from roboaccord.scenario import Setup, load_scenario
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.odometry import ball_spin

# Part of the time of a heading, from its start to its end, in which the ball turns steadily: the
# speed loops have settled by half, and the next heading does not reach back to 3/4.
STEADY = (0.5, 0.75)
# Largest relative deviation of w_t, in DART with its z axis along e: docs/roller_sphere.md has
# 0.000 %, with another solver up to 0.088 %, and 20 % and more along another axis.
MAX_DEVIATION = 0.02
# rad/s; largest distance of w_s beyond its interval. After a start of some 5 rad/s the speed
# loops, of 40 rad/s, have an error of 5 exp(-12) = 3e-5 rad/s after 0.3 s.
MAX_BEYOND = 1e-4
# How the figures of a case are printed: unit, explanation, heading, format, and unit shown.
DEVIATION = "turning in the plane of both contacts, off the model's by so much"
WORST = Quantity("1", DEVIATION, "w_t, worst", ".3f", "%")
MEAN = Quantity("1", name="w_t, mean", form=".3f", shown="%")
OFFSET = Quantity("rad/s", "of the turning along their normal e", "w_s off", ".4f")
BEYOND = Quantity("rad/s", "outside of the interval of both rollers' lines", "beyond", ".4f")
FINDINGS = Quantity("", "the ball's turning against the model, steady parts of 12 headings")


@dataclass(frozen=True)
class ContactCase:
    """A run to be compared.

    Args:
        engine: `reference`, or the name of an engine.
        law: law of friction: `contact`, the engine's own, or `viscous`.
        axis: direction of DART's z axis, `e` or `up`; "" for other engines.
        alpha: angle of the first roller's axis; the second has the opposite one [deg].
    """

    engine: Annotated[str, Quantity("")]
    law: Annotated[str, Quantity("", "friction of the rollers", form="s")]
    axis: Annotated[str, Quantity("", "direction of DART's z axis", form="s")]
    alpha: Annotated[float, Quantity("deg", form="g")]


@dataclass(frozen=True)
class ContactFinding(ContactCase):
    """The deviation of the ball's angular velocity from the model over all headings.

    Args:
        w_t_worst, w_t_mean: distance of w_t from the model's, over the size of the model's.
        w_s_offset: largest distance of w_s from the model's [rad/s].
        w_s_beyond: largest distance of w_s beyond its interval [rad/s].
        w_s_interval: half the width of the widest interval [rad/s].
        passed: whether DART with aligned axes follows the model; None for other cases.
    """

    w_t_worst: Annotated[float, WORST]
    w_t_mean: Annotated[float, MEAN]
    w_s_offset: Annotated[float, OFFSET]
    w_s_beyond: Annotated[float, BEYOND]
    w_s_interval: float
    passed: Annotated[bool | None, Quantity("", name="ok")]


def cases(engines: Sequence[str], alphas: Sequence[float]) -> list[ContactCase]:
    """Return every engine with both laws, and DART with both directions of its axis."""
    all_cases = []
    for alpha in alphas:
        for engine in engines:
            has_axis = engine != REFERENCE and spec(engine).has_setting("z_axis")
            axes = ("e", "up") if has_axis else ("",)
            all_cases += [ContactCase(engine, "contact", axis, alpha) for axis in axes]
            all_cases.append(ContactCase(engine, "viscous", "", alpha))
    return all_cases


def run_case(case: ContactCase) -> ContactFinding:
    """Run the scenario `headings` for a case, and compare it with the model."""
    angle = math.radians(case.alpha)
    changes = [f"parameters.alpha_1={angle:.17f}", f"parameters.alpha_2={-angle:.17f}"]
    changes.append(f"friction={{law: {case.law}}}")
    if case.axis == "up":
        changes.append(f"engine_options.{case.engine}.z_axis=[0, 0, 1]")
    setup = Setup.of(load_scenario("roller_sphere", "roller_sphere", "headings", changes))
    trajectory = run_setup(setup, make_simulator(setup, case.engine))
    return compare(case, setup, trajectory)


def compare(case: ContactCase, setup: Setup, trajectory: Trajectory) -> ContactFinding:
    """Compare the steady samples of a run with the model at the rollers' measured speeds."""
    rig = setup.parameters.rig
    samples = steady(setup, trajectory)
    # Each of the k samples has nu (k, 2), and w (k, 3) as measured and by the model.
    nu = setup.parameters.roller_radius * trajectory.qd[samples, :2]
    omega = ball_spin(trajectory)[samples]
    model = nu @ Kinematics(rig).turning.T
    w_t, w_s = rig.split(omega)
    model_t, model_s = rig.split(model)
    deviation = np.linalg.norm(w_t - model_t, axis=1) / np.linalg.norm(model_t, axis=1)
    # Interval of w_s, and how far w_s lies outside of it.
    heights = nu * np.sin(rig.alpha) / rig.radius
    w_s_along = w_s @ rig.pole
    beyond = np.maximum(w_s_along - heights.max(axis=1), heights.min(axis=1) - w_s_along)
    follows = bool(deviation.max() <= MAX_DEVIATION and beyond.max() <= MAX_BEYOND)
    return ContactFinding(
        **vars(case),
        w_t_worst=float(deviation.max()),
        w_t_mean=float(deviation.mean()),
        w_s_offset=float(np.abs(w_s_along - model_s @ rig.pole).max()),
        w_s_beyond=float(np.maximum(beyond, 0.0).max()),
        w_s_interval=float(0.5 * np.ptp(heights, axis=1).max()),
        passed=follows if (case.law, case.axis) == ("contact", "e") else None,
    )


def steady(setup: Setup, trajectory: Trajectory) -> NDArray[np.bool_]:
    """Return whether the ball turns steadily in each sample (k,); `hold` is a heading's time."""
    begin, end = STEADY
    fraction = np.mod(trajectory.time / setup.scenario.controller["hold"], 1.0)
    return np.asarray((fraction > begin) & (fraction < end))


@dataclass(frozen=True)
class ContactFindings:
    """Deviations of engines from the model, one for each case."""

    findings: Annotated[list[ContactFinding], FINDINGS]


ALPHAS = typer.Option(
    "--alpha-deg", help="Angle of the first roller's axis; the second has the opposite one."
)


@in_pieces()
def contact_command(
    engines: Annotated[str, typer.Option(help="Engines, separated by commas.")] = "dart,mujoco",
    alphas: Annotated[str, ALPHAS] = "0 10 20 30",
) -> Result:
    """Drive the ball along 12 headings in engines, and compare its turning with the model.

    In DART with its z axis along the normal e of the plane of both contacts, w_t, in that plane,
    must agree with the model within 2 %, and w_s, along e, must lie in the interval between both
    rollers' lines. Exit status 1 if not. DART with its z axis up and MuJoCo are shown for
    comparison.

    Examples:

      accord roller-sphere contact

      accord roller-sphere contact --engines dart --alpha-deg "10 30" --json
    """
    names = [name.strip() for name in engines.split(",")]
    with_contact = [name for name in engine_names() if "contact" not in spec(name).lacks]
    available = [REFERENCE, *with_contact]
    check_known("unknown engine ", names, available)
    runs = [(case,) for case in cases(names, numbers(alphas, "--alpha-deg"))]
    with counted(len(runs), "12 headings each") as done:
        findings = run_pieces(run_case, runs, done=lambda finding: done(1))
    ok = all(finding.passed is not False for finding in findings)
    return Result(ContactFindings(findings), ok=ok)
