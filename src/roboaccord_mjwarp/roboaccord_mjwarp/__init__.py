"""The engine MuJoCo Warp: MuJoCo's model of a robot, stepped by Warp's kernels in single precision.

SPEC describes the engine to the core, which finds it by the entry point `roboaccord.engines`. The
robot is loaded by MuJoCo's adapter (roboaccord/engines/mujoco), which simulator.py inherits; here
are settings and limits. Neither MuJoCo nor Warp is imported until it is needed.

`lacks` and `scheme` are facts about MuJoCo Warp 4.0.0, which the conformance suite tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from roboaccord.contract import AccordError, check_known
from roboaccord.engines import (
    EngineSpec,
    MujocoSettings,
    Scheme,
    imported,
    mujoco_scheme,
    read_settings,
)

if TYPE_CHECKING:
    from roboaccord.engines import EngineModel

SOLVERS = ("newton", "cg")  # of constraints


@dataclass(frozen=True)
class WarpSettings(MujocoSettings):
    """Settings of MuJoCo, and sizes that Warp needs in advance.

    Args:
        impratio: as in MuJoCo, but 1: at 10 with the elliptic cone and the solver newton, 12 of 64
            snakes on the ground became NaN within 0.2 s.
        solver: of constraints: `newton`, or `cg`.
        njmax: largest number of rows of constraints in a step.
        nconmax: largest number of contacts in a step.

    Raises:
        AccordError: for a value that MuJoCo Warp does not take.
    """

    impratio: float = 1.0
    solver: str = "newton"
    njmax: int = 512
    nconmax: int = 128

    def __post_init__(self) -> None:
        """Check the values of Warp's own settings, then MuJoCo's."""
        super().__post_init__()
        check_known("unknown engine_options.mjwarp.solver ", str(self.solver), SOLVERS)
        # With no rows at all the integrator euler leaves a falling body where it is.
        if min(self.njmax, self.nconmax) < 1:
            raise AccordError("engine_options.mjwarp.njmax and nconmax must be 1 at least")


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
