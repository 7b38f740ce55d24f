"""Determine which base parameters of a robot a given motion identifies.

A base parameter (base.py) is identified by a motion if its column of the regressor along the
motion, without the part that other columns explain, is not too small compared with its size at
random states. The check of recorded logs (logs/check.py) calls `Identified.of`, to say which
parameters the log cannot show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.tree import Tree

from roboaccord_files.excitation.base import LOST_EIGENVALUE, BaseParameters, condition_of
from roboaccord_files.excitation.regressor import regressor

# Relative to the size at random states; if the part of a column that no other column explains is
# smaller, noise hides it: recorded torques have 1 % and more.
MIN_UNEXPLAINED = 0.01


@dataclass(frozen=True)
class Identified:
    """Which base parameters of a robot a motion identifies.

    Args:
        base: number of base parameters, with friction and rotors.
        condition: condition number of the regressor along the motion; infinite if one is lost.
        unseen: names of the base parameters that the motion does not identify.
    """

    base: int
    condition: float
    unseen: Sequence[str]

    @classmethod
    def of(
        cls,
        tree: Tree,
        joints: Sequence[str],
        gravity: Array,
        motion: Sequence[Array],
        *,
        friction: bool = True,
    ) -> Identified:
        """Return which base parameters a motion identifies.

        The part of column j of A that no other column explains has the length
        1 / sqrt(((A^T A)^-1)_jj).

        Args:
            tree, joints, gravity, friction: as for `regressor`.
            motion: positions, rates and accelerations (3, k, n).
        """
        base = BaseParameters.of(tree, joints, gravity, friction=friction)
        columns = base.scaled(regressor(tree, joints, gravity, motion, friction))
        # By the eigenvalues of A^T A, bounded below so that a lost parameter divides by no 0.
        values, axes = np.linalg.eigh(columns.T @ columns)
        bounded = np.maximum(values, LOST_EIGENVALUE * values[-1])
        unexplained = 1.0 / np.sqrt((axes**2 / bounded).sum(axis=1))
        names = [str(base.names[i]) for i in base.kept]
        unseen = [name for name, size in zip(names, unexplained.tolist()) if size < MIN_UNEXPLAINED]
        return cls(len(names), condition_of(values), unseen)
