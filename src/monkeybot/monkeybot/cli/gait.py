"""`accord monkeybot gait` and `minimise`: one gait's error, and the least one near it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from roboaccord.cli.command import Result
from roboaccord.cli.rendering import lines_of
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import INLINE, Quantity, quantities
from roboaccord.contract.state import Array

from monkeybot.cli.options import (
    Changes,
    Rates,
    Tolerance,
    Torque,
    robot_parameters,
)
from monkeybot.gaits.gait import Evaluation, evaluate, horizontal
from monkeybot.gaits.search import FINE, minimise, missed


@dataclass(frozen=True)
class Figures:
    """Hold what one evaluation of a gait came to."""

    error: Annotated[float, Quantity("rad^2, rad^2/s^2", "what does not repeat", form=".8g")]
    switch_time: Annotated[float, Quantity("s", form=".8f")]
    motor_time: Annotated[float, Quantity("s", form=".8f")]

    @classmethod
    def of(cls, found: Evaluation) -> Figures:
        """Return those of a single start."""
        return cls(float(found.error[0]), float(found.switch_time[0]), float(found.motor_time[0]))


@dataclass(frozen=True)
class Final:
    """Hold the state at the end, with th1 = 0."""

    th2: Annotated[float, Quantity("rad", name="final th2", form=".8f")]
    w1: Annotated[float, Quantity("rad/s", name="final w1", form=".8f")]
    w2: Annotated[float, Quantity("rad/s", name="final w2", form=".8f")]


@dataclass(frozen=True)
class GaitError:
    """Hold the error of a gait, and its end."""

    figures: Figures = field(metadata=INLINE)
    final: Final


@dataclass(frozen=True)
class Least:
    """Hold the rates of least error."""

    rates: Annotated[Array, Quantity("rad/s", form=".8f")]
    figures: Figures = field(metadata=INLINE)
    evaluations: Annotated[int, Quantity("")]


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
    _, th2, w1, w2 = found.final[0].tolist()
    figures = GaitError(Figures.of(found), Final(th2, w1, w2))
    return Result(figures, lines_of(figures, *quantities(GaitError)))


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
    figures = Least(best.rates, Figures.of(best.evaluation), best.evaluations)
    return Result(figures, lines_of(figures))
