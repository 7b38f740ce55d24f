"""MuJoCo behind the Simulator interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from roboaccord.engines.mujoco.settings import MujocoSettings
from roboaccord.engines.spec import EngineSpec, Scheme, read_settings

if TYPE_CHECKING:
    from roboaccord.engines.model import EngineModel
    from roboaccord.engines.mujoco.reader import MujocoReading
    from roboaccord.engines.mujoco.simulator import MujocoSimulator
    from roboaccord.engines.spec import Convert


def _version() -> str:
    import mujoco

    return str(mujoco.__version__)


def _simulator() -> type[MujocoSimulator]:
    from roboaccord.engines.mujoco.simulator import MujocoSimulator

    return MujocoSimulator


def _reader() -> type[MujocoReading]:
    from roboaccord.engines.mujoco.reader import MujocoReading

    return MujocoReading


def _mjcf() -> Convert:
    from roboaccord.engines.mujoco.convert import convert

    return convert


def _scheme(model: EngineModel) -> Scheme:
    settings = read_settings(model.options, "mujoco", MujocoSettings)
    name = settings.integrator_of(contact=model.contact is not None)
    kind: Final = "Runge-Kutta 4" if name == "rk4" else "semi-implicit Euler"
    # A body that is free and alone has the derivative of its gyroscopic forces by these, too.
    alone = not model.joints and name in ("implicitfast", "discrete")
    return Scheme(kind, implicit=alone or name == "implicit", angular="own")


SPEC = EngineSpec(
    name="mujoco",
    package="mujoco",
    version=_version,
    simulator=_simulator,
    reader=_reader,
    formats={"mujoco": _mjcf},
    settings=MujocoSettings,
    lacks={"terrain_mesh": "MuJoCo takes terrain as a height field"},
    default=True,
    expert={"cone": "elliptic", "impratio": 10.0},
    scheme=_scheme,
)
