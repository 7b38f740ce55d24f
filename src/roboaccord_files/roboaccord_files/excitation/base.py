"""Compute the base parameters of a robot: combinations of parameters that motions tell apart.

Masses, inertias and frictions of a robot act on its motion only in certain combinations, the base
parameters [Gautier 1991]. `BaseParameters.of` finds them: at random states the columns of the
regressor (the matrix of the equations of motion, regressor.py) are decomposed by QR. A column that
earlier ones span is dropped, and its parameter is added to theirs. search.py and identified.py use
them to judge motions. STATES may be raised; DEPENDENT_NORM of the core's fit.py decides what is
dependent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.fit import independent
from roboaccord.description.tree import Tree

from roboaccord_files.excitation.regressor import Parameter, parameters_of, regressor

STATES = 100  # random states; even with one or two joints they give more rows than parameters
# rad or m; positions of a joint without stops are drawn between plus and minus this.
UNBOUNDED = np.pi
# Relative to the largest; smaller factors of a combination, and smaller columns, are round-off. In
# own_log/arm.urdf no factor is between 1e-14 and 0.09.
FACTOR_ROUND_OFF = 1e-9
# Relative to the largest rms effort; smaller ones are replaced by it, so that none divides by 0.
EFFORT_ROUND_OFF = 1e-12
# Relative to the largest eigenvalue; a smaller one is round-off, which means that a parameter has
# no effect. The errors of eigenvalues are some eps = 2e-16 of the largest, and this is 50 eps.
LOST_EIGENVALUE = 1e-14


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of a robot.

    Args:
        kept: numbers of the b columns of the regressor that are independent, of p.
        factors: factor of each parameter in each base parameter (b, p).
        names: names of all parameters (p,).
        scale: rms of the kept columns at random states, with efforts relative to `efforts` (b,).
        efforts: rms efforts at the random states (n,) [N m or N].
    """

    kept: tuple[int, ...]
    factors: Array
    names: tuple[Parameter, ...]
    scale: Array
    efforts: Array

    @classmethod
    def of(
        cls, tree: Tree, joints: Sequence[str], gravity: Array, *, friction: bool = True
    ) -> BaseParameters:
        """Return the base parameters of a tree, by random states within its limits.

        Args:
            tree, joints, gravity, friction: as for `regressor`.
        """
        # The regressor with a row for each state and joint, relative to the joint's rms effort.
        states = random_states(tree, joints)
        by_state = regressor(tree, joints, gravity, states, friction)
        efforts = np.sqrt((by_state**2).sum(axis=2).mean(axis=0))
        nonzero = np.maximum(efforts, EFFORT_ROUND_OFF * efforts.max())
        rows = (by_state / nonzero[:, None]).reshape(-1, by_state.shape[-1])
        # Independent columns, and the combinations of them that make all columns.
        size = np.linalg.norm(rows, axis=0)
        kept = [i for i in independent(rows.T) if size[i] > FACTOR_ROUND_OFF * size.max()]
        factors = np.linalg.lstsq(rows[:, kept], rows, rcond=None)[0]
        factors[np.abs(factors) < FACTOR_ROUND_OFF] = 0.0
        names = tuple(parameters_of(tree, joints, friction))
        scale = size[kept] / np.sqrt(len(rows))
        return cls(tuple(kept), factors, names, scale, efforts)

    def combined(self, i: int) -> dict[Parameter, float]:
        """Return the parameters that base parameter i combines, with their factors."""
        factors = self.factors[i]
        return {self.names[j]: float(factors[j]) for j in np.flatnonzero(factors)}

    def scaled(self, rows: Array) -> Array:
        """Return the scaled columns (k n, b) of the base parameters in a regressor (k, n, p).

        Each column and each joint's efforts are divided by their size at random states, so that the
        condition number does not depend on units.
        """
        rows = rows[:, :, list(self.kept)] / self.efforts[:, None] / self.scale
        count = rows.shape[0] * rows.shape[1]
        return np.asarray(rows.reshape(count, -1) / np.sqrt(count))

    def condition(self, rows: Array) -> float:
        """Return the condition number of a regressor (k, n, p), infinite if a parameter is lost."""
        columns = self.scaled(rows)
        return condition_of(np.asarray(np.linalg.eigvalsh(columns.T @ columns), float))


def condition_of(values: Array) -> float:
    """Return the condition number of a matrix A from the eigenvalues of A^T A, in rising order."""
    smallest, largest = values[0], values[-1]
    return float(np.sqrt(largest / smallest)) if smallest > LOST_EIGENVALUE * largest else np.inf


def random_states(tree: Tree, joints: Sequence[str]) -> tuple[Array, Array, Array]:
    """Return positions within limits, rates and accelerations (k, n) from a fixed seed."""
    rng = np.random.default_rng(0)
    ends = {joint.name: joint.ends for joint in tree.moving}
    lower, upper = np.clip(np.array([ends[name] for name in joints]).T, -UNBOUNDED, UNBOUNDED)
    shape = STATES, len(joints)
    return rng.uniform(lower, upper, shape), rng.standard_normal(shape), rng.standard_normal(shape)
