"""Gazebo's server in this process: a paused world with a robot in it, stepped when asked.

InProcess writes the world file (populate.py), starts a server on it and runs the server from pause
to pause. The server's thread calls back around each physics step: before it, `_before_step` writes
efforts and, at a start, coordinates; after the last one, `_after_step` reads the state. Work
between steps, and serving a window, is in pauses.py.

In these, `ecm` is Gazebo's entity component manager, which has all of the world's entities and
their properties. When efforts are written and states are read is fixed, for motions depend on it
bit for bit (test_a_run_is_that_of_a_launch_bit_for_bit).
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from roboaccord.contract import BODY_TWIST, AccordError, Array, RobotState

from roboaccord_ros.gazebo.links import MovingLink
from roboaccord_ros.gazebo.pauses import Pauses, Work
from roboaccord_ros.gazebo.populate import populate
from roboaccord_ros.gazebo.transport import gazebo_module
from roboaccord_ros.gazebo.world import PARTITION, RESOURCES, World, new_partition

# Joint coordinates (n,) and rates (n,), then position and quaternion of the base and of each body
# (7 + 7 b,), and their twists in the world frame (6 + 6 b,); a server that does not read the base
# leaves out its own.
Answer = tuple[list[float], list[float], list[float], list[float]]
Coordinates = tuple[Array, Array]  # joint coordinates (n,) and rates (n,)


class InProcess:
    """Gazebo's server in this process: a paused world with a robot, stepped when asked.

    The server's thread calls `_before_step` and `_after_step` around each step. `step` stores its
    request in attributes for them, runs the server, and returns the answer that `_after_step` has
    stored.

    Args:
        world: world of the run.
        robot: name of the robot.
        start: state with the pose of its base, and of the free bodies, at the start.
        urdf: description of the robot for Gazebo.
        joints: names of its joints in Gazebo, in the order of all lists.
        switches: names of its switches.
        physics: short name of a physics engine, or its library; empty for DART.
        reads_base: whether pose and rates of the base are read.

    Attributes:
        steps: physics steps so far.
        pauses: the work between two steps.
        server_count: number of servers in this process.

    Raises:
        AccordError: without Gazebo's bindings, or if the robot does not appear in the world.
    """

    server_count = 0

    def __init__(
        self, world: World, robot: str, start: RobotState, urdf: str, joints: Iterable[str],
        switches: Iterable[str] = (), physics: str = "", *, reads_base: bool = True,
    ) -> None:  # fmt: skip
        # gz-math comes first: functions of gz-sim return its types.
        self._vector = gazebo_module("math").Vector3d
        self._sim = gazebo_module("sim")
        self._isolate(world)
        self._robot, self._world = robot, world
        self._joint_names, self._reads_base = list(joints), reads_base
        # Entities of Gazebo, set by `_find_robot` before the first step.
        self._joints: list[Any] = []
        self._base: Any = None
        self._links: list[MovingLink] = []  # what is read: the base, then the bodies
        # Request of `step`: the number of its last step, and what acts until then.
        self.steps, self._last_step = 0, 0
        self._effort: list[float] = []  # (n,) [N m]
        self._wrench: tuple[Any, ...] = ()  # force and torque on the base, or none
        self._coordinates: Coordinates | None = None  # to be set before the next step
        self._answer: Answer = [], [], [], []  # after the last step
        self._error: Exception | None = None  # raised in a callback, which cannot pass it on
        self._fixture: Any = self._make_fixture(populate(world, robot, start, urdf, physics))
        self.pauses = Pauses(self._fixture.server(), world.name, robot, switches)

    def close(self) -> None:
        """End the server, so that another one can take its partition."""
        self.pauses.close()
        del self.pauses, self._fixture
        InProcess.server_count -= 1

    def prepare_start(
        self, start: Coordinates, state: RobotState, switches: Mapping[str, bool]
    ) -> None:
        """Prepare the start of what is free: joints, switches, and twists of base and bodies.

        Args:
            start: coordinates and rates of the joints (n,) each.
            state: with the twists.
            switches: values of the switches, by name.
        """
        if switches:
            self.pauses.add(self.pauses.turn_all_off())
            self.pauses.add(self._placing(start))
            self.pauses.add(self.pauses.set_switches(switches))
        twists = np.vstack([state.twist, state.bodies[:, BODY_TWIST]])
        if twists.any():  # last: another iteration would stop what moves again
            self.pauses.add(self.pauses.set_twists(lambda: [x.link for x in self._links], twists))

    def step(
        self,
        effort: Array,
        count: int,
        start: Coordinates | None = None,
        wrench: Array | None = None,
    ) -> Answer:
        """Take physics steps under constant efforts, and return the state after the last one.

        Args:
            effort: efforts of the joints (n,) [N m].
            count: number of steps.
            start: joint coordinates and rates, to be set before the first step.
            wrench: constant force and torque on the base, world frame (6,) [N, N m].
        """
        self._effort, self._coordinates = effort.tolist(), start
        self._last_step = self.steps + count
        self._wrench = ()
        if wrench is not None:
            force, torque = wrench[:3].tolist(), wrench[3:].tolist()
            self._wrench = self._vector(*force), self._vector(*torque)
        self.pauses.run(count)
        if self._error is not None:
            raise AccordError(f"gz: {self._error}")
        if self.steps != self._last_step:
            raise AccordError(f"gz: {self.steps} steps were taken, not {self._last_step}")
        return self._answer

    def _make_fixture(self, path: Path) -> Any:
        """Return a server of a world file that calls `_before_step` and `_after_step`."""
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        fixture = self._sim.TestFixture(str(path))
        # Gazebo has replaced the handlers: a signal is to end this process, not only the server.
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():
                signal.signal(number, handler)
        fixture.on_pre_update(self._before_step)
        fixture.on_post_update(self._after_step)
        fixture.finalize()
        return fixture

    @classmethod
    def _isolate(cls, world: World) -> None:
        """Isolate this server in a partition, and set where it looks for included models.

        Also two servers of this process need two partitions: servers of one partition ask for each
        other's topics in each step.
        """
        if cls.server_count or not os.environ.get(PARTITION):
            os.environ[PARTITION] = new_partition()
        cls.server_count += 1
        for paths in (RESOURCES, "SDF_PATH"):  # sdformat looks into the latter first
            others = os.environ.get(paths, "").split(os.pathsep)
            folders = dict.fromkeys([*map(str, world.models), *filter(None, others)])
            os.environ[paths] = os.pathsep.join(folders)

    def _before_step(self, info: Any, ecm: Any) -> None:
        """Write the request before a step; find the robot before the first.

        Gazebo clears the efforts after each step, so they are written before each.
        """
        try:
            if self._base is None:
                self._find_robot(ecm)
            if info.paused:
                self.pauses.iterate(ecm)
                return
            self.pauses.wait_for_run()
            if self._coordinates is not None:
                self._set_coordinates(ecm, self._coordinates)
                self._coordinates = None
            if self._wrench:
                self._base.add_world_wrench(ecm, *self._wrench)
            for joint, effort in zip(self._joints, self._effort, strict=False):
                joint.set_force(ecm, [effort])
        except Exception as error:  # noqa: BLE001 - no error may pass through the server's C++
            self._error = error
            self.pauses.request_step()

    def _set_coordinates(self, ecm: Any, coordinates: Coordinates) -> None:
        """Set coordinates and rates of the joints (n,) each."""
        for joint, q, qd in zip(self._joints, *coordinates, strict=True):
            joint.reset_position(ecm, [float(q)])
            joint.reset_velocity(ecm, [float(qd)])

    def _placing(self, coordinates: Coordinates) -> Work:
        """Work that sets coordinates and rates in an iteration, and lets another one pass."""
        ecm = yield
        self._set_coordinates(ecm, coordinates)
        yield

    def _find_robot(self, ecm: Any) -> None:
        """Find the robot's joints and base, and let Gazebo compute the quantities that are read."""
        sim, robot = self._sim, self._model(ecm, self._robot)
        self._joints = [sim.Joint(robot.joint_by_name(ecm, name)) for name in self._joint_names]
        base = robot.link_by_name(ecm, "base_link")
        bodies = [self._model(ecm, name).links(ecm)[0] for name in self._world.bodies]
        read = [base, *bodies] if self._reads_base else bodies
        self._links = [MovingLink(ecm, entity) for entity in read]
        self._base = sim.Link(base)
        for joint in self._joints:
            joint.enable_position_check(ecm, True)
            joint.enable_velocity_check(ecm, True)

    def _model(self, ecm: Any, name: str) -> Any:
        """Return the model with a name.

        Raises:
            AccordError: if there is none.
        """
        sim = self._sim
        model = sim.World(sim.world_entity(ecm)).model_by_name(ecm, name)
        if model == sim.K_NULL_ENTITY:
            raise AccordError(f"there is no {name} in {self._world.name}")
        return sim.Model(model)

    def _after_step(self, info: Any, ecm: Any) -> None:
        """Read the state after the last step of a request."""
        if info.paused:
            return
        try:
            self.steps += 1
            if self.steps < self._last_step:
                return
            q = [joint.position(ecm)[0] for joint in self._joints]
            qd = [joint.velocity(ecm)[0] for joint in self._joints]
            pose, twist = list[float](), list[float]()
            for link in self._links:
                link_pose, link_twist = link.read(ecm)
                pose += link_pose
                twist += link_twist
            self._answer = q, qd, pose, twist
        except IndexError:
            self._error = AccordError("its physics engine has not made all joints of the robot")
        except Exception as error:  # noqa: BLE001 - no error may pass through the server's C++
            self._error = error
