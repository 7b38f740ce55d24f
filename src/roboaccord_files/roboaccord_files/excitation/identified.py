"""Tell what a given motion can show of a robot: base parameters that it identifies, and which not.

A base parameter (base.py) is identified if its column of the regressor, without what the other
columns explain, is not too small compared with its size at random states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.tree import Tree

from roboaccord_files.excitation.base import LOST, BaseParameters, condition_of
from roboaccord_files.excitation.regressor import regressor

SHOWN = 0.01  # of the size at random states: below it the noise of logs hides a parameter


@dataclass(frozen=True)
class Identified:
    """What a motion shows of the base parameters of a robot.

    Args:
        base: number of base parameters, with friction and rotors.
        condition: of the regressor along the motion; infinite where a parameter is lost.
        unseen: names of those that the motion does not show.
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
        """Return what positions, rates and accelerations (3, k, n) show.

        Args:
            tree, joints, gravity, friction: as of `regressor`.
            motion: the three.
        """
        base = BaseParameters.of(tree, joints, gravity, friction=friction)
        q, qd, qdd = motion
        columns = base.scaled(regressor(tree, joints, gravity, q, qd, qdd, friction))
        values, axes = np.linalg.eigh(columns.T @ columns)
        least = np.maximum(values, LOST * values[-1])
        alone = 1.0 / np.sqrt((axes**2 / least).sum(axis=1))  # what no other column explains
        names = [str(base.names[i]) for i in base.kept]
        unseen = [name for name, size in zip(names, alone.tolist()) if size < SHOWN]
        return cls(len(names), condition_of(values), unseen)
