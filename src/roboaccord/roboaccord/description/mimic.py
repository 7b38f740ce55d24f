"""Forward dynamics of a tree in which joints mimic others, exactly.

Nothing here may be tuned. The projection below is fixed, Featherstone's (2008, section 3.2);
test_mimic compares it with Pinocchio's matrices and with energy. Arguments, states and methods are
those of TreeDynamics, in whose place engines/reading.py and simulators/reference.py use it:
methods may be added there, but must be right under the constraint, too, or be overridden here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array
from roboaccord.description import bodies
from roboaccord.description.base_kinds import Base
from roboaccord.description.dynamics import SAMPLES, SINGULAR, TreeDynamics
from roboaccord.description.tree import Tree
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.numerics.runge_kutta import rk4_stage


class MimicDynamics(TreeDynamics):
    """Dynamics of a tree in which joints follow those that they mimic.

    Positions are q = G z + q0 (`Tree.independent`), and accelerations G z'' with
    G' M G z'' = G' (f - h), where M is the mass matrix, f the efforts and h all other forces of the
    tree (Featherstone 2008, section 3.2). States and efforts are those of all joints; a state must
    satisfy the constraint, and continues to.
    """

    def __init__(self, tree: Tree, joints: tuple[str, ...], *args: Any, **options: Any) -> None:
        self._leads, self._added = tree.independent(joints)[0], 1.0
        super().__init__(tree, joints, *args, **options)

    def advance(
        self, y: Array, effort: Array, step: float, count: int, wrench: Array | None = None
    ) -> None:
        self._hold(wrench)
        slope = np.zeros_like(y)
        for _ in range(count):
            stage, end = y.copy(), y.copy()
            for k in range(4):
                self._slopes(stage, effort, slope)
                rk4_stage(k, step, y, slope, stage, end)
            end[3 : bodies.Q] /= np.linalg.norm(end[3 : bodies.Q])
            y[:] = end

    def accelerations(self, states: Sequence[tuple[Array, ...]]) -> list[Acceleration]:
        return [self.acceleration(*state) for state in states]

    def _slopes(self, y: Array, effort: Array, slope: Array) -> None:
        """Fill the rates of a state; h follows from the accelerations of a tree with more inertia.

        That has an acceleration for links without mass, too, which the constraint may carry.
        """
        n = len(self.joints)
        armature = self._body[self._rows, bodies.ARMATURE]
        self._body[self._rows, bodies.ARMATURE] = armature + self._added
        try:
            super()._slopes(y, effort, slope)
        finally:
            self._body[self._rows, bodies.ARMATURE] = armature
        rows, mass, _ = self._statics(
            y[bodies.Q : bodies.Q + n], quaternion_matrix(y[3 : bodies.Q])
        )
        places = bodies.Q + n + np.array(rows)
        right = mass[np.ix_(rows, rows)] @ slope[places]
        right[-n:] += self._added * slope[places[-n:]]
        slope[places] = self._constrained(mass[np.ix_(rows, rows)], right)

    def _constrained(self, mass: Array, right: Array) -> Array:
        """Return the accelerations (m,) of a mass matrix (m, m) under forces (m,)."""
        whole = self._whole(len(mass))
        found = np.linalg.solve(whole.T @ mass @ whole, whole.T @ right)
        return np.asarray(whole @ found)

    def _whole(self, size: int) -> Array:
        """Return G with the base's rates, which mimic nothing."""
        n, m = self._leads.shape
        whole = np.eye(size, size - n + m)
        whole[-n:, size - n :] = self._leads
        return whole

    def _refuse_singular(self, tree: Tree, kind: Base) -> None:
        rng, n = np.random.default_rng(0), len(self.joints)
        for _ in range(SAMPLES):
            rows, mass, _ = self._statics(rng.uniform(-np.pi, np.pi, n), np.eye(3))
            whole = self._whole(len(rows))
            self._added = float(np.diag(mass)[6:].mean()) or 1.0
            moments = np.linalg.eigvalsh(whole.T @ mass[np.ix_(rows, rows)] @ whole)
            if not moments[0] > SINGULAR * moments[-1]:
                raise AccordError(
                    f"links of {tree.links[0].name}'s tree move without an inertia, also as joints "
                    f"mimic others with a base that is {kind}: give them an <inertial>"
                )
