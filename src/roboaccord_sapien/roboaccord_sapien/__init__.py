"""The engine PhysX 5, by SAPIEN: a simulator for robots without contact, in single precision.

SPEC describes the engine to the core, which finds it by the entry point `roboaccord.engines`.
`lacks` has what this package cannot do, with the reason that users read. SAPIEN is imported only
when it is needed.

Modules: articulation.py (PhysX's model of a robot, and its state), model.py (accelerations and
properties) and simulator.py.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from roboaccord.contract import AccordError
from roboaccord.engines import EngineSpec, Scheme, imported

from roboaccord_sapien.settings import SapienSettings

if TYPE_CHECKING:
    from roboaccord.engines import EngineModel


def _version() -> str:
    """Return the version; importing the library shows whether it works on this machine."""
    from roboaccord_sapien import articulation  # noqa: F401

    return version("sapien")


def _scheme(model: EngineModel) -> Scheme:
    """Return the integration scheme that PhysX uses for articulations.

    Raises:
        AccordError: for a free base, whose scheme is not known.
    """
    if model.base == "free":
        raise AccordError("PhysX corrects the momentum of a free root by a rule of its own")
    return Scheme("semi-implicit Euler")


SPEC = EngineSpec(
    name="sapien",
    package="sapien",
    version=_version,
    simulator=imported("roboaccord_sapien.simulator:SapienSimulator"),
    settings=SapienSettings,
    lacks={
        "contact": "no contact: its shapes and materials are not made yet; use mujoco or dart",
        "bearing": "no ball in a bearing: PhysX's articulations have no ball joint in SAPIEN",
        "soft_stops": "its joint stops have no softness to change",
    },
    scheme=_scheme,
    expert={"position_iterations": 64},
    precision="float32",
    also=("physx", "maniskill"),
)
