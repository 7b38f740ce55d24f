"""Detection of another simulator on the same names."""

from __future__ import annotations

import time

from rclpy.context import Context
from rclpy.node import Node

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.shell import POLL, session

DISCOVERY = 1.0  # s in which participants that are there are found
LEAVING = 4.0  # s that a run which has just ended may take to be gone


def refuse_rival(namespace: str) -> None:
    """Refuse to start beside a run that publishes the same clock.

    Raises:
        RivalError: naming what keeps runs apart.
    """
    context = Context()
    with session(context, args=[]) as nodes:
        node = Node(
            "plan",
            context=context,
            namespace=namespace,
            enable_rosout=False,
            start_parameter_services=False,
        )
        nodes.append(node)
        started = time.monotonic()
        while (elapsed := time.monotonic() - started) < LEAVING:
            there = graph.count_clocks(node)
            if elapsed > DISCOVERY and not there:
                return
            time.sleep(POLL)
        raise graph.RivalError(node)
