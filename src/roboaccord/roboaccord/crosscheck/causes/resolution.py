"""Resolution: the smallest errors of parameters that a level would have found.

A parameter is, say, the mass of a link. How far the state at the end of a control period (tick)
moves with it is known from a slope (fit.py). The level's bound divided by that effect is the
smallest error that it would have found. A scenario may ask for a resolution; `ask_resolution` then
refuses a verdict where larger errors could hide. MAX_SHOWN and BEYOND_ANY_ERROR may be tuned.
`Resolved` is part of summary.json.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated

import numpy as np

from roboaccord.contract.outcome import Code, Finding, Outcome, because
from roboaccord.contract.results import Quantity
from roboaccord.crosscheck.causes.hypotheses import Hypothesis, components
from roboaccord.crosscheck.causes.search import MIN_EFFECT
from roboaccord.crosscheck.causes.ticks import TickProblem
from roboaccord.engines.deviations import EVERY, Z_INDEX
from roboaccord.numerics.ranking import ranked
from roboaccord.scenario.scenario import Allowance
from roboaccord.scenario.setup import Setup

MAX_SHOWN = 10  # largest number of parameters in a table: half a screen of 24 lines
# Larger than any parameter of a robot here, in SI units (m, kg m^2, N m s/rad, ...).
BEYOND_ANY_ERROR = 100.0


@dataclass(frozen=True)
class Resolved:
    """The smallest size of a parameter's error that a level would have found.

    Args:
        parameter, where: quantity, and its joint or link.
        level: name of the level.
        smallest: that size, in `unit`; relative to the parameter if the unit is "1".
        unit: as above.
    """

    parameter: str
    where: str
    level: str
    smallest: Annotated[float, Quantity("", "that would have been outside")]
    unit: str

    @property
    def unseen(self) -> bool:
        """Whether not even an error as large as the parameter would have been found."""
        return self.smallest > (1.0 if self.unit == "1" else BEYOND_ANY_ERROR)


def resolution_of(effects: Mapping[Hypothesis, float], level: str) -> list[Resolved]:
    """Return the smallest sizes that a level would have found, the largest effects first.

    Args:
        effects: largest change of a tick by a unit of each parameter, over what is allowed.
        level: its name.
    """
    resolutions = []
    # Each parameter of one link or joint; those of EVERY one at once are not resolved.
    for quantity, where in dict.fromkeys(h.parameter for h in effects if h.where != EVERY):
        first = Hypothesis(quantity, where)
        by_component = [effects.get(h, 0.0) for h in components(first)]
        negligible = MIN_EFFECT * max(by_component)
        if quantity == "gravity" and not by_component[Z_INDEX] > negligible:
            continue  # only a tilt of gravity would move anything
        smallest = min(effect for effect in by_component if effect > negligible)
        resolutions.append(Resolved(quantity, where, level, 1.0 / smallest, first.unit))
    return ranked(resolutions, lambda error: error.smallest)


def largest_effects(problem: TickProblem) -> dict[Hypothesis, float]:
    """Return the largest change of a tick by each parameter, over what is allowed."""
    slopes = problem.slopes([*chain(*problem.groups())])
    return {hypothesis: float(np.abs(slope).max()) for hypothesis, slope in slopes.items()}


def shown_of(errors: Sequence[Resolved]) -> list[Resolved]:
    """Return up to MAX_SHOWN errors: the largest one of each quantity, then the smallest ones.

    Args:
        errors: in order, the smallest first.
    """
    largest_of = {error.parameter: error for error in errors}  # they are in order
    return list(dict.fromkeys([*largest_of.values(), *errors]))[:MAX_SHOWN]


def ask_resolution(
    findings: Sequence[Finding], errors: Sequence[Resolved], asked: float, setup: Setup, order: int
) -> list[Finding]:
    """Return findings on an engine; one is not judged if larger errors could hide than asked.

    Args:
        findings: on one engine.
        errors: smallest errors that its best levels would have found.
        asked: share of any parameter that must not be able to hide.
        setup: robot and scenario.
        order: of the engine's integrator.
    """
    relative_errors = [error for error in errors if error.unit == "1"]
    largest = next(iter(ranked(relative_errors, lambda error: -error.smallest)), None)
    if largest is not None and largest.smallest <= asked:
        return list(findings)
    level, where, key, value = "scheme", "", "", 0.0  # if no error is known
    if largest is not None:
        level, where = largest.level, largest.where
        key, value = _setting_needed(largest, asked, setup, order)
    why = because(Code.HIDDEN, most=largest, asked=asked, key=key, value=value)
    return [
        replace(finding.also(why), outcome=Outcome.NOT_JUDGED, where=where)
        if finding.level == level and finding.outcome != Outcome.OUTSIDE
        else finding
        for finding in findings
    ]


def _setting_needed(most: Resolved, asked: float, setup: Setup, order: int) -> tuple[str, float]:
    """Return the key and value of the scenario with which no more than asked could hide.

    A longer tick makes round-off hide less, a shorter physics step time stepping, with order 1 in
    contact. The key is "" if next to nothing depends on the parameter.
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
