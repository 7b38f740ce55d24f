"""The post's gait: its table, and its author's code, read by hand."""

import numpy as np
import pytest
from roboaccord import RobotState
from snake.post import AsCoded, AsDescribed, configuration, segment_of

LIMIT = 0.436332


def at(time, q):
    """Return a state at rest."""
    return RobotState(time, np.asarray(q, float), np.zeros(len(q)), np.zeros(len(q)))


def test_segments_are_those_of_the_post():
    """M1-M5, M6-M10, M11-M15, M16-M21."""
    assert [int((segment_of(21) == s).sum()) for s in range(4)] == [5, 5, 5, 6]


@pytest.mark.parametrize(
    ("number", "row"),
    list(enumerate(
        [
            (0, 0, 0, 2), (0, 0, 2, -1), (0, 2, -1, -2), (2, -1, -2, 1),
            (-1, -2, 1, 2), (-2, 1, 2, -1), (1, 2, -1, -2), (2, -1, -2, 1),
            (-1, -2, 1, 2),
        ]
    ),
))  # fmt: skip
def test_configurations_follow_the_table_and_then_its_second_half(number, row):
    """Configurations 1 to 8, then 5 again."""
    assert configuration(0.15 * number, 0.15) == row
    assert configuration(0.15 * number + 0.149, 0.15) == row


def test_as_described_rests_at_the_angles_of_the_table(setup_with):
    """No effort at +-limit and +-half of it, in configuration 8."""
    gait = AsDescribed(setup_with())
    q = np.repeat([LIMIT, -LIMIT / 2, -LIMIT, LIMIT / 2], [5, 5, 5, 6])
    assert np.abs(gait.update(at(0.15 * 7, q), None).effort).max() < 1e-12
    assert gait.update(at(0.15 * 7, 0 * q), None).effort[0] == 10.0


def test_as_coded_pushes_outwards_where_it_should_shrink_and_never_drives_m21(setup_with):
    """`shrink` gives a joint beyond half of its range the effort that takes it further out."""
    gait = AsCoded(setup_with())
    q = np.full(21, 0.3)
    effort = gait.update(at(0.150, q), None).effort  # state 2: shrink the head, left the second
    assert (effort[:5] == 10).all()
    assert (effort[5:10] == 10).all()
    assert not effort[10:].any()
    late = gait.update(at(0.600, q), None).effort  # looped state: left, shrink, right, shrink
    assert (late[10:15] == -10).all()
    assert late[20] == 0.0
    assert not gait.update(at(0.0, np.full(21, LIMIT)), None).effort.any()
    assert gait.action(600 + 150) == gait.action(600)
    assert gait.action(600 + 151) != gait.action(600)
