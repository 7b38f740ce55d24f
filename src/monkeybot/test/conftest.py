"""Setups that the MonkeyBot's tests share."""

import pytest
from monkeybots import accord_here, complaint, figures
from roboaccord import Setup, load_scenario

__all__ = ["accord_here", "complaint", "figures"]


@pytest.fixture
def setup_with():
    """Return a function that makes the setup of `swing` with changes."""

    def make(*changes):
        return Setup.of(load_scenario("monkeybot", "monkeybot", "swing", changes))

    return make
