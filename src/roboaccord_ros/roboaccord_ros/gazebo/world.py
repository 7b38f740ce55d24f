"""The world of a run in Gazebo: its file, the starts that are impossible in it, and its isolation.

A world is an SDF file: it ships with this package, belongs to the user, or is made for a scenario's
terrain. `World.read` finds a world, and `World.write` writes a copy of it for a run. `refuse_start`
refuses initial states that Gazebo cannot set; remove a case from it once Gazebo can.
`new_partition` separates servers on a machine. PARTITION and RESOURCES are environment variables of
Gazebo.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, SubprocessError, check_output

from roboaccord.contract import AccordError, count_steps, did_you_mean
from roboaccord.description import Tree, share
from roboaccord.gazebo import base_in_gazebo, expand_for_gazebo, physics_of, world_for_run
from roboaccord.scenario import Setup

PARTITION = "GZ_PARTITION"  # environment variable; servers of different partitions do not meet
RESOURCES = "GZ_SIM_RESOURCE_PATH"  # environment variable; folders of included models
# s of wall time: longest run of Gazebo's command line tool, which takes seconds to load, and on a
# busy machine ten times as long.
GZ_TIMEOUT = 30.0


def new_partition() -> str:
    """Return the name of a new partition, for a server or a launch."""
    return f"roboaccord_{uuid.uuid4().hex[:8]}"


@dataclass(frozen=True)
class World:
    """A world: its file, name, physics step [s], folders of included models, and free bodies."""

    path: Path
    name: str
    physics_step: float
    models: tuple[Path, ...] = ()
    bodies: tuple[str, ...] = ()

    @classmethod
    def read(cls, name: str) -> World:
        """Read a world: by its name if it ships with this package, or by a path that ends in .sdf.

        Raises:
            AccordError: if there is none, or it has no name and step.
        """
        folder = share("roboaccord_ros") / "worlds"
        path = Path(name) if name.endswith(".sdf") else folder / f"{name}.sdf"
        if not path.is_file():
            available = [p.stem for p in folder.glob("*.sdf")]
            raise AccordError(f"no world {name}{did_you_mean(name, available)}")
        # The models beside the world come before those that ship, which may have the same names.
        models = (path.resolve().parents[1] / "models", share("roboaccord_ros") / "models")
        # `physics_of` returns the name of the world and its step.
        return cls(path, *physics_of(path), tuple(dict.fromkeys(models)))

    @classmethod
    def write(cls, setup: Setup, name: str = "") -> World:
        """Write the world of a run: the named one, or else the scenario's or its terrain's.

        Args:
            setup: robot and scenario.
            name: of a world, as `read` takes it.

        Raises:
            AccordError: as `read`; or if the world does not fit to the scenario.
        """
        of_terrain = None if name else setup.robot.gazebo.world(setup)
        source = cls.read(str(of_terrain) if of_terrain else name or setup.scenario.world)
        path = world_for_run(source.path, setup)
        bodies = tuple(body.name for body in setup.bodies)
        return cls(path, *physics_of(path), source.models, bodies)

    def check_period(self, control_period: float) -> None:
        """Check that a control period [s] is a whole multiple of the world's step.

        Raises:
            AccordError: that names both.
        """
        quotient = f"control_period over the step of world {self.name}"
        count_steps(control_period, self.physics_step, quotient)


def refuse_start(setup: Setup) -> None:
    """Check that Gazebo can make the start of a setup.

    Gazebo places a model as a whole, so it cannot turn a ball inside a model that carries it; and a
    base has a twist at the start only if it is free. A twist that the controller commands is not
    checked here, for making a controller can take minutes; the simulator refuses it later.

    Raises:
        AccordError: that names the key of the scenario.
    """
    initial, name = setup.scenario.initial, setup.scenario.name
    if any(setup.initial.twist) and base_in_gazebo(setup.scenario) != "free":
        not_free = "in Gazebo a base that is held cannot start so"
        raise AccordError(f"scenario {name} has initial.twist; {not_free}")
    is_turned = any((initial.roll, initial.pitch, initial.yaw))
    # A second tree, whose root is `frame`, is a ball inside a model that carries it.
    if is_turned and Tree.parse(expand_for_gazebo(setup)).frame:
        turns = f"scenario {name} turns the ball at the start; Gazebo would turn what carries it"
        raise AccordError(f"{turns}, too: leave out initial.roll, pitch and yaw")


def gazebo_version() -> str:
    """Return the version of Gazebo Sim, or "unknown" without its command line tool."""
    command = ["gz", "sim", "--versions"]
    try:
        printed = check_output(command, text=True, stderr=DEVNULL, timeout=GZ_TIMEOUT)
    except (OSError, SubprocessError):
        return "unknown"
    return (printed.split() or ["unknown"])[0]
