"""Pacing of a simulation: in lockstep or free, by the wall clock or not, with pauses.

REMINDER and MAX_CATCH_UP may be tuned. To add a service, extend `add_services`, and list it in
docs/ros.md. Fixed in lockstep: a step waits for everything that answers the present state, and an
answer to a later one ends the run; so pace, pauses and load change no motion (test_transports).
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
from roboaccord.contract import Array, Command, Json, LockstepError
from roboaccord.run import Pace as Pace
from roboaccord.run import Stepper, no_command
from roboaccord.scenario import Setup
from std_srvs.srv import SetBool, Trigger

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.extras import ExtraInputs
from roboaccord_ros.graph.outlet import Outlet
from roboaccord_ros.graph.parameters import Options
from roboaccord_ros.graph.reading import command_reader
from roboaccord_ros.graph.shell import Shell
from roboaccord_ros.graph.spinning import POLL

_log = logging.getLogger(__name__)
REMINDER = 5.0  # s between lines about what a start waits for
TURN = 10  # control periods, behind which messages and timers have their turn
MAX_CATCH_UP = 20  # control periods in one go, where real time cannot be kept


class Simulation(Shell):
    """A simulation that is paced: what steps, what it publishes by, and the result at the end."""

    stepper: Stepper
    outlet: Outlet
    result: Mapping[str, Json]

    @abstractmethod
    def missing(self) -> str:
        """Return what a start waits for beside its peers, or ""."""

    @abstractmethod
    def start(self) -> None:
        """Go to the start, and publish the initial state."""

    @abstractmethod
    def step(self, command: Command) -> None:
        """Advance by one control period, and publish the state; at the end, the result."""


class Pacing:
    """Start when the peers are there, step on commands or by the clock, watch for silence."""

    def __init__(self, setup: Setup, simulation: Simulation, options: Options) -> None:
        self.started = False
        self.held = False
        self._answered = False  # whether the controller has, since the start or a reset
        self._recorded = graph.RECORDER not in options.peers
        """Whether the first state is on disk, where somebody records."""
        self._simulation, self._stepper, self._options = simulation, simulation.stepper, options
        self._waiting: Array | None = None  # efforts that answer the present state
        self._effort = np.zeros(len(setup.joints))  # held in real time
        self._answer, self._warned = (-1.0, self._effort), False  # the last one, and its state
        self._looks, self._seen, self._quiet, self._rival = 0, -1, 0, 0
        self._late = 0  # looks at which somebody was missing who does not compile
        free = 0.0 if options.lockstep else 1.0  # without lockstep time is real
        self._pace = Pace(self._stepper.period, options.pace or free)
        self._extras = ExtraInputs(simulation, setup.initial.switches, self._resume)
        self._topic = simulation.node.resolve_topic_name(f"{simulation.robot}/{graph.EFFORTS}")
        self._handed: tuple[float, Array] | None = None  # by the controller of this process
        self._going, self._take_turn = False, simulation.run.guard(self._step_on)
        if not options.handed:
            simulation.subscribe(
                graph.EFFORTS, command_reader(setup.joints), self._on_command,
                # What cannot be read is the controller's where nobody else publishes.
                is_fatal=lambda: self.started and self._publishers == 1,
            )  # fmt: skip
        simulation.every(POLL, self._look)
        if self._pace.look_period:
            simulation.every(self._pace.look_period, self._keep_pace)

    @property
    def _publishers(self) -> int:
        """How many publish efforts."""
        return int(self._simulation.node.count_publishers(self._topic))

    def take(self, time: float, effort: Array) -> None:
        """Take the efforts that a controller of this process answers a state of a time [s] with."""
        self._handed = (time, effort)
        if not self._going:  # else the loop that asked takes it
            self._plan_turn()

    def _plan_turn(self) -> None:
        executor = self._simulation.node.executor
        assert executor is not None  # somebody calls
        executor.create_task(self._take_turn)  # behind the callback that calls

    def _step_on(self) -> None:
        """Step while the controller of this process answers at once, for a turn."""
        self._going = True
        for _ in range(TURN):
            handed, self._handed = self._handed, None
            if handed is None:
                break
            self._on_command(handed)
        self._going = False
        if self._handed:
            self._plan_turn()

    def pause(self, held: bool) -> None:
        """Stop or go on."""
        self.held = held
        self._pace.restart()
        if not held and self._options.lockstep:
            self._resume()

    def restart(self) -> None:
        """Go back to the start."""
        self._answered = False
        self._extras.take_switches()  # asked of the run that is over
        self._effort = np.zeros_like(self._effort)
        self._start()

    def _start(self) -> None:
        self._pace.restart()
        self._waiting, self._answer = None, (-1.0, self._effort)
        self._extras.start()
        self._simulation.start()

    def _on_command(self, command: tuple[float, Array]) -> None:
        stamp, effort = command
        now = self._stepper.state.time
        if not self._options.lockstep:
            self._effort = effort
        elif stamp == now and self.started and not self._is_again(stamp, effort):
            self._answered = True
            self._waiting, self._answer = effort, (stamp, effort)
            self._resume()
        elif stamp < now:
            self._is_again(stamp, effort)
        elif stamp > now and self._answered:
            answered = f"the controller answered t = {stamp:.6f} s"
            raise LockstepError(f"{answered}, the simulator is at t = {now:.6f} s")

    def _is_again(self, stamp: float, effort: Array) -> bool:
        """Return whether a state is answered again, and warn once.

        Raises:
            LockstepError: if the answer is another one.
        """
        before, given = self._answer
        if stamp != before:
            return False
        if not np.array_equal(effort, given):
            twice = f"t = {stamp:.6f} s was answered twice, with different commands"
            raise LockstepError(f"{twice}: {self._publishers} nodes publish {self._topic}")
        if not self._warned:
            self._warned = True
            _log.warning("the answer to t = %.6f s arrived twice; the second is ignored", stamp)
        return True

    def _resume(self) -> None:
        """Step if everything that answers the present state is there."""
        effort = self._waiting
        if effort is None or self.held or not self._recorded:
            return
        # The last state is answered, too, while others have yet to end.
        ready = not self._simulation.result and self._extras.ready(self._stepper.state.time)
        if ready and self._pace.due():
            self._waiting = None
            self._step(effort)

    def _step(self, effort: Array) -> None:
        self._simulation.step(self._extras.complete(effort))
        self._pace.advance()

    def _look(self) -> None:
        """Count looks, not seconds: whatever blocks the whole process is not a silent peer."""
        self._looks += 1
        if self._options.handed and self._publishers > 1:
            raise LockstepError(f"{self._publishers} nodes publish {self._topic}")
        if not self.started:
            self._try_to_start()
        elif not self._recorded:
            self._wait_for_recorder()
        elif self._stepper.tick != self._seen or self.held or not self._options.lockstep:
            self._seen, self._looks = self._stepper.tick, 0
        elif self._looks * POLL > self._options.timeout:
            raise no_command(self._stepper.state.time, self._options.timeout)

    def _try_to_start(self) -> None:
        node = self._simulation.node
        self._rival = graph.look_for_rival(node, self._rival)
        missing = self._missing()
        busy = graph.preparing(node, self._simulation.robot) if missing else []
        self._late += not busy
        self._quiet = 0 if missing or self._rival else self._quiet + 1
        if self._quiet and self._quiet * POLL >= self._options.settle:
            self.started, self._looks = True, 0
            self._start()
        elif self._late * POLL > self._options.start_timeout:
            raise LockstepError(f"{missing} within {self._options.start_timeout:g} s")
        elif missing and self._looks % round(REMINDER / POLL) == 0:
            how = f"{' and '.join(busy)} not ready, compiling or planning" if busy else missing
            _log.warning("waiting: %s", how)

    def _wait_for_recorder(self) -> None:
        """Let the first step wait until the bag can be read."""
        self._recorded = self._simulation.outlet.recorded()
        if self._recorded:
            self._looks = 0
            self._pace.restart()
            if self._options.lockstep:
                self._resume()
        elif self._looks * POLL > self._options.start_timeout:
            limit = f"{self._options.start_timeout:g} s"
            raise LockstepError(f"the recorder has not written the first state within {limit}")

    def _missing(self) -> str:
        if self._options.lockstep and not self._publishers:
            return f"no controller publishes {self._topic}"
        peers, answered = self._options.peers, self._options.handed
        missing = self._simulation.outlet.missing(peers, answered=answered)
        return missing or self._simulation.missing()

    def _keep_pace(self) -> None:
        if self._options.lockstep:
            self._resume()
            return
        if not self.started or self.held or not self._recorded:
            return
        for _ in range(MAX_CATCH_UP):
            if self._simulation.result or not self._pace.due():
                return
            self._step(self._effort)


def add_services(shell: Shell, pacing: Pacing) -> None:
    """Offer `sim/reset` and `sim/pause`."""

    def reset(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = pacing.started
        response.message = "" if pacing.started else "the run has not started"
        if pacing.started:
            shell.run.guard(pacing.restart)()
        return response

    def pause(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        pacing.pause(bool(request.data))
        response.success = True
        return response

    shell.node.create_service(Trigger, graph.RESET, reset)
    shell.node.create_service(SetBool, graph.PAUSE, pause)
