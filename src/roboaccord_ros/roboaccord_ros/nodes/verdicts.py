"""Sends the verdicts of the live cross-check, as diagnostics and as log lines.

crosscheck.py calls `VerdictSender.send` from time to time and at the end. A verdict is a report of
the core on the run so far; level 1 of a diagnostic status is a warning.
"""

from __future__ import annotations

import logging

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from roboaccord.cdr import Status, encode_statuses
from roboaccord.crosscheck import Report

from roboaccord_ros.graph import names as graph

_log = logging.getLogger(__name__)


class VerdictSender:
    """Publishes verdicts on a run as diagnostics, and logs each change of the verdict.

    Attributes:
        sender: publishes the diagnostics.
    """

    def __init__(self, node: Node, robot: str) -> None:
        self.sender = graph.make_sender(node, graph.DIAGNOSTICS, DiagnosticArray, 10)
        self._robot, self._logged_ok = robot, True  # whether the last logged verdict was good

    def send(self, verdict: Report, time: float, *, final: bool, cause_follows: bool) -> None:
        """Publish a verdict at the time of a state [s], and log it if it has changed.

        Args:
            verdict: the verdict so far.
            time: time of the newest state [s].
            final: whether the run has ended.
            cause_follows: whether a log line with the cause follows, so that a run that is now
                outside its tolerance needs none here.
        """
        line = f"{'verdict' if final else 'so far'}: {verdict.line()}"
        values = {key: str(value) for key, value in verdict.to_json().items()}
        level = 0 if verdict.ok else 1
        status = Status(f"{self._robot}: crosscheck", line, self._robot, values, level)
        self.sender.send(encode_statuses(time, [status]))
        if verdict.ok is not self._logged_ok:
            self._logged_ok = verdict.ok
            if verdict.ok or not cause_follows:
                _log.log(logging.INFO if verdict.ok else logging.WARNING, "%s", line)
