"""The controller node: it receives a state, updates a controller, and sends its efforts.

Each state is answered once, with the state's stamp, and targets are published before the answer, so
a run equals that of the direct loop (simulator and controller without ROS), bit for bit
(test_transports). A time that jumps back is a reset. With lockstep the simulator waits for each
answer; without it this node answers only the newest state, and the last effort that it sends is 0.

A parameter is entered in OPTIONS and in graph/parameters.py. How a controller answers is changed in
the core, or in your own class.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from rclpy.node import Node
from roboaccord.cdr import EffortCodec
from roboaccord.contract import Array, Controller, LockstepError, RobotState
from roboaccord.run import RecordedInputs, answer, ask_controller, reset_controller
from roboaccord.scenario import Setup, Watch, make_controller

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.extras import ExtraOutputs
from roboaccord_ros.graph.inlet import Inlet
from roboaccord_ros.graph.parameters import Options, declare, setup_of
from roboaccord_ros.graph.peers import announce_preparing, deliver, missing_peers
from roboaccord_ros.graph.reading import read_facts, read_result
from roboaccord_ros.graph.shell import Shell
from roboaccord_ros.graph.spinning import POLL, Run
from roboaccord_ros.nodes.inputs import PublishedInputs, subscribed_inputs

OPTIONS = ("controller", "lockstep", "timeout", "start_timeout", "peers")  # fields of Options
OnEfforts = Callable[[float, Array], object]  # called with the time of a state [s], efforts (n,)
_log = logging.getLogger(__name__)


class ControllerShell(Shell):
    """Answers each state with the command of a controller.

    Args:
        node, run: node and run of this shell.
        setup: robot and scenario.
        options: how the controller is run.
        inputs: give the targets of the controller, and publish them.
    """

    name = "controller"

    def __init__(
        self, node: Node, setup: Setup, run: Run, options: Options, inputs: PublishedInputs
    ) -> None:
        robot, joints = setup.robot.name, setup.joints
        super().__init__(node, robot, run)
        self._options = options
        self._joints, self._seed = joints, setup.scenario.seed
        announcement = announce_preparing(node, robot)  # the run waits while this node compiles
        # The first controller only shows which vectors it commands beside efforts.
        trial = self._make_controller(setup)
        with Watch(options.timeout) as watch:
            example = ask_controller(trial, setup.initial, None, joints, watch)
        self._controller = self._make_controller(setup)
        node.destroy_publisher(announcement)
        self.watch = Watch(options.timeout)
        self._inlet = Inlet(joints, setup.body_names, ignores_repeated=True)
        self._codec = EffortCodec(joints)
        self._initial = self._inlet.switches = setup.initial.switches
        self._inputs = inputs
        self._last_time = -1.0  # time of the last state that was answered [s]
        self._has_warned = False
        # State that came before all peers were connected, which is answered once they are.
        self._early_state: RobotState | None = None
        self._is_connected = False  # whether all peers are connected
        self._extras = ExtraOutputs(self, example, self._inlet)
        self._effort_sender = self.advertise(graph.EFFORTS)
        # Called with the answers if the simulator is in this process.
        self._on_efforts: OnEfforts | None = None
        self._facts: dict[str, Any] = {}  # facts of the run that the simulator has announced
        self.subscribe(graph.SCENARIO, read_facts, self._on_facts)
        # Without lockstep only the newest state is answered, or a backlog would grow.
        qos = graph.RELIABLE if options.lockstep else graph.NEWEST
        if not options.shared_process:
            self.subscribe(graph.ODOMETRY, self._inlet.take_odometry, self._answer, qos)
            if setup.bodies:  # several messages a state, so the newest one alone is not enough
                several = graph.RELIABLE if options.lockstep else graph.DEEP
                self.subscribe(graph.BODIES, self._inlet.take_body, self._answer, several)
            self.subscribe(graph.STATES, self._inlet.take_joint_states, self._answer, qos)
        self.every(POLL, self._on_timer)
        self.watch.start()

    @classmethod
    def build(cls, node: Node, run: Run, **replaced: Any) -> Self:
        """Make the controller that the parameters of a node specify, with other options."""
        values = declare(node, "robot", "scenario", "set", "duration", "inputs", *OPTIONS)
        setup, options = setup_of(values), replace(Options.of(values), **replaced)
        if values["inputs"]:
            inputs = PublishedInputs(node, setup, RecordedInputs(Path(values["inputs"])))
        else:
            run.nodes.append(Node("input", context=node.context))
            inputs = subscribed_inputs(run.nodes[-1], setup, run)
        return cls(node, setup, run, options, inputs)

    def answer_directly(self, state: RobotState, on_efforts: OnEfforts) -> None:
        """Answer a state of the simulator in this process, and pass the efforts to `on_efforts`.

        So no message is encoded, sent and decoded to which nobody else listens.
        """
        self._on_efforts = on_efforts
        switches = self._inlet.switches  # those that a message would carry
        self._answer(replace(state, switches=switches) if switches else state)

    def close(self) -> None:
        """Without lockstep send an effort of 0, for the last effort would stay in force."""
        self.watch.stop()
        if not self._options.lockstep:
            stop = self._codec.encode(max(self._last_time, 0.0), np.zeros(len(self._joints)))
            self._effort_sender.send(stop)
        deliver(*self._inputs.senders.values(), self._effort_sender)

    def _make_controller(self, setup: Setup) -> Controller:
        """Return a new controller, reset."""
        patience = self._options.start_timeout
        controller = make_controller(setup, self._options.controller, timeout=patience)
        reset_controller(controller, self._seed, patience)
        return controller

    def _on_timer(self) -> None:
        """Answer the first state as soon as all peers are connected; called every POLL."""
        self._extras.check_services()
        if self._is_connected or self._extras.missing() or self._inputs.missing():
            return
        peers, needs_one = self._options.peers, not self._options.shared_process
        if not missing_peers(self.node, self._effort_sender, peers, needs_one=needs_one):
            self._is_connected = True
            self._answer(self._early_state)

    def _on_facts(self, facts: dict[str, Any]) -> None:
        """Keep the first announcement of a run, and subscribe to its result."""
        if not self._facts:
            self._facts = facts
            self.subscribe(graph.RESULT, partial(read_result, facts), self._on_result)

    def _on_result(self, _: dict[str, Any]) -> None:
        """End with the run."""
        self.run.done()

    def _answer(self, state: RobotState | None) -> None:
        """Answer a state; None comes with a message that has not completed one."""
        if self._inlet.repeated is not None:
            twice = f"the state of t = {self._inlet.repeated:.6f} s arrived twice"
            self._warn_once(f"{twice}; the second is ignored")
        if state is None:
            return
        if not self._is_connected:
            self._early_state = state
            return
        if state.time <= self._last_time:
            self._check_reset(state.time)
            reset_controller(self._controller, self._seed, self._options.start_timeout)
            self._inputs.reset()
            self._inlet.switches = self._initial
            state = replace(state, switches=self._initial)
        self._last_time = state.time
        command = answer(self._controller, state, self._inputs, self._joints, self.watch)
        send_efforts = partial(self._send_efforts, state.time, command.effort)
        self._extras.send(state.time, command, send_efforts)

    def _send_efforts(self, time: float, effort: Array) -> None:
        """Send the efforts (n,) that answer the state of a time [s]."""
        if self._on_efforts is None or self._effort_sender.handle.get_subscription_count():
            self._effort_sender.send(self._codec.encode(time, effort))
        if self._on_efforts:
            self._on_efforts(time, effort)

    def _check_reset(self, time: float) -> None:
        """Check that a jump back to a time [s] is a reset of the simulation.

        Raises:
            LockstepError: if it is none.
        """
        order = f"the state of t = {time:.6f} s came after that of t = {self._last_time:.6f} s"
        if self._options.lockstep and time > 0.0:
            topic = self.node.resolve_topic_name(f"{self.robot}/{graph.STATES}")
            why = f"messages are out of order, or another simulator publishes {topic}"
            raise LockstepError(f"{order}: {why}")
        if time > 0.0:
            self._warn_once(f"{order}: the clock has jumped, and the controller restarts")

    def _warn_once(self, line: str) -> None:
        """Log the first warning of this node, and no other."""
        if not self._has_warned:
            self._has_warned = True
            _log.warning("%s", line)


main = ControllerShell.main

if __name__ == "__main__":
    main()
