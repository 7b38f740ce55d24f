"""DART behind the Simulator interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.engines.dart.settings import DartSettings
from roboaccord.engines.spec import EngineSpec, Scheme

if TYPE_CHECKING:
    from roboaccord.engines.dart.reader import DartReading
    from roboaccord.engines.dart.simulator import DartSimulator


def _version() -> str:
    import dartpy

    return str(dartpy.__version__)


def _simulator() -> type[DartSimulator]:
    from roboaccord.engines.dart.simulator import DartSimulator

    return DartSimulator


def _reader() -> type[DartReading]:
    from roboaccord.engines.dart.reader import DartReading

    return DartReading


SPEC = EngineSpec(
    name="dart",
    package="dartpy",
    version=_version,
    simulator=_simulator,
    reader=_reader,
    settings=DartSettings,
    lacks={
        "armature_impacts": "no reflected inertia where contacts or stops can act: "
        "its impulses do not know it; use the reference or mujoco"
    },
    default=True,
    expert={"friction_solver": "nsgs", "friction_iterations": 1000},
    scheme=lambda model: Scheme("semi-implicit Euler", turning="cut off"),
)
