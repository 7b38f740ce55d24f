"""MuJoCo behind the Simulator interface: its `EngineSpec`.

Modules: settings (of the user), model (loading of a description), contact, simulator (the physics
step); convert, mjcf and missing (MuJoCo's own file format MJCF), and reader (for `accord parity`).

`lacks`, `formats`, `expert` and `_scheme` are facts about MuJoCo (test_expert, test_scheme,
test_mujoco). A new integrator needs an entry in settings.py and a scheme here. Do not import mujoco
in this file, because every command reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.engines.mujoco.settings import MujocoSettings, mujoco_scheme
from roboaccord.engines.spec import EngineSpec, Scheme, imported, read_settings

if TYPE_CHECKING:
    from roboaccord.engines.model import EngineModel


def _scheme(model: EngineModel) -> Scheme:
    """Return MuJoCo's integration method for a model, which depends on the user's settings."""
    return mujoco_scheme(model, read_settings(model.options, "mujoco", MujocoSettings))


# The settings of `expert` are those of docs/engines.md, Expert settings.
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
    bodies=True,
    expert={"cone": "elliptic", "impratio": 10.0},
    scheme=_scheme,
)
