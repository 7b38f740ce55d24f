"""DART and MuJoCo keep what every engine keeps."""

from __future__ import annotations

import pytest
from roboaccord.testing import EngineConformance

pytestmark = pytest.mark.thorough


class TestDart(EngineConformance):
    """By its one integrator."""

    engine = "dart"


class TestMujoco(EngineConformance):
    """By its five integrators."""

    engine = "mujoco"
    settings = tuple(
        {"integrator": name} for name in ("euler", "implicitfast", "implicit", "discrete")
    )
