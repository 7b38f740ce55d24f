"""The engine Newton: a simulator for robots without contact, by Featherstone's method or XPBD.

SPEC describes the engine to the core, which finds it by the entry point `roboaccord.engines`.
`lacks` has what this package cannot do, with the reason that users read. Newton's third solver is
MuJoCo Warp, which is an engine of its own here. Newton is imported only when it is needed.

Modules: articulation.py (Newton's model of a robot, and its state), simulator.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from roboaccord.contract import AccordError, check_known
from roboaccord.engines import EngineSpec, Scheme, imported, read_settings

if TYPE_CHECKING:
    from roboaccord.engines import EngineModel

SOLVERS = ("featherstone", "xpbd")


@dataclass(frozen=True)
class NewtonSettings:
    """Solver of Newton, and what it needs.

    Args:
        solver: `featherstone`, in coordinates of the joints; or `xpbd`, in which joints are
            constraints between bodies.
        iterations: of XPBD in each physics step.
        stop_stiffness, stop_damping: of joint stops, which are springs [N m/rad or N/m] with
            dampers [N m s/rad or N s/m]. Newton's own are 1e4 and 10, which 40 N push by 4 mm.

    Raises:
        AccordError: for a value that Newton does not take.
    """

    solver: str = "featherstone"
    iterations: int = 2
    stop_stiffness: float = 1e5
    stop_damping: float = 300.0

    def __post_init__(self) -> None:
        """Check the values."""
        check_known("unknown engine_options.newton.solver ", str(self.solver), SOLVERS)
        if self.iterations < 1:
            raise AccordError("engine_options.newton.iterations must be 1 at least")
        if min(self.stop_stiffness, self.stop_damping) < 0.0:
            raise AccordError("engine_options.newton: stops have no negative stiffness or damping")


def _version() -> str:
    """Return the version; importing the library shows whether it works on this machine."""
    import newton

    return version(newton.__name__)


def _scheme(model: EngineModel) -> Scheme:
    """Return the integration scheme of the solver for a model.

    Raises:
        AccordError: where none is known.
    """
    if read_settings(model.options, "newton", NewtonSettings).solver == "xpbd":
        raise AccordError("XPBD solves joints as constraints, one after the other")
    if model.base == "free":
        raise AccordError("Newton steps the centre of mass of a free base, no twin does")
    return Scheme("semi-implicit Euler")


SPEC = EngineSpec(
    name="newton",
    package="newton",
    version=_version,
    simulator=imported("roboaccord_newton.simulator:NewtonSimulator"),
    settings=NewtonSettings,
    lacks={
        "contact": "no contact: its shapes and materials are not made yet; use mujoco or dart",
        "bearing": "no ball in a bearing",
        "soft_stops": "its stops have a stiffness of their own: engine_options.newton",
    },
    scheme=_scheme,
    expert={"iterations": 32},
    precision="float32",
    also=("featherstone", "xpbd", "isaac"),
)
