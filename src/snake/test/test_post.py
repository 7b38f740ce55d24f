"""The post's gait: its table, and its author's code, read by hand."""

import numpy as np
import pytest
from roboaccord import RobotState
from roboaccord.contract.errors import AccordError
from roboaccord.scenario.controllers import make_controller
from snake.source.post import AsCoded, AsDescribed, configuration, cycle_of, segment_of

LIMIT = 0.436332


def at(time, q):
    """Return a state at rest."""
    return RobotState(time, np.asarray(q, float), np.zeros(len(q)), np.zeros(len(q)))


def test_segments_are_those_of_the_post():
    """M1-M5, M6-M10, M11-M15, M16-M21; a list of one's own leaves joints at the tail out."""
    assert [int((segment_of(21) == s).sum()) for s in range(5)] == [5, 5, 5, 6, 0]
    assert [int((segment_of(21, (3, 4, 5, 6)) == s).sum()) for s in range(5)] == [3, 4, 5, 6, 3]


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
    """Configurations 1 to 8, then 5 again; starting ones may last longer than looped ones."""
    assert configuration(0.15 * number, 0.15) == row
    assert configuration(0.15 * number + 0.149, 0.15) == row
    begin = 0.2 * number if number < 4 else 0.8 + 0.1 * (number - 4)
    assert configuration(begin, 0.1, 0.2) == row
    assert configuration(begin + 0.099, 0.1, 0.2) == row


def test_as_described_rests_at_the_angles_of_the_table(setup_with):
    """No effort at +-limit and +-half of it, in configuration 8, and all of it a stop away."""
    gait = AsDescribed(setup_with())
    q = np.repeat([LIMIT, -LIMIT / 2, -LIMIT, LIMIT / 2], [5, 5, 5, 6])
    assert np.abs(gait.update(at(0.15 * 7, q), None).effort).max() < 1e-12
    assert gait.update(at(0.15 * 7, -q), None).effort[0] == 10.0
    weak = AsDescribed(setup_with(), effort=1)
    assert weak.update(at(0.15 * 7, -q), None).effort[0] == 1.0


def test_the_hold_is_damped_in_spite_of_efforts_held_for_a_millisecond(setup_with):
    """The control period T takes kp T / 2 from the damping, and that must leave some.

    Exactly, for the lightest mode (5e-5 kg m^2) under efforts held over T: both eigenvalues of a
    period must lie inside the unit circle, which they do not with kp 100.
    """

    def growth(kp, kd, inertia=5e-5, period=1e-3):
        force = np.array([period**2 / 2, period]) / inertia
        step = np.array([[1.0, period], [0.0, 1.0]]) - np.outer(force, [kp, kd])
        return np.abs(np.linalg.eigvals(step)).max()

    gait = AsDescribed(setup_with())
    assert growth(gait.kp, gait.kd) < 1.0
    assert growth(100.0, 0.05) >= 1.0 - 1e-9


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


@pytest.mark.parametrize(
    ("part", "shrink", "right", "left"),
    [
        # of the limit; beyond it by a rounding is beyond it
        (-1.0 - 1e-9, -10, 0, 10), (-1.0 + 1e-9, -10, -10, 10), (-0.5 - 1e-9, -10, -10, 10),
        (-0.5 + 1e-9, 0, -10, 10), (0.0, 0, -10, 10), (0.5 - 1e-9, 0, -10, 10),
        (0.5 + 1e-9, 10, -10, 10), (1.0 - 1e-9, 10, -10, 10), (1.0 + 1e-9, 10, -10, 0),
    ],
)  # fmt: skip
def test_as_coded_does_on_either_side_what_the_plugin_does(setup_with, part, shrink, right, left):
    """The fourth starting state shrinks the head and body2, and has body1 right and the tail left.

    `shrink` acts beyond half of the range alone; left and right act up to the stop.
    """
    effort = AsCoded(setup_with()).update(at(0.5, np.full(21, part * LIMIT)), None).effort
    assert effort.tolist() == np.repeat([shrink, right, shrink, left, 0], [5, 5, 5, 5, 1]).tolist()


def test_a_cycle_lasts_600_and_604_ms():
    """Four configurations of 150 ms; in the code the looped ones last 151 updates of 1 ms."""
    assert cycle_of("as_described", {}) == pytest.approx((0.6, 0.6))
    assert cycle_of("as_described", {"hold": 0.2, "start": 0.1}) == pytest.approx((0.4, 0.8))
    assert cycle_of("as_coded", {}) == pytest.approx((0.6, 0.604))


@pytest.mark.parametrize("name", ["as_described", "as_coded"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("segments: [5, 5, 5]", "must be 4 numbers of joints"),
        ("segments: 5", "must be 4 numbers of joints"),
        ("segments: [5, 5, 5, 7]", "segments have 22 joints, and the robot has 21"),
        ("segments: [5, -1, 5, 5]", "body1 has -1 joints"),
        ("segments: [5, 5.5, 5, 5]", "body1 has 5.5 joints"),
        ("effort: 0", "effort is 0, and must be positive"),
    ],
)
def test_a_wrong_parameter_gives_one_line(setup_with, name, change, message):
    """The line names the parameter and what it may be."""
    setup = setup_with(f"controller={{name: {name}, {change}}}")
    with pytest.raises(AccordError, match=message) as caught:
        make_controller(setup)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change", ["start: -0.1", "kp: -1", "kd: -0.01"])
def test_as_described_has_no_negative_times_and_gains(setup_with, change):
    setup = setup_with(f"controller={{name: as_described, {change}}}")
    with pytest.raises(AccordError, match="start, kp and kd must not be negative"):
        make_controller(setup)


def test_the_number_of_joints_is_a_parameter(setup_with):
    """The repository's robot has 20 joints, all driven in both; eight joints give two a segment."""
    for joints in (20, 8):
        setup = setup_with(f"parameters.joints={joints}", "controller={name: as_coded}")
        q = np.full(joints, 0.9 * LIMIT)
        assert (np.abs(make_controller(setup).update(at(0.6, q), None).effort) == 10).all()
