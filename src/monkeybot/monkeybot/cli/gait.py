"""`accord monkeybot gait` and `minimise`: one gait's error, and the least one near it."""

from __future__ import annotations

import numpy as np
from roboaccord.cli.command import Result
from roboaccord.cli.console import figure_lines
from roboaccord.contract.errors import AccordError

from monkeybot.cli.options import (
    Changes,
    Rates,
    Tolerance,
    Torque,
    robot_parameters,
)
from monkeybot.gaits.gait import Evaluation, evaluate, horizontal
from monkeybot.gaits.search import FINE, minimise, missed


def gait_command(
    rates: Rates = (0.902, 10.935),
    torque: Torque = 2.0,
    changes: Changes = None,
    tolerance: Tolerance = FINE,
) -> Result:
    """Evaluate the report's gait: swing up, change hands on the line, motor, coast to the vertical.

    Its error is th2^2 + (w1 - w1')^2 + (w2 - w2')^2 between start and end.

    Examples:

      accord monkeybot gait --rates 0.902 10.935 --torque 2

      accord monkeybot gait --set inertia_a=0.0544 --set inertia_b=0.0544 --json
    """
    parameters = robot_parameters(changes)
    found = evaluate(horizontal(torque), parameters, np.array(rates), tolerance=tolerance)
    if not np.isfinite(found.error[0]):
        raise AccordError(missed(np.array(rates)))
    final = dict(zip(("th2", "w1", "w2"), found.final[0, 1:].tolist(), strict=True))
    rows = {
        **shown(found),
        "final th2": (f"{final['th2']:.8f}", "rad"),
        "final w1": (f"{final['w1']:.8f}", "rad/s"),
        "final w2": (f"{final['w2']:.8f}", "rad/s"),
    }
    return Result({**times_and_error(found), "final": final}, figure_lines(rows))


def minimise_command(
    rates: Rates = (1.0, 12.0),
    torque: Torque = 2.0,
    changes: Changes = None,
    tolerance: Tolerance = FINE,
) -> Result:
    """Find the rates of least error near a guess, by the method of Nelder and Mead.

    Examples:

      accord monkeybot minimise --rates 1 12 --torque 2
    """
    parameters = robot_parameters(changes)
    best = minimise(horizontal(torque), parameters, np.array(rates), tolerance=tolerance)
    rows = {
        "rates": (f"{best.rates[0]:.8f}, {best.rates[1]:.8f}", "rad/s"),
        **shown(best.evaluation),
        "evaluations": (str(best.evaluations), ""),
    }
    figures = times_and_error(best.evaluation)
    data = {"rates": best.rates, **figures, "evaluations": best.evaluations}
    return Result(data, figure_lines(rows))


def times_and_error(found: Evaluation) -> dict[str, float]:
    """Return error [rad^2, rad^2/s^2], switch_time and motor_time [s] of one evaluation."""
    return {
        "error": float(found.error[0]),
        "switch_time": float(found.switch_time[0]),
        "motor_time": float(found.motor_time[0]),
    }


def shown(found: Evaluation) -> dict[str, tuple[str, str]]:
    """Return the same with units, to be read."""
    return {
        "error": (f"{found.error[0]:.8g}", "rad^2, rad^2/s^2: what does not repeat, squared"),
        "switch time": (f"{found.switch_time[0]:.8f}", "s"),
        "motor time": (f"{found.motor_time[0]:.8f}", "s"),
    }
