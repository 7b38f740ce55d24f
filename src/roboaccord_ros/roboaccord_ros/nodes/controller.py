"""The controller node: state in, update, efforts out.

To add a parameter, enter it in OPTIONS and in graph/parameters.py. How a controller answers is
changed in the core, or in your own class. Fixed: each state has one answer, with its stamp, and
targets are published before it; so a run is that of the direct loop, bit for bit (test_transports).
Without lockstep the last effort is 0.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from rclpy.node import Node
from roboaccord.bag import encode_target
from roboaccord.cdr import EffortCodec
from roboaccord.contract import (
    AccordError,
    Array,
    Controller,
    Inputs,
    LockstepError,
    RobotState,
    Target,
    did_you_mean,
)
from roboaccord.run import (
    EFFORT,
    POSITION,
    VELOCITY,
    Announced,
    LiveInputs,
    RecordedInputs,
    answer,
    ask_controller,
    reset_controller,
)
from roboaccord.scenario import Setup, Watch, make_controller

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.extras import ExtraOutputs
from roboaccord_ros.graph.inlet import Inlet
from roboaccord_ros.graph.parameters import Options, declare, setup_of
from roboaccord_ros.graph.reading import itself, read_facts, read_result, readable
from roboaccord_ros.graph.shell import Shell
from roboaccord_ros.graph.spinning import POLL, Run


class PublishedInputs(Announced):
    """Publish each target as it comes into force, before the efforts of its tick.

    Args:
        node: that hosts the publishers.
        setup: robot and scenario.
        inputs: whose targets they are.
    """

    def __init__(self, node: Node, setup: Setup, inputs: Inputs) -> None:
        super().__init__(inputs, self._publish)
        self._node, self._joints = node, setup.joints
        names = (graph.TARGET_TWIST, graph.TARGET_JOINTS)
        self.senders = {name: graph.advertise(node, setup.robot.name, name) for name in names}

    def missing(self) -> str:
        """Return the first topic that a subscriber does not receive yet, or ""."""
        return graph.unreached(self._node, self.senders.values())

    def _publish(self, time: float, target: Target, before: Target | None) -> None:
        for name, data in encode_target(time, target, before, self._joints).items():
            self.senders[name].send(data)


def subscribed_inputs(node: Node, setup: Setup, run: Run) -> PublishedInputs:
    """Return inputs that collect what people send to a node, and publish the targets from it.

    A message with an unknown joint, or with a number that is not finite, is ignored as a whole.
    """
    robot, joints, topics = setup.robot, setup.joints, setup.robot.input_topics
    live, takes = LiveInputs(joints), dict[str, Callable[[graph.Asked], object]]()
    velocity, position = ("velocity", VELOCITY), ("position", POSITION)
    kinds = {topics.velocity: velocity, topics.position: position}

    def ask_joints(names: list[str], values: list[float], word: str, kind: int) -> None:
        _check(names, values, joints, word)
        for name, value in zip(names, values, strict=True):
            live.ask_joint(joints.index(name), kind, value)

    def ask(topic: str, message: graph.Asked) -> None:
        if topic in kinds:
            word, kind = kinds[topic]
            ask_joints(list(message.name), list(getattr(message, word)), word, kind)
        elif topic in topics.efforts:
            ask_joints([topics.efforts[topic]], [message.data], "effort", EFFORT)
        else:
            parts = (message.linear, message.angular)
            twist = [getattr(part, axis) for part in parts for axis in "xyz"]
            if not all(map(math.isfinite, twist)):
                raise AccordError(f"{twist} is not a twist")
            live.ask_twist(np.array(twist))

    def take(topic: str, message: graph.Asked) -> None:
        takes.setdefault(topic, readable(topic, partial(ask, topic), itself))(message)

    graph.subscribe_inputs(node, robot, run.guard(take))
    return PublishedInputs(node, setup, live)


def _check(names: list[str], values: list[float], joints: Sequence[str], word: str) -> None:
    for name, value in zip(names, values, strict=False):
        if name not in joints:
            raise AccordError(f"unknown joint {name}{did_you_mean(name, joints)}")
        if not math.isfinite(value):
            raise AccordError(f"{name}: {value} is not a {word}")
    if len(names) != len(values):
        last = names[min(len(values), len(names) - 1)] if names else "no joint"
        raise AccordError(f"{last}: {len(names)} names have {len(values)} {word} values")


OPTIONS = ("controller", "lockstep", "timeout", "start_timeout", "peers")
_log = logging.getLogger(__name__)


class ControllerShell(Shell):
    """Answer each state with the command of a controller.

    Args:
        node, run: that host it.
        setup: robot and scenario.
        options: how it is run.
        inputs: targets of the controller, and switches.
    """

    name = "controller"

    def __init__(
        self, node: Node, setup: Setup, run: Run, options: Options, inputs: PublishedInputs
    ) -> None:
        robot, joints = setup.robot.name, setup.joints
        super().__init__(node, robot, run)
        self._options = options
        self._joints, self._seed = joints, setup.scenario.seed
        with self.preparing():
            # A first one is thrown away: it shows what it gives beside efforts.
            trial = self._make(setup)
            with Watch(options.timeout) as watch:
                example = ask_controller(trial, setup.initial, None, joints, watch)
            self._controller = self._make(setup)
        self.watch = Watch(options.timeout)
        self._inlet, self._efforts = Inlet(joints, once=True), EffortCodec(joints)
        self._initial = self._inlet.switches = setup.initial.switches
        self._inputs = inputs
        self._last, self._warned = -1.0, False
        self._waiting: RobotState | None = None
        self._ready = False
        self._extras = ExtraOutputs(self, example, self._inlet)
        self._sender = self.advertise(graph.EFFORTS)
        self._give: Callable[[float, Array], object] | None = None
        self._facts: dict[str, Any] = {}
        self.subscribe(graph.SCENARIO, read_facts, self._on_facts)
        # Without lockstep an answer to an old state does harm: a backlog would only grow.
        qos = graph.RELIABLE if options.lockstep else graph.NEWEST
        if not options.handed:
            self.subscribe(graph.ODOMETRY, self._inlet.take_odometry, self._answer, qos)
            self.subscribe(graph.STATES, self._inlet.take_joint_states, self._answer, qos)
        self.every(POLL, self._look)
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

    def take(self, state: RobotState, give: Callable[[float, Array], object]) -> None:
        """Answer a state of the simulator in this process, and give it the efforts.

        Both are spared to encode, send and decode what nobody else listens to.
        """
        self._give = give
        known = self._inlet.switches  # as a message would have it
        self._answer(replace(state, switches=known) if known else state)

    def _make(self, setup: Setup) -> Controller:
        """Return a controller that is made and reset."""
        patience = self._options.start_timeout
        made = make_controller(setup, self._options.controller, timeout=patience)
        reset_controller(made, self._seed, patience)
        return made

    def close(self) -> None:
        """Leave no effort in force, without lockstep."""
        self.watch.stop()
        if not self._options.lockstep:
            stop = self._efforts.encode(max(self._last, 0.0), np.zeros(len(self._joints)))
            self._sender.send(stop)
        graph.deliver(*self._inputs.senders.values(), self._sender)

    def _look(self) -> None:
        """Answer the first state as soon as everybody listens."""
        self._extras.look()
        if self._ready or self._extras.missing() or self._inputs.missing():
            return
        peers, handed = self._options.peers, self._options.handed
        if not graph.missing_peers(self.node, self._sender, peers, somebody=not handed):
            self._ready = True
            self._answer(self._waiting)

    def _on_facts(self, facts: dict[str, Any]) -> None:
        if not self._facts:
            self._facts = facts
            self.subscribe(graph.RESULT, partial(read_result, facts), self._on_result)

    def _on_result(self, _: dict[str, Any]) -> None:
        self.run.done()

    def _answer(self, state: RobotState | None) -> None:
        if self._inlet.repeated is not None:
            twice = f"the state of t = {self._inlet.repeated:.6f} s arrived twice"
            self._warn_once(f"{twice}; the second is ignored")
        if state is None:
            return
        if not self._ready:
            self._waiting = state
            return
        if state.time <= self._last:
            self._check_reset(state.time)
            reset_controller(self._controller, self._seed, self._options.start_timeout)
            self._inputs.reset()
            self._inlet.switches = self._initial
            state = replace(state, switches=self._initial)
        self._last = state.time
        command = answer(self._controller, state, self._inputs, self._joints, self.watch)
        self._extras.send(
            state.time, command, partial(self._send_efforts, state.time, command.effort)
        )

    def _send_efforts(self, time: float, effort: Array) -> None:
        if self._give is None or self._sender.handle.get_subscription_count():
            self._sender.send(self._efforts.encode(time, effort))
        if self._give:
            self._give(time, effort)

    def _check_reset(self, time: float) -> None:
        """Take a jump back of the time as a reset of the simulation, if it can be one.

        Raises:
            LockstepError: if it is none.
        """
        order = f"the state of t = {time:.6f} s came after that of t = {self._last:.6f} s"
        if self._options.lockstep and time > 0.0:
            topic = self.node.resolve_topic_name(f"{self.robot}/{graph.STATES}")
            why = f"messages are out of order, or another simulator publishes {topic}"
            raise LockstepError(f"{order}: {why}")
        if time > 0.0:
            self._warn_once(f"{order}: the clock has jumped, and the controller restarts")

    def _warn_once(self, line: str) -> None:
        if not self._warned:
            self._warned = True
            _log.warning("%s", line)


main = ControllerShell.main

if __name__ == "__main__":
    main()
