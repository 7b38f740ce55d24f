"""Resolution: the smallest errors of parameters that a level would have found.

SHOWN and BEYOND may be tuned. `Resolved` is part of summary.json. The bound of a level over how a
tick moves with a parameter is the smallest size that it would have found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from roboaccord.contract.results import Quantity
from roboaccord.crosscheck.causes.explain import UNSEEN
from roboaccord.crosscheck.causes.hypotheses import Hypothesis, components
from roboaccord.crosscheck.causes.ticks import TickProblem
from roboaccord.engines.deviations import EVERY, UPWARDS
from roboaccord.numerics.ranking import ranked

SHOWN = 10  # parameters of a resolution
BEYOND = 100.0  # m, kg m^2, N m s/rad, ...: no robot's is larger


@dataclass(frozen=True)
class Resolved:
    """Hold the smallest size of a parameter's error that a level would have found."""

    parameter: str
    where: str
    level: str
    smallest: Annotated[float, Quantity("", "that would have been outside")]
    unit: str

    @property
    def unseen(self) -> bool:
        """Whether it could be off by all of itself, or by more than any robot's."""
        return self.smallest > (1.0 if self.unit == "1" else BEYOND)


def resolution_of(effects: Mapping[Hypothesis, float], level: str) -> list[Resolved]:
    """Return the smallest sizes that a level would have found, the largest effects first.

    Args:
        effects: largest change by a unit of each parameter, over what is allowed.
        level: its name.
    """
    found = []
    for one in dict.fromkeys(each.whole for each in effects if each.where != EVERY):
        own = [effects.get(each, 0.0) for each in components(one)]
        if one.quantity == "gravity" and not own[UPWARDS] > UNSEEN * max(own):
            continue  # its strength moves nothing, and only a tilt would
        least = min(effect for effect in own if effect > UNSEEN * max(own))
        found.append(Resolved(one.quantity, one.where, level, 1.0 / least, one.unit))
    return ranked(found, lambda each: each.smallest)


def largest(problem: TickProblem) -> dict[Hypothesis, float]:
    """Return the largest change of a tick by each parameter, over what is allowed."""
    ones = [one for group in problem.groups() for one in group]
    return {one: float(np.abs(slope).max()) for one, slope in problem.slopes(ones).items()}


def shown_of(found: Sequence[Resolved]) -> list[Resolved]:
    """Return ten: of each quantity where it is seen least, then the largest effects."""
    last = {each.parameter: each for each in found}  # they are in order
    return list(dict.fromkeys([*last.values(), *found]))[:SHOWN]
