"""Search for the motion that identifies the parameters of a robot best, within its limits.

The measure is the condition number of the regressor of the base parameters (base.py) along the
motion: the smaller it is, the better the motion tells these parameters apart. `Search.best` draws
random amplitudes of Fourier series (motion.py), and then changes the best draw at random; a change
that lowers the condition number is kept. The size of the changes follows the one-fifth rule of
evolution strategies [Rechenberg 1973]. The constants may be tuned: other values give other motions
for a seed. command.py runs the search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.description.tree import Tree

from roboaccord_files.excitation.base import UNBOUNDED, BaseParameters
from roboaccord_files.excitation.motion import FourierMotion
from roboaccord_files.excitation.regressor import regressor, values_of

# Share of the tries that are random draws; the others change the best one. From 0.05 to 0.4 the
# condition number of own_log/arm.urdf is 4.1 to 4.8 after 100 tries, which is the scatter by seeds.
DRAWN_SHARE = 0.2
# Size of the first change, in standard deviations of a draw. From 0.1 to 2 the condition number of
# own_log/arm.urdf is 3.9 to 4.9 after 100 tries, which is the scatter by seeds.
FIRST_CHANGE = 0.5
# Factors of the size after a success and after a failure, so that it stays the same with one
# success in five. With 1.1 and 1.7 the search ends equally well, within its scatter over seeds.
AFTER_SUCCESS, AFTER_FAILURE = 1.3, 1.3**-0.25
# Share of each limit that a motion uses; the rest is for tracking errors. By choice: with 0.8 to 1
# the condition number of own_log/arm.urdf is the same but for its scatter by seeds, 4.1 to 5.1.
USABLE = 0.9
# Largest number of times that amplitudes are halved to keep efforts within their limits. 0.4 % of
# the range is left then, which shows no parameter.
MAX_HALVINGS = 8


@dataclass(frozen=True)
class Limits:
    """The limits of a motion (n,), SI: lowest and highest positions, rates and efforts."""

    lower: Array
    upper: Array
    rate: Array
    effort: Array

    @classmethod
    def of(cls, tree: Tree, joints: Sequence[str], rate: Array, effort: Array) -> Limits:
        """Return the limits of a tree's joints; a joint without stops turns by half a turn."""
        ends = {joint.name: joint.ends for joint in tree.moving}
        lower, upper = np.array([ends[name] for name in joints]).T
        lower = np.where(np.isfinite(lower), lower, np.minimum(upper, UNBOUNDED) - 2.0 * UNBOUNDED)
        upper = np.where(np.isfinite(upper), upper, lower + 2.0 * UNBOUNDED)
        return cls(lower, upper, rate, effort)


@dataclass(frozen=True)
class Tried:
    """A motion, its condition number, and its largest efforts (n,) [N m or N]."""

    motion: FourierMotion
    condition: float
    efforts: Array


@dataclass
class Search:
    """Search for a motion of a robot.

    Args:
        tree: the robot, on a fixed base.
        joints: names of n joints.
        gravity: acceleration of free fall (3,) [m/s^2].
        limits: limits of the motion.
        duration: duration of a period [s].
        harmonics: number h of harmonics of the series.

    Attributes:
        base: base parameters of the robot.
    """

    tree: Tree
    joints: Sequence[str]
    gravity: Array
    limits: Limits
    duration: float
    harmonics: int

    def __post_init__(self) -> None:
        self._middle = 0.5 * (self.limits.lower + self.limits.upper)
        self._values = values_of(self.tree, self.joints)
        self.base = BaseParameters.of(self.tree, self.joints, self.gravity)

    def try_shape(self, shape: Array) -> Tried | None:
        """Return the largest motion within the limits with amplitudes in given ratios (2, n, h).

        None if the efforts exceed their limits however small it is, as by gravity alone.
        """
        # Scale and shift it to the limits of positions and rates.
        limits = self.limits
        unscaled = FourierMotion.of(shape, np.zeros(shape.shape[1]), self.duration)
        q, qd, _ = unscaled.samples
        span, rate = limits.upper - limits.lower, np.abs(qd).max(axis=0)
        motion = unscaled.scaled(USABLE * np.minimum(span / np.ptp(q, axis=0), limits.rate / rate))
        q = motion.samples[0]
        motion = replace(motion, middle=self._middle - 0.5 * (q.min(axis=0) + q.max(axis=0)))
        # Make it smaller until the efforts are within their limits.
        for halving in range(MAX_HALVINGS):
            smaller = motion.scaled(np.full(len(span), 0.5**halving))
            rows = regressor(self.tree, self.joints, self.gravity, smaller.samples)
            efforts = np.abs(rows @ self._values).max(axis=0)
            if (efforts <= USABLE * limits.effort).all():
                return Tried(smaller, self.base.condition(rows), efforts)
        return None

    def best(self, tries: int, seed: int, progress: Callable[[], object]) -> tuple[Tried, float]:
        """Return the best motion of a number of tries, and the median condition of the draws.

        Args:
            tries: motions that are evaluated.
            seed: seed of the random numbers.
            progress: called after each try.

        Raises:
            AccordError: if no drawn motion keeps within the limits of the efforts.
        """
        # Draw motions at random.
        rng = np.random.default_rng(seed)
        draws = max(int(DRAWN_SHARE * tries), 1)
        drawn = list[tuple[Tried, Array]]()
        for _ in range(draws):
            shape = self._random_shape(rng)
            progress()
            if tried := self.try_shape(shape):
                drawn.append((tried, shape))
        if not drawn:
            raise AccordError(self._too_weak())
        # Change the best one at random.
        best, shape = min(drawn, key=lambda draw: draw[0].condition)
        step = FIRST_CHANGE
        for _ in range(tries - draws):
            changed = shape + step * self._random_shape(rng)
            progress()
            tried = self.try_shape(changed)
            if tried and tried.condition < best.condition:
                best, shape, step = tried, changed, step * AFTER_SUCCESS
            else:
                step *= AFTER_FAILURE
        return best, float(np.median([tried.condition for tried, _ in drawn]))

    def _too_weak(self) -> str:
        """Return the message that names the joint that cannot hold the robot mid-range."""
        middle, still = self._middle[None], np.zeros((1, len(self._middle)))
        rows = regressor(self.tree, self.joints, self.gravity, (middle, still, still))
        required, limit = np.abs(rows @ self._values)[0], self.limits.effort
        worst = int(np.argmax(required - USABLE * limit))
        needs = f"{self.joints[worst]} needs {required[worst]:.3g} to hold the robot mid-range"
        return f"{needs}, and its effort limit is {limit[worst]:g}: no slow motion keeps within it"

    def _random_shape(self, rng: np.random.Generator) -> Array:
        """Return random amplitudes (2, n, h), smaller for higher harmonics."""
        amplitudes = rng.standard_normal((2, len(self.joints), self.harmonics))
        return amplitudes / np.arange(1, self.harmonics + 1)
