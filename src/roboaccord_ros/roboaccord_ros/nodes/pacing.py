"""Pacing of a simulation: it decides when to start and when to take each step.

A run starts once all peers are connected. In lockstep a step is taken when everything that answers
the present state has come; without lockstep steps follow the wall clock, with the last effort. In
lockstep a missing answer, or an answer to a later state, ends the run. So pace, pauses and the load
of the machine change no motion (test_transports).

Services are in `add_services` of simulator.py and in standard.py. REMINDER, BATCH and MAX_CATCH_UP
may be tuned.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
from roboaccord.contract import Array, Command, Json, LockstepError, RobotState
from roboaccord.run import Pace, Stepper, no_command
from roboaccord.scenario import Setup

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.extras import ExtraInputs
from roboaccord_ros.graph.outlet import Outlet
from roboaccord_ros.graph.parameters import Options
from roboaccord_ros.graph.peers import check_for_rival, preparing_nodes
from roboaccord_ros.graph.reading import command_reader
from roboaccord_ros.graph.shell import Shell
from roboaccord_ros.graph.spinning import POLL
from roboaccord_ros.nodes.halt import Halt

_log = logging.getLogger(__name__)
# s of wall time between lines on what a start waits for; 12 lines a minute do not fill a terminal.
REMINDER = 5.0
# Number of control periods that are taken at once, before messages and timers are served: 10 ms of
# motion at 1 kHz, shorter than POLL.
BATCH = 10
# The same for steps that are late in real time: 20 ms at 1 kHz, so that messages wait no longer.
# Steps that are still late follow at the next call of `_keep_pace`.
MAX_CATCH_UP = 20


class Simulation(Shell):
    """A simulation whose steps Pacing asks for.

    Attributes:
        stepper: makes the steps.
        outlet: publishes states, events and the result.
        result: result of the run; empty until the run has ended.
    """

    stepper: Stepper
    outlet: Outlet
    result: Mapping[str, Json]

    @abstractmethod
    def missing(self) -> str:
        """Return what a start waits for besides its peers, or ""."""

    @abstractmethod
    def start(self, state: RobotState | None = None) -> None:
        """Go to the start of the scenario, or to another state, and publish it."""

    @abstractmethod
    def step(self, command: Command) -> None:
        """Advance by one control period, and publish the state; at the end, the result."""


class Pacing:
    """Starts a simulation, steps it on commands or by the clock, and notices a silent controller.

    Args:
        setup: robot and scenario.
        simulation: the simulation that is started and stepped.
        options: how the run is paced.

    Attributes:
        started: whether the run has started.
        halt: whether a person has paused it, and what steps it takes then.
    """

    def __init__(self, setup: Setup, simulation: Simulation, options: Options) -> None:
        self.started, self.halt = False, Halt()
        self._is_answered = False  # whether the controller has answered since the start or a reset
        # Whether the recorder, if there is one, has the first state on disk.
        self._is_recorded = graph.RECORDER not in options.peers
        self._simulation, self._stepper, self._options = simulation, simulation.stepper, options
        self._pending_effort: Array | None = None  # answer to the present state (n,), or None
        self._effort = np.zeros(len(setup.joints))  # efforts in force without lockstep (n,)
        self._last_answer = (-1.0, self._effort)  # time of its state [s], efforts (n,)
        self._has_warned = False
        # Numbers of calls of `_on_timer`: since the last progress, and with a missing peer that
        # does not compile; in a row before the start, with all peers connected, and with another
        # simulator.
        self._idle_checks, self._late_checks, self._ready_checks, self._rival_checks = 0, 0, 0, 0
        self._last_tick = -1  # number of steps at the last call of `_on_timer`
        default_pace = 0.0 if options.lockstep else 1.0  # without lockstep time is real
        self._pace = Pace(self._stepper.period, options.pace or default_pace)
        self._extras = ExtraInputs(simulation, setup.initial.switches, self._step_if_answered)
        self._topic = simulation.node.resolve_topic_name(f"{simulation.robot}/{graph.EFFORTS}")
        # Time [s] and efforts (n,) from the controller in this process, for `_step_batch`.
        self._direct_answer: tuple[float, Array] | None = None
        self._is_in_batch = False  # whether `_step_batch` is running
        self._guarded_batch = simulation.run.guard(self._step_batch)  # its errors end the run
        if not options.shared_process:
            simulation.subscribe(
                graph.EFFORTS, command_reader(setup.joints), self._on_command,
                # If only the controller publishes, an unreadable message is its error.
                is_fatal=lambda: self.started and self._publishers == 1,
            )  # fmt: skip
        simulation.every(POLL, self._on_timer)
        if self._pace.look_period:
            simulation.every(self._pace.look_period, self._keep_pace)

    @property
    def _publishers(self) -> int:
        """Number of publishers of efforts."""
        return int(self._simulation.node.count_publishers(self._topic))

    def answer(self, time: float, effort: Array) -> None:
        """Take efforts (n,) of the controller in this process; they answer the state at `time`."""
        self._direct_answer = (time, effort)
        if not self._is_in_batch:  # else the loop of `_step_batch` goes on with it
            self._schedule_batch()

    def _schedule_batch(self) -> None:
        """Let the executor call `_step_batch` after the present callback."""
        executor = self._simulation.node.executor
        assert executor is not None  # it has called us
        executor.create_task(self._guarded_batch)

    def _step_batch(self) -> None:
        """Step while the controller in this process answers at once, for at most BATCH periods."""
        self._is_in_batch = True
        for _ in range(BATCH):
            command, self._direct_answer = self._direct_answer, None
            if command is None:
                break
            self._on_command(command)
        self._is_in_batch = False
        if self._direct_answer:
            self._schedule_batch()

    @property
    def unready(self) -> str:
        """Why the run cannot be reset or stepped, or ""."""
        over = "the run is over" if self._simulation.result else ""
        return over or ("" if self.started else "the run has not started")

    @property
    def is_at_start(self) -> bool:
        """Whether the run is paused at its start, and the controller has answered that."""
        is_answered = self._pending_effort is not None or not self._options.lockstep
        return self.halt.is_holding and self._stepper.tick == 0 and is_answered

    def pause(self, paused: bool) -> None:
        """Pause, or go on."""
        self.halt.pause(paused)
        self.resume()

    def stop(self) -> None:
        """Pause, and go back to the start."""
        self.pause(True)
        self.halt.stopped = True
        if self.started:
            self.restart()

    def resume(self) -> None:
        """Take what steps `halt` lets through, each when everything that answers it has come."""
        self._pace.restart()
        self._step_if_answered()

    def restart(self, state: RobotState | None = None) -> None:
        """Go back to the start of the scenario, or start from another state."""
        self.halt.end_steps("reset")
        self._is_answered = False
        self._extras.pop_switch_requests()  # drop requests to the run that is over
        self._effort = np.zeros_like(self._effort)
        self._start_run(state)

    def _start_run(self, state: RobotState | None = None) -> None:
        """Go to the start, or to another state, and publish it."""
        self._pace.restart()
        self._pending_effort, self._last_answer = None, (-1.0, self._effort)
        self._extras.expect_vectors()
        self._simulation.start(state)

    def _on_command(self, command: tuple[float, Array]) -> None:
        """Take a command: the time of its state [s], and efforts (n,).

        Raises:
            LockstepError: for an answer to a later state.
        """
        stamp, effort = command
        now = self._stepper.state.time
        if not self._options.lockstep:
            self._effort = effort
        elif stamp == now and self.started and not self._is_repeated(stamp, effort):
            self._is_answered = True
            self._pending_effort, self._last_answer = effort, (stamp, effort)
            self._step_if_answered()
        elif stamp < now:
            self._is_repeated(stamp, effort)
        elif stamp > now and self._is_answered:
            answer = f"the controller answered t = {stamp:.6f} s"
            raise LockstepError(f"{answer}, the simulator is at t = {now:.6f} s")

    def _is_repeated(self, stamp: float, effort: Array) -> bool:
        """Return whether a state is answered again, and warn once.

        Raises:
            LockstepError: if the answer is another one.
        """
        last_stamp, last_effort = self._last_answer
        if stamp != last_stamp:
            return False
        if not np.array_equal(effort, last_effort):
            twice = f"t = {stamp:.6f} s was answered twice, with different commands"
            raise LockstepError(f"{twice}: {self._publishers} nodes publish {self._topic}")
        if not self._has_warned:
            self._has_warned = True
            _log.warning("the answer to t = %.6f s arrived twice; the second is ignored", stamp)
        return True

    def _step_if_answered(self) -> None:
        """Step if everything that answers the present state has come."""
        effort = self._pending_effort
        if effort is None or self.halt.is_holding or not self._is_recorded:
            return
        # The last state is answered, too, but no step follows it.
        time = self._stepper.state.time
        if not self._simulation.result and self._extras.has_vectors(time) and self._pace.due():
            self._pending_effort = None
            self._step(effort)

    def _step(self, effort: Array) -> None:
        """Take a step with efforts (n,) and the extras of the command."""
        self._simulation.step(self._extras.command_with(effort))
        self._pace.advance()
        self.halt.count_step("the run is over" if self._simulation.result else "")

    def _on_timer(self) -> None:
        """Start the run, or end it if the controller is silent; called every POLL.

        It counts its own calls, not seconds, so that a time in which this whole process was blocked
        does not count as silence of a peer.
        """
        self._idle_checks += 1
        options, tick = self._options, self._stepper.tick
        if options.shared_process and self._publishers > 1:
            raise LockstepError(f"{self._publishers} nodes publish {self._topic}")
        if not self.started:
            self._try_to_start()
        elif not self._is_recorded:
            self._wait_for_recorder()
        elif tick != self._last_tick or self.halt.is_holding or not options.lockstep:
            self._last_tick, self._idle_checks = tick, 0
        elif self._idle_checks * POLL > options.timeout:
            raise no_command(self._stepper.state.time, options.timeout)

    def _try_to_start(self) -> None:
        """Start once all peers have been there for `quiet_time` seconds, with no other simulator.

        Raises:
            LockstepError: if a peer that does not compile is missing for too long.
        """
        node = self._simulation.node
        self._rival_checks = check_for_rival(node, self._rival_checks)
        missing = self._missing()
        busy = preparing_nodes(node, self._simulation.robot) if missing else []
        self._late_checks += 0 if busy else 1
        self._ready_checks = 0 if missing or self._rival_checks else self._ready_checks + 1
        if self._ready_checks and self._ready_checks * POLL >= self._options.quiet_time:
            self.started, self._idle_checks = True, 0
            self._start_run()
        elif self._late_checks * POLL > self._options.start_timeout:
            raise LockstepError(f"{missing} within {self._options.start_timeout:g} s")
        elif missing and self._idle_checks % round(REMINDER / POLL) == 0:
            reason = f"{' and '.join(busy)} not ready, compiling or planning" if busy else missing
            _log.warning("waiting: %s", reason)

    def _wait_for_recorder(self) -> None:
        """Begin to step once the first state is on disk.

        Raises:
            LockstepError: if the recorder takes too long.
        """
        self._is_recorded = self._simulation.outlet.is_recorded()
        if self._is_recorded:
            self._idle_checks = 0
            self._pace.restart()
            if self._options.lockstep:
                self._step_if_answered()
        elif self._idle_checks * POLL > self._options.start_timeout:
            limit = f"{self._options.start_timeout:g} s"
            raise LockstepError(f"the recorder has not written the first state within {limit}")

    def _missing(self) -> str:
        """Return in words what the start waits for, or ""."""
        if self._options.lockstep and not self._publishers:
            return f"no controller publishes {self._topic}"
        options = self._options
        missing = self._simulation.outlet.missing(options.peers, answered=options.shared_process)
        return missing or self._simulation.missing()

    def _keep_pace(self) -> None:
        """Make the steps that are due by the clock."""
        if self._options.lockstep:
            self._step_if_answered()
            return
        if not self.started or not self._is_recorded:
            return
        for _ in range(MAX_CATCH_UP):
            if self._simulation.result or self.halt.is_holding or not self._pace.due():
                return
            self._step(self._effort)
