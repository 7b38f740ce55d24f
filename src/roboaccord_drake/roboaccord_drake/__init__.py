"""The engine Drake: a simulator for robots without contact, and readers of URDF and SDF.

SPEC describes the engine to the core, which finds it by the entry point `roboaccord.engines`.
`lacks` has what Drake cannot do, with the reason that users read; an entry is removed when the
simulator can do it and the conformance suite passes. pydrake is imported only when it is needed.

Modules: settings.py (options), model.py (Drake's plant of a robot), simulator.py; load.py,
convert.py (SDF to URDF) and reader.py (what Drake makes of a file, for `accord parity`).
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from roboaccord.engines import EngineSpec, Scheme, imported, read_settings

from roboaccord_drake.settings import DrakeSettings

if TYPE_CHECKING:
    from roboaccord.engines import EngineModel


def _version() -> str:
    """Return Drake's version; importing pydrake shows whether it works on this machine."""
    import pydrake  # noqa: F401

    return version("drake")


def _scheme(model: EngineModel) -> Scheme:
    """Return the integration scheme that the engine uses for a model."""
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
