"""What travels between a simulator and a controller: states, commands and targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NO_SWITCHES: Mapping[str, bool] = MappingProxyType({})


def _zeros(size: int) -> Array:
    values = np.zeros(size)
    values.setflags(write=False)
    return values


ORIGIN = _zeros(3)
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])
IDENTITY.setflags(write=False)
NO_TWIST = _zeros(6)


@dataclass(frozen=True, slots=True)
class RobotState:
    """Hold the state of a robot at one instant.

    Args:
        time: simulated time [s].
        q: joint positions (n,) [rad], in the order of the robot's joint names.
        qd: joint velocities (n,) [rad/s].
        effort: joint efforts in force during the step that ended here (n,) [N m].
        position: origin of `base_link` in the world (3,) [m].
        orientation: of `base_link` in the world, quaternion x y z w (4,).
        twist: linear then angular velocity of `base_link`, in its own axes (6,)
            [m/s, rad/s], as nav_msgs/Odometry has it (REP-105).
        switches: state of each switch (a magnet, say) by name.
    """

    time: float
    q: Array
    qd: Array
    effort: Array
    position: Array = field(default_factory=lambda: ORIGIN)
    orientation: Array = field(default_factory=lambda: IDENTITY)
    twist: Array = field(default_factory=lambda: NO_TWIST)
    switches: Mapping[str, bool] = field(default_factory=lambda: NO_SWITCHES)


@dataclass(frozen=True, slots=True)
class Command:
    """Hold what a controller asks of a simulator for one control period.

    Args:
        effort: joint efforts (n,) [N m], held over the period.
        switches: switches to set, by name.
        wrench: force and torque on `base_link`, in the world (6,) [N, N m], or None.
        twist: commanded twist for kinematic robots (6,) [m/s, rad/s], or None.
    """

    effort: Array
    switches: Mapping[str, bool] = field(default_factory=lambda: NO_SWITCHES)
    wrench: Array | None = None
    twist: Array | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """Hold what a person or a planner asks of a controller.

    Args:
        twist: desired linear and angular velocity of the base (6,) [m/s, rad/s].
        effort: desired joint efforts (n,) [N m], or None where nobody has asked for any.
        velocity: desired joint velocities (n,) [rad/s], or None where nobody has asked for any.
    """

    twist: Array = field(default_factory=lambda: NO_TWIST)
    effort: Array | None = None
    velocity: Array | None = None
