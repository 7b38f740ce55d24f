"""Resolution: the smallest errors of parameters that a level would have found.

SHOWN and BEYOND may be tuned. `Resolved` is part of summary.json. The bound of a level over how a
tick moves with a parameter is the smallest size that it would have found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from roboaccord.contract.outcome import Code, Finding, Outcome, because
from roboaccord.contract.results import Quantity
from roboaccord.crosscheck.causes.hypotheses import Hypothesis, components
from roboaccord.crosscheck.causes.search import UNSEEN
from roboaccord.crosscheck.causes.ticks import TickProblem
from roboaccord.engines.deviations import EVERY, UPWARDS
from roboaccord.numerics.ranking import ranked
from roboaccord.scenario.scenario import Allowance
from roboaccord.scenario.setup import Setup

SHOWN = 10  # parameters of a resolution
BEYOND = 100.0  # m, kg m^2, N m s/rad, ...: no robot's is larger


@dataclass(frozen=True)
class Resolved:
    """The smallest size of a parameter's error that a level would have found."""

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
    resolutions = []
    for one in dict.fromkeys(each.whole for each in effects if each.where != EVERY):
        own = [effects.get(each, 0.0) for each in components(one)]
        if one.quantity == "gravity" and not own[UPWARDS] > UNSEEN * max(own):
            continue  # its strength moves nothing, and only a tilt would
        least = min(effect for effect in own if effect > UNSEEN * max(own))
        resolutions.append(Resolved(one.quantity, one.where, level, 1.0 / least, one.unit))
    return ranked(resolutions, lambda each: each.smallest)


def largest(problem: TickProblem) -> dict[Hypothesis, float]:
    """Return the largest change of a tick by each parameter, over what is allowed."""
    ones = [one for group in problem.groups() for one in group]
    return {one: float(np.abs(slope).max()) for one, slope in problem.slopes(ones).items()}


def shown_of(found: Sequence[Resolved]) -> list[Resolved]:
    """Return ten: of each quantity where it is seen least, then the largest effects."""
    last = {each.parameter: each for each in found}  # they are in order
    return list(dict.fromkeys([*last.values(), *found]))[:SHOWN]


def ask_resolution(
    findings: Sequence[Finding],
    resolved: Sequence[Resolved],
    asked: float,
    setup: Setup,
    order: int,
) -> list[Finding]:
    """Return findings on an engine, one not judged where more of a parameter could hide than asked.

    Args:
        findings: on one engine.
        resolved: smallest errors that its best levels would have found.
        asked: part of any parameter that must not be able to hide.
        setup: robot and scenario.
        order: of the engine's integrator.
    """
    parts = [each for each in resolved if each.unit == "1"]
    most = next(iter(ranked(parts, lambda each: -each.smallest)), None)
    if most is not None and most.smallest <= asked:
        return list(findings)
    level, where = (most.level, most.where) if most else ("scheme", "")
    key, value = _enough(most, asked, setup, order) if most else ("", 0.0)
    why = because(Code.HIDDEN, most=most, asked=asked, key=key, value=value)
    return [
        replace(each.also(why), outcome=Outcome.NOT_JUDGED, where=where)
        if each.level == level and each.outcome != Outcome.OUTSIDE
        else each
        for each in findings
    ]


def _enough(most: Resolved, asked: float, setup: Setup, order: int) -> tuple[str, float]:
    """Return which key of the scenario, at which value, would let no more than asked hide.

    Round-off hides the less the longer a tick is, time stepping the less the shorter a physics
    step, with order 1 in contact. No key where next to nothing depends on the parameter.
    """
    scenario, order = setup.scenario, order if setup.contact is None else 1
    period, step = scenario.control_period, scenario.physics_step
    if most.smallest > 1.0:
        return "", 0.0
    if most.level == "scheme":
        return "control_period", math.ceil(period * most.smallest / asked / step) * step
    if isinstance(scenario.crosscheck.tolerances.at(period).one_step, Allowance):
        return "crosscheck.tolerances.one_step", 0.0
    return "physics_step", step / math.ceil((most.smallest / asked) ** (1.0 / order))
