"""Targets of a controller from teleoperation: twists, joint efforts and joint velocities."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from functools import partial

import numpy as np
from rclpy.node import Node
from roboaccord.cdr import decode_twist
from roboaccord.contract.errors import did_you_mean
from roboaccord.contract.state import Target
from roboaccord.scenario.setup import Setup
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.shell import Run

SILENCE = 0.5  # s of simulated time after which a joint is no longer told to move
_ROUND_OFF = 1e-9  # s
_log = logging.getLogger(__name__)


class Targets:
    """Collect teleoperation messages into the target for each state.

    A velocity holds for `SILENCE` from the first state that is answered after it came. Each joint
    has a time of its own, for several people can drive one each.

    Args:
        node, run: where it lives.
        setup: robot and scenario.
    """

    def __init__(self, node: Node, setup: Setup, run: Run) -> None:
        robot, self._joints = setup.robot, setup.joints
        self._target: Target | None = None
        self._velocity = np.zeros(len(self._joints))
        self._since = np.full(len(self._joints), -math.inf)  # first answer after the message [s]
        self._new: set[int] = set()  # joints whose velocity no state was answered with
        self._said: set[str] = set()
        graph.subscribe(node, robot.name, graph.TARGET, run.guard(self._on_twist), qos=graph.NEWEST)
        for topic, joint in robot.effort_topics.items():
            take = partial(self._on_effort, self._joints.index(joint))
            graph.subscribe_number(node, robot.name, topic, run.guard(take))
        if robot.velocity_topic:
            take_velocity = run.guard(self._on_velocity)
            graph.subscribe_joints(node, robot.name, robot.velocity_topic, take_velocity)

    def reset(self) -> None:
        """Forget velocities that were sent before the simulation was reset."""
        self._since[:] = -math.inf
        self._new.clear()

    def at(self, time: float) -> Target | None:
        """Return the target for the state of a time [s], or None without teleoperation."""
        target = self._target
        if target is None or target.velocity is None:
            return target
        self._since[list(self._new)] = time
        self._new.clear()
        heard = time - self._since < SILENCE - _ROUND_OFF
        return replace(target, velocity=np.where(heard, self._velocity, 0.0))

    def _on_twist(self, data: bytes) -> None:
        self._target = replace(self._target or Target(), twist=decode_twist(data))

    def _on_effort(self, joint: int, message: Float64) -> None:
        target = self._target or Target()
        effort = np.zeros(len(self._joints)) if target.effort is None else target.effort.copy()
        effort[joint] = message.data
        self._target = replace(target, effort=effort)

    def _on_velocity(self, message: JointState) -> None:
        wrong = self._wrong(list(message.name), list(message.velocity))
        if wrong:
            if wrong not in self._said:  # it may come ten times a second
                _log.warning("joint velocities are ignored: %s", wrong)
            self._said.add(wrong)
            return
        for name, velocity in zip(message.name, message.velocity, strict=True):
            joint = self._joints.index(name)
            self._velocity[joint] = velocity
            self._new.add(joint)
        self._target = replace(self._target or Target(), velocity=self._velocity.copy())

    def _wrong(self, names: list[str], velocity: list[float]) -> str:
        """Return the error of a message, or ""."""
        for name, value in zip(names, velocity, strict=False):
            if name not in self._joints:
                return f"unknown joint {name}{did_you_mean(name, self._joints)}"
            if not math.isfinite(value):
                return f"{name}: {value} is no velocity"
        if len(names) != len(velocity):
            last = names[min(len(velocity), len(names) - 1)] if names else "no joint"
            return f"{last}: {len(names)} names have {len(velocity)} velocities"
        return ""
