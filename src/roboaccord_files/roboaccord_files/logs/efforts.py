"""Decide what the efforts recorded in a log mean: torque at the joint, motor current, or other.

Programs log different things as the "effort" of a joint. Each possibility is a `Reading`: how the
torque at the joint follows from the recorded effort. Every reading is fitted to the log before any
error of the robot's file is named, and the one that leaves the smallest residuals wins. Torque at
the joint, the usual meaning, is given up only for a reading that explains far more of the log, and
whose factors could not come from a gear ratio that is a little wrong.

A factor common to all efforts, and one common to all masses, inertias and frictions of the file,
cannot be told apart: where factors of the efforts are fitted, the file is taken to be right.

A reading may be added to READINGS. LARGE_RESIDUALS, CLEAR, MAX_LEFT and GEAR_ERRORS may
be tuned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract import AccordError, Array, Json
from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.causes.fit import Fit, Prior
from roboaccord.crosscheck.causes.hypotheses import FACTOR, FILTER, LIMIT, MOTOR, Hypothesis
from roboaccord.crosscheck.causes.search import SIGNIFICANT_SIZE

from roboaccord_files.logs.body import LogBody

# When another reading replaces "torque at the joint". Residuals are rms values, as a share of the
# effect that the efforts have on the positions within a window of samples (windows.py).
# Share; torque at the joint stays if its residuals are smaller than this. A gear that is 10 % off
# leaves no more, and is an error.
LARGE_RESIDUALS = 0.1
# Ratio; its residuals must be at least this many times those of the other reading: a ninth of the
# squares, about what one cause may leave (the core has UNEXPLAINED = 0.1).
CLEAR = 3.0
MAX_LEFT = 0.5  # share; the residuals of the other reading must be smaller than this
# Ratios; a factor between these may be the error of a gear, and no current. No gear is 60 % off,
# and 0.6 is 1 / 1.6 rounded.
GEAR_ERRORS = 0.6, 1.6
# Prior of a factor: positive, else free (1e9 is far beyond any N m/A). A factor of the other sign
# is another error (tried.py).
FREE_FACTOR = Prior(1.0, 1e9, 0.0, np.inf)


@dataclass(frozen=True)
class Reading:
    """How the torque at a joint follows from the recorded effort.

    tau = factor * effort + what the controller adds, unrecorded, to carry gravity and friction.

    Args:
        name: the reading in words, as it is printed.
        scaled: whether each joint has an unknown factor; else the factor is 1.
        gravity, friction: whether the controller adds the torque that they take: what the true
            robot needs, unless `PredictedWindows.compensated_by_file` adds what the file's does.
    """

    name: str
    scaled: bool = False
    gravity: bool = False
    friction: bool = False

    def uncompensated(self, body: LogBody) -> LogBody:
        """Return the robot without gravity and friction, as far as the controller carries them."""
        if self.gravity:
            body = replace(body, gravity=np.zeros(3))
        if self.friction:
            body = replace(body, damping=0.0 * body.damping, dry=0.0 * body.dry)
        return body

    def factors(self, joints: Sequence[str]) -> Mapping[Hypothesis, Prior]:
        """Return the factors of efforts that are fitted together with any cause, one a joint."""
        return {Hypothesis(FACTOR, joint): FREE_FACTOR for joint in joints} if self.scaled else {}


Fits = Mapping[Reading, Fit]
Shares = Mapping[Reading, Array]
TORQUE = Reading("torque at the joint")
MOTOR_SIDE = Reading("motor current or torque at the motor", scaled=True)
COMPENSATED = Reading("torque less gravity", gravity=True)
BOTH = Reading("torque less gravity and friction", gravity=True, friction=True)
READINGS = (TORQUE, MOTOR_SIDE, COMPENSATED, BOTH)
# Readings that remain possible for each word of `--effort`; "" where the user states nothing.
READINGS_BY_WORD: Mapping[str, tuple[Reading, ...]] = {
    "": READINGS,
    "torque": (TORQUE,),
    "current": (MOTOR_SIDE,),
    "motor": (MOTOR_SIDE,),
    "compensated": (COMPENSATED, BOTH),
    "commanded": (TORQUE,),
    "filtered": (TORQUE,),
}
# Quantities that are expected, and so no errors, for a word of `--effort`.
EXPECTED = {"commanded": ("delay", MOTOR, LIMIT), "filtered": ("delay", FILTER)}


@dataclass(frozen=True)
class ChosenReading:
    """The reading that was chosen for the efforts of a log.

    Args:
        name: of the reading.
        share: rms residuals as a share of the effect of the efforts, of the joint where it is
            largest.
        next_name: name of the reading that fits next best; "" if there is none.
        next_cost: sum of the squared residuals that this next reading leaves.
        factors: fitted factors of the joints, for a reading with unknown factors.
        stated: whether the user stated the reading by `--effort`.
        implied: delay, filter and the like that the user's statement implies, with fitted sizes.
        next_ratio: rms residuals of the next reading over those of this one with its causes.
    """

    name: str
    share: float
    next_name: str = ""
    next_cost: float = np.nan
    factors: Sequence[Cause] = ()
    stated: bool = False
    implied: Sequence[Cause] = ()
    next_ratio: float = np.nan

    @classmethod
    def of(cls, reading: Reading, fits: Fits, shares: Shares, stated: str) -> ChosenReading:
        """Return the chosen reading with its residuals, and the one that fits next best.

        Motor current is never the next: free factors fit at least as well as torque at the joint.

        Args:
            reading: the chosen one.
            fits, shares: as of `best_reading`.
            stated: word of `--effort`; "" if the user states nothing.
        """
        others = [candidate for candidate in fits if candidate not in (reading, MOTOR_SIDE)]
        chosen = cls(reading.name, float(shares[reading].max()), stated=bool(stated))
        if not others:
            return chosen
        following = min(others, key=lambda candidate: fits[candidate].cost)
        return replace(chosen, next_name=following.name, next_cost=fits[following].cost)

    def with_fit(self, fit: Fit) -> ChosenReading:
        """Return the reading with what a fit with causes found: factors, and how far the next is.

        Factors of the efforts are no causes.
        """
        factors = [h for h in fit.problem.nuisance if h.quantity == FACTOR and h in fit.deviations]
        causes = [fit.problem.cause(fit, factor) for factor in factors]
        ratio = float(np.sqrt(self.next_cost / fit.cost)) if self.next_name else np.nan
        return replace(self, factors=causes, next_ratio=ratio)

    def document(self) -> dict[str, Json]:
        """Return what `--json` prints of the efforts."""
        factors = {cause.where: cause.size for cause in self.factors}
        following: dict[str, Json] = {"next": self.next_name, "times": self.next_ratio}
        return {"name": self.name, **following, "factors": factors}


def readings(stated: str) -> tuple[Reading, ...]:
    """Return the readings that a word of `--effort` leaves possible.

    Raises:
        AccordError: if the word is not one of READINGS_BY_WORD.
    """
    if stated not in READINGS_BY_WORD:
        words = ", ".join(filter(None, READINGS_BY_WORD))
        raise AccordError(f"--effort is one of {words}, or a FILE.yaml, not {stated!r}")
    return READINGS_BY_WORD[stated]


def best_reading(fits: Fits, shares: Shares) -> Reading:
    """Return the reading of the efforts: torque at the joint unless another explains far more.

    Readings are compared by the middle one of the joints: an error of one joint, such as a spring,
    may be larger than all its efforts do.

    Args:
        fits: the fit of each reading without any cause, that of the default reading first.
        shares: rms residuals of each fit as a share of the effect of the efforts, of the joints
            that move.
    """
    usual, *_ = fits
    middle = {reading: float(np.median(share)) for reading, share in shares.items()}
    best = min(fits, key=middle.__getitem__)
    if usual != TORQUE:  # the user stated what the efforts are
        return best
    # Torque at the joint stays unless its residuals are large, and far larger than the best ones.
    clear = middle[usual] > CLEAR * middle[best] or fits[usual].cost > CLEAR**2 * fits[best].cost
    if shares[usual].max() < LARGE_RESIDUALS or not clear:
        return usual
    # Most factors of the other reading must be well determined, and far from 1.
    low, high = GEAR_ERRORS
    fit, factors = fits[best], [one for one in fits[best].sizes if one.quantity == FACTOR]
    far_from_one = [
        fit.sizes[factor] > SIGNIFICANT_SIZE * fit.deviations.get(factor, np.inf)
        and not low < fit.sizes[factor] < high
        for factor in factors
    ]
    convincing = middle[best] < MAX_LEFT and (not factors or sum(far_from_one) > len(factors) / 2)
    return best if convincing else usual
