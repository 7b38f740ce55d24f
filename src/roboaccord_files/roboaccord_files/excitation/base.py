"""Compute the base parameters of a robot: the combinations of parameters that motions can tell apart.

At random states the regressor (the matrix of the equations of motion, regressor.py) is decomposed
by QR [Gautier 1991]. A column that earlier ones span is dropped, and its parameter is added to
theirs. STATES may be raised; DEPENDENT of the core's fit.py decides what is dependent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.fit import independent
from roboaccord.description.tree import Tree

from roboaccord_files.excitation.regressor import Parameter, parameters_of, regressor

STATES = 100  # random ones: more rows than parameters, also of two joints
FREE = np.pi  # rad or m: range of a joint without stops
SMALL = 1e-9  # of a combination's factors: round-off
LOST = 1e-14  # of the largest square of a singular value: round-off


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of a robot.

    Args:
        kept: columns of the regressor that are independent (b,).
        factors: what each parameter adds to the base parameters (b, p).
        names: of all parameters (p,).
        scale: rms of the kept columns at random states (b,), with efforts in parts of those there.
        efforts: rms efforts of the random states (n,) [N m or N].
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
        """Return the base parameters of a tree, by random states within its limits."""
        states = random_states(tree, joints)
        rows = regressor(tree, joints, gravity, *states, friction)
        efforts = np.sqrt((rows**2).sum(axis=2).mean(axis=0))
        flat = (rows / np.maximum(efforts, 1e-12 * efforts.max())[:, None]).reshape(
            -1, rows.shape[-1]
        )
        kept = independent(flat.T)
        size = np.linalg.norm(flat, axis=0)
        kept = [i for i in kept if size[i] > SMALL * size.max()]
        factors = np.linalg.lstsq(flat[:, kept], flat, rcond=None)[0]
        factors[np.abs(factors) < SMALL] = 0.0
        names = tuple(parameters_of(tree, joints, friction))
        scale = size[kept] / np.sqrt(len(flat))
        return cls(tuple(kept), factors, names, scale, efforts)

    def combined(self, i: int) -> dict[Parameter, float]:
        """Return the parameters that make a base parameter, with their factors."""
        row = self.factors[i]
        return {self.names[j]: float(row[j]) for j in np.flatnonzero(row)}

    def scaled(self, rows: Array) -> Array:
        """Return the columns (k n, b) of base parameters in a regressor (k, n, p), in their scale.

        With columns of unit size at random states, and efforts in parts of their size there, the
        condition does not depend on units.
        """
        rows = rows[:, :, list(self.kept)] / self.efforts[:, None] / self.scale
        count = rows.shape[0] * rows.shape[1]
        return np.asarray(rows.reshape(count, -1) / np.sqrt(count))

    def condition(self, rows: Array) -> float:
        """Return the condition of a motion's base parameters; infinite where one is lost."""
        columns = self.scaled(rows)
        return condition_of(np.asarray(np.linalg.eigvalsh(columns.T @ columns), float))


def condition_of(values: Array) -> float:
    """Return the condition of columns by the eigenvalues of their squares, the least first."""
    least, *_, most = values if len(values) > 1 else (*values, *values)
    return float(np.sqrt(most / least)) if least > LOST * most else np.inf


def random_states(tree: Tree, joints: Sequence[str]) -> tuple[Array, Array, Array]:
    """Return positions within limits, rates and accelerations (k, n) from a fixed seed."""
    rng, ends = np.random.default_rng(0), {joint.name: joint.ends for joint in tree.moving}
    lower, upper = np.clip(np.array([ends[name] for name in joints]).T, -FREE, FREE)
    shape = STATES, len(joints)
    return rng.uniform(lower, upper, shape), rng.standard_normal(shape), rng.standard_normal(shape)
