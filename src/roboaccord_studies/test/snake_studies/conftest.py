"""Setups that the tests of the snake's studies share."""

import pytest
from roboaccord import Setup, load_scenario


@pytest.fixture
def setup_with():
    """Return a function that makes the serpenoid's setup with changes."""

    def make(*changes):
        return Setup.of(load_scenario("snake", "snake", "serpenoid", changes))

    return make
