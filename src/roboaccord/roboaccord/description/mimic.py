"""Forward dynamics of a tree in which joints mimic others (URDF's element `mimic`), exactly.

A joint that mimics another follows it with a fixed ratio and offset, as the second finger of a
gripper follows the first. So the positions q (n,) of all joints are a linear function of the
positions z (m,) of the independent joints, those that mimic no other:

    q = G z + q0                                   (`Tree.independent` returns G and q0)

`MimicDynamics` takes the place of `TreeDynamics` for such robots, in simulators/reference.py and
engines/reading.py. With the mass matrix M of the free tree, which ignores the constraint, efforts f
and all other forces h, the equation of motion M q'' = f - h is projected on the motions that the
constraint allows [Featherstone 2008, section 3.2]:

    G' M G z'' = G' (f - h),        q'' = G z''

test_mimic compares it with Pinocchio's matrices and with energy. A method that is added to
`TreeDynamics` must be right under the constraint, too, or be overridden here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from roboaccord.contract import AccordError, Array
from roboaccord.description import bodies
from roboaccord.description.base_kinds import Base
from roboaccord.description.dynamics import RANDOM_STATES, SINGULAR_RATIO, TreeDynamics
from roboaccord.description.tree import Tree
from roboaccord.numerics.runge_kutta import rk4_stage


class MimicDynamics(TreeDynamics):
    """Dynamics of a tree in which joints follow those that they mimic; arguments as of the base.

    States and efforts are those of all n joints. A state must satisfy the constraint when a motion
    starts, and satisfies it from then on.
    """

    def __init__(self, tree: Tree, joints: tuple[str, ...], *args: Any, **options: Any) -> None:
        self._joint_ratios = tree.independent(joints)[0]  # G (n, m)
        # Inertia added to each joint while the free tree is computed [kg m^2]; `_refuse_singular`
        # replaces the value by one of the size of the robot's own inertias.
        self._added_inertia = 1.0
        super().__init__(tree, joints, *args, **options)

    def advance(
        self, y: Array, effort: Array, step: float, count: int, wrench: Array | None = None
    ) -> None:
        """Take Runge-Kutta steps of order 4, as of the base class."""
        self._set_wrench(wrench)
        slope = np.zeros_like(y)
        for _ in range(count):
            stage, end = y.copy(), y.copy()
            for k in range(4):
                self._slopes(stage, effort, slope)
                rk4_stage(k, step, y, slope, stage, end)
            end[3 : bodies.Q] /= np.linalg.norm(end[3 : bodies.Q])  # the quaternion
            y[:] = end

    def _slopes(self, y: Array, effort: Array, slope: Array) -> None:
        """Fill `slope` with the derivative of a state y, both (13 + 2 n,), or many as columns.

        The forces follow from the accelerations a of the free tree: f - h = M a. Links without mass
        may move, because the constraint determines their motion, but in the free tree they would
        have no finite acceleration. So a is computed with an inertia J added at each joint, and
        f - h = (M + J) a.
        """
        n = len(self.joints)
        armature = self._body[self._joint_rows, bodies.ARMATURE]
        self._body[self._joint_rows, bodies.ARMATURE] = armature + self._added_inertia
        try:
            super()._slopes(y, effort, slope)
        finally:
            self._body[self._joint_rows, bodies.ARMATURE] = armature
        at_rest = y.copy()
        at_rest[bodies.Q + n :] = 0.0
        rows, mass, _ = self._statics(at_rest)
        entries = bodies.Q + n + np.array(rows)
        # One state a row, as numpy.linalg expects it; the transposed mass matrices are the same.
        mass = mass[np.ix_(rows, rows)].T
        free_acceleration = slope[entries].T[..., None]
        forces = mass @ free_acceleration
        forces[..., -n:, :] += self._added_inertia * free_acceleration[..., -n:, :]
        slope[entries] = self._constrained(mass, forces)[..., 0].T

    def _constrained(self, mass: Array, forces: Array) -> Array:
        """Return the accelerations (..., k, 1) of base and joints under the constraint.

        Args:
            mass: matrices M of the free tree (..., k, k).
            forces: f - h (..., k, 1).
        """
        ratios = self._all_ratios(mass.shape[-1])
        independent = np.linalg.solve(ratios.T @ mass @ ratios, ratios.T @ forces)
        return np.asarray(ratios @ independent)

    def _all_ratios(self, size: int) -> Array:
        """Return G for `size` rates of base and joints (size, size - n + m).

        It is the unit matrix for the rates of the base, which come first.
        """
        n, m = self._joint_ratios.shape
        ratios = np.eye(size, size - n + m)
        ratios[-n:, size - n :] = self._joint_ratios
        return ratios

    def _refuse_singular(self, tree: Tree, kind: Base) -> None:
        """Refuse a tree whose mass matrix under the constraint is singular in a random pose."""
        rng, n = np.random.default_rng(0), len(self.joints)
        for _ in range(RANDOM_STATES):
            rows, mass, _ = self._statics(self._at_rest(rng.uniform(-np.pi, np.pi, n), np.eye(3)))
            ratios = self._all_ratios(len(rows))
            self._added_inertia = float(np.diag(mass)[6:].mean()) or 1.0
            moments = np.linalg.eigvalsh(ratios.T @ mass[np.ix_(rows, rows)] @ ratios)
            if not moments[0] > SINGULAR_RATIO * moments[-1]:
                links = f"links of {tree.links[0].name}'s tree move without an inertia"
                condition = f"also as joints mimic others with a base that is {kind}"
                raise AccordError(f"{links}, {condition}: give them an <inertial>")
