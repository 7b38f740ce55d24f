"""MuJoCo Warp keeps the rules of all engines (roboaccord.testing.engines)."""

import pytest
from roboaccord.testing import EngineConformance

pytestmark = pytest.mark.slow


class TestMujocoWarp(EngineConformance):
    """Each integrator of MuJoCo Warp, in single precision."""

    engine = "mjwarp"
    settings = ({"integrator": "euler"}, {"integrator": "implicitfast"})
