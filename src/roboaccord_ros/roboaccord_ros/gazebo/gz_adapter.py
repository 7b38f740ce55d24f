"""Node gz_adapter: Gazebo's bridged topics in the interface of every other simulator.

SILENCE and MEASURED may be tuned: after which silence a run ends, and from when on its speed
counts. Topics are added in graph/names.py, parameters in graph/parameters.py, both with docs/ros.md
(test_graph_tables). Fixed: efforts are in force before the world goes on (`_go_on`), or the motion
would depend on how busy the machine is.

It completes what a bridge cannot: efforts checked, clipped and echoed into `/R/joint_states`, the
twist of the base as the engine has it, the place of a ball in a bearing, services of switches,
`/R/scenario` and `/R/result`, a start in which the first command is in force before the first step,
and zero efforts at the end.
"""

from __future__ import annotations

import dataclasses
import math
import time
from functools import partial
from typing import Self

import numpy as np
from rclpy.node import Node
from roboaccord.cdr import OdometryCodec, decode_wrench
from roboaccord.contract import (
    NANOSECONDS,
    Array,
    Command,
    Event,
    Json,
    LockstepError,
    RobotState,
    check_state,
    count_steps,
)
from roboaccord.gazebo import LEVEL, base_in_gazebo, contact_shapes, is_level
from roboaccord.run import Motion
from roboaccord.scenario import Setup
from roboaccord.simulators import StopWatch

from roboaccord_ros.gazebo.bridge import (
    LevelBase,
    PosedBase,
    World,
    gazebo_version,
    moved,
    refuse_start,
)
from roboaccord_ros.gazebo.camera import Camera
from roboaccord_ros.gazebo.faults import GazeboFaults
from roboaccord_ros.gazebo.link import FreeLink, Lateness, Link, LockstepLink
from roboaccord_ros.gazebo.switches import GazeboSwitches
from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.extras import SwitchServices
from roboaccord_ros.graph.inlet import Inlet
from roboaccord_ros.graph.outlet import Outlet, ResultShell, contact_markers
from roboaccord_ros.graph.parameters import (
    FaultInlet,
    Options,
    declare,
    declare_faults,
    setup_of,
)
from roboaccord_ros.graph.reading import command_reader, finite
from roboaccord_ros.graph.shell import POLL, Run
from roboaccord_ros.nodes.pacing import Pace
from roboaccord_ros.speed import keep_factor

SILENCE = 30.0  # s of wall time that Gazebo may send nothing
MEASURED = 1.0  # s of wall time from which on a run shows how fast it is


class GazeboShell(ResultShell):
    """Convert Gazebo's states and efforts to the workspace's interface.

    Args:
        node, run: that host it.
        setup: robot and scenario.
        world: must be paused, and have the robot in it.
        link: how efforts reach Gazebo, in lockstep or free.
        options: how it is run.
    """

    name = "gz_adapter"

    def __init__(
        self,
        node: Node,
        setup: Setup,
        world: World,
        link: Link,
        run: Run,
        options: Options,
    ) -> None:
        super().__init__(node, setup.robot.name, run)
        self._setup, self._world, self._link, self._options = setup, world, link, options
        refuse_start(setup)
        period, self._joints = setup.scenario.control_period, setup.joints
        world.check_period(period)
        self._endless = math.isinf(options.duration)
        steps = partial(count_steps, setup.scenario.duration, period, "duration")
        self._ticks = 0 if self._endless else steps()
        self._period_ns = round(period * NANOSECONDS)
        how = "ros_gz" if isinstance(link, LockstepLink) else f"ros_gz{graph.FREE}"
        transport = ", ".join([how, *contact_shapes(setup, options.contacts).values()])
        self.outlet = Outlet(node, setup, "gz", gazebo_version(), transport, clock=False)
        self._markers = contact_markers(node, setup)
        self._stops = StopWatch.of(setup.tree, setup.joints)
        self._stops.reset(setup.initial.q)
        self._motion, self._camera = Motion(setup.joints), Camera(setup, world.path)
        self._odometry = setup.robot.odometry(setup)
        self._take_base()
        self._start_bookkeeping()
        self._lateness = Lateness(node, run, world.physics_step, period, options.max_delay)
        self._faults = GazeboFaults(setup, lockstep=isinstance(link, LockstepLink))
        self._inbox = FaultInlet(self, setup, self._faults.fail)
        names = setup.initial.switches
        self._asked = SwitchServices(self, names)
        self._switches = GazeboSwitches(self, names, link, self._on_settled)
        self._connect()
        self._pace = Pace(period, options.pace)
        if self._pace.look_period:
            self.every(self._pace.look_period, self._keep_pace)
        self.every(POLL, self._look)

    def _take_base(self) -> None:
        """Choose how the base's state is completed, and which joints Gazebo has beside ours."""
        setup, contacts = self._setup, self._options.contacts
        level, initial = is_level(setup, contacts), setup.initial
        fixed = base_in_gazebo(setup.scenario) == "fixed"
        posed = PosedBase(initial, self._world.physics_step, fixed=fixed)
        self._base = LevelBase(initial) if level else posed
        self._inlet = Inlet([*setup.joints, *(LEVEL if level else ())], based=not level)

    def _start_bookkeeping(self) -> None:
        self._effort = np.zeros(len(self._joints))
        self._paused = True  # since the last step, where that matters
        self._seen = 0.0  # time of the last state
        self._begun, self._rival, self._answered = False, 0, False
        self._started = self._heard = time.monotonic()
        self._state = self._setup.initial  # that was published last
        self._pushed = False  # whether somebody commands wrenches
        self._wrench: tuple[float, Array] | None = None
        self._waiting: tuple[float, Array] | None = None  # efforts whose wrench has not come

    def _connect(self) -> None:
        """Subscribe to the controller and to the bridge."""
        # An old command does not help.
        qos = graph.NEWEST if self._options.max_delay else graph.RELIABLE
        self._commands = self.subscribe(
            graph.EFFORTS, command_reader(self._joints), self._on_command, qos,
            is_fatal=lambda: self._begun and self._commands.get_publisher_count() == 1,
        )  # fmt: skip
        self._wrenches = self.subscribe(graph.WRENCH, finite(decode_wrench), self._on_wrench)
        base = self.subscribe(graph.GZ_ODOMETRY, self._inlet.take_odometry, self._on_state)
        states = self.subscribe(
            graph.GZ_STATES, self._inlet.take_joint_states, self._on_joint_states
        )
        self._bridged = [states, base]

    @classmethod
    def build(cls, node: Node, run: Run) -> Self:
        """Make the adapter that the parameters of a node specify."""
        names = ("peers", "start_timeout", "pace", "max_delay", "contacts")
        values = declare(node, "robot", "scenario", "set", "duration", "world", "lockstep", *names)
        setup = declare_faults(node, setup_of(values))
        lockstep, name, contacts = values["lockstep"], values["world"], values["contacts"]
        named = name.endswith(".sdf")
        world = World.find(name) if named else World.of(setup, name, lockstep=lockstep)
        link: Link = LockstepLink(setup, world) if lockstep else FreeLink(node, setup, world)
        options = Options.of(
            # Free, the world's own rate counts; in lockstep it waits for its commands.
            values | ({"max_delay": 0} if lockstep else {"pace": 0.0}),
            timeout=SILENCE,
            keep=partial(keep_factor, setup, contacts=contacts, lockstep=lockstep),
        )
        return cls(node, setup, world, link, run, options)

    def close(self) -> None:
        """Leave no effort in force, and report how it ended."""
        self._link.force(np.zeros_like(self._effort))
        self._link.deliver()
        super().close()

    def may_end(self) -> bool:
        """Return whether states came of a run that ends when it is interrupted."""
        return (self._endless or self._setup.scenario.driven) and self._seen > 0.0

    def _look(self) -> None:
        """Start when everybody listens, and notice silence."""
        silent = time.monotonic() - self._heard
        self._switches.look()
        if not self._begun:
            self._rival = graph.look_for_rival(self.node, self._rival)
            missing = self._missing()
            if not missing and not self._rival:
                self._prepare()
            elif silent > self._options.start_timeout:
                raise LockstepError(f"{missing} within {self._options.start_timeout:g} s")
        elif silent > self._options.timeout:
            topic = f"/{self.robot}/{graph.GZ_STATES}"
            raise LockstepError(f"no states on {topic} for {self._options.timeout:g} s")

    def _missing(self) -> str:
        # A paused world publishes its odometry once: a later subscriber waits for it in vain.
        for subscription in self._bridged:
            if not subscription.get_publisher_count():
                return f"no bridge publishes {subscription.topic_name}"
        others = self.outlet.missing(self._options.peers)
        return others or self._switches.missing() or self._link.missing()

    def _prepare(self) -> None:
        """Release the switches that the scenario does not hold, then begin."""
        if not self._switches.busy:
            self._switches.bring(self._setup.initial.switches)
            self._on_settled()

    def _on_settled(self) -> None:
        """Go on when Gazebo has switched."""
        if self._switches.busy:
            return
        if self._begun:
            self._go_on()
        else:
            self._begin()

    def _begin(self) -> None:
        """Publish the initial state; its answer starts the world."""
        initial = self._setup.initial
        if self._odometry:
            self._odometry.reset(initial)
        self._link.start()
        self._pushed = self._wrenches.get_publisher_count() > 0
        effort, switches = np.zeros(len(self._joints)), self._switches.now
        state = dataclasses.replace(initial, time=0.0, effort=effort, switches=switches)
        # Gazebo gives no odometry of the first step: there the base has gone on as it started.
        first = moved(state, self._world.physics_step)
        self._inlet.take_odometry(OdometryCodec().encode(first))
        self._heard = self._started = time.monotonic()
        self._pace.restart()
        self._publish(state)

    def _on_wrench(self, wrench: tuple[float, Array]) -> None:
        self._wrench = wrench
        waiting, self._waiting = self._waiting, None
        if waiting:
            self._on_command(waiting)

    def _on_command(self, answer: tuple[float, Array]) -> None:
        stamp, effort = answer
        if self._pushed and (not self._wrench or self._wrench[0] != stamp):
            self._waiting = answer
            return
        if self.result or not self._begun:
            return
        self._note(self._faults.act(self._state))
        self._effort = self._faults.commanded(Command(effort))
        self._lateness.see(stamp, self._seen)
        for name, on in self._switches.bring(self._asked.take()).items():
            kind = name.rpartition("_")[0] + ("_on" if on else "_off")
            self._note([Event(self._seen, kind, name)])
        if not self._switches.busy:
            self._go_on()

    def _note(self, events: list[Event]) -> None:
        if events:
            self.outlet.events(events)

    def _go_on(self) -> None:
        """Put the last effort in force, and let the world go on, as soon as that is due."""
        self._answered = True
        self._keep_pace()

    def _keep_pace(self) -> None:
        if not (self._answered and self._paused and self._pace.due()):
            return
        self._answered = False
        self._pace.advance()
        self._link.force(self._faults.held(self._state, self._effort))
        if self._wrench:
            self._link.push(self._wrench[1])
        self._heard = time.monotonic()
        self._link.go_on()

    def _on_joint_states(self, state: RobotState | None) -> None:
        if self._inlet.latest == self._seen:  # a paused world repeats its state
            self._paused = True
            self._keep_pace()
        else:
            self._on_state(state)

    def _on_state(self, state: RobotState | None) -> None:
        if state is None or self.result or not self._begun or state.time <= self._seen:
            return
        self._heard = time.monotonic()
        self._seen = state.time
        state = self._base.complete(state)
        self._paused = not (self._link.pauses and self._base.slow)
        if round(state.time * NANOSECONDS) % self._period_ns:
            return
        q = state.q + self._setup.initial.q  # Gazebo counts from the start: gazebo/form.py
        state = dataclasses.replace(state, q=q, effort=self._effort, switches=self._switches.now)
        state = self._odometry.follow(state) if self._odometry else state
        self._publish(self._faults.seen(state))
        if self._ticks and round(state.time * NANOSECONDS) >= self._ticks * self._period_ns:
            self.finish()

    def _publish(self, state: RobotState) -> None:
        check_state(state, self._joints, "gz")
        self._begun, self._state = True, state
        self.outlet.state(state)  # first of all: its answer is waited for
        self._note([self._stops.event(j, state.time) for j in self._stops.see(state.q)])
        self._motion.on_state(state)
        self._camera.on_state(state)
        for markers in self._markers:
            markers.on_state(state)

    def finish(self, error: str = "") -> None:
        """Publish the result, once."""
        over = not error and self._begun
        wall = time.monotonic() - self._started
        result: dict[str, Json] = {
            "trajectory_sha256": self._motion.sha256 if over else "",
            "steps": round(self._motion.last.time * NANOSECONDS / self._period_ns) if over else 0,
            "wall_time": wall,
            "real_time_factor": self._seen / wall,
            "command_delay": self._lateness.mean,
        }
        self.conclude(result, error)
        if over and wall > MEASURED:
            self._options.keep(self._seen / wall)


main = GazeboShell.main

if __name__ == "__main__":
    main()
