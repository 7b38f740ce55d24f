"""Newton's solver Featherstone keeps the rules of all engines (roboaccord.testing.engines)."""

import pytest
from roboaccord.testing import EngineConformance

pytestmark = pytest.mark.slow


class TestNewton(EngineConformance):
    """In single precision. XPBD keeps few of them: docs/single_precision.md."""

    engine = "newton"
