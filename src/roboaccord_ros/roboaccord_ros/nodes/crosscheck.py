"""Live cross-check node: one-step prediction error of the reference, state by state."""

from __future__ import annotations

import json
import logging
import math
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Self

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.subscription import Subscription
from roboaccord.cdr import JointStateCodec, decode_events, decode_string, decode_wrench, stamp
from roboaccord.contract.state import Array, RobotState
from roboaccord.crosscheck.recorded import RecordedReport, StepCheck
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.extras import VECTORS, SwitchLog
from roboaccord_ros.graph.inlet import Inlet
from roboaccord_ros.graph.parameters import declare
from roboaccord_ros.graph.second import SecondRobot
from roboaccord_ros.graph.shell import POLL, Run, Shell

REPORT_PERIOD = 0.5  # s of wall time
SLICE = 0.7 * POLL  # s of wall time spent on comparisons before messages are taken again
BEHIND = 20  # states by which comparisons lag: what belongs to a step comes on other topics
LONGEST = 50_000  # states that may wait; older ones are skipped
PATIENCE = 6.0  # s that the last messages may come after the result
ENDING = 4.0  # s for the comparisons that are left at the end; a launch waits for 5
STATUS_OUTSIDE = 1
_log = logging.getLogger(__name__)


class CrosscheckShell(Shell):
    """Compare every state with the reference's prediction, and publish errors and a verdict.

    It is the verdict of `accord crosscheck BAG` on the same run. The run never waits: states are
    kept until there is time for them.

    Args:
        node, run: where it lives.
        robot: name; the scenario comes with `/R/scenario`.
        tolerance: rms velocity error over rms change of velocity; 0: the scenario's.
        reference: whether the reference runs free, too, and is published as a second robot.
        controller: of that, `package.module:Class` in place of the scenario's.
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
    ) -> None:
        super().__init__(node, robot, run)
        self._tolerance = tolerance
        self._reference, self._controller = reference, controller
        self.check: StepCheck | None = None  # once the scenario is known
        self.second: SecondRobot | None = None  # likewise
        self._states: deque[RobotState] = deque()
        # By the time of the state that they answer.
        self._vectors: dict[str, dict[float, Array]] = {name: {} for name in VECTORS}
        self._given: set[str] = set()  # names of vectors that the controller gives
        self._end, self._looks, self._closed = math.inf, 0, False
        self._events, self._sent, self._ok = 0, 0, True
        self._sources: list[Subscription] = []  # must be connected before the start
        self._errors_out, self._send = self.advertise(graph.ERROR)
        self._diagnostics = node.create_publisher(DiagnosticArray, graph.DIAGNOSTICS, 10)
        self.subscribe(graph.SCENARIO, self._on_scenario)
        self.every(POLL, self._look)
        self.every(REPORT_PERIOD, self.publish_verdict)

    @classmethod
    def build(cls, node: Node, run: Run) -> Self:
        """Make the cross-check that the parameters of a node ask for."""
        own = ("reference", "controller")
        values = declare(node, "robot", "tolerance", *own, needs=["robot"])
        given = {name: values[name] for name in own}
        return cls(node, values["robot"], values["tolerance"], run, **given)

    @property
    def verdict(self) -> RecordedReport | None:
        """The verdict so far; None before the scenario is known."""
        return self.check.verdict() if self.check else None

    @property
    def status(self) -> int:  # type: ignore[override]
        """Exit status: 1 where the run is outside."""
        return 0 if self.verdict is None or self.verdict.ok else STATUS_OUTSIDE

    def close(self) -> None:
        """Compare what is left, and give the verdict."""
        if self._closed:
            return
        self._closed = True
        if self.check is not None:
            until = time.monotonic() + ENDING
            self._compare(behind=1, until=until)
            self.check.skipped += max(len(self._states) - 1, 0)
            self._publish(self.check.settle())
            if self.second:
                self.second.close(until)
            self.publish_verdict()
            verdict = self.check.verdict()
            sys.stderr.write(f"crosscheck: {self.robot}: {verdict.line()}\n")
        second = self.second.publishers if self.second else []
        graph.deliver(self._diagnostics, self._errors_out, *second)
        self.node.destroy_publisher(self._errors_out)  # a recorder waits for that

    def _on_scenario(self, data: bytes) -> None:
        if self.check is not None:
            return
        facts = json.loads(decode_string(data))
        setup = Setup.of(make_scenario(facts["scenario"]))
        self._period = setup.scenario.control_period
        self._errors, inlet = JointStateCodec(setup.joints), Inlet(setup.joints)
        ran = facts["engine"], facts["engine_version"], self._tolerance, facts["transport"]
        self._make = partial(StepCheck, setup, *ran)
        self._initial = setup.initial.switches
        if self._reference:
            run = facts["engine"], facts["transport"]
            self.second = SecondRobot(self, setup, *run, self._controller)
        self._begin()
        for name in VECTORS:
            self.subscribe(name, partial(self._note, name), graph.DEEP)
        self._sources = [
            self.subscribe(name, take, graph.DEEP)
            for name, take in (
                (graph.EVENTS, self._on_events),
                (graph.ODOMETRY, lambda data: self._keep(inlet.take_odometry(data))),
                (graph.STATES, lambda data: self._keep(inlet.take_joint_states(data))),
            )
        ]

    def _listen(self) -> None:
        """Listen to the result once every state is certain to come; a run starts no earlier."""
        if self._sources and all(source.get_publisher_count() for source in self._sources):
            self._sources = []
            self.subscribe(graph.RESULT, self._on_result)

    def _begin(self) -> None:
        """Begin with the first state of a run, or of another one behind a reset."""
        self.check, self._switches = self._make(), SwitchLog(self._initial)
        self._begun = False
        self._states.clear()
        if self.second:
            self.second.begin(self.check)

    def _note(self, name: str, data: bytes) -> None:
        at, vector = decode_wrench(data)
        self._given.add(name)
        self._vectors[name][at] = vector

    def _on_events(self, data: bytes) -> None:
        events = decode_events(data)
        self._events += len(events)
        if self.check:
            self.check.note(events)
        if self.second:
            self.second.note(events)
        for event in events:
            self._switches.note(event)

    def _on_result(self, data: bytes) -> None:
        result = json.loads(decode_string(data))
        self._sent = int(result.get("events", 0))
        self._end = int(result["steps"]) * self._period if self.check else -1.0

    def _keep(self, state: RobotState | None) -> None:
        if state is None or self.check is None:
            return
        if self._states and state.time <= self._states[-1].time:
            self._begin()
        if not self._begun:  # what was before it came too early for this node
            self._begun = True
            self.check.skipped += round(state.time / self._period)
        self._states.append(state)
        if len(self._states) > LONGEST:
            self._states.popleft()

    def _compare(self, behind: int, until: float) -> None:
        """Compare the states that wait, but for the last ones, while there is time."""
        states, check = self._states, self.check
        while check and len(states) > behind and time.monotonic() < until:
            before, after = states.popleft(), states[0]
            self._switches.advance(before.time - 0.5 * self._period)
            before = replace(before, switches=self._switches.now)
            self._switches.advance(after.time - 0.5 * self._period)
            after = replace(after, switches=self._switches.now)
            given = [known.get(before.time) for known in self._vectors.values()]
            if any(name in self._given and v is None for name, v in zip(self._vectors, given)):
                check.skipped += 1
                continue
            self._vectors = {
                name: {t: v for t, v in known.items() if t > before.time}
                for name, known in self._vectors.items()
            }
            self._publish(check.take(before, after, *given))
            if self.second:
                self.second.take(before, after, given[0])

    def _publish(self, errors: Sequence[RobotState]) -> None:
        for error in errors:
            self._send(self._errors.encode(error))

    def _look(self) -> None:
        """Compare for a while; after the result, end once all has come, or has not for long."""
        self._listen()
        until = time.monotonic() + SLICE
        self._compare(behind=BEHIND, until=until)
        if self.second:
            self.second.follow(until)
        if self._end == math.inf:
            return
        self._looks += 1
        last = self._states[-1].time if self._states else -1.0
        complete = last >= self._end and self._events >= self._sent
        if complete or self._looks * POLL > PATIENCE:
            self.close()
            self.run.done()

    def publish_verdict(self) -> None:
        """Publish the verdict so far, and log it where it has changed."""
        if self.check is None or not self._states:
            return
        verdict = self.check.verdict()
        status = DiagnosticStatus(
            level=DiagnosticStatus.OK if verdict.ok else DiagnosticStatus.WARN,
            name=f"{self.robot}: crosscheck",
            message=f"{'verdict' if self._closed else 'so far'}: {verdict.line()}",
            hardware_id=self.robot,
        )
        status.values = [KeyValue(key=key, value=str(v)) for key, v in verdict.to_json().items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp.sec, message.header.stamp.nanosec = stamp(self._states[-1].time)
        self._diagnostics.publish(message)
        if self.second:
            self.second.repeat()
        if verdict.ok is not self._ok:
            self._ok = verdict.ok
            if self.second and not verdict.ok:  # which gives the cause, too
                return
            _log.log(logging.INFO if verdict.ok else logging.WARNING, "%s", status.message)


main = CrosscheckShell.main

if __name__ == "__main__":
    main()
