"""MuJoCo behind the Simulator interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.engines.mujoco.settings import MujocoSettings
from roboaccord.engines.spec import EngineSpec

if TYPE_CHECKING:
    from roboaccord.engines.mujoco.reader import MujocoReading
    from roboaccord.engines.mujoco.simulator import MujocoSimulator


def _version() -> str:
    import mujoco

    return str(mujoco.__version__)


def _simulator() -> type[MujocoSimulator]:
    from roboaccord.engines.mujoco.simulator import MujocoSimulator

    return MujocoSimulator


def _reader() -> type[MujocoReading]:
    from roboaccord.engines.mujoco.reader import MujocoReading

    return MujocoReading


SPEC = EngineSpec(
    name="mujoco",
    package="mujoco",
    version=_version,
    simulator=_simulator,
    reader=_reader,
    settings=MujocoSettings,
    lacks={"terrain_mesh": "MuJoCo takes terrain as a height field"},
    default=True,
)
