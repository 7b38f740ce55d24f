"""Setups that the MonkeyBot's tests share."""

import sys
from pathlib import Path

import pytest
from roboaccord import Setup, load_scenario

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def setup_with():
    """Return a function that makes the setup of `swing` with changes."""

    def make(*changes):
        return Setup.of(load_scenario("monkeybot", "monkeybot", "swing", changes))

    return make
