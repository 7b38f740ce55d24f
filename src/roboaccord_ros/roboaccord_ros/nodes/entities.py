"""The robot as an entity of the standard simulation_interfaces: its state, and where it is placed.

A run has one entity, the robot, by its name. Its state is that of `base_link` in the frame `odom`,
which is the world. What is refused raises RefusedError with a code of the standard; standard.py
offers the services.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
from roboaccord.contract import NANOSECONDS, Array, RobotState
from roboaccord.description import FixedBase
from roboaccord.numerics import quaternion_matrix
from simulation_interfaces import msg, srv

UNSUPPORTED, FAILED = msg.Result.RESULT_FEATURE_UNSUPPORTED, msg.Result.RESULT_OPERATION_FAILED
INVALID_POSE = srv.SetEntityState.Response.INVALID_POSE
WORLD_FRAME = "odom"  # frame of a state, as that of the topic odom
FRAMES = ("", "world", WORLD_FRAME)  # names of this frame in a request
# Largest deviation of a request from what the base can do [m, m/s, rad/s], and of a quaternion's
# norm from 1: six written digits pass.
ROUNDING = 1e-5


class RefusedError(Exception):
    """A request that is refused: why, and a code of Result or of the service's response."""


def numbers_of(message: Any) -> Array:
    """Return the numbers of a vector (3,) or quaternion (4,) of geometry_msgs, x first."""
    return np.array([getattr(message, name) for name in message.get_fields_and_field_types()])


def set_numbers(message: Any, numbers: Array) -> None:
    """Set the numbers of a vector (3,) or quaternion (4,) of geometry_msgs, x first."""
    for name, number in zip(message.get_fields_and_field_types(), numbers.tolist(), strict=True):
        setattr(message, name, number)


def entity_state(state: RobotState) -> msg.EntityState:
    """Return pose and twist in the world as a message; the accelerations are unknown, so NaN."""
    rotation, message = quaternion_matrix(state.orientation), msg.EntityState()
    message.header.frame_id = WORLD_FRAME
    stamp = message.header.stamp
    stamp.sec, stamp.nanosec = divmod(round(state.time * NANOSECONDS), NANOSECONDS)
    set_numbers(message.pose.position, state.position)
    set_numbers(message.pose.orientation, state.orientation)
    for k, name in enumerate(("linear", "angular")):  # the halves of a twist (6,)
        set_numbers(getattr(message.twist, name), rotation @ state.twist[3 * k : 3 * k + 3])
        set_numbers(getattr(message.acceleration, name), np.full(3, math.nan))
    return message


def entities_passing(name: str, filters: msg.EntityFilters) -> list[str]:
    """Return the entities that pass filters: the robot, by its name, or none.

    Raises:
        RefusedError: for a filter other than a regular expression, or one that is not valid.
    """
    if filters.categories or filters.tags.tags or filters.bounds.type or "[:" in filters.filter:
        raise RefusedError("no filter by category, tag, bounds or [:class:]", UNSUPPORTED)
    try:
        return [name] if re.search(filters.filter, name) else []
    except re.error as error:
        raise RefusedError(f"filter {filters.filter}: {error}", FAILED) from None


def requested_start(base: FixedBase, state: RobotState, request: Any) -> RobotState:
    """Return a state with pose and twist of a request; version 2.0 has no flags, and sets both.

    Raises:
        RefusedError: for a pose that is not valid, or a motion that the base cannot have.
    """
    entity, now = request.state, entity_state(state)
    frame = entity.header.frame_id
    if frame not in FRAMES:
        raise RefusedError(f"frame {frame}: give the state in {WORLD_FRAME}", FAILED)
    pose = entity.pose if getattr(request, "set_pose", True) else now.pose
    twist = entity.twist if getattr(request, "set_twist", True) else now.twist
    position, orientation = numbers_of(pose.position), numbers_of(pose.orientation)
    linear, angular = numbers_of(twist.linear), numbers_of(twist.angular)  # in the world
    norm = float(np.linalg.norm(orientation))
    if not (np.isfinite([*position, *linear, *angular]).all() and abs(norm - 1.0) < ROUNDING):
        raise RefusedError("a number is not finite, or the quaternion no unit one", INVALID_POSE)
    requested = replace(state, position=position, orientation=orientation / norm)
    rotation, height = quaternion_matrix(requested.orientation), float(state.position[2])
    rates = np.concatenate([linear, angular @ rotation])[list(base.axes)]
    # The motion of the base that is nearest to the request.
    near_position, near_orientation, near_twist = base.read(base.pose(requested), rates, height)
    nearest = replace(state, position=near_position, orientation=near_orientation, twist=near_twist)
    turned = 1.0 - abs(nearest.orientation @ orientation)  # 0 for the same orientation
    if max(*abs(nearest.position - position), turned) > ROUNDING:
        raise RefusedError(f"the base stays level, at z = {height:g} m", INVALID_POSE)
    if max(abs(nearest.twist - [*(linear @ rotation), *(angular @ rotation)])) > ROUNDING:
        raise RefusedError("the base cannot move so", FAILED)
    return nearest
