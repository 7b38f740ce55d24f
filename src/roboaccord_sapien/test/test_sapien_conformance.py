"""PhysX keeps the rules of all engines (roboaccord.testing.engines)."""

import pytest
from roboaccord.testing import EngineConformance

pytestmark = pytest.mark.slow


class TestSapien(EngineConformance):
    """Both solvers of PhysX, in single precision."""

    engine = "sapien"
    settings = ({"tgs": False},)
