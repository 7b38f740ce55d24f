"""Live cross-check node: it compares a running robot with the reference, state by state.

In each control period the reference simulation starts from the robot's state, takes the same step,
and its prediction is compared with the robot's next state (one-step prediction error).

Once the scenario is announced, a thread compiles what judges the run (`_prepare`); messages that
come meanwhile are stored. After that `_on_timer`, called every POLL, judges the periods that are
complete, but only for part of the time, so that messages are received in between. A run that is to
be checked starts once this node has compiled, and never waits for it after that. The verdict is
that of `accord crosscheck BAG` (test_live_crosscheck).

How a run is judged is changed in `StepCheck` of the core. The constants may be tuned, but ENDING
stays below the 5 s that a launch waits, and launches read STATUS_OUTSIDE.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Self, TypeVar

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from roboaccord.bag import SECOND
from roboaccord.cdr import EffortCodec, JointStateCodec, decode_events, decode_wrench
from roboaccord.contract import Array, Event, RobotState
from roboaccord.crosscheck import Report, StepCheck
from roboaccord.scenario import Setup

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.extras import VECTORS
from roboaccord_ros.graph.inlet import Inlet
from roboaccord_ros.graph.live import LAG, MAX_WAITING, SEARCH_TIME, LiveSteps, warm_up
from roboaccord_ros.graph.parameters import declare
from roboaccord_ros.graph.peers import announce_preparing, deliver
from roboaccord_ros.graph.reading import finite_only, read_result, read_scenario
from roboaccord_ros.graph.second import SecondRobot
from roboaccord_ros.graph.shell import Shell
from roboaccord_ros.graph.spinning import POLL, Run
from roboaccord_ros.nodes.verdicts import VerdictSender

REPORT_PERIOD = 0.5  # s of wall time between verdicts: by choice, as often as a person reads them
# s of wall time for comparisons in each period POLL; 0.3 of it remain for messages. By choice: more
# would let messages wait, and less would let comparisons fall behind sooner.
TIME_SLICE = 0.7 * POLL
# s of wall time of TIME_SLICE for the second robot, even if comparisons are behind; any fraction
# that leaves most to the comparisons would do.
SECOND_SLICE = 0.3 * TIME_SLICE
MAX_EARLY = 4 * MAX_WAITING  # messages stored while kernels compile: a state has up to four
# s of wall time: longest wait for the last messages after the result, half as long again as senders
# wait for delivery (peers.DELIVERY).
PATIENCE = 6.0
# s of wall time for the remaining comparisons at the end; a launch waits for 5
# (launch/processes.GRACE).
ENDING = 4.0
STATUS_OUTSIDE = 1  # exit status of a run outside its tolerance
T = TypeVar("T")


class CrosscheckShell(Shell):
    """Compares each state with the reference's prediction, and publishes errors and a verdict.

    The run never waits: states are stored until there is time for them.

    Args:
        node, run: node and run of this shell.
        robot: name of the robot, whose simulator announces the scenario.
        tolerance: limit of the rms velocity error over the rms change of velocity; 0 for the
            scenario's.
        reference: whether the reference also runs by itself, published as a second robot.
        controller: its controller, `package.module:Class`, instead of the scenario's.
        changes: `KEY=VALUE` changes to the scenario; they may name files, which messages must not.
    """

    name = "crosscheck"
    # Known once the scenario is announced.
    _period: float  # control period [s]
    _error_codec: JointStateCodec
    _preparing: Publisher  # makes the run wait until all is compiled

    def __init__(
        self, node: Node, robot: str, tolerance: float, run: Run, *,
        reference: bool = False, controller: str = "", changes: Sequence[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(node, robot, run)
        self._tolerance, self._controller = tolerance, controller
        self._second_senders = [self.advertise(name) for name in SECOND] if reference else []
        self._facts: dict[str, Any] = {}  # facts of the run; empty until it is announced
        self.second: SecondRobot | None = None  # the reference, once the run is announced
        # While kernels compile: the result to come, and calls for the messages stored so far.
        self._prepared: Future[LiveSteps] | None = None
        self._early = deque[Callable[[], None]](maxlen=MAX_EARLY)
        self._steps: LiveSteps | None = None  # the periods; None until everything is compiled
        self._sources: list[Subscription] = []  # to be connected before the run may start
        self._end = math.inf  # time of the last state [s], once the result states it
        self._events_sent = 0  # number of events, once the result states it
        self._events_received = 0
        self._checks_since_result = 0  # calls of `_on_timer` since the result
        self._is_closed = False  # whether `close` was called
        self._error_sender = self.advertise(graph.ERROR)
        self._verdicts = VerdictSender(node, robot)
        self.subscribe(graph.SCENARIO, partial(read_scenario, robot, changes), self._on_scenario)
        self.every(POLL, self._on_timer)
        self.every(REPORT_PERIOD, self.publish_verdict)

    @classmethod
    def build(cls, node: Node, run: Run) -> Self:
        """Make the cross-check that the parameters of a node specify."""
        options = ("robot", "tolerance", "reference", "controller")  # arguments of the same name
        values = declare(node, "set", *options, needs=["robot"])
        arguments = {name: values[name] for name in options}
        return cls(node, run=run, changes=values["set"], **arguments)

    @property
    def verdict(self) -> Report | None:
        """The verdict so far; None until all is compiled."""
        if self._steps is None:
            return None
        return self._steps.verdict(0.0 if self._end == math.inf else self._end)

    @property
    def status(self) -> int:  # type: ignore[override]
        """Exit status: 1 if the run is outside its tolerance."""
        return 0 if self.verdict is None or self.verdict.ok else STATUS_OUTSIDE

    def close(self) -> None:
        """Judge the remaining states, and give the verdict."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._steps:
            until = time.monotonic() + ENDING
            self._judge(self._steps, until, lag=1)
            self._publish_errors(self._steps.end_run())
            if self.second:
                self.second.close(until, is_interrupted=self._end == math.inf)
            self.publish_verdict()
            if verdict := self.verdict:
                sys.stderr.write(f"crosscheck: {self.robot}: {verdict.line()}\n")
        deliver(self._verdicts.sender, self._error_sender, *self._second_senders)
        self.node.destroy_publisher(self._error_sender)  # a recorder waits for its end

    def _on_scenario(self, announced: tuple[dict[str, Any], Setup]) -> None:
        """Act on the first announcement: begin to compile, and subscribe to the run."""
        if self._facts:
            return
        self._facts, setup = announced
        self._period = setup.scenario.control_period
        inlet = Inlet(setup.joints, setup.body_names)
        self._error_codec = JointStateCodec(setup.joints)
        if self._second_senders:
            senders, statuses = self._second_senders, self._verdicts.sender
            self.second = SecondRobot(self, senders, statuses, setup, self._facts, self._controller)
        self._preparing = announce_preparing(self.node, self.robot)
        keys = ("engine", "engine_version", "transport")
        engine, version, transport = (self._facts[key] for key in keys)
        make_check = partial(StepCheck, setup, engine, version, self._tolerance, transport)
        self._prepared = ThreadPoolExecutor(1).submit(self._prepare, setup, make_check)
        vectors = dict.fromkeys(VECTORS, decode_wrench)
        for name, decode in {**vectors, graph.EFFORTS: EffortCodec(setup.joints).decode}.items():
            on_vector = partial(self._when_prepared, partial(self._on_vector, name))
            self.subscribe(name, finite_only(decode), on_vector, graph.DEEP)
        on_events = partial(self._when_prepared, self._on_events)
        on_state = partial(self._when_prepared, self._on_state)
        self._sources = [
            self.subscribe(graph.EVENTS, decode_events, on_events, graph.DEEP),
            self.subscribe(graph.ODOMETRY, inlet.take_odometry, on_state, graph.DEEP),
            self.subscribe(graph.STATES, inlet.take_joint_states, on_state, graph.DEEP),
        ]
        for name in [graph.BODIES] if setup.bodies else []:
            self._sources.append(self.subscribe(name, inlet.take_body, on_state, graph.DEEP))

    def _prepare(self, setup: Setup, make_check: Callable[[], StepCheck]) -> LiveSteps:
        """Make the steps of a run, and compile their kernels; in a thread."""
        warm_up(make_check())
        steps = LiveSteps(setup, make_check)
        if self.second:
            self.second.begin_run(steps.check)
        return steps

    def _when_prepared(self, callback: Callable[[LiveSteps, T], None], content: T) -> None:
        """Call a function with a message's content: now, or once everything is compiled."""
        if self._steps:
            callback(self._steps, content)
        else:
            self._early.append(lambda: self._when_prepared(callback, content))

    def _start_if_prepared(self) -> None:
        """Once all is compiled, act on the stored messages and let the run start.

        It starts when this node listens to the result, after it is connected to all states.
        """
        if self._prepared and self._prepared.done():
            self._steps, self._prepared = self._prepared.result(), None
            self.node.destroy_publisher(self._preparing)
            while self._early:
                handle_message = self._early.popleft()
                handle_message()
        is_waiting = self._steps and self._sources
        if is_waiting and all(source.get_publisher_count() for source in self._sources):
            self._sources = []
            self.subscribe(graph.RESULT, partial(read_result, self._facts), self._on_result)

    def _on_vector(self, name: str, steps: LiveSteps, vector: tuple[float, Array]) -> None:
        """Store a wrench, a twist or efforts, with the time of the state that they answer."""
        steps.add_vector(name, *vector)

    def _on_events(self, steps: LiveSteps, events: Sequence[Event]) -> None:
        """Count and store events."""
        self._events_received += len(events)
        steps.add_events(events)
        if self.second:
            self.second.add_events(events)

    def _on_result(self, result: dict[str, Any]) -> None:
        """Note the number of events and the time of the last state, which the result states."""
        self._events_sent = result["events"]
        self._end = result["steps"] * self._period if self._steps else -1.0

    def _on_state(self, steps: LiveSteps, state: RobotState | None) -> None:
        """Store a state; None comes with a message that has not completed one."""
        if state is None:
            return
        is_reset = steps.add_state(state)
        if self.second:
            if is_reset:
                self.second.begin_run(steps.check)
            self.second.add_state(state)

    def _on_timer(self) -> None:
        """Judge for a while, then end if the run is over; called every POLL."""
        self._start_if_prepared()
        until = time.monotonic() + TIME_SLICE
        if self._steps:
            self._judge(self._steps, until - SECOND_SLICE if self.second else until)
            if self.second:
                self.second.follow(until)
        if self._end < math.inf:
            self._end_if_complete()

    def _judge(self, steps: LiveSteps, until: float, lag: int = LAG) -> None:
        """Judge periods until a time of the steady clock [s], and publish their errors."""
        for step in steps.judge(until, lag):
            self._publish_errors(step.errors)
            if self.second:
                self.second.add_step(step)

    def _publish_errors(self, errors: Sequence[RobotState]) -> None:
        """Publish errors of the prediction, as states."""
        for error in errors:
            self._error_sender.send(self._error_codec.encode(error))

    def _end_if_complete(self) -> None:
        """After the result, end once everything has come and is judged, or it takes too long."""
        self._checks_since_result += 1
        latest = self._steps.latest if self._steps else -1.0
        is_complete = latest >= self._end and self._events_received >= self._events_sent
        is_late = is_complete and self._steps is not None and self._steps.is_late
        limit = SEARCH_TIME if is_late else PATIENCE
        if (is_complete and not is_late) or self._checks_since_result * POLL > limit:
            self.close()
            self.run.done()

    def publish_verdict(self) -> None:
        """Publish the verdict so far, and log it if it has changed."""
        verdict = self.verdict
        if verdict is None or self._steps is None or self._steps.latest < 0.0:
            return
        latest, has_second = self._steps.latest, self.second is not None
        self._verdicts.send(verdict, latest, final=self._is_closed, cause_follows=has_second)
        if self.second:
            self.second.repeat_look()


main = CrosscheckShell.main

if __name__ == "__main__":
    main()
