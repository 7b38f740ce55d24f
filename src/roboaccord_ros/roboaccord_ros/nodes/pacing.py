"""When the simulator node steps: in lockstep or real time, from start to timeout, with pauses."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rclpy.node import Node
from roboaccord.contract.errors import LockstepError
from roboaccord.contract.state import Array
from roboaccord.run.loop import no_command
from roboaccord.scenario.watch import START_TIMEOUT, TIMEOUT
from std_srvs.srv import SetBool, Trigger

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.outlet import Outlet
from roboaccord_ros.graph.shell import POLL, Run

if TYPE_CHECKING:
    from roboaccord_ros.nodes.simulator import SimulatorShell

MAX_CATCH_UP = 20  # control periods in one go, where real time cannot be kept


@dataclass(frozen=True, kw_only=True)
class SimulatorOptions:
    """Hold how a simulator is run; see the parameters of the node."""

    engine: str
    lockstep: bool = True
    duration: float = 0.0
    timeout: float = TIMEOUT
    start_timeout: float = START_TIMEOUT
    peers: Sequence[str] = ("controller",)
    transport: str = "ros"


class Pacing:
    """Start when the peers are there, watch for silence, and step in real time where asked."""

    def __init__(
        self,
        node: Node,
        shell: SimulatorShell,
        run: Run,
        options: SimulatorOptions,
        outlet: Outlet,
        commands: Any,
    ) -> None:
        self.started = False
        self.in_step = False  # whether the controller has answered since the start or a reset
        self.held = False
        self.recorded = graph.RECORDER not in options.peers
        """Whether the first state is on disk, where somebody records."""
        self._node, self._shell, self._options = node, shell, options
        self._outlet, self._commands = outlet, commands
        self._effort = np.zeros(len(shell.stepper.state.q))
        self._looks = 0
        self._seen = -1
        self._due = 0.0
        node.create_timer(POLL, run.guard(self._look))
        if not options.lockstep:
            period = shell.stepper.period
            node.create_timer(period, run.guard(self._keep_pace))

    def hold(self, effort: Array) -> None:
        """Take the effort to hold in real time."""
        self._effort = effort

    def pause(self, held: bool) -> None:
        """Stop or go on."""
        self.held = held
        self._due = time.monotonic()
        if not held and self._options.lockstep:
            self._shell.resume()

    def restart(self) -> None:
        """Go back to the start."""
        self.in_step = False
        self._shell.extras.switches.take()  # asked of the run that is over
        self._effort = np.zeros_like(self._effort)
        self._due = time.monotonic()
        self._shell.start()

    def _look(self) -> None:
        """Count looks, not seconds: whatever blocks the whole process is not a silent peer."""
        self._looks += 1
        if not self.started:
            self._try_to_start()
        elif not self.recorded:
            self._wait_for_recorder()
        elif self._shell.stepper.tick != self._seen or self.held or not self._options.lockstep:
            self._seen, self._looks = self._shell.stepper.tick, 0
        elif self._looks * POLL > self._options.timeout:
            raise no_command(self._shell.stepper.state.time, self._options.timeout)

    def _try_to_start(self) -> None:
        missing = self._missing()
        if not missing:
            self.started, self._looks, self._due = True, 0, time.monotonic()
            self._shell.start()
        elif self._looks * POLL > self._options.start_timeout:
            raise LockstepError(f"{missing} within {self._options.start_timeout:g} s")

    def _wait_for_recorder(self) -> None:
        """Let the first step wait until the bag can be read."""
        self.recorded = self._outlet.recorded()
        if self.recorded:
            self._looks, self._due = 0, time.monotonic()
            if self._options.lockstep:
                self._shell.resume()
        elif self._looks * POLL > self._options.start_timeout:
            raise LockstepError(
                f"the recorder has not written the first state within "
                f"{self._options.start_timeout:g} s"
            )

    def _missing(self) -> str:
        if self._options.lockstep and not self._commands.get_publisher_count():
            return f"no controller publishes {self._commands.topic_name}"
        return self._outlet.missing(self._options.peers)

    def _keep_pace(self) -> None:
        if not self.started or self.held or not self.recorded:
            return
        late = int((time.monotonic() - self._due) / self._shell.stepper.period)
        for _ in range(min(late, MAX_CATCH_UP)):
            if not self._shell.result:
                self._shell.step(self._shell.extras.complete(self._effort))
        self._due += late * self._shell.stepper.period


def add_services(node: Node, pacing: Pacing, run: Run) -> None:
    """Offer `/sim/reset` and `/sim/pause`."""

    def reset(_: Any, response: Any) -> Any:
        response.success = pacing.started
        response.message = "" if pacing.started else "the run has not started"
        if pacing.started:
            run.guard(pacing.restart)()
        return response

    def pause(request: Any, response: Any) -> Any:
        pacing.pause(bool(request.data))
        response.success = True
        return response

    node.create_service(Trigger, "/sim/reset", reset)
    node.create_service(SetBool, "/sim/pause", pause)
