"""Setups that the MonkeyBot's tests share."""

import pytest
from roboaccord import Setup, load_scenario
from robot_commands import accord_here, commands_of

figures, complaint = commands_of("monkeybot")

__all__ = ["accord_here", "complaint", "figures"]


@pytest.fixture
def setup_with():
    """Return a function that makes the setup of `swing` with changes."""

    def make(*changes):
        return Setup.of(load_scenario("monkeybot", "monkeybot", "swing", changes))

    return make
