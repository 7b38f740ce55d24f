"""Cases of a parametrised test that only the slow suite runs."""

import pytest


def late(*cases: object) -> list[object]:
    """Mark cases as slow; a tuple is of several arguments."""
    values = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*each, marks=pytest.mark.slow) for each in values]
