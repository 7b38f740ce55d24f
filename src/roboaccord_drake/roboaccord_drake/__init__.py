"""Drake behind the Simulator interface, for models without contact."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from roboaccord.engines import EngineSpec, Scheme, read_settings

from roboaccord_drake.settings import DrakeSettings

if TYPE_CHECKING:
    from roboaccord.engines import Convert, EngineModel

    from roboaccord_drake.reader import DrakeReading
    from roboaccord_drake.simulator import DrakeSimulator


def _version() -> str:
    import pydrake  # noqa: F401

    return version("drake")


def _simulator() -> type[DrakeSimulator]:
    from roboaccord_drake.simulator import DrakeSimulator

    return DrakeSimulator


def _reader() -> type[DrakeReading]:
    from roboaccord_drake.reader import DrakeReading

    return DrakeReading


def _sdf() -> Convert:
    from roboaccord_drake.convert import convert

    return convert


def _scheme(model: EngineModel) -> Scheme:
    discrete = read_settings(model.options, "drake", DrakeSettings).integrator.lower() != "rk4"
    return Scheme("semi-implicit Euler" if discrete else "Runge-Kutta 4", turning="quaternion")


SPEC = EngineSpec(
    name="drake",
    package="drake",
    version=_version,
    simulator=_simulator,
    reader=_reader,
    formats={"sdf": _sdf},
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
