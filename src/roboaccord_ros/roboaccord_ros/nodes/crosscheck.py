"""Live cross-check node: one-step prediction error of the reference, state by state.

REPORT_PERIOD, SLICE, SHOWN, EARLY, PATIENCE and UNHURRIED may be tuned; ENDING must stay below the
5 s that a launch waits. How a run is judged is changed in `StepCheck` of the core: the verdict is
that of `accord crosscheck BAG` (test_live_crosscheck). STATUS_OUTSIDE is known to launches. Fixed:
a run that is to be checked starts once this node has compiled, and never waits for it after that.
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
from roboaccord.cdr import (
    EffortCodec,
    JointStateCodec,
    decode_events,
    decode_wrench,
)
from roboaccord.contract import Array, Event, RobotState
from roboaccord.crosscheck import Report, StepCheck
from roboaccord.scenario import Setup

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.extras import VECTORS
from roboaccord_ros.graph.inlet import Inlet
from roboaccord_ros.graph.live import BEHIND, LONGEST, LiveSteps, warm_up
from roboaccord_ros.graph.parameters import declare
from roboaccord_ros.graph.reading import finite, read_result, read_scenario
from roboaccord_ros.graph.second import SecondRobot
from roboaccord_ros.graph.shell import Shell
from roboaccord_ros.graph.spinning import POLL, Run
from roboaccord_ros.nodes.verdicts import VerdictSender

REPORT_PERIOD = 0.5  # s of wall time
SLICE = 0.7 * POLL  # s of wall time spent on comparisons before messages are taken again
EARLY = 4 * LONGEST  # messages that are kept while kernels compile
SHOWN = 0.3 * SLICE  # s of that for the second robot, where comparisons are behind
PATIENCE = 6.0  # s that the last messages may come after the result
UNHURRIED = 30.0  # s that comparisons may take after it; a launch waits for 90
ENDING = 4.0  # s for the comparisons that are left at the end; a launch waits for 5
STATUS_OUTSIDE = 1
T = TypeVar("T")


class CrosscheckShell(Shell):
    """Compare every state with the reference's prediction, and publish errors and a verdict.

    It is the verdict of `accord crosscheck BAG` on the same run. The run never waits: states are
    kept until there is time for them.

    Args:
        node, run: that host it.
        robot: name; the scenario comes with `/R/scenario`.
        tolerance: rms velocity error over rms change of velocity; 0: the scenario's.
        reference: whether the reference runs free, too, and is published as a second robot.
        controller: of that, `package.module:Class` in place of the scenario's.
        changes: `KEY=VALUE` of the scenario, which may name files, as no message may.
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
        self._facts: dict[str, Any] = {}  # once the scenario is known
        self.second: SecondRobot | None = None  # likewise
        self._steps: LiveSteps | None = None  # once all is compiled
        self._prepared: Future[LiveSteps] | None = None  # until then
        self._early = deque[Callable[[], None]](maxlen=EARLY)  # likewise: what came
        self._end, self._looks, self._closed = math.inf, 0, False
        self._events, self._sent = 0, 0
        self._sources: list[Subscription] = []  # must be connected before the start
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
        more = {name: values[name] for name in second}
        return cls(node, values["robot"], values["tolerance"], run, changes=values["set"], **more)

    @property
    def check(self) -> StepCheck | None:
        """What judges the run; None before the scenario is known."""
        return self._steps.check if self._steps else None

    @property
    def verdict(self) -> Report | None:
        """The verdict so far; None before the scenario is known."""
        if self._steps is None:
            return None
        return self._steps.verdict(0.0 if self._end == math.inf else self._end)

    @property
    def status(self) -> int:  # type: ignore[override]
        """Exit status: 1 where the run is outside."""
        return 0 if self.verdict is None or self.verdict.ok else STATUS_OUTSIDE

    def close(self) -> None:
        """Compare what is left, and give the verdict."""
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
        self.node.destroy_publisher(self._errors_out)  # a recorder waits for that

    def _on_scenario(self, announced: tuple[dict[str, Any], Setup]) -> None:
        if self._facts:
            return
        self._facts, setup = facts, _ = announced
        self._period = setup.scenario.control_period
        self._errors, inlet = JointStateCodec(setup.joints), Inlet(setup.joints)
        ran = facts["engine"], facts["engine_version"], self._tolerance, facts["transport"]
        if self._outs:
            outs, run = (self._outs, self._verdicts.sender), (facts["engine"], facts["transport"])
            self.second = SecondRobot(self, *outs, setup, *run, self._controller)
        self._sign = graph.sign(self.node, self.robot)
        make = partial(StepCheck, setup, *ran)
        self._prepared = ThreadPoolExecutor(1).submit(self._prepare, setup, make)
        vectors = dict.fromkeys(VECTORS, decode_wrench)
        for name, decode in {**vectors, graph.EFFORTS: EffortCodec(setup.joints).decode}.items():
            take = partial(self._hand_on, partial(self._on_vector, name))
            self.subscribe(name, finite(decode), take, graph.DEEP)
        note, keep = partial(self._hand_on, self._on_events), partial(self._hand_on, self._keep)
        self._sources = [
            self.subscribe(graph.EVENTS, decode_events, note, graph.DEEP),
            self.subscribe(graph.ODOMETRY, inlet.take_odometry, keep, graph.DEEP),
            self.subscribe(graph.STATES, inlet.take_joint_states, keep, graph.DEEP),
        ]

    def _prepare(self, setup: Setup, make: Callable[[], StepCheck]) -> LiveSteps:
        """Make, in a thread, what judges, with all that it compiles."""
        warm_up(make())
        steps = LiveSteps(setup, make)
        if self.second:
            self.second.begin(steps.check)
        return steps

    def _hand_on(self, take: Callable[[LiveSteps, T], None], what: T) -> None:
        """Hand on what has come, once there is what judges it."""
        if self._steps:
            take(self._steps, what)
        else:
            self._early.append(lambda: self._hand_on(take, what))

    def _begin(self) -> None:
        """Take what has come by now, where all is compiled, and let the run start.

        It starts once this node listens to the result, with every state certain to come.
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
        self._sent = result["events"]
        self._end = result["steps"] * self._period if self.check else -1.0

    def _keep(self, steps: LiveSteps, state: RobotState | None) -> None:
        if state is None:
            return
        is_back = steps.keep(state)
        if self.second:
            if is_back:
                self.second.begin(steps.check)
            self.second.keep(state)

    def _judge(self, steps: LiveSteps, until: float, behind: int = BEHIND) -> None:
        for step in steps.judge(until, behind):
            self._publish(step.errors)
            if self.second:
                self.second.take(step)

    def _publish(self, errors: Sequence[RobotState]) -> None:
        for error in errors:
            self._errors_out.send(self._errors.encode(error))

    def _look(self) -> None:
        """Compare for a while; after the result, end once all has come, or has not for long."""
        self._begin()
        until, last = time.monotonic() + SLICE, -1.0
        if self._steps:
            self._judge(self._steps, until - SHOWN if self.second else until)
            last = self._steps.latest
            if self.second:
                self.second.follow(until)
        if self._end == math.inf:
            return
        self._looks += 1
        complete = last >= self._end and self._events >= self._sent
        behind = complete and self._steps is not None and self._steps.behind
        if (complete and not behind) or self._looks * POLL > (UNHURRIED if behind else PATIENCE):
            self.close()
            self.run.done()

    def publish_verdict(self) -> None:
        """Publish the verdict so far, and log it where it has changed."""
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
