"""Live cross-check node: one-step prediction error of the reference, state by state."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from roboaccord.cdr import JointStateCodec, decode_events, decode_string, decode_wrench, stamp
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.run.factory import make_simulator
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.scenario import limit_of
from roboaccord.scenario.setup import Setup

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.extras import VECTORS
from roboaccord_ros.graph.inlet import Inlet
from roboaccord_ros.graph.parameters import declare
from roboaccord_ros.graph.shell import Run, main_of
from roboaccord_ros.graph.switch_log import SwitchLog

REPORT_PERIOD = 0.5  # s of wall time
_log = logging.getLogger(__name__)


class CrosscheckShell:
    """Publish the error of one step, and a diagnosis; states it cannot keep up with are skipped.

    Args:
        node, run: where it lives.
        robot: name; the scenario comes with `/R/scenario`.
        tolerance: rms velocity error over rms change of velocity; 0: the scenario's.
    """

    def __init__(self, node: Node, robot: str, tolerance: float, run: Run) -> None:
        self._node, self._robot, self._tolerance = node, robot, tolerance
        self._run = run
        self._before: RobotState | None = None
        self._last: RobotState | None = None
        self._setup: Setup | None = None
        self._given: set[str] = set()  # names of vectors that the controller gives
        # By the time of the state that they answer.
        self._vectors: dict[str, dict[float, Array]] = {name: {} for name in VECTORS}
        self.compared = self.skipped = 0
        self._squares = self._changes = self.worst = 0.0
        self._send = graph.advertise(node, robot, graph.ERROR)[1]
        self._diagnostics = node.create_publisher(DiagnosticArray, graph.DIAGNOSTICS, 10)
        graph.subscribe(node, robot, graph.SCENARIO, run.guard(self._on_scenario))
        graph.subscribe(node, robot, graph.RESULT, run.guard(self._on_result))
        node.create_timer(REPORT_PERIOD, run.guard(self.report))

    def close(self) -> None:
        """Give the last diagnosis."""
        self.report()
        graph.deliver(self._diagnostics)

    def _on_scenario(self, data: bytes) -> None:
        if self._setup is not None:
            return
        facts = json.loads(decode_string(data))
        self._setup = setup = Setup.of(make_scenario(facts["scenario"]))
        self._period = setup.scenario.control_period
        self._tolerance = self._tolerance or limit_of(setup.scenario.crosscheck.tolerances.one_step)
        self._reference = make_simulator(setup)
        self._errors, inlet = JointStateCodec(setup.joints), Inlet(setup.joints)
        takes = {graph.ODOMETRY: inlet.take_odometry, graph.STATES: inlet.take_joint_states}
        for name, take in takes.items():
            check = self._run.guard(lambda data, take=take: self._check(take(data)))
            graph.subscribe(self._node, self._robot, name, check, qos=graph.LIVE)
        for name in VECTORS:
            graph.subscribe(
                self._node, self._robot, name, self._run.guard(partial(self._note, name))
            )
        self._switches = log = SwitchLog(setup.initial.switches)

        def take_events(data: bytes) -> None:
            for event in decode_events(data):
                log.note(event)

        graph.subscribe(self._node, self._robot, graph.EVENTS, self._run.guard(take_events))

    def _note(self, name: str, data: bytes) -> None:
        time, vector = decode_wrench(data)
        self._given.add(name)
        self._vectors[name][time] = vector

    def _command(
        self, before: RobotState, state: RobotState, changes: Mapping[str, bool]
    ) -> Command | None:
        """Return the command between one state and the next, and forget earlier ones.

        None if a wrench or twist is missing that the controller gives.
        """
        found = {}
        for name, known in self._vectors.items():
            found[name] = known.get(before.time)
            self._vectors[name] = {t: v for t, v in known.items() if t > before.time}
            if found[name] is None and name in self._given:
                return None
        return Command(state.effort, changes, found[graph.WRENCH], found[graph.TWIST])

    def _on_result(self, data: bytes) -> None:
        if self._setup is not None:
            if self._before is not None and self._last is not None:
                self._compare(self._before, self._last)
            self.skipped = max(
                self.skipped, json.loads(decode_string(data))["steps"] - self.compared
            )
        self._run.done()

    def _check(self, state: RobotState | None) -> None:
        """Check the step before the last, all of whose events have come."""
        if state is None:
            return
        before, last = self._before, self._last
        self._before, self._last = last, state
        if last is not None and state.time <= last.time:  # the simulation was reset
            self._before = None
            self._switches.reset()
        elif before is not None and last is not None:
            self._compare(before, last)

    def _compare(self, before: RobotState, state: RobotState) -> None:
        steps = round((state.time - before.time) / self._period)
        self._switches.advance(before.time - 0.5 * self._period)
        before = replace(before, switches=self._switches.now)
        changes = self._switches.advance(state.time - 0.5 * self._period)
        if steps > 1:
            self.skipped += steps - 1
            return
        command = self._command(before, state, changes)
        if command is None:
            self.skipped += 1
            return
        self._reference.reset(before)
        predicted = self._reference.step(command, self._period)
        q, qd = predicted.q - state.q, predicted.qd - state.qd
        error = RobotState(state.time, q, qd, np.zeros_like(q))
        self._send(self._errors.encode(error))
        self.compared += 1
        off, now, new, old = error.qd, state.qd, predicted.qd, before.qd
        if not len(off):  # a robot without joints is compared by how its base turns
            now, new, old = (s.twist[3:] for s in (state, predicted, before))
            off = new - now
        self._squares += float(off @ off)
        # Who stands still where the reference moves has predicted nothing.
        self._changes += max(float((rate - old) @ (rate - old)) for rate in (now, new))
        self.worst = max(self.worst, float(np.abs(off).max()))

    def report(self) -> None:
        """Publish the prediction error of the reference."""
        if self._setup is None or not self.compared or self._before is None:
            return
        relative = float(np.sqrt(self._squares / self._changes)) if self._changes else 0.0
        rms = float(np.sqrt(self._squares / (self.compared * (len(self._before.q) or 3))))
        agrees = relative <= self._tolerance
        status = DiagnosticStatus(
            level=DiagnosticStatus.OK if agrees else DiagnosticStatus.WARN,
            name=f"{self._robot}: crosscheck",
            message="agrees with the reference" if agrees else "differs from the reference",
            hardware_id=self._robot,
        )
        values = {
            "rms velocity error [rad/s]": rms,
            "max velocity error [rad/s]": self.worst,
            "relative to the change of velocity": relative,
            "tolerance": self._tolerance,
            "states compared": self.compared,
            "states skipped": self.skipped,
        }
        status.values = [KeyValue(key=key, value=f"{value:.6g}") for key, value in values.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp.sec, message.header.stamp.nanosec = stamp(self._before.time)
        self._diagnostics.publish(message)
        level = logging.INFO if agrees else logging.WARNING
        _log.log(level, "%s: %s", status.message, values)


def build(node: Node, run: Run) -> CrosscheckShell:
    """Make the cross-check that the parameters of a node ask for."""
    values = declare(node, "robot", "tolerance")
    if not values["robot"]:
        raise AccordError("parameter robot is missing: -p robot:=NAME")
    return CrosscheckShell(node, values["robot"], values["tolerance"], run)


def main() -> None:
    """Run the cross-check node."""
    sys.exit(main_of("crosscheck", build))


if __name__ == "__main__":
    main()
