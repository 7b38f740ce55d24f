"""Drake keeps what every engine keeps."""

from __future__ import annotations

import pytest
from roboaccord.testing import EngineConformance

pytestmark = pytest.mark.thorough


class TestDrake(EngineConformance):
    """By both of its integrators."""

    engine = "drake"
    settings = ({"integrator": "rk4"},)
