"""Transforms of a robot on `/tf`, where tf2 is installed."""

from __future__ import annotations

import math
from typing import Any

from rclpy.node import Node
from roboaccord.bag.topics import TF, TF_STATIC
from roboaccord.bag.transforms import RobotTransforms
from roboaccord.bag.writer import TF_PERIOD
from roboaccord.contract.state import RobotState
from roboaccord.scenario.setup import Setup

from roboaccord_ros.graph import names as graph


class TransformOutlet:
    """Publish the transforms of a robot at 50 Hz of simulated time.

    Args:
        node: where it lives.
        setup: robot and scenario.
    """

    def __init__(self, node: Node, setup: Setup) -> None:
        self._next = math.inf
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError:
            return
        self._transforms = RobotTransforms(setup.tree, setup.joints)
        self._send = self._publisher(node, TFMessage, TF.strip("/"), graph.DEEP)
        self._publisher(node, TFMessage, TF_STATIC.strip("/"), graph.LATCHED)(self._transforms.static())
        self._next = 0.0

    def publish(self, state: RobotState) -> None:
        """Publish the transforms of a state if they are due."""
        if state.time >= self._next or (state.time == 0.0 and self._next < math.inf):
            self._next = state.time + TF_PERIOD
            self._send(self._transforms.encode(state))

    @staticmethod
    def _publisher(node: Node, kind: Any, topic: str, qos: Any) -> graph.Send:
        send: graph.Send = node.create_publisher(kind, topic, qos).handle.publish_raw
        return send
