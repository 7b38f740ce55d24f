"""Setups and the command line, for the tests of the snake's studies."""

from functools import partial

import pytest
from robot_commands import commands_of
from running import setup_of

figures, complaint = commands_of("snake")


@pytest.fixture
def setup_with():
    """Return a function that makes the serpenoid's setup with changes."""
    return partial(setup_of, "snake", "serpenoid")
