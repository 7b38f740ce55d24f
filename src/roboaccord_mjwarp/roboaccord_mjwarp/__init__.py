"""The engine MuJoCo Warp: MuJoCo's model of a robot, stepped by Warp's kernels in single precision.

SPEC describes the engine to the core, which finds it by the entry point `roboaccord.engines`. The
robot is loaded by MuJoCo's adapter (roboaccord/engines/mujoco), which simulator.py inherits; here
are settings and limits. Neither MuJoCo nor Warp is imported until it is needed.

`lacks` and `scheme` are facts about MuJoCo Warp 4.0.0, which the conformance suite tests.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from roboaccord.engines import EngineSpec, Scheme, imported, mujoco_scheme, read_settings

from roboaccord_mjwarp.settings import WarpSettings

if TYPE_CHECKING:
    from roboaccord.engines import EngineModel


def _version() -> str:
    """Return the version; importing the library shows whether it works on this machine."""
    import mujoco_warp  # noqa: F401

    return version("mujoco-warp")


def _scheme(model: EngineModel) -> Scheme:
    """Return the integration method for a model: that of MuJoCo under the same settings."""
    return mujoco_scheme(model, read_settings(model.options, "mjwarp", WarpSettings))


SPEC = EngineSpec(
    name="mjwarp",
    package="mujoco-warp",
    version=_version,
    simulator=imported("roboaccord_mjwarp.simulator:WarpSimulator"),
    settings=WarpSettings,
    lacks={"terrain_mesh": "MuJoCo takes terrain as a height field"},
    expert={"cone": "elliptic", "impratio": 10.0, "solver": "cg"},
    scheme=_scheme,
    precision="float32",
    also=("mujoco_warp", "warp", "mjx"),
)
