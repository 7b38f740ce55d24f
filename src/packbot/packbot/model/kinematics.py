"""Forward kinematics and Jacobians of finger tips and camera, by pinocchio."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from roboaccord.contract.state import Array
from roboaccord.scenario.setup import Setup

from packbot.model.arm import Arm

# The lens is in the middle of the front of the camera head (config/shapes.yaml); it sees along x.
LENS = np.array([0.065, 0.0, 0.03])  # m, in pan_link


@dataclass(frozen=True)
class Placement:
    """Hold a frame in the world: origin (3,) [m], rotation (3, 3) with x along hand or sight."""

    position: Array
    rotation: Array


class Kinematics:
    """Do the forward kinematics of a setup: of finger tips (`tip`), `camera` and `link3`.

    Args:
        setup: robot and scenario.
        watch: distance [m] before the lens of the point that is the `tip` instead; 0 for none.
    """

    def __init__(self, setup: Setup, watch: float = 0.0) -> None:
        self.arm = Arm.of(setup)
        model = self.arm.model
        tip = np.array([watch or setup.parameters.gripper_length, 0.0, 0.0])
        hand = ("pan_link", LENS + tip) if watch else ("gripper_link", tip)
        self._frames: dict[str, int] = {
            "tip": _add(model, "tip", *hand),
            "camera": _add(model, "camera", "pan_link", LENS),
            "link3": model.getFrameId("link3_link"),
        }
        self._data = model.createData()

    def placement(self, frame: str, q: Array) -> Placement:
        """Return where a frame is at joint angles (7,) [rad]."""
        index = self._frames[frame]
        pin.forwardKinematics(self.arm.model, self._data, q)
        place = pin.updateFramePlacement(self.arm.model, self._data, index)
        return Placement(place.translation.copy(), place.rotation.copy())

    def tip(self, q: Array) -> Array:
        """Return the finger tips in the world (3,) [m] at joint angles (7,) [rad]."""
        return self.placement("tip", q).position

    def jacobian(self, frame: str, q: Array) -> Array:
        """Return the Jacobian (6, 7) of a frame: velocity of its origin over angular velocity.

        Both are in the axes of the world, per joint rate [m, 1].
        """
        index = self._frames[frame]
        jacobian = pin.computeFrameJacobian(
            self.arm.model, self._data, q, index, pin.LOCAL_WORLD_ALIGNED
        )
        return np.asarray(jacobian)


def _add(model: pin.Model, name: str, link: str, position: Array) -> int:
    """Add a frame to a link of a model, and return its index."""
    parent = model.getFrameId(link)
    body = model.frames[parent]
    place = body.placement * pin.SE3(np.eye(3), position)
    frame = pin.Frame(name, body.parentJoint, parent, place, pin.FrameType.OP_FRAME)
    return int(model.addFrame(frame))
