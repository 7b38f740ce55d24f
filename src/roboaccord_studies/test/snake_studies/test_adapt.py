"""`accord snake adapt`: adapting beside keeping the gait."""

import pytest

pytestmark = pytest.mark.thorough


@pytest.mark.slow
def test_command_sets_adapting_beside_keeping_the_gait(figures):
    """`accord snake adapt`: the times in their order, and the gain."""
    data = figures("adapt --duration 8")
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
def test_what_makes_no_sense_is_said_before_the_run(key, message, complaint):
    """One line each."""
    assert message in complaint(f"adapt --set {key}")
