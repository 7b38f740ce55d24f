"""MuJoCo behind the Simulator interface: its `EngineSpec`.

`lacks`, `formats`, `expert` and `_scheme` are facts of MuJoCo: `expert` is fixed by test_expert,
and `_scheme` by the twin (test_scheme, test_mujoco). Schemes may be added, with a new integrator in
settings.py. Import nothing of mujoco here: every command reads this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from roboaccord.engines.mujoco.settings import MujocoSettings
from roboaccord.engines.spec import EngineSpec, Scheme, imported, read_settings

if TYPE_CHECKING:
    from roboaccord.engines.model import EngineModel


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
    version=imported("mujoco:__version__"),
    simulator=imported("roboaccord.engines.mujoco.simulator:MujocoSimulator"),
    reader=imported("roboaccord.engines.mujoco.reader:MujocoReading"),
    formats={"mujoco": imported("roboaccord.engines.mujoco.convert:convert")},
    settings=MujocoSettings,
    lacks={"terrain_mesh": "MuJoCo takes terrain as a height field"},
    default=True,
    expert={"cone": "elliptic", "impratio": 10.0},
    scheme=_scheme,
)
