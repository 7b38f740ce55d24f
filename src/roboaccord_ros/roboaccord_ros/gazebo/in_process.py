"""Gazebo's server in this process: a paused world with a robot in it, stepped when it is asked.

What is written into the world may be changed in `populate`; another engine's short name goes into
ENGINES. Fixed: when efforts are written and states are read, on which motions depend bit for bit
(test_a_run_is_that_of_a_launch_bit_for_bit), and the names of Gazebo in POLICIES and PHYSICS. What
is done between steps, and how a window is served, is in pauses.py.
"""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from roboaccord.contract import AccordError, Array, RobotState, read_xml
from roboaccord.gazebo import text_of
from roboaccord.numerics import quaternion_matrix, quaternion_rpy
from roboaccord.run import make_folder, write_text

from roboaccord_ros.gazebo.pauses import Pauses, Work
from roboaccord_ros.gazebo.transport import load
from roboaccord_ros.gazebo.world import PARTITION, RESOURCES, World, new_partition

POLICIES = "gz:policies"
PHYSICS = "plugin[@name='gz::sim::systems::Physics']"
ENGINES = ("dartsim", "bullet-featherstone", "bullet", "tpe")  # of Gazebo, by their short names
Answer = tuple[list[float], list[float], list[float], list[float]]


def populate(world: World, robot: str, start: RobotState, urdf: str, physics: str = "") -> Path:
    """Write a world with a robot in it where its base starts, and return its file.

    The robot comes without its systems: what they take and publish goes through the bindings.
    Physics are those of an engine, by its name, or by that of its library; DART if empty.
    """
    root = read_xml(world.path)
    body = ET.fromstring(urdf)
    for extension in body.iter("gazebo"):
        for plugin in extension.findall("plugin"):
            extension.remove(plugin)
    urdf = ET.tostring(body, encoding="unicode")
    pose = [*start.position.tolist(), *quaternion_rpy(start.orientation)]
    digest = hashlib.sha256((urdf + text_of(pose) + physics).encode()).hexdigest()[:12]
    folder = make_folder(world.path.parent / digest)
    write_text(folder / "robot.urdf", urdf)
    element = root.find("world")
    assert element is not None  # `World` has read it
    policies = ET.SubElement(element, POLICIES)
    # Threads that take turns cost more than what they do: up to half of a step.
    ET.SubElement(policies, "parallel_postupdates").text = "false"
    if physics:
        system = element.find(PHYSICS)
        library = f"gz-physics-{physics}-plugin" if physics in ENGINES else physics
        assert system is not None  # every world has it, by its check
        ET.SubElement(ET.SubElement(system, "engine"), "filename").text = library
    include = ET.SubElement(element, "include")
    parts = {"uri": str(folder / "robot.urdf"), "name": robot, "pose": text_of(pose)}
    for tag, text in parts.items():
        ET.SubElement(include, tag).text = text
    write_text(folder / world.path.name, ET.tostring(root, encoding="unicode") + "\n")
    return folder / world.path.name


class InProcess:
    """Run Gazebo's server in this process: a paused world with a robot, stepped when asked.

    Args:
        world: where the robot is put.
        robot: its name.
        start: of its base.
        urdf: description for Gazebo.
        joints: names in Gazebo, in the order of every list.
        switches: names of those of the robot.
        physics: engine; see `populate`.
        based: whether pose and rates of the base are read.

    Attributes:
        steps: physics steps so far.
        pauses: what is done between two steps.
        alive: servers of this process.

    Raises:
        AccordError: without Gazebo's bindings, or where the robot does not come.
    """

    alive = 0

    def __init__(
        self,
        world: World,
        robot: str,
        start: RobotState,
        urdf: str,
        joints: Iterable[str],
        switches: Iterable[str] = (),
        physics: str = "",
        *,
        based: bool = True,
    ) -> None:
        load("gz.math7")  # the types of what the other returns
        self._sim = load("gz.sim8")
        self._prepare(world)
        self._robot, self._world = robot, world.name
        self._joints: list[Any] = []
        self._base: Any = None
        self._probe: Any = None  # moves with the base
        self._arm = np.zeros(3)  # where it is, in the axes of the base
        self._wanted, self._based = list(joints), based
        self.steps, self._last = 0, 0
        self._effort: list[float] = []
        self._wrench: tuple[Any, ...] = ()
        self._placed: tuple[Array, Array] | None = None
        self._found: Answer = [], [], [], []
        self._error: Exception | None = None
        path = populate(world, robot, start, urdf, physics)
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        self._fixture: Any = self._sim.TestFixture(str(path))
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():  # a signal ends this process, and not Gazebo
                signal.signal(number, handler)
        self._fixture.on_pre_update(self._before)
        self._fixture.on_post_update(self._after)
        self._fixture.finalize()
        self.pauses = Pauses(self._fixture.server(), world.name, robot, switches)

    @classmethod
    def _prepare(cls, world: World) -> None:
        """Isolate this server, from others of this process, too; set where includes are found.

        Servers of one partition ask for each other's topics in each step.
        """
        if cls.alive or not os.environ.get(PARTITION):
            os.environ[PARTITION] = new_partition()
        cls.alive += 1
        for paths in (RESOURCES, "SDF_PATH"):  # sdformat looks into the latter first
            known = os.environ.get(paths, "").split(os.pathsep)
            folders = dict.fromkeys([*map(str, world.models), *filter(None, known)])
            os.environ[paths] = os.pathsep.join(folders)

    def close(self) -> None:
        """End the server, so that another one can have its partition."""
        self.pauses.end()
        del self.pauses, self._fixture
        InProcess.alive -= 1

    def begin(
        self, placed: tuple[Array, Array], twist: Array, switches: Mapping[str, bool]
    ) -> None:
        """Place a robot with a free base before the first step; hold it by switches there."""
        if switches:
            self.pauses.add(self.pauses.settle())
            self.pauses.add(self._put(placed))
            self.pauses.add(self.pauses.switch(switches))
        if twist.any():  # last: another iteration would stop the base again
            self.pauses.add(self.pauses.throw(lambda: self._base, twist))

    def step(
        self,
        effort: Array,
        count: int,
        placed: tuple[Array, Array] | None = None,
        wrench: Array | None = None,
    ) -> Answer:
        """Take physics steps under held efforts, from coordinates and rates that are set perhaps.

        A wrench (6,) in the world acts on the base throughout.

        Returns:
            coordinates and rates (n,), pose of the base (7,), its twist in the world (6,), which
            are empty where they are not read.
        """
        self._effort, self._placed, self._last = effort.tolist(), placed, self.steps + count
        self._wrench = ()
        if wrench is not None:
            vector = load("gz.math7").Vector3d
            self._wrench = vector(*wrench[:3].tolist()), vector(*wrench[3:].tolist())
        self.pauses.run(count)
        if self._error is not None:
            raise AccordError(f"gz: {self._error}")
        if self.steps != self._last:
            raise AccordError(f"gz: {self.steps} steps were taken, not {self._last}")
        return self._found

    def _before(self, info: Any, ecm: Any) -> None:
        """Write efforts, and what is set, before a step; find the robot before the first.

        Gazebo clears the efforts behind each step, so all are written before the next one.
        """
        try:
            if self._base is None:
                self._find(ecm)
            if info.paused:
                self.pauses.iterate(ecm)
                return
            self.pauses.wait()
            if self._placed is not None:
                self._set(ecm, self._placed)
                self._placed = None
            if self._wrench:
                self._base.add_world_wrench(ecm, *self._wrench)
            for joint, effort in zip(self._joints, self._effort, strict=False):
                joint.set_force(ecm, [effort])
        except Exception as error:  # noqa: BLE001 - nothing may pass through the server's C++
            self._error = error
            self.pauses.go_on()

    def _set(self, ecm: Any, placed: tuple[Array, Array]) -> None:
        for joint, q, qd in zip(self._joints, *placed, strict=True):
            joint.reset_position(ecm, [float(q)])
            joint.reset_velocity(ecm, [float(qd)])

    def _put(self, placed: tuple[Array, Array]) -> Work:
        ecm = yield
        self._set(ecm, placed)
        yield

    def _find(self, ecm: Any) -> None:
        sim = self._sim
        model = sim.World(sim.world_entity(ecm)).model_by_name(ecm, self._robot)
        if model == sim.K_NULL_ENTITY:
            raise AccordError(f"there is no {self._robot} in {self._world}")
        body = sim.Model(model)
        self._joints = [sim.Joint(body.joint_by_name(ecm, name)) for name in self._wanted]
        self._base = sim.Link(body.link_by_name(ecm, "base_link"))
        # Gazebo leaves the rates of a link as they were where it moves by less than 1e-6 m in a
        # step, but not those of what the link carries.
        carried = [*self._base.visuals(ecm), *self._base.collisions(ecm), self._base.entity()]
        self._probe, self._arm = min(
            (self._away(ecm, sim.Link(each)) for each in carried),
            key=lambda at: float(at[1] @ at[1]),
        )
        if self._based:
            self._probe.enable_velocity_checks(ecm, True)
        for joint in self._joints:
            joint.enable_position_check(ecm, True)
            joint.enable_velocity_check(ecm, True)

    def _away(self, ecm: Any, entity: Any) -> tuple[Any, Array]:
        """Return a part of the base, and where it is in the axes of that (3,) [m]."""
        place = (self._base.world_pose(ecm).inverse() * entity.world_pose(ecm)).pos()
        return entity, np.array([place.x(), place.y(), place.z()])

    def _after(self, info: Any, ecm: Any) -> None:
        """Read the state after the last step that was asked for."""
        if info.paused:
            return
        try:
            self.steps += 1
            if self.steps < self._last:
                return
            q = [joint.position(ecm)[0] for joint in self._joints]
            qd = [joint.velocity(ecm)[0] for joint in self._joints]
            self._found = q, qd, *(self._read_base(ecm) if self._based else ([], []))
        except IndexError:
            self._error = AccordError("its physics engine has not made all joints of the robot")
        except Exception as error:  # noqa: BLE001 - as above
            self._error = error

    def _read_base(self, ecm: Any) -> tuple[list[float], list[float]]:
        """Return pose (7,) and twist (6,) of the base in the world; 0 for rates that it has not."""
        place, probe, twist = self._base.world_pose(ecm), self._probe, np.zeros(6)
        p, turn = place.pos(), place.rot()
        rates = probe.world_linear_velocity(ecm), probe.world_angular_velocity(ecm)
        for k, rate in enumerate(rates):
            if rate is not None:
                twist[3 * k : 3 * k + 3] = rate.x(), rate.y(), rate.z()
        pose = [p.x(), p.y(), p.z(), turn.x(), turn.y(), turn.z(), turn.w()]
        if self._arm.any():
            twist[:3] -= np.cross(twist[3:], quaternion_matrix(np.array(pose[3:])) @ self._arm)
        return pose, twist.tolist()
