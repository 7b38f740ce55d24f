"""Access to Gazebo: the world's name and physics step, its version, its clock.

SLOW and GZ_TIMEOUT may be tuned: below SLOW a pause of the world is waited for, as Gazebo leaves
1e-6 out of a pose. Once Gazebo can make a start that it cannot now, take its case out of
`refuse_start`. PARTITION and RESOURCES are variables of Gazebo. How twists are made from poses is
held by test_gz_adapter, by bodies that moved so.
"""

from __future__ import annotations

import dataclasses
import math
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen

import numpy as np
from roboaccord.contract import AccordError, Array, Command, RobotState, count_steps, did_you_mean
from roboaccord.description import Tree, share
from roboaccord.gazebo import LEVEL, base_in_gazebo, expand_for_gazebo, physics_of, world_for_run
from roboaccord.numerics import (
    quaternion_matrix,
    quaternion_product,
    quaternion_yaw,
    turn_quaternion,
)
from roboaccord.scenario import Setup, make_controller

SLOW = 1e-5  # m, or of an entry of a quaternion, in a step; Gazebo leaves out 1e-6
PARTITION = "GZ_PARTITION"  # environment variable by which servers of a machine stay apart
RESOURCES = "GZ_SIM_RESOURCE_PATH"  # environment variable: where included models are
GZ_TIMEOUT = 30.0  # s of wall time that the command line tool may take


@dataclass(frozen=True)
class World:
    """Hold a world's file, its name, its physics step [s], and folders of models it includes."""

    path: Path
    name: str
    physics_step: float
    models: tuple[Path, ...] = ()

    @classmethod
    def find(cls, name: str) -> World:
        """Read a world that ships, by name, or any file, by a path that ends in .sdf.

        Raises:
            AccordError: if there is none, or it has no name and step.
        """
        folder = share("roboaccord_ros") / "worlds"
        path = Path(name) if name.endswith(".sdf") else folder / f"{name}.sdf"
        if not path.is_file():
            known = [p.stem for p in folder.glob("*.sdf")]
            raise AccordError(f"no world {name}{did_you_mean(name, known)}")
        # A terrain of its own comes before the one that ships, which has the same name.
        models = (path.resolve().parents[1] / "models", share("roboaccord_ros") / "models")
        return cls(path, *physics_of(path), tuple(dict.fromkeys(models)))

    @classmethod
    def of(cls, setup: Setup, name: str = "", *, lockstep: bool = True) -> World:
        """Write the world of a run: the one that is named, or else the scenario's or terrain's.

        Args:
            setup: robot and scenario.
            name: of a world, as `find` takes it.
            lockstep: whether it waits for its commands; then it has no pace of its own, and else
                that of real time, lest it outruns what commands it.

        Raises:
            AccordError: as `find`; or if the world cannot be what the scenario asks for.
        """
        made = None if name else setup.robot.world(setup)
        source = cls.find(str(made) if made else name or setup.scenario.world)
        path = world_for_run(source.path, setup, factor=0.0 if lockstep else 1.0)
        return cls(path, *physics_of(path), source.models)

    def check_period(self, control_period: float) -> None:
        """Refuse a control period [s] that is not a whole multiple of the world's step.

        Raises:
            AccordError: naming both.
        """
        what = f"control_period over the step of world {self.name}"
        count_steps(control_period, self.physics_step, what)


def refuse_start(setup: Setup) -> None:
    """Refuse a start that Gazebo cannot make, and a base that is driven by a twist.

    It cannot turn a ball alone, for a model is put in place as a whole; a base has
    rates of its own only where it is free; and a kinematic robot has no forces to move it.

    Raises:
        AccordError: naming the key.
    """
    given, name = setup.scenario.initial, setup.scenario.name
    if any(setup.initial.twist) and base_in_gazebo(setup.scenario) != "free":
        raise AccordError(
            f"scenario {name} has initial.twist; in Gazebo a base that is held cannot start so"
        )
    turned = any((given.roll, given.pitch, given.yaw))
    if turned and Tree.parse(expand_for_gazebo(setup)).frame:
        raise AccordError(
            f"scenario {name} turns the ball at the start; Gazebo would turn what "
            "carries it, too: leave out initial.roll, pitch and yaw"
        )
    if first_command(setup).twist is not None:
        raise AccordError(
            f"scenario {name} drives its base by a twist, and Gazebo has forces: run the reference"
        )


def first_command(setup: Setup) -> Command:
    """Return what the controller of a scenario commands at its start."""
    controller = make_controller(setup)
    controller.reset(setup.scenario.seed)
    return controller.update(setup.initial, None)


def gazebo_version() -> str:
    """Return the version of Gazebo Sim, or "unknown" where its command line tool is missing."""
    command = ["gz", "sim", "--versions"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=GZ_TIMEOUT, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return (done.stdout.split() or ["unknown"])[0]


def set_running(world: World) -> Popen[str]:
    """Let a paused world run, without waiting for the answer.

    Raises:
        AccordError: if the command line tool `gz` is missing.
    """
    command = ["gz", "service", "-s", f"/world/{world.name}/control"]
    command += ["--reqtype", "gz.msgs.WorldControl", "--reptype", "gz.msgs.Boolean"]
    command += ["--timeout", f"{1000 * GZ_TIMEOUT:.0f}", "--req", "pause: false"]
    try:
        return Popen(command, stdout=PIPE, stderr=STDOUT, text=True)
    except OSError:
        raise AccordError("the command gz is missing: install Gazebo Sim (ros_gz)") from None


def body_twist(before: Sequence[float], after: Sequence[float], step: float) -> Array:
    """Return the twist of a body in its own axes (6,) from its poses one physics step apart.

    DART's free joint moves by p' = p + R v h, R' = R exp(w h), with the new v and w in body axes,
    so this is the engine's own velocity and no estimate. Gazebo's odometry has the mean of ten.

    Args:
        before, after: position and orientation x y z w (7,), best as plain floats: a run in
            lockstep waits for this at every step.
        step: h [s].
    """
    x, y, z, qx, qy, qz, qw = before
    ax, ay, az, bx, by, bz, bw = after
    turn = (
        qw * bx - qx * bw - qy * bz + qz * by,
        qw * by + qx * bz - qy * bw - qz * bx,
        qw * bz - qx * by + qy * bx - qz * bw,
    )
    scalar = qw * bw + qx * bx + qy * by + qz * bz
    size = math.hypot(*turn)
    angle = 2.0 * math.atan2(size, abs(scalar)) * math.copysign(1.0, scalar)
    scale = angle / size if size > 0 else 0.0
    dx, dy, dz = ax - x, ay - y, az - z
    # R' d = d + 2 u x (u x d) - 2 w (u x d), where u is the vector of the quaternion.
    cx, cy, cz = qy * dz - qz * dy, qz * dx - qx * dz, qx * dy - qy * dx
    move = (
        dx + 2.0 * (qy * cz - qz * cy - qw * cx),
        dy + 2.0 * (qz * cx - qx * cz - qw * cy),
        dz + 2.0 * (qx * cy - qy * cx - qw * cz),
    )
    return np.array([*move, *(scale * part for part in turn)]) / step


def moved(state: RobotState, step: float) -> RobotState:
    """Return a state whose base has gone on with its twist for a time [s]."""
    turn = quaternion_matrix(state.orientation)
    after = quaternion_product(state.orientation, turn_quaternion(state.twist[3:] * step))
    place = state.position + turn @ state.twist[:3] * step
    return dataclasses.replace(
        state, time=state.time + step, position=place, orientation=after / np.linalg.norm(after)
    )


def _pose(state: RobotState) -> list[float]:
    return [*state.position.tolist(), *state.orientation.tolist()]


class PosedBase:
    """Add the twist of the base to states, from its poses, step by step.

    Gazebo publishes a pose when it has changed by 1e-6 m or an entry of the quaternion; while the
    world is paused it compares with another pose. So what it publishes of a slow base depends
    on whether the world has been paused since, which a busy server can skip.

    Args:
        initial: where it is put.
        step: physics step of the world [s].
        fixed: whether it stays there.
    """

    def __init__(self, initial: RobotState, step: float, *, fixed: bool) -> None:
        self._step, self._time, self._fixed = step, 0.0, fixed
        self._pose = _pose(initial)
        self.slow = not fixed  # whether a pause must be waited for

    def complete(self, state: RobotState) -> RobotState:
        """Return a state of Gazebo with the twist (6,) by which the base came to it."""
        pose = _pose(state)
        twist = body_twist(self._pose, pose, max(state.time - self._time, self._step))
        if state.time > 1.5 * self._step:  # Gazebo publishes nothing of its first step
            moved_by = max(abs(a - b) for a, b in zip(pose, self._pose))
            self.slow = moved_by < SLOW and not self._fixed
            self._pose, self._time = pose, state.time
        return dataclasses.replace(state, twist=twist)


class LevelBase:
    """Take pose and twist of the base from the joints `LEVEL`, whose angles and rates are exact.

    Gazebo publishes a pose when it has changed by 1e-6 m or 2e-6 rad: of slow motion, steps late.

    Args:
        initial: where it is put.
    """

    slow = False  # as of `PosedBase`

    def __init__(self, initial: RobotState) -> None:
        self._start, self._orientation = initial.position, initial.orientation
        self._turn = quaternion_matrix(initial.orientation)
        self._plain = initial.position.tolist(), initial.orientation.tolist(), self._turn.tolist()

    def complete(self, state: RobotState) -> RobotState:
        """Return a state of Gazebo, whose last joints are `LEVEL`, with its base and without."""
        n = len(LEVEL)
        q, qd, effort = (each[:-n].copy() for each in (state.q, state.qd, state.effort))
        base = self.base(*state.q[-n:], *state.qd[-n:])
        return RobotState(state.time, q, qd, effort, *base)

    def base(self, *joints: float) -> tuple[Array, Array, Array]:
        """Return position, orientation and twist of the base by angles and rates of `LEVEL` (8,).

        Plain floats are worked on, in a third of the time that arrays so small take.
        """
        x, y, z, yaw, vx, vy, vz, rate = joints
        c, s = math.cos(yaw), math.sin(yaw)
        turned = (0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw))
        start, orientation, turn = self._plain
        place = [a + (u * x + v * y + w * z) for a, (u, v, w) in zip(start, turn)]
        twist = np.array([c * vx + s * vy, c * vy - s * vx, vz, 0.0, 0.0, rate])
        return np.array(place), quaternion_product(orientation, turned), twist

    def coordinates(self, state: RobotState) -> tuple[Array, Array]:
        """Return where the joints `LEVEL` are (4,) in a state, and how fast they move (4,)."""
        a, b, up = state.twist[:3].tolist()
        yaw = quaternion_yaw(state.orientation) - quaternion_yaw(self._orientation)
        yaw = math.remainder(yaw, 2.0 * math.pi)
        c, s = math.cos(yaw), math.sin(yaw)
        place = self._turn.T @ (state.position - self._start)
        rates = c * a - s * b, s * a + c * b, up, state.twist[5]
        return np.array([*place, yaw]), np.array(rates)
