"""Forward dynamics of a tree in which joints mimic others, such as the fingers of a gripper.

A joint that mimics another (element `mimic` of a URDF) follows it exactly, by a fixed ratio and
offset. So the positions q of all joints follow from those of the independent ones, z:

    q = G z + q0,    q'' = G z''

`MimicDynamics` replaces `TreeDynamics` for such a tree in simulators/reference.py and
engines/reading.py. It projects the equations of motion of the free tree, in which nothing mimics,
on the motions that the constraint allows (Featherstone, Rigid Body Dynamics Algorithms, 2008,
section 3.2):

    M q'' = f - h    becomes    G' M G z'' = G' (f - h)

M is the mass matrix, f the efforts and h all other forces; f - h follows from the accelerations of
the free tree. test_mimic compares the result with Pinocchio's matrices and with energy. A method
that is added to `TreeDynamics` must be right under the constraint, too, or be overridden here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description import bodies
from roboaccord.description.base_kinds import Base
from roboaccord.description.dynamics import SAMPLES, SINGULAR, TreeDynamics
from roboaccord.description.tree import Tree
from roboaccord.numerics.runge_kutta import rk4_stage


class MimicDynamics(TreeDynamics):
    """Dynamics of a tree in which joints follow those that they mimic.

    Arguments are those of `TreeDynamics`. States and efforts are those of all n joints, of which m
    are independent; a state must satisfy the constraint, and continues to.
    """

    def __init__(self, tree: Tree, joints: tuple[str, ...], *args: Any, **options: Any) -> None:
        self._joint_ratios, _ = tree.independent(joints)  # G of the joints (n, m)
        # Inertia that the free tree is computed with at each joint [kg m^2 or kg]: without it, a
        # link that has no mass, because the constraint carries it, would have no acceleration.
        self._added_inertia = 1.0
        super().__init__(tree, joints, *args, **options)

    def advance(
        self, y: Array, effort: Array, step: float, count: int, wrench: Array | None = None
    ) -> None:
        """Take steps as `TreeDynamics.advance` does, but each stage under the constraint."""
        self._set_wrench(wrench)
        slope = np.zeros_like(y)
        for _ in range(count):
            stage, end = y.copy(), y.copy()
            for k in range(4):
                self._slopes(stage, effort, slope)
                rk4_stage(k, step, y, slope, stage, end)
            end[3 : bodies.Q] /= np.linalg.norm(end[3 : bodies.Q])
            y[:] = end

    def _slopes(self, y: Array, effort: Array, slope: Array) -> None:
        """Fill `slope` with the derivative of a state, or of many, as `TreeDynamics` does."""
        n = len(self.joints)
        # First the free tree, with the added inertia at its joints.
        armature = self._body[self._rows, bodies.ARMATURE]
        self._body[self._rows, bodies.ARMATURE] = armature + self._added_inertia
        try:
            super()._slopes(y, effort, slope)
        finally:
            self._body[self._rows, bodies.ARMATURE] = armature
        at_rest = y.copy()
        at_rest[bodies.Q + n :] = 0.0
        rows, mass, _ = self._statics(at_rest)
        entries = bodies.Q + n + np.array(rows)  # of the accelerations in `slope`
        # From here on many states are rows, as numpy.linalg takes them; mass matrices are symmetric
        # and need no other transposition.
        mass = mass[np.ix_(rows, rows)].T
        free_acceleration = slope[entries].T[..., None]
        # f - h, which cause this acceleration of the masses and of the added inertia.
        forces = mass @ free_acceleration
        forces[..., -n:, :] += self._added_inertia * free_acceleration[..., -n:, :]
        slope[entries] = self._constrained(mass, forces)[..., 0].T

    def _constrained(self, mass: Array, forces: Array) -> Array:
        """Return the accelerations (..., k, 1) of base and joints under the constraint.

        Args:
            mass: matrices of the free tree (..., k, k), of the base's free components and n joints.
            forces: f - h (..., k, 1).
        """
        ratios = self._all_ratios(mass.shape[-1])
        independent = np.linalg.solve(ratios.T @ mass @ ratios, ratios.T @ forces)
        return np.asarray(ratios @ independent)

    def _all_ratios(self, size: int) -> Array:
        """Return G for base and joints (size, size - n + m); the base mimics nothing."""
        n, m = self._joint_ratios.shape
        ratios = np.eye(size, size - n + m)
        ratios[-n:, size - n :] = self._joint_ratios
        return ratios

    def _refuse_singular(self, tree: Tree, kind: Base) -> None:
        """Refuse independent joints or a base without inertia, and set the added inertia.

        In random states G' M G must be positive definite to round-off. The added inertia is the
        mean of the joints' own, or 1 where they have none.
        """
        rng, n = np.random.default_rng(0), len(self.joints)
        for _ in range(SAMPLES):
            q = rng.uniform(-np.pi, np.pi, n)
            rows, mass, _ = self._statics(self._at_rest(q, np.eye(3)))
            ratios = self._all_ratios(len(rows))
            self._added_inertia = float(np.diag(mass)[6:].mean()) or 1.0
            eigenvalues = np.linalg.eigvalsh(ratios.T @ mass[np.ix_(rows, rows)] @ ratios)
            if not eigenvalues[0] > SINGULAR * eigenvalues[-1]:
                raise AccordError(
                    f"links of {tree.links[0].name}'s tree move without an inertia, also as joints "
                    f"mimic others with a base that is {kind}: give them an <inertial>"
                )
