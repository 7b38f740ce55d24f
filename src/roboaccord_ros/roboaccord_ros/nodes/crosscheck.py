"""Live cross-check node: it compares a running robot with the reference, state by state.

In each control period the reference simulation starts from the robot's state, takes the same step,
and its prediction is compared with the robot's next state (one-step prediction error).

Once the scenario is announced, a thread compiles what judges the run (`_prepare`); messages that
come meanwhile are stored. After that `_look`, called every POLL, judges the periods that are
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
from rclpy.subscription import Subscription
from roboaccord.bag import SECOND
from roboaccord.cdr import EffortCodec, JointStateCodec, decode_events, decode_wrench
from roboaccord.contract import Array, Event, RobotState
from roboaccord.crosscheck import Report, StepCheck
from roboaccord.scenario import Setup

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.extras import VECTORS
from roboaccord_ros.graph.inlet import Inlet
from roboaccord_ros.graph.live import BEHIND, LONGEST, UNHURRIED, LiveSteps, warm_up
from roboaccord_ros.graph.parameters import declare
from roboaccord_ros.graph.reading import finite, read_result, read_scenario
from roboaccord_ros.graph.second import SecondRobot
from roboaccord_ros.graph.shell import Shell
from roboaccord_ros.graph.spinning import POLL, Run
from roboaccord_ros.nodes.verdicts import VerdictSender

REPORT_PERIOD = 0.5  # s of wall time; between verdicts
# s of wall time; for comparisons, before messages are received again; 0.3 of the time are for
# these.
SLICE = 0.7 * POLL
# s; part of SLICE for the second robot, even if comparisons are behind; any share that leaves most
# to the comparisons would do.
SHOWN = 0.3 * SLICE
EARLY = 4 * LONGEST  # messages that are stored while kernels compile: a state has up to four
# s; for the last messages after the result, half as long again as senders wait for delivery
# (names.DELIVERY).
PATIENCE = 6.0
# s; for the remaining comparisons at the end. A launch waits for 5 (launch/processes.GRACE).
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

    def __init__(
        self,
        node: Node,
        robot: str,
        tolerance: float,
        run: Run,
        *,
        reference: bool = False,
        controller: str = "",
        changes: Sequence[str] = (),
    ) -> None:
        super().__init__(node, robot, run)
        self._tolerance, self._changes = tolerance, changes
        self._outs = [self.advertise(name) for name in SECOND] if reference else []
        self._controller = controller
        # Known once the scenario is announced.
        self._facts: dict[str, Any] = {}
        self.second: SecondRobot | None = None
        # While kernels compile: the result to come, and calls for the messages stored so far.
        self._prepared: Future[LiveSteps] | None = None
        self._early = deque[Callable[[], None]](maxlen=EARLY)
        self._steps: LiveSteps | None = None  # the periods; None until everything is compiled
        self._sources: list[Subscription] = []  # to be connected before the run may start
        # Known once the result has come: time of the last state [s], number of events.
        self._end, self._events_sent = math.inf, 0
        self._events = 0  # number of events that have come
        self._checks, self._closed = 0, False  # calls of `_look` since the result
        self._errors_out = self.advertise(graph.ERROR)
        self._verdicts = VerdictSender(node, robot)
        announced = partial(read_scenario, robot, changes)
        self.subscribe(graph.SCENARIO, announced, self._on_scenario)
        self.every(POLL, self._look)
        self.every(REPORT_PERIOD, self.publish_verdict)

    @classmethod
    def build(cls, node: Node, run: Run) -> Self:
        """Make the cross-check that the parameters of a node specify."""
        second = ("reference", "controller")
        values = declare(node, "robot", "tolerance", "set", *second, needs=["robot"])
        of_second = {name: values[name] for name in second}
        return cls(
            node, values["robot"], values["tolerance"], run, changes=values["set"], **of_second
        )

    @property
    def check(self) -> StepCheck | None:
        """The check of the run; None until all is compiled."""
        return self._steps.check if self._steps else None

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
        if self._closed:
            return
        self._closed = True
        if self._steps:
            until = time.monotonic() + ENDING
            self._judge(self._steps, until, behind=1)
            self._publish(self._steps.settle())
            if self.second:
                self.second.close(until, hurried=self._end == math.inf)
            self.publish_verdict()
            if verdict := self.verdict:
                sys.stderr.write(f"crosscheck: {self.robot}: {verdict.line()}\n")
        graph.deliver(self._verdicts.sender, self._errors_out, *self._outs)
        self.node.destroy_publisher(self._errors_out)  # a recorder waits for its end

    def _on_scenario(self, announced: tuple[dict[str, Any], Setup]) -> None:
        """Take the first announcement: begin to compile, and listen to the run."""
        if self._facts:
            return
        self._facts, setup = facts, _ = announced
        self._period = setup.scenario.control_period
        self._errors, inlet = JointStateCodec(setup.joints), Inlet(setup.joints)
        engine, transport = facts["engine"], facts["transport"]
        if self._outs:
            self.second = SecondRobot(
                self, self._outs, self._verdicts.sender, setup, engine, transport, self._controller
            )
        self._sign = graph.sign(self.node, self.robot)
        version, tolerance = facts["engine_version"], self._tolerance
        make = partial(StepCheck, setup, engine, version, tolerance, transport)
        self._prepared = ThreadPoolExecutor(1).submit(self._prepare, setup, make)
        vectors = dict.fromkeys(VECTORS, decode_wrench)
        for name, decode in {**vectors, graph.EFFORTS: EffortCodec(setup.joints).decode}.items():
            take = partial(self._with_steps, partial(self._on_vector, name))
            self.subscribe(name, finite(decode), take, graph.DEEP)
        note = partial(self._with_steps, self._on_events)
        keep = partial(self._with_steps, self._keep)
        self._sources = [
            self.subscribe(graph.EVENTS, decode_events, note, graph.DEEP),
            self.subscribe(graph.ODOMETRY, inlet.take_odometry, keep, graph.DEEP),
            self.subscribe(graph.STATES, inlet.take_joint_states, keep, graph.DEEP),
        ]

    def _prepare(self, setup: Setup, make: Callable[[], StepCheck]) -> LiveSteps:
        """Make the steps of a run, and compile their kernels; in a thread."""
        warm_up(make())
        steps = LiveSteps(setup, make)
        if self.second:
            self.second.begin(steps.check)
        return steps

    def _with_steps(self, take: Callable[[LiveSteps, T], None], content: T) -> None:
        """Call `take` with a message's content: now, or once everything is compiled."""
        if self._steps:
            take(self._steps, content)
        else:
            self._early.append(lambda: self._with_steps(take, content))

    def _begin(self) -> None:
        """Once all is compiled, take the stored messages and let the run start.

        It starts when this node listens to the result, after it is connected to all states.
        """
        if self._prepared and self._prepared.done():
            self._steps, self._prepared = self._prepared.result(), None
            self.node.destroy_publisher(self._sign)
            while self._early:
                self._early.popleft()()
        ready = self._steps and self._sources
        if ready and all(source.get_publisher_count() for source in self._sources):
            self._sources = []
            self.subscribe(graph.RESULT, partial(read_result, self._facts), self._on_result)

    def _on_vector(self, name: str, steps: LiveSteps, vector: tuple[float, Array]) -> None:
        steps.note_vector(name, *vector)

    def _on_events(self, steps: LiveSteps, events: Sequence[Event]) -> None:
        self._events += len(events)
        steps.note_events(events)
        if self.second:
            self.second.note(events)

    def _on_result(self, result: dict[str, Any]) -> None:
        """Note the number of events and the time of the last state, which the result states."""
        self._events_sent = result["events"]
        self._end = result["steps"] * self._period if self.check else -1.0

    def _keep(self, steps: LiveSteps, state: RobotState | None) -> None:
        """Take a state; None comes with a message that has not completed one."""
        if state is None:
            return
        is_back = steps.keep(state)
        if self.second:
            if is_back:
                self.second.begin(steps.check)
            self.second.keep(state)

    def _judge(self, steps: LiveSteps, until: float, behind: int = BEHIND) -> None:
        """Judge periods until a time of the steady clock [s], and publish their errors."""
        for step in steps.judge(until, behind):
            self._publish(step.errors)
            if self.second:
                self.second.take(step)

    def _publish(self, errors: Sequence[RobotState]) -> None:
        for error in errors:
            self._errors_out.send(self._errors.encode(error))

    def _look(self) -> None:
        """Judge for a while; after the result, end once everything has come or PATIENCE is over."""
        self._begin()
        until, last = time.monotonic() + SLICE, -1.0
        if self._steps:
            self._judge(self._steps, until - SHOWN if self.second else until)
            last = self._steps.latest
            if self.second:
                self.second.follow(until)
        if self._end == math.inf:
            return
        self._checks += 1
        complete = last >= self._end and self._events >= self._events_sent
        behind = complete and self._steps is not None and self._steps.behind
        if (complete and not behind) or self._checks * POLL > (UNHURRIED if behind else PATIENCE):
            self.close()
            self.run.done()

    def publish_verdict(self) -> None:
        """Publish the verdict so far, and log it if it has changed."""
        verdict = self.verdict
        if verdict is None or self._steps is None or self._steps.latest < 0.0:
            return
        latest, causes = self._steps.latest, self.second is not None
        self._verdicts.send(verdict, latest, final=self._closed, cause_follows=causes)
        if self.second:
            self.second.repeat()


main = CrosscheckShell.main

if __name__ == "__main__":
    main()
