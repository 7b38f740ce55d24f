"""`accord snake adapt`: adapting beside keeping the gait."""

import json

import pytest
from roboaccord import AccordError
from roboaccord.cli.main import app
from typer.testing import CliRunner

pytestmark = pytest.mark.thorough


@pytest.mark.slow
def test_command_sets_adapting_beside_keeping_the_gait():
    """`accord snake adapt`: the times in their order, and the gain."""
    result = CliRunner().invoke(app, ["snake", "adapt", "--duration", "8", "--json"])
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    times = [finding["time"] for finding in data["findings"]]
    assert data["head_crosses"] < times[0] < data["tail_crosses"] < times[1]
    assert data["adaptive"]["speed"] > 1.5 * data["kept"]["speed"]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("controller.name=steering", "about the controller adaptive"),
        ("friction.beyond=null", "needs a second ground"),
    ],
)
def test_what_makes_no_sense_is_said_before_the_run(key, message):
    """One line each."""
    result = CliRunner().invoke(app, ["snake", "adapt", "--set", key])
    assert isinstance(result.exception, AccordError)
    assert message in str(result.exception)
