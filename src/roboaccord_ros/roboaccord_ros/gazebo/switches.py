"""Switches in Gazebo: DetachableJoint systems, commanded and confirmed by topics.

PATIENCE and AGAIN may be tuned: how long Gazebo may take, and when a message is repeated. The order
is fixed, for the reason below: one message at a time, and what is switched off first
(test_gz_adapter). ATTACHED is Gazebo's word. Names of topics are in graph/names.py (GZ_SWITCH).

A joint that is let go goes after the step in which the message came, and a joint that is made comes
before it. Sent together, both would hold for one step, which stops all motion. So one message is
sent at a time, what is switched off first, and each is waited for. A world that is paused
takes them between two steps: then the change has no time of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from roboaccord.contract import LockstepError
from std_msgs.msg import String

from roboaccord_ros.gazebo.link import SETTLE, Link
from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.shell import Shell

PATIENCE = 10.0  # s of wall time that Gazebo may take to confirm a switch
AGAIN = 1.0  # s of wall time after which a message that is not confirmed is repeated
ATTACHED = "attached"


class GazeboSwitches:
    """Set the switches of a robot in Gazebo.

    Args:
        shell: that hosts it.
        names: of the switches.
        link: sends the messages.
        on_settled: called when the last of several messages is confirmed.
    """

    def __init__(
        self, shell: Shell, names: Iterable[str], link: Link, on_settled: Callable[[], None]
    ) -> None:
        self._robot, self._link, self._on_settled = shell.robot, link, on_settled
        self.now = dict.fromkeys(names, True)  # DetachableJoint attaches at the start (gz-sim#3021)
        self._wanted = dict(self.now)
        self._asked, self._since, self._again = "", 0.0, 0.0
        self._matched = 0.0
        takes = {name: shell.run.guard(partial(self._take, name)) for name in names}
        self._subscriptions = [
            shell.node.create_subscription(
                String, f"{shell.robot}/gz/{name}/state", take, graph.DEEP
            )
            for name, take in takes.items()
        ]

    def missing(self) -> str:
        """Return the first confirmation topic that is not connected yet, or ""."""
        for subscription in self._subscriptions:
            if not subscription.get_publisher_count():
                return f"no bridge publishes {subscription.topic_name}"
            self._matched = self._matched or time.monotonic()
        settled = time.monotonic() > self._matched + SETTLE
        return "" if settled else "the states of the switches were bridged only now"

    @property
    def busy(self) -> bool:
        """True while a message is not yet confirmed."""
        return bool(self._asked)

    def bring(self, wanted: Mapping[str, bool]) -> dict[str, bool]:
        """Set switches; return those that change, releases before attachments."""
        changes = {n: bool(v) for n, v in wanted.items() if self._wanted[n] != bool(v)}
        self._wanted |= changes
        if not self.busy:
            self._next()
        return dict(sorted(changes.items(), key=lambda item: item[1]))

    def look(self) -> None:
        """Ask again, for a message can be lost at the start; notice that Gazebo does not confirm.

        Raises:
            LockstepError: naming the topic.
        """
        if not self.busy:
            return
        now = time.monotonic()
        if now > self._since + PATIENCE:
            topic = f"/{self._robot}/gz/{self._asked}/state"
            raise LockstepError(f"no answer from Gazebo on {topic} within {PATIENCE:g} s")
        if now > self._again:
            self._again = now + AGAIN
            self._link.switch(self._asked, self._wanted[self._asked])

    def _next(self) -> None:
        for value in (False, True):
            for name, wanted in self._wanted.items():
                if wanted is value and self.now[name] is not value:
                    self._asked, self._since = name, time.monotonic()
                    self._again = self._since + AGAIN
                    self._link.switch(name, value)
                    return
        self._asked = ""

    def _take(self, name: str, message: String) -> None:
        self.now = {**self.now, name: message.data == ATTACHED}
        if name != self._asked:
            return
        self._next()
        if not self.busy:
            self._on_settled()
