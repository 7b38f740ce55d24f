"""Hypotheses on what an engine has otherwise than its twin: names of errors, and what would show.

A parameter p that an engine has off by s makes a tick end off by s g, where g is how the twin's
own end of the tick moves with p. So one matrix of these slopes, ticks by parameters, says both: the
residuals of an engine on it name the parameter, and the noise floor over its largest entry is the
smallest size that would have been seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from roboaccord.contract.results import Quantity
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.differences import Name
from roboaccord.crosscheck.ticks import Index, by_group, difference, predicted
from roboaccord.engines.twin import GROUND, OF_JOINTS, Twin
from roboaccord.simulators.base import Simulator

PROBE = 1e-4  # by which a parameter is changed
EXPLAINED = 0.9  # share of the squared residual that a hypothesis must explain to be named
ALIKE = 4.0  # times what the best leaves unexplained: such hypotheses cannot be told from it
ROUND_OFF = 1e-3  # of the squared residual, which nothing explains
MOST = 6  # hypotheses that cannot be told apart
SHOWN = 10  # parameters of a resolution
UNITS = {"damping": "N m s/rad", "delay": "ticks"}  # others are parts


class Hypothesis(NamedTuple):
    """Name a parameter: a quantity, and its joint or link."""

    quantity: str
    where: str

    @property
    def unit(self) -> str:
        """Unit of its sizes; 1 for parts of the parameter."""
        return UNITS.get(self.quantity, "1")

    @property
    def place(self) -> str:
        """What `where` names."""
        return "joint" if self.quantity in OF_JOINTS else "link"

    def sized(self, size: float, form: str = "+.2g") -> str:
        """Return a size in words."""
        return f"{100 * size:{form}} %" if self.unit == "1" else f"{size:{form}} {self.unit}"

    def __str__(self) -> str:
        return f"{self.quantity} of {self.where}" if self.where else self.quantity


@dataclass(frozen=True)
class Resolved:
    """Hold the smallest size of a parameter's error that a level would have found."""

    parameter: str
    where: str
    level: str
    smallest: Annotated[float, Quantity("", "that would have been outside")]
    unit: str

    def __str__(self) -> str:
        found = Hypothesis(self.parameter, self.where)
        return f"{found} {found.sized(self.smallest, '.1g')}"


def hypotheses_of(twin: Simulator) -> list[Hypothesis]:
    """Return the hypotheses on a twin: by joint, by link, and those of which there is one."""
    parts = parts_of(twin)
    links = dict.fromkeys(name for part in parts for name in part.bodies)
    joints = dict.fromkeys(name for part in parts for name in part.joints)
    found = [Hypothesis("delay", ""), *(Hypothesis("mass", link) for link in links)]
    found += [Hypothesis(quantity, joint) for quantity in OF_JOINTS for joint in joints]
    return [*found, *(Hypothesis(quantity, "") for quantity in GROUND)]


def slopes_of(
    twin: Simulator, run: Trajectory, ticks: Index, each: Sequence[Hypothesis]
) -> dict[Hypothesis, Array]:
    """Return how the ends of ticks move with each parameter (k, 2 n + 12); none that do nothing."""
    found, plain = {}, [state for _, state in predicted(twin, run, ticks)]
    for one in each:
        late = PROBE if one.quantity == "delay" else 0.0
        with changed(twin, one, PROBE):
            ends = [state for _, state in predicted(twin, run, ticks, late)]
        slope = np.array([difference(*pair) for pair in zip(plain, ends, strict=True)]) / PROBE
        if np.isfinite(slope).all() and slope.any():
            found[one] = slope
    return found


@contextmanager
def changed(twin: Simulator, one: Hypothesis, size: float) -> Iterator[None]:
    """Change a parameter of a twin for a while."""
    with ExitStack() as stack:
        for part in parts_of(twin):
            stack.enter_context(part.varied(one.quantity, one.where, size))
        yield


def parts_of(twin: Simulator) -> list[Twin]:
    """Return the twins of a simulator's models."""
    return [part for part in twin.parts() if isinstance(part, Twin)]


def name_residuals(slopes: dict[Hypothesis, Array], residuals: Array, floor: Array) -> Name:
    """Name what explains residuals, engine less twin (k, 2 n + 12), best by one factor."""
    weight = 1.0 / spread(floor, residuals.shape[1])
    target = (residuals * weight).ravel()
    left = dict[Hypothesis, tuple[float, float]]()
    for one, slope in slopes.items():
        column = (slope * weight).ravel()
        factor = float(column @ target) / float(column @ column)
        rest = target - factor * column
        left[one] = float(rest @ rest) / float(target @ target), factor
    best = min((share for share, _ in left.values()), default=1.0)
    if best > 1.0 - EXPLAINED:
        return Name(text="no one parameter explains it")
    alike = [one for one in left if left[one][0] <= ALIKE * best + ROUND_OFF]
    alike.sort(key=lambda one: left[one][0])
    words = [f"{one} is {one.sized(left[one][1])} off" for one in alike[:MOST]]
    if len(alike) > 1:
        return Name(text=f"cannot be told apart: {', '.join(words)}")
    return Name(alike[0].quantity, alike[0].where, words[0])


def resolution_of(slopes: dict[Hypothesis, Array], floor: Array, level: str) -> list[Resolved]:
    """Return the smallest sizes that a level would have found, the largest effects first."""
    found = [
        Resolved(
            one.quantity, one.where, level,
            float(1.0 / (by_group(np.abs(slope)) / floor).max()), one.unit,
        )
        for one, slope in slopes.items()
    ]  # fmt: skip
    return sorted(found, key=lambda each: each.smallest)


def shown_of(found: Sequence[Resolved]) -> list[Resolved]:
    """Return ten: of each quantity where it is seen least, then the largest effects."""
    last = {each.parameter: each for each in found}  # they are in order
    return list(dict.fromkeys([*last.values(), *found]))[:SHOWN]


def summary_of(found: Sequence[Resolved]) -> str:
    """Return in words what would have been seen: of a quantity of many, the least of it at any."""
    words = []
    for last in {each.parameter: each for each in found}.values():
        one = Hypothesis(last.parameter, last.where)
        alone = sum(each.parameter == last.parameter for each in found) == 1
        where = one if alone else f"{one.quantity} of any {one.place}"
        words.append(f"{where} {one.sized(last.smallest, '.1g')}")
    return ", ".join(words)


def spread(floor: Array, columns: int) -> Array:
    """Return the floors of groups (6,) by column."""
    n = (columns - 12) // 2
    return np.repeat(floor, [n, n, 3, 3, 3, 3])
