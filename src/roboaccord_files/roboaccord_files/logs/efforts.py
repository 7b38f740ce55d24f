"""What the efforts of a log are: readings that compete on the log before anything is named.

A reading may be added to READINGS: what has to be put to an effort to make it the torque at the
joint. GROSS, CLEAR, MOST and NEAR_ONE may be tuned: torque at the joint is left only for a reading
that explains far more, by factors that are none of a gear that is a little off.

A factor common to all efforts, and one common to all masses, inertias and frictions of the file,
are one cause with two names: with free factors the file is trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Cause
from roboaccord.contract.results import Json
from roboaccord.crosscheck.causes.fit import Fit, Prior
from roboaccord.crosscheck.causes.hypotheses import FACTOR, FILTER, LIMIT, MOTOR, Hypothesis
from roboaccord.crosscheck.causes.search import SURE

from roboaccord_files.logs.body import LogBody

GROSS = 0.1  # of what efforts do in a window: what torque at the joint leaves at least
CLEAR = 3.0  # times what another reading leaves
MOST = 0.5  # of what efforts do in a window: what that leaves
NEAR_ONE = 0.6, 1.6  # factors of a gear that is off
ANY = Prior(1.0, 1e9, 0.0, np.inf)  # a factor; one of the other sign is another error


@dataclass(frozen=True)
class Reading:
    """How an effort is read: tau = factor * effort, and what the controller adds to it.

    Args:
        name: in words.
        scaled: whether each joint has a factor that is unknown.
        gravity, friction: whether the controller adds what they take.
        of_file: whether it does by the file, and else by what the robot is.
    """

    name: str
    scaled: bool = False
    gravity: bool = False
    friction: bool = False
    of_file: bool = False

    def rest(self, body: LogBody) -> LogBody:
        """Return a robot without what the controller adds."""
        if self.gravity:
            body = replace(body, gravity=np.zeros(3))
        if self.friction:
            body = replace(body, damping=0.0 * body.damping, dry=0.0 * body.dry)
        return body

    def factors(self, joints: Sequence[str]) -> Mapping[Hypothesis, Prior]:
        """Return the factors that are fitted beside any hypothesis."""
        return {Hypothesis(FACTOR, joint): ANY for joint in joints} if self.scaled else {}


TORQUE = Reading("torque at the joint")
MOTOR_SIDE = Reading("motor current or torque at the motor", scaled=True)
COMPENSATED = Reading("torque less gravity", gravity=True)
BOTH = Reading("torque less gravity and friction", gravity=True, friction=True)
READINGS = (TORQUE, MOTOR_SIDE, COMPENSATED, BOTH)
STATED: Mapping[str, tuple[Reading, ...]] = {
    "": READINGS,
    "torque": (TORQUE,),
    "current": (MOTOR_SIDE,),
    "motor": (MOTOR_SIDE,),
    "compensated": (COMPENSATED, BOTH),
    "commanded": (TORQUE,),
    "filtered": (TORQUE,),
}
"""What `--effort` states."""
OWN = {"commanded": ("delay", MOTOR, LIMIT), "filtered": ("delay", FILTER)}
"""Causes that are no errors where that is stated."""


@dataclass(frozen=True)
class Taken:
    """What efforts were taken for.

    Args:
        name: of the reading.
        left: rms of the residuals, over what the efforts do, where it is most.
        following, cost: the next reading, and the squared residuals that it leaves.
        factors: of joints, where they are unknown.
        stated: whether the user states it.
        also: what he states of them, with what it comes to: a delay, a filter.
        times: how many times as much the next leaves, with the causes of this one.
    """

    name: str
    left: float
    following: str = ""
    cost: float = np.nan
    factors: Sequence[Cause] = ()
    stated: bool = False
    also: Sequence[Cause] = ()
    times: float = np.nan

    def document(self) -> dict[str, Json]:
        """Return what `--json` prints."""
        factors = {each.where: each.size for each in self.factors}
        return {"name": self.name, "next": self.following, "times": self.times, "factors": factors}


def readings(stated: str) -> tuple[Reading, ...]:
    """Return the readings that are possible.

    Raises:
        AccordError: for a word that is none.
    """
    if stated not in STATED:
        words = ", ".join(filter(None, STATED))
        raise AccordError(f"--effort is one of {words}, or a FILE.yaml, not {stated!r}")
    return STATED[stated]


def best_reading(fits: Mapping[Reading, Fit], shares: Mapping[Reading, float]) -> Reading:
    """Return what efforts are: torque at the joint unless another explains far more.

    Args:
        fits: of each reading without a cause, the first the one in doubt.
        left: rms of their residuals, over what the efforts do, where it is most.
    """
    plain, *_ = fits
    best = min(fits, key=lambda each: fits[each].cost)
    if plain != TORQUE:
        return best
    if best == plain or shares[plain] < GROSS or fits[plain].cost < CLEAR**2 * fits[best].cost:
        return plain
    low, high = NEAR_ONE
    factors = [one for one in fits[best].deviations if one.quantity == FACTOR]
    sizes = [fits[best].sizes[one] for one in factors]
    sure = all(size > SURE * fits[best].deviations[one] for one, size in zip(factors, sizes))
    off = sum(not low < size < high for size in sizes)
    clear = sure and shares[best] < MOST and (not sizes or off > len(sizes) / 2)
    return best if clear else plain


def taken(
    reading: Reading, fits: Mapping[Reading, Fit], shares: Mapping[Reading, float], stated: str
) -> Taken:
    """Return what efforts were taken for, and which reading is the next."""
    rest = [one for one in fits if one not in (reading, MOTOR_SIDE)]
    chosen = Taken(reading.name, shares[reading], stated=bool(stated))
    if not rest:
        return chosen
    following = min(rest, key=lambda one: fits[one].cost)
    return replace(chosen, following=following.name, cost=fits[following].cost)


def factors_of(fit: Fit) -> list[Cause]:
    """Return the factors of the joints that a fit has, beside its causes."""
    ones = [one for one in fit.problem.beside if one.quantity == FACTOR]
    return [fit.problem.cause(fit, one) for one in ones if one in fit.deviations]
