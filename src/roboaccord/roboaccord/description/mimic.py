"""Forward dynamics of a tree in which joints mimic others (URDF's element `mimic`), exactly.

A joint that mimics another follows it with a fixed ratio and offset. `MimicDynamics` takes the
place of `TreeDynamics`: it computes mass matrix and forces of the free tree, and projects them on
the motions that the constraint allows [Featherstone 2008, section 3.2]. test_mimic compares it with
Pinocchio's matrices and with energy. A method that is added to `TreeDynamics` must be right under
the constraint, too, or be overridden here.
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
    """Dynamics of a tree in which joints follow those that they mimic; arguments as of the base.

    Positions are q = G z + q0 (`Tree.independent`), and accelerations G z'' with
    G' M G z'' = G' (f - h), where M is the mass matrix, f the efforts and h all other forces of the
    tree (Featherstone 2008, section 3.2). States and efforts are those of all joints; a state must
    satisfy the constraint, and continues to.
    """

    def __init__(self, tree: Tree, joints: tuple[str, ...], *args: Any, **options: Any) -> None:
        self._joint_ratios, self._added_inertia = tree.independent(joints)[0], 1.0
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
        """Fill `slope` with the derivative of a state.

        The accelerations a of the free tree give f - h = M a. Links may have no mass, because the
        constraint carries them, so a is computed with an inertia added at each joint.
        """
        n = len(self.joints)
        armature = self._body[self._rows, bodies.ARMATURE]
        self._body[self._rows, bodies.ARMATURE] = armature + self._added_inertia
        try:
            super()._slopes(y, effort, slope)
        finally:
            self._body[self._rows, bodies.ARMATURE] = armature
        rows, mass, _ = self._statics(
            y[bodies.Q : bodies.Q + n], quaternion_matrix(y[3 : bodies.Q])
        )
        entries = bodies.Q + n + np.array(rows)
        forces = mass[np.ix_(rows, rows)] @ slope[entries]
        forces[-n:] += self._added_inertia * slope[entries[-n:]]
        slope[entries] = self._constrained(mass[np.ix_(rows, rows)], forces)

    def _constrained(self, mass: Array, forces: Array) -> Array:
        """Return the accelerations (m,) under the constraint, by mass matrix (m, m) and forces."""
        ratios = self._all_ratios(len(mass))
        independent = np.linalg.solve(ratios.T @ mass @ ratios, ratios.T @ forces)
        return np.asarray(ratios @ independent)

    def _all_ratios(self, size: int) -> Array:
        """Return G for base and joints (size, size - n + m); the base's rates mimic nothing."""
        n, m = self._joint_ratios.shape
        ratios = np.eye(size, size - n + m)
        ratios[-n:, size - n :] = self._joint_ratios
        return ratios

    def _refuse_singular(self, tree: Tree, kind: Base) -> None:
        rng, n = np.random.default_rng(0), len(self.joints)
        for _ in range(SAMPLES):
            rows, mass, _ = self._statics(rng.uniform(-np.pi, np.pi, n), np.eye(3))
            ratios = self._all_ratios(len(rows))
            self._added_inertia = float(np.diag(mass)[6:].mean()) or 1.0
            moments = np.linalg.eigvalsh(ratios.T @ mass[np.ix_(rows, rows)] @ ratios)
            if not moments[0] > SINGULAR * moments[-1]:
                raise AccordError(
                    f"links of {tree.links[0].name}'s tree move without an inertia, also as joints "
                    f"mimic others with a base that is {kind}: give them an <inertial>"
                )
