"""Drake behind the Simulator interface, for models without contact.

SPEC is all that the core knows of Drake, by the entry point `roboaccord.engines`. What it cannot do
is an entry of `lacks`, with the reason that is printed; an entry may be removed when the simulator
can do it and the conformance suite passes. The name SPEC stays. Modules of pydrake are imported
when one of them is asked for.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from roboaccord.engines import EngineSpec, Scheme, imported, read_settings

from roboaccord_drake.settings import DrakeSettings

if TYPE_CHECKING:
    from roboaccord.engines import EngineModel


def _version() -> str:
    import pydrake  # noqa: F401

    return version("drake")


def _scheme(model: EngineModel) -> Scheme:
    discrete = read_settings(model.options, "drake", DrakeSettings).integrator.lower() != "rk4"
    return Scheme("semi-implicit Euler" if discrete else "Runge-Kutta 4", turning="quaternion")


SPEC = EngineSpec(
    name="drake",
    package="drake",
    version=_version,
    simulator=imported("roboaccord_drake.simulator:DrakeSimulator"),
    reader=imported("roboaccord_drake.reader:DrakeReading"),
    formats={"sdf": imported("roboaccord_drake.convert:convert")},
    settings=DrakeSettings,
    lacks={
        "contact": "no contact: its distances between convex hulls are wrong in places, and balls "
        "fall through its meshes; use dart or mujoco",
        "bearing": "no ball in a bearing: its ball joint has roll, pitch and yaw, which are "
        "singular; use dart or mujoco",
        "soft_stops": "its joint stops have no softness to change",
    },
    scheme=_scheme,
)
