"""Free bodies beside the arm, as six more coordinates each of the arm's model.

The coordinates of a body are the position of its centre of mass in the world, and three angles
about its own x, y and z, one after the other, from its orientation at the start of a control
period: they stay far from the 90 degrees at which such angles are singular. In pinocchio's model a
body is the end of six joints, three that slide and three that turn, so that all of the arm's
dynamics and contact apply to it. At the start of a period the angles are 0, and their rates are the
angular velocity in the body's axes.

`rebase` must be called before the first use of the model, and whenever the state is set from rows.
test_packbot_bodies compares free motions with Euler's equations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from roboaccord.contract import Array, FreeBody
from roboaccord.numerics import matrix_quaternion, quaternion_matrix

from packbot.model.arm import Arm
from packbot.model.chain import Chain

COORDINATES = 6  # of each body
JOINTS = (
    *(pin.JointModelPX(), pin.JointModelPY(), pin.JointModelPZ()),
    *(pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ()),
)


class BodyCoordinates:
    """Coordinates of free bodies, which it adds to the model of an arm.

    Args:
        arm: whose model is changed.
        bodies: the free bodies.

    Attributes:
        size: number of coordinates, 6 of each body.
    """

    def __init__(self, arm: Arm, bodies: Sequence[FreeBody]) -> None:
        self._model = arm.model
        self._first_turns = list[int]()  # joint of each body's first angle
        for body in bodies:
            joint = 0
            for letter, kind in zip(("x", "y", "z", "roll", "pitch", "yaw"), JOINTS, strict=True):
                name = f"{body.name}/{letter}"
                joint = arm.model.addJoint(joint, kind, pin.SE3.Identity(), name)
            inertia = pin.Inertia(body.mass, np.zeros(3), body.inertia)
            arm.model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
            arm.model.addBodyFrame(body.name, joint, pin.SE3.Identity(), 0)
            self._first_turns.append(joint - 2)
        arm.data = arm.model.createData()
        self.size = COORDINATES * len(bodies)

    def rebase(self, rows: Array, chain: Chain) -> tuple[Array, Array]:
        """Measure angles from the orientations of rows (b, 13) on.

        Args:
            rows: motion of each body, as in `RobotState.bodies`.
            chain: of the same model, whose rotations are changed, too.

        Returns:
            coordinates and their rates (6 b,).
        """
        q, v = np.zeros((2, len(rows), COORDINATES))
        for i, (row, joint) in enumerate(zip(rows, self._first_turns, strict=True)):
            position, orientation, linear, angular = np.split(row, [3, 7, 10])
            rotation = quaternion_matrix(orientation)
            self._model.jointPlacements[joint] = pin.SE3(rotation, np.zeros(3))
            chain.rotations[joint] = rotation
            q[i, :3] = position
            v[i] = np.concatenate([rotation @ linear, angular])
        return q.ravel(), v.ravel()

    def rows(self, q: Array, v: Array) -> Array:
        """Return the motion of each body (b, 13) at coordinates and rates (6 b,)."""
        rows = np.empty((len(self._first_turns), 13))
        for i, (row, joint) in enumerate(zip(rows, self._first_turns, strict=True)):
            at, rates = (x[COORDINATES * i : COORDINATES * (i + 1)] for x in (q, v))
            about_x, about_y, about_z = (
                pin.utils.rotate(axis, angle) for axis, angle in zip("xyz", at[3:], strict=True)
            )
            rotation = self._model.jointPlacements[joint].rotation @ about_x @ about_y @ about_z
            # Axes of the three angles, in the axes of the body.
            axes = np.column_stack([(about_y @ about_z)[0], about_z[1], (0.0, 0.0, 1.0)])
            twist = rates[:3] @ rotation, axes @ rates[3:]
            row[:] = np.concatenate([at[:3], matrix_quaternion(rotation), *twist])
        return rows
