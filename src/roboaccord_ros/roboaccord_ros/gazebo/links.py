"""Links in Gazebo whose pose and rates are read after a step: a robot's base, and free bodies.

Gazebo does not update the rates of a link that moves by less than 1e-6 m in a step, but those of a
shape on the link. The shape nearest to the link's origin is the probe whose rates are read
(test_gazebo_engine, test_bodies_gazebo). In these, `ecm` is Gazebo's entity component manager.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import quaternion_matrix

from roboaccord_ros.gazebo.transport import gazebo_module


class MovingLink:
    """A link whose pose and rates are read.

    Args:
        ecm: components of the world, before a step.
        entity: of the link.

    Attributes:
        link: the link itself.
    """

    def __init__(self, ecm: Any, entity: Any) -> None:
        self._make = gazebo_module("sim").Link
        self.link = self._make(entity)
        entities = [*self.link.visuals(ecm), *self.link.collisions(ecm), entity]
        offsets = [self._with_offset(ecm, self._make(each)) for each in entities]
        # The probe, and its offset from the link, in the axes of the link [m].
        self._probe, self._offset = min(offsets, key=lambda pair: float(pair[1] @ pair[1]))
        self._probe.enable_velocity_checks(ecm, True)

    def _with_offset(self, ecm: Any, entity: Any) -> tuple[Any, Array]:
        """Return an entity on the link, and its offset in the axes of the link (3,) [m]."""
        offset = (self.link.world_pose(ecm).inverse() * entity.world_pose(ecm)).pos()
        return entity, np.array([offset.x(), offset.y(), offset.z()])

    def read(self, ecm: Any) -> tuple[list[float], list[float]]:
        """Return pose (7,) and twist (6,) of the link in the world; missing rates are 0."""
        twist = np.zeros(6)  # linear, then angular
        rates = self._probe.world_linear_velocity(ecm), self._probe.world_angular_velocity(ecm)
        for half, rate in zip((twist[:3], twist[3:]), rates, strict=True):
            if rate is not None:
                half[:] = rate.x(), rate.y(), rate.z()
        world_pose = self.link.world_pose(ecm)
        p, q = world_pose.pos(), world_pose.rot()
        pose = [p.x(), p.y(), p.z(), q.x(), q.y(), q.z(), q.w()]
        if self._offset.any():  # v_link = v_probe - omega x offset
            offset = quaternion_matrix(np.array(pose[3:])) @ self._offset
            twist[:3] -= np.cross(twist[3:], offset)
        return pose, twist.tolist()
