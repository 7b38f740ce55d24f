"""How a live verdict leaves the cross-check node: as a diagnostic status, and as a log line."""

from __future__ import annotations

import logging

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from roboaccord.cdr import Status, encode_statuses
from roboaccord.crosscheck import Report

from roboaccord_ros.graph import names as graph

_log = logging.getLogger(__name__)


class VerdictSender:
    """Publish verdicts on a run of a robot as diagnostics, and log where they change.

    Attributes:
        sender: publishes the diagnostics.
    """

    def __init__(self, node: Node, robot: str) -> None:
        self.sender = graph.make_sender(node, graph.DIAGNOSTICS, DiagnosticArray, 10)
        self._robot, self._ok = robot, True

    def send(self, verdict: Report, time: float, *, final: bool, cause_follows: bool) -> None:
        """Publish a verdict at the time of a state [s].

        Where it changes to outside, no line is logged if one with the cause follows.
        """
        line = f"{'verdict' if final else 'so far'}: {verdict.line()}"
        values = {key: str(value) for key, value in verdict.to_json().items()}
        name, level = f"{self._robot}: crosscheck", 0 if verdict.ok else 1
        status = Status(name, line, self._robot, values, level)
        self.sender.send(encode_statuses(time, [status]))
        if verdict.ok is not self._ok:
            self._ok = verdict.ok
            if verdict.ok or not cause_follows:
                _log.log(logging.INFO if verdict.ok else logging.WARNING, "%s", line)
