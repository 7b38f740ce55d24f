"""The node gz_adapter: between Gazebo's bridged topics and those of every other simulator.

It completes what a bridge cannot: efforts checked, clipped and echoed into `/R/joint_states`, the
twist of the base as the engine has it, `/R/scenario` and `/R/result`, a start in which the first
command is in force before the first step, and zero efforts at the end.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Sequence
from subprocess import Popen

import numpy as np
from rclpy.node import Node
from roboaccord.assembly import Setup
from roboaccord.cdr import EffortCodec
from roboaccord.errors import LockstepError
from roboaccord.loop import NANOSECONDS, check_command, check_state, clip_efforts, count_steps
from roboaccord.state import Array, Command, RobotState
from roboaccord.trajectory import Trajectory

from roboaccord_ros import graph
from roboaccord_ros.gazebo import World, body_twist, gazebo_version, set_running
from roboaccord_ros.inlet import Inlet
from roboaccord_ros.outlet import Outlet
from roboaccord_ros.parameters import declare, setup_of
from roboaccord_ros.shell import POLL, Run, main_of


class GazeboShell:
    """Make Gazebo's states and efforts those of the workspace's interface.

    Args:
        node, run: where it lives.
        setup: robot and scenario.
        world: must be paused, and have the robot in it.
        peers: nodes that must receive the states before the world runs.
        timeout: how long Gazebo may be silent [s of wall time].
    """

    def __init__(
        self,
        node: Node,
        setup: Setup,
        world: World,
        run: Run,
        peers: Sequence[str] = ("controller",),
        timeout: float = 30.0,
    ) -> None:
        self._node, self._setup, self._world, self._run = node, setup, world, run
        self._peers, self._timeout = peers, timeout
        period = setup.scenario.control_period
        world.check_period(period)
        self._ticks = count_steps(setup.scenario.duration, period, "duration")
        self._period_ns = round(period * NANOSECONDS)
        self._robot, self._joints = setup.robot.name, setup.joints
        self._outlet = Outlet(node, setup, "gz", gazebo_version(), "ros_gz", clock=False)
        self._codec, self._inlet = EffortCodec(setup.joints), Inlet(setup.joints)
        self._effort = np.zeros(len(setup.joints))
        self._pose, self._seen = (
            np.array([*setup.initial.position, *setup.initial.orientation]),
            0.0,
        )
        self._motion: list[RobotState] = []
        self._delays: list[int] = []
        self._gazebo: Popen[str] | None = None
        self._started = self._heard = time.monotonic()
        self.result: dict[str, object] = {}
        self._to_gazebo, self._send = graph.advertise(node, self._robot, graph.GZ_EFFORTS)
        takes = {
            graph.EFFORTS: self._on_command,
            graph.GZ_ODOMETRY: lambda data: self._on_state(self._inlet.take_odometry(data)),
            graph.GZ_STATES: lambda data: self._on_state(self._inlet.take_joint_states(data)),
        }
        for name, take in takes.items():
            graph.subscribe(node, self._robot, name, run.guard(take))
        node.create_timer(POLL, run.guard(self._look))

    def close(self) -> None:
        """Leave no effort in force, and say how it ended."""
        self._force(np.zeros_like(self._effort))
        graph.deliver(self._to_gazebo)
        if not self.result:
            self._finish(str(self._run.error or "interrupted"))
        self._outlet.deliver()

    def _look(self) -> None:
        """Start when everybody listens, and notice silence."""
        silent = time.monotonic() - self._heard
        if not self._motion:
            missing = self._missing()
            if not missing:
                self._begin()
            elif silent > 2 * self._timeout:
                raise LockstepError(f"{missing} within {2 * self._timeout:g} s")
        elif silent > self._timeout:
            said = self._gazebo.communicate()[0] if self._gazebo and self._gazebo.poll() else ""
            topic = f"/{self._robot}/{graph.GZ_STATES}"
            raise LockstepError(
                f"no states on {topic} for {self._timeout:g} s {said.strip()}".strip()
            )

    def _missing(self) -> str:
        for publisher in self._outlet.state_publishers:
            missing = graph.missing_peers(self._node, publisher, self._peers)
            if missing:
                return f"{missing[0]} has not subscribed to {publisher.topic_name}"
        if not self._to_gazebo.get_subscription_count():
            return f"no bridge has subscribed to {self._to_gazebo.topic_name}"
        return ""

    def _begin(self) -> None:
        """Publish the initial state; its answer starts the world."""
        initial = self._setup.initial
        zeros = np.zeros(len(self._joints))  # Gazebo has no way to start with bent joints
        self._heard = self._started = time.monotonic()
        self._publish(RobotState(0.0, zeros, zeros, zeros, initial.position, initial.orientation))

    def _on_command(self, data: bytes) -> None:
        stamp, effort = self._codec.decode(data)
        check_command(Command(effort), self._joints, "the controller", stamp)
        if self.result:
            return
        self._force(clip_efforts(effort, self._setup.effort_limits))
        self._delays.append(round((self._seen - stamp) / self._world.physics_step))
        if self._gazebo is None and self._motion:
            self._heard = time.monotonic()
            self._gazebo = set_running(self._world)

    def _force(self, effort: Array) -> None:
        self._effort = effort
        self._send(self._codec.encode(0.0, effort))

    def _on_state(self, state: RobotState | None) -> None:
        if state is None or self.result or not self._motion:
            return
        self._heard = time.monotonic()
        pose = np.array([*state.position, *state.orientation])
        twist = body_twist(self._pose, pose, max(state.time - self._seen, self._world.physics_step))
        self._pose, self._seen = pose, state.time
        if round(state.time * NANOSECONDS) % self._period_ns:
            return
        complete = dataclasses.replace(state, effort=self._effort, twist=twist)
        self._publish(complete)
        if round(state.time * NANOSECONDS) >= self._ticks * self._period_ns:
            self._finish()

    def _publish(self, state: RobotState) -> None:
        check_state(state, self._joints, "gz")
        self._motion.append(state)
        self._outlet.state(state)

    def _finish(self, error: str = "") -> None:
        over = not error and bool(self._motion)
        self.result = {
            "trajectory_sha256": self.trajectory.sha256() if over else "",
            "steps": round(self._motion[-1].time * NANOSECONDS / self._period_ns) if over else 0,
            "wall_time": time.monotonic() - self._started,
            "command_delay": float(np.mean(self._delays)) if self._delays else 0.0,
            "error": error,
        }
        self._outlet.result(self.result)
        if not error:
            self._run.done()

    @property
    def trajectory(self) -> Trajectory:
        """The motion so far, at the control ticks."""
        return Trajectory.from_states(self._joints, self._motion, [])


def build(node: Node, run: Run) -> GazeboShell:
    """Make the adapter that the parameters of a node ask for."""
    values = declare(
        node, "robot", "scenario", "set", "duration", "world", "peers", "start_timeout"
    )
    setup = setup_of(values)
    world = World.find(values["world"] or setup.scenario.world)
    return GazeboShell(node, setup, world, run, values["peers"], values["start_timeout"])


def main() -> None:
    """Run the adapter node."""
    sys.exit(main_of("gz_adapter", build))


if __name__ == "__main__":
    main()
