"""The world of a run in Gazebo, what cannot be run there, its version, and level bases.

GZ_TIMEOUT may be tuned. Once Gazebo can make a start that it cannot now, take its case out of
`refuse_start`. PARTITION and RESOURCES are variables of Gazebo. Where the joints of a level base
put it is held by test_gazebo_setups.
"""

from __future__ import annotations

import math
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from roboaccord.contract import AccordError, Array, RobotState, count_steps, did_you_mean
from roboaccord.description import Tree, share
from roboaccord.gazebo import base_in_gazebo, expand_for_gazebo, physics_of, world_for_run
from roboaccord.numerics import quaternion_matrix, quaternion_product, quaternion_yaw
from roboaccord.scenario import Setup

PARTITION = "GZ_PARTITION"  # environment variable by which servers of a machine stay apart
RESOURCES = "GZ_SIM_RESOURCE_PATH"  # environment variable: where included models are
GZ_TIMEOUT = 30.0  # s of wall time that the command line tool may take


def new_partition() -> str:
    """Return a name that keeps a server, or a launch's, apart from others of this machine."""
    return f"roboaccord_{uuid.uuid4().hex[:8]}"


@dataclass(frozen=True)
class World:
    """A world's file, its name, its physics step [s], and folders of models it includes."""

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
    def of(cls, setup: Setup, name: str = "") -> World:
        """Write the world of a run: the one that is named, or else the scenario's or terrain's.

        Args:
            setup: robot and scenario.
            name: of a world, as `find` takes it.

        Raises:
            AccordError: as `find`; or if the world cannot be what the scenario asks for.
        """
        made = None if name else setup.robot.gazebo.world(setup)
        source = cls.find(str(made) if made else name or setup.scenario.world)
        path = world_for_run(source.path, setup)
        return cls(path, *physics_of(path), source.models)

    def check_period(self, control_period: float) -> None:
        """Refuse a control period [s] that is not a whole multiple of the world's step.

        Raises:
            AccordError: naming both.
        """
        what = f"control_period over the step of world {self.name}"
        count_steps(control_period, self.physics_step, what)


def refuse_start(setup: Setup) -> None:
    """Refuse a start that Gazebo cannot make.

    It cannot turn a ball alone, for a model is put in place as a whole; and a base has rates of its
    own only where it is free. Nothing is made of a controller, which can take minutes: a twist that
    one commands is refused by the simulator.

    Raises:
        AccordError: naming the key.
    """
    given, name = setup.scenario.initial, setup.scenario.name
    if any(setup.initial.twist) and base_in_gazebo(setup.scenario) != "free":
        held = "in Gazebo a base that is held cannot start so"
        raise AccordError(f"scenario {name} has initial.twist; {held}")
    if any((given.roll, given.pitch, given.yaw)) and Tree.parse(expand_for_gazebo(setup)).frame:
        turned = f"scenario {name} turns the ball at the start; Gazebo would turn what carries it"
        raise AccordError(f"{turned}, too: leave out initial.roll, pitch and yaw")


def gazebo_version() -> str:
    """Return the version of Gazebo Sim, or "unknown" where its command line tool is missing."""
    command, quiet = ["gz", "sim", "--versions"], subprocess.DEVNULL
    try:
        printed = subprocess.check_output(command, text=True, stderr=quiet, timeout=GZ_TIMEOUT)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return (printed.split() or ["unknown"])[0]


class LevelBase:
    """Take pose and twist of the base from the joints `LEVEL`, whose angles and rates are exact.

    Gazebo publishes a pose when it has changed by 1e-6 m or 2e-6 rad: of slow motion, steps late.

    Args:
        initial: where it is put.
    """

    def __init__(self, initial: RobotState) -> None:
        self._start, self._orientation = initial.position, initial.orientation
        self._turn = quaternion_matrix(initial.orientation)
        self._plain = initial.position.tolist(), initial.orientation.tolist(), self._turn.tolist()

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
