"""The engine Newton: a simulator for robots without contact, by Featherstone's method or XPBD.

SPEC describes the engine to the core, which finds it by the entry point `roboaccord.engines`.
`lacks` has what this package cannot do, with the reason that users read. Newton's third solver is
MuJoCo Warp, which is an engine of its own here. Newton is imported only when it is needed.

Modules: articulation.py (Newton's model of a robot, and its state), simulator.py.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from roboaccord.contract import AccordError
from roboaccord.engines import EngineSpec, Scheme, imported, read_settings

from roboaccord_newton.settings import NewtonSettings

if TYPE_CHECKING:
    from roboaccord.engines import EngineModel


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
    # A free base is stepped at its centre of mass: jcalc_integrate, featherstone/kernels.py.
    from roboaccord.description import Tree  # here, for it loads numpy

    base = Tree.parse(model.urdf, root=model.root).links[0]
    return Scheme("semi-implicit Euler", turning="quaternion", point=tuple(base.centre.tolist()))


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
