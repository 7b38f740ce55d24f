"""Controllers: what they ask for, and when."""

import numpy as np
import pytest
from monkeybot.controllers.by_state import LevelController
from monkeybot.gaits.gait import evaluate, horizontal
from monkeybot.model.coordinates import Mode, unpack
from monkeybots import REPORT
from roboaccord import AccordError, make_controller, make_simulator
from roboaccord.contract.state import Target
from running import run_in, setup_of

LQR = (
    "controller={name: lqr, nominal: [0, 0, 0], gain: %s, switch_t: %s, motor_t: 0.006, power: 10}"
)


def run(name, *changes, duration=1.0):
    setup = setup_of("monkeybot", name, *changes, f"duration={duration}")
    return run_in(setup, duration=duration)


def grips(trajectory):
    return [(e.time, e.subject) for e in trajectory.events if e.kind == "magnet_on"]


def test_the_timed_controller_changes_hands_by_the_clock():
    found = run("brachiate", duration=2.0)
    assert grips(found) == [(0.428, "magnet_b"), (1.289, "magnet_a")]
    on = found.time[np.flatnonzero(found.effort[:, 0])]
    # The effort in force from 0.428 s on, 24 ms long, seen from hand B with the other sign.
    assert on[on < 1.0] == pytest.approx(np.arange(429, 453) / 1000)
    assert set(found.effort[428:453, 0]) == {0.0, -2.0}
    assert set(found.effort[1289:1315, 0]) == {0.0, 2.0}


def test_several_motor_intervals():
    found = run(
        "brachiate", "controller.motor=[[0.0, 0.01, 1.5], [0.02, 0.03, -1.0]]", duration=0.6
    )
    assert found.effort[438, 0] == -1.5 and found.effort[445, 0] == 0.0
    assert found.effort[455, 0] == 1.0


def test_it_begins_amid_a_step_as_if_the_hands_had_changed_before():
    """A first change at 0.428 s and steps of 0.861 s: the last one was at -0.433 s."""
    found = run("brachiate", "controller.motor_t=0.5", duration=0.1)
    assert found.time[np.flatnonzero(found.effort[:, 0])].max() == pytest.approx(0.067)


def test_steps_take_turns():
    found = run(
        "brachiate", "controller.swap_t=[0.2, 0.3]", "controller.initial_t=0.1",
        "controller.motor_t=0.3", "controller.power=[1.0, 2.0, 3.0]",
    )  # fmt: skip
    assert [time for time, _ in grips(found)] == [0.1, 0.4, 0.6, 0.9]
    # Torques of the steps until 0.1, 0.4, 0.6 and 0.9 s, seen from A, B, A, B.
    assert found.effort[[50, 300, 500, 700], 0].tolist() == [1.0, -2.0, 3.0, -1.0]


def test_it_lets_go_before_it_grips_with_the_motor_as_it_was():
    found = run(
        "brachiate", "controller.flight=0.02", "controller.initial_t=0.1",
        "controller.swap_t=0.2", "controller.motor_t=0.2", duration=0.35,
    )  # fmt: skip
    reported = [(round(e.time, 9), e.kind, e.subject) for e in found.events]
    assert reported == [
        (0.08, "magnet_off", "magnet_a"), (0.1, "magnet_on", "magnet_b"),
        (0.28, "magnet_off", "magnet_b"), (0.3, "magnet_on", "magnet_a"),
    ]  # fmt: skip
    assert found.effort[[95, 150, 295, 320], 0].tolist() == [2.0, -2.0, -2.0, 2.0]


def test_before_the_first_change_a_list_says_what_the_motor_does():
    found = run(
        "brachiate", "controller.before=[[0.0, 0.1, 1.0], [0.2, 0.3, -3.0]]",
        "controller.initial_t=0.3", "controller.motor_t=0.861", duration=0.5,
    )  # fmt: skip
    assert found.effort[[50, 150, 250, 400], 0].tolist() == [1.0, 0.0, -3.0, -2.0]


def test_a_clock_that_is_reset_starts_at_the_vertical():
    found = run("brachiate", "controller.clock=reset", duration=2.5)
    once = evaluate(horizontal(2.0), REPORT, np.array([0.902, 10.935])).times[0]
    times = [time for time, _ in grips(found)]
    assert len(times) == 3
    # From one change to the next: to the vertical, a millisecond to notice it, and initial_t.
    assert times[1] - times[0] == pytest.approx(once[1] + once[2] + 0.428, abs=0.003)


@pytest.mark.parametrize(
    ("before", "after", "due"),
    [(-0.01, 0.01, 0.428), (0.01, -0.01, None), (-3.1, 3.1, None), (3.1, -3.1, None)],
)
def test_a_clock_is_reset_by_the_vertical_below_and_forwards(before, after, due):
    """After a change of hands; the next is initial_t after the link has passed."""
    changes = ["controller.clock=reset", "controller.initial_t=0.428"]
    setup = setup_of("monkeybot", "brachiate", *changes)
    controller, changed = make_controller(setup), []
    for tick in range(1000):
        u = np.array([before if tick < 500 else after, 1.0, *np.zeros(6)])
        state = unpack(u, time=1e-3 * tick, effort=np.zeros(1), mode=Mode.SWING_A)
        if controller.update(state, None).switches:
            changed.append(1e-3 * tick)
    assert changed == pytest.approx([0.428] if due is None else [0.428, 0.5 + due])


def test_the_search_controller_finds_the_line_and_restores_the_energy():
    found = run("brachiate", "controller={name: search, power: 2.0}", duration=0.9)
    once = evaluate(horizontal(2.0), REPORT, np.array([0.902, 10.935]))
    ((time, magnet),) = grips(found)
    assert magnet == "magnet_b"
    # It looks once a millisecond: it is late by less than one.
    assert 0.0 <= time - once.switch_time[0] < 1e-3
    driven = 1e-3 * np.count_nonzero(found.effort[:, 0])
    # Late by up to a period at either end; and later on the line there is more to restore.
    assert driven == pytest.approx(once.motor_time[0], abs=3e-3)


def test_a_coarser_control_period_is_settable():
    found = run("brachiate", "control_period=0.004", "controller.initial_t=0.43", duration=0.6)
    assert grips(found)[0][0] == pytest.approx(0.432)


def test_the_schedule_flies_and_grips():
    found = run("flight")
    kinds = [(e.time, e.kind, e.subject) for e in found.events]
    assert kinds == [(0.35, "magnet_off", "magnet_a"), (0.45, "magnet_on", "magnet_b")]
    assert not found.switches["magnet_a"][-1] and found.switches["magnet_b"][-1]


HELD = (
    "controller={name: lqr, nominal: [3.0, 1.0, 10.0], gain: %s, switch_t: 0.1, motor_t: 0.0045, "
    "power: 2}"
)


def reported(gain, *seen):
    """Return when lqr changes hands [s], None for never, and for how many ticks its motor is on.

    Args:
        gain: of the feedback, in YAML.
        seen: (th1, th2, w1, w2) of hand A, a tick after the other from 0 s on; the last one stays.
    """
    controller = make_controller(setup_of("monkeybot", "swing", HELD % gain))
    changed, driven, mode = None, 0, Mode.SWING_A
    for tick in range(200):
        u = np.array([*seen[min(tick, len(seen) - 1)], 0.0, 0.0, 0.0, 0.0])
        state = unpack(u, time=1e-3 * tick, effort=np.zeros(1), mode=mode)
        command = controller.update(state, None)
        if command.switches:
            assert changed is None
            changed, mode = 1e-3 * tick, Mode.SWING_B
        driven += int(command.effort[0] != 0.0)
    return changed, driven


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        # 0.1 s less gain times deviation, (0.2, -0.5, 2), to whole milliseconds.
        ("[0.1, 0, 0]", 0.080), ("[-0.1, 0, 0]", 0.120), ("[0, 0.04, 0]", 0.120),
        ("[0, 0, 0.01]", 0.080), ("[0.1, 0.04, 0.01]", 0.080), ("[0.0124, 0, 0]", 0.098),
        ("[0.0128, 0, 0]", 0.097), ("[0, 0, 0]", 0.100),
        # By no more than 0.05 s in either direction.
        ("[0.3, 0, 0]", 0.050), ("[-0.3, 0, 0]", 0.150), ("[0.2, 0, 0]", 0.060),
    ],
)  # fmt: skip
def test_lqr_changes_hands_by_its_law_and_by_no_more_than_its_largest(gain, expected):
    """The motor is then on for 4.5 ms: in five ticks."""
    at_rest = np.array([0.0, 3.2, 0.5, 12.0])
    assert reported(gain, at_rest) == (pytest.approx(expected, abs=1e-9), 5)


def test_lqr_counts_turns_of_the_elbow_once():
    """An elbow at -3.1 rad is 2 pi - 6.1 from its nominal 3, and not -6.1, which would be clipped.

    Gain 0.2 takes 36.6 ms of 100 away.
    """
    assert reported("[0.2, 0, 0]", [0.0, -3.1, 1.0, 10.0])[0] == pytest.approx(0.063, abs=1e-9)


def test_lqr_finds_the_vertical_between_two_ticks():
    """At 3/4 of a tick, where the elbow is at 3.1 + 3/4 (2 pi - 6.2) and w1, w2 have their means.

    The way from 3.1 to -3.1 rad is the short one.
    """
    seen = [-0.03, 3.1, 0.8, 9.6], [0.01, -3.1, 1.2, 10.4]
    passed, elbow = 0.75e-3, 0.1 + 0.75 * (2.0 * np.pi - 6.2)
    for gain in (0.1, 0.15):
        expected = round(1e3 * (passed + 0.1 - gain * (elbow + 0.1) - 0.025 * 0.2)) / 1e3
        found, _ = reported(f"[{gain}, {gain}, 0.025]", *seen)
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("before", "after"), [(0.01, 0.02), (0.01, -0.01), (3.1, -3.1), (-3.1, 3.1)]
)
def test_lqr_waits_for_the_vertical_below_and_forwards(before, after):
    """Past it, backwards over it and upside down do not count."""
    assert reported("[0, 0, 0]", [before, 3.0, 1.0, 10.0], [after, 3.0, 1.0, 10.0]) == (None, 0)


def test_teleoperation_gives_the_effort_asked_for():
    setup = setup_of("monkeybot", "swing", "controller={name: teleop}")
    controller = make_controller(setup)
    assert controller.update(setup.initial, None).effort.tolist() == [0.0]
    target = Target(effort=np.array([1.5]))
    assert controller.update(setup.initial, target).effort.tolist() == [1.5]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("controller={name: search, power: 0}", "no energy can be restored"),
        ("controller={name: timed, clock: never}", "must be pure or reset"),
        ("controller={name: timed, swap_t: 0}", "swap_t must be positive"),
        ("controller={name: timed, motor: [[0, 1]]}", "start, stop and torque"),
        ("controller={name: timed, swap_t: [0.9, 0]}", "swap_t must be positive"),
        ("controller={name: timed, swap_t: []}", "swap_t is an empty list"),
        ("controller={name: timed, swap_t: [0.9, soon]}", "swap_t: 'soon' is not a number"),
        ("controller={name: timed, power: true}", "power: True is not a number"),
        ("controller={name: timed, flight: 0.861}", "must be shorter than swap_t"),
        ("controller={name: timed, flight: -0.01}", "must be shorter than swap_t"),
        ("controller={name: timed, before: [[0, 1]]}", "before takes intervals"),
        ("controller={name: timed, power: .nan}", "power: nan is not a number"),
        ("controller={name: level, power: .inf}", "power: inf is not a number"),
        ("controller={name: lqr}", "controller.switch_t is missing"),
        (LQR % ("[0, 1]", "0.4"), "three numbers: of th2, w1 and w2"),
        (LQR % ("[0, 1, .nan]", "0.4"), "nan is not a number"),
        (LQR % ("[0, 1, 2]", "0.04"), "switch_t above largest"),
        ("controller={name: schedule, steps: [{at: 0, hold: c}]}", "must be one of a, b"),
        ("controller={name: schedule, steps: [{hold: a}]}", "a step takes at"),
        ("initial.pitch=0.1", "moves in the y-z plane"),
        ("initial.twist=[0, 1, 0, 0, 0, 0]", "a hand is held"),
        ("initial.switches={magnet_c: true}", "magnet_c"),
    ],
)
def test_nonsense_is_refused_in_one_line(change, line):
    with pytest.raises(AccordError, match=line):
        make_controller(setup_of("monkeybot", "swing", change))


def test_a_torque_without_end_is_refused_by_who_is_made_without_a_scenario():
    setup = setup_of("monkeybot", "swing")
    with pytest.raises(ValueError, match="power is inf, and must be a torque"):
        LevelController(setup, power=np.inf)


def test_a_start_on_hand_b_or_in_flight():
    held = setup_of(
        "monkeybot",
        "swing",
        "initial.switches={magnet_a: false, magnet_b: true}",
        "initial.qd={elbow: 2.0}",
    )
    simulator = make_simulator(held)
    assert simulator.state().switches == Mode.SWING_B.switches
    flying = setup_of(
        "monkeybot",
        "swing",
        "initial.switches.magnet_a=false",
        "initial.twist=[0, 1.0, 2.0, 0, 0, 0]",
    )
    assert make_simulator(flying).state().twist[1:3] == pytest.approx([1.0, 2.0])
