"""Settings of MuJoCo Warp in the `engine_options` of a scenario: MuJoCo's, and sizes of arrays."""

from __future__ import annotations

from dataclasses import dataclass

from roboaccord.contract import AccordError, check_known
from roboaccord.engines import MujocoSettings

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
