"""The simulator node: state out, command in, step."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from rclpy.node import Node
from roboaccord.assembly import Setup, make_simulator
from roboaccord.bag.topics import facts
from roboaccord.cdr import (
    EffortCodec,
    JointStateCodec,
    OdometryCodec,
    encode_clock,
    encode_event,
    encode_string,
)
from roboaccord.description import expand
from roboaccord.errors import LockstepError
from roboaccord.interfaces import Observer, Simulator
from roboaccord.loop import NANOSECONDS, advance, check_command, count_steps
from roboaccord.state import Array, Command, RobotState
from roboaccord.trajectory import Event, Trajectory

from roboaccord_ros import graph
from roboaccord_ros.extras import ExtraInputs
from roboaccord_ros.parameters import declare, setup_of
from roboaccord_ros.pacing import Pacing, add_services
from roboaccord_ros.shell import Run, main_of


@dataclass(frozen=True, kw_only=True)
class SimulatorOptions:
    """Hold how a simulator is run; see the parameters of the node."""

    engine: str
    lockstep: bool = True
    duration: float = 0.0
    timeout: float = 10.0
    start_timeout: float = 60.0
    peers: Sequence[str] = ("controller",)
    transport: str = "ros"


class SimulatorShell:
    """Publish the state, wait for the command that answers it, step, until the end of the run."""

    def __init__(
        self,
        node: Node,
        setup: Setup,
        simulator: Simulator,
        run: Run,
        options: SimulatorOptions,
        observers: Sequence[Observer] = (),
    ) -> None:
        self._setup, self._simulator, self._run = setup, simulator, run
        self._options, self._observers = options, observers
        scenario, robot = setup.scenario, setup.robot.name
        self._robot = robot
        self.period = scenario.control_period
        count_steps(self.period, simulator.physics_step, "control period over physics step")
        self._period_ns = round(self.period * NANOSECONDS)
        endless = math.isinf(options.duration)
        self._ticks = 0 if endless else count_steps(scenario.duration, self.period, "duration")
        joints = simulator.joints
        self._states, self._odometry = JointStateCodec(joints), OdometryCodec()
        self._efforts = EffortCodec(joints)
        latched = {graph.DESCRIPTION: expand(setup)}
        latched[graph.SCENARIO] = facts(
            setup, options.engine, simulator.version, options.transport
        )
        for name, text in latched.items():
            graph.advertise(node, robot, name)[1](encode_string(text))
        self._result, self._send_result = graph.advertise(node, robot, graph.RESULT)
        self._send_event = graph.advertise(node, robot, graph.EVENTS)[1]
        self._send_clock = graph.advertise_clock(node)
        odometry, self._send_odometry = graph.advertise(node, robot, graph.ODOMETRY)
        states, self._send_states = graph.advertise(node, robot, graph.STATES)
        self._begin()
        self.extras = ExtraInputs(node, robot, run, self._state.switches, self.resume)
        commands = graph.subscribe(node, robot, graph.EFFORTS, run.guard(self._on_command))
        self.pacing = Pacing(node, self, run, options, (odometry, states), commands)
        add_services(node, self.pacing, run)

    @property
    def trajectory(self) -> Trajectory:
        """The motion so far."""
        return Trajectory.from_states(self._simulator.joints, self._motion, self._events)

    @property
    def state(self) -> RobotState:
        """The present state."""
        return self._state

    @property
    def tick(self) -> int:
        """The number of control periods done."""
        return self._tick

    def start(self) -> None:
        """Publish the initial state."""
        self._started = time.perf_counter()
        self.extras.start()
        self._publish()

    def reset(self) -> None:
        """Go back to the start, and publish it."""
        self._begin()
        self.start()

    def resume(self) -> None:
        """Step if everything that answers the present state is there."""
        effort = self._effort
        if effort is None or self.pacing.held or not self.extras.ready(self._state.time):
            return
        self._effort = None
        self.step(self.extras.complete(effort))

    def step(self, command: Command) -> None:
        """Advance by one control period, and publish the state; at the end, the result."""
        check_command(command, self._simulator.joints, "the controller", self._state.time)
        for observer in self._observers:
            observer.on_command(self._state, command)
        self._tick += 1
        self._state = advance(
            self._simulator, command, self.period, self._tick, self._period_ns
        )
        for event in self._simulator.take_events():
            self._events.append(event)
            self._send_event(encode_event(event, self._robot))
            for observer in self._observers:
                observer.on_event(event)
        if self._ticks:
            self._motion.append(self._state)
        self._publish()
        if self._tick == self._ticks:
            self.finish()

    def finish(self, error: str = "") -> None:
        """Publish the result, once."""
        self.wall_time = time.perf_counter() - self._started
        self.result = {
            "trajectory_sha256": self.trajectory.sha256() if self._ticks and not error else "",
            "steps": self._tick,
            "wall_time": self.wall_time,
            "error": error,
        }
        self._send_result(encode_string(json.dumps(self.result)))
        if not error:
            self._run.done()

    def close(self) -> None:
        """Say how it ended, if that is not said, and see the result delivered."""
        if not self.result:
            self.finish(str(self._run.error or "interrupted"))
        graph.deliver(self._result)

    def _begin(self) -> None:
        self._tick = 0
        self._state = self._simulator.reset(self._setup.initial)
        self._simulator.take_events()
        self._motion, self._events = [self._state], list[Event]()
        self._effort: Array | None = None
        self._started, self.wall_time = time.perf_counter(), 0.0
        self.result: dict[str, object] = {}

    def _publish(self) -> None:
        state = self._state
        for observer in self._observers:
            observer.on_state(state)
        self._send_clock(encode_clock(state.time))
        self._send_odometry(self._odometry.encode(state))
        if state.switches:
            self.extras.publish(state.switches)
        self._send_states(self._states.encode(state))  # last: peers wait for it

    def _on_command(self, data: bytes) -> None:
        stamp, effort = self._efforts.decode(data)
        if not self._options.lockstep:
            self.pacing.hold(effort)
        elif stamp == self._state.time and self.pacing.started:
            self.pacing.in_step = True
            self._effort = effort
            self.resume()
        elif stamp > self._state.time and self.pacing.in_step:
            raise LockstepError(
                f"the controller answered t = {stamp:.6f} s, "
                f"the simulator is at t = {self._state.time:.6f} s"
            )


def build(node: Node, run: Run) -> SimulatorShell:
    """Make the simulator that the parameters of a node ask for."""
    names = ("engine", "lockstep", "duration", "timeout", "start_timeout", "peers", "transport")
    values = declare(node, "robot", "scenario", "set", *names)
    setup = setup_of(values)
    options = SimulatorOptions(**{name: values[name] for name in names})
    return SimulatorShell(node, setup, make_simulator(setup, options.engine), run, options)


def main() -> None:
    """Run the simulator node; the result goes to stdout as JSON."""
    shells: list[SimulatorShell] = []
    status = main_of("simulator", lambda node, run: shells.append(build(node, run)) or shells[0])
    if shells and not status:
        sys.stdout.write(json.dumps(shells[0].result) + "\n")
    sys.exit(status)


if __name__ == "__main__":
    main()
