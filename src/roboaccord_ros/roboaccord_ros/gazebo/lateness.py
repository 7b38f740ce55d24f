"""Lateness of commands in a world that does not wait for them."""

from __future__ import annotations

import logging

from rclpy.node import Node
from roboaccord.contract.errors import LockstepError
from rosgraph_msgs.msg import Clock

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.shell import Run

WARN = 10  # control periods; the gaits' tracking bears four

logger = logging.getLogger(__name__)


class Lateness:
    """Compare the time of the states that commands answer with the time of the world.

    Args:
        node, run: where it lives.
        step: of the world's physics [s].
        period: of the commands [s].
        bound: how late a command may be [control periods]; 0 where the world waits.
    """

    def __init__(self, node: Node, run: Run, step: float, period: float, bound: int) -> None:
        self._step, self._period, self._bound = step, period, bound
        self._sum, self._count, self._worst = 0.0, 0, WARN
        self._now = 0.0
        if bound:  # states wait in a queue, of which the clock shows the end
            node.create_subscription(Clock, graph.CLOCK, run.guard(self._take), graph.NEWEST)

    @property
    def mean(self) -> float:
        """Mean lateness [physics steps]."""
        return self._sum / self._count if self._count else 0.0

    def see(self, stamp: float, seen: float) -> None:
        """Count a command.

        Args:
            stamp: of the state that it answers [s].
            seen: of the last state from the world [s].

        Raises:
            LockstepError: if it is later than the bound.
        """
        late = max(seen, self._now) - stamp
        self._sum, self._count = self._sum + round(late / self._step), self._count + 1
        periods = round(late / self._period)
        if not self._bound or periods <= self._worst:
            return
        self._worst = 2 * periods
        if periods > self._bound:
            raise LockstepError(
                f"the command for t = {stamp:.3f} s is {periods} control periods late, more than "
                f"{self._bound} (max_delay): Gazebo outruns its controller here; try lockstep:=true"
            )
        logger.warning(
            "the command for t = %.3f s acts %d control periods late; the gaits bear 4: "
            "try lockstep:=true",
            stamp, periods,
        )  # fmt: skip

    def _take(self, message: Clock) -> None:
        self._now = message.clock.sec + 1e-9 * message.clock.nanosec
