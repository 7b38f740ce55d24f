"""Motions of any order of phases, against an integrator and equations apart."""

import lagrangian
import numpy as np
import pytest
from monkeybot.model.coordinates import Mode, pack
from monkeybot.model.events import VERTICAL, energy_restored, level, linear
from monkeybot.model.motion import Motion
from monkeybots import REPORT, ROUGH, UNLIKE, oracle
from roboaccord import AccordError, make_simulator
from roboaccord.run.loop import run_setup
from roboaccord.run.metrics import metrics_of
from running import run_in, setup_of

START = np.array([0.3, -0.8, 1.0, 4.0, 0.1, -0.2, 0.0, 0.0])


@pytest.mark.parametrize("parameters", [UNLIKE, ROUGH], ids=["smooth", "rough"])
def test_any_order_of_modes_is_the_lagrangians_motion(parameters):
    """Swing, fly, grip with the same hand, with the other, change hands, stop, and go on."""
    motion = Motion(parameters, START)
    x, v = oracle(START)
    plan = [
        ("a", Mode.SWING_A, 0.2, 1.0), ("", Mode.FLIGHT, 0.1, -0.5), ("a", Mode.SWING_A, 0.15, 0.0),
        ("b", Mode.SWING_B, 0.2, 2.0), ("", Mode.FLIGHT, 0.05, 0.0), ("b", Mode.SWING_B, 0.1, -1.0),
        ("ab", Mode.FIXED, 0.1, 0.0), ("a", Mode.SWING_A, 0.2, 0.0),
    ]  # fmt: skip
    before = "a"
    for hands, mode, duration, effort in plan:
        impulses = motion.switch_to(mode)
        if hands == "ab":
            v, expected = lagrangian.impact(parameters, x, v, hands)
            assert list(impulses) == ["magnet_a"]
            assert impulses["magnet_a"] == pytest.approx(np.hypot(*expected[:2]), rel=1e-6)
        elif hands and before not in (hands, "ab"):
            v, expected = lagrangian.impact(parameters, x, v, hands)
            assert sum(impulses.values()) == pytest.approx(np.hypot(*expected), rel=1e-8)
        before = hands
        motion.advance(duration, -effort if hands == "b" else effort)
        if hands != "ab":
            x, v = lagrangian.move(parameters, x, v, effort, hands, duration)
        found, rates = oracle(motion.u)
        turns = round((x[2] - found[2]) / (2.0 * np.pi))
        found[2] += 2.0 * np.pi * turns
        assert np.abs(found - x).max() < 1e-8 and np.abs(rates - v).max() < 1e-7
    kinds = [(event.kind, event.subject) for event in motion.events]
    assert kinds == [
        ("magnet_off", "magnet_a"), ("magnet_on", "magnet_a"),
        ("magnet_off", "magnet_a"), ("magnet_on", "magnet_b"),
        ("magnet_off", "magnet_b"), ("magnet_on", "magnet_b"),
        ("magnet_on", "magnet_a"), ("magnet_off", "magnet_b"),
    ]  # fmt: skip
    assert motion.time == pytest.approx(1.1)


def test_travel_and_rise_are_a_ballistic_centre_of_masss():
    """In flight the centre goes v t along the wall, and v t - g t^2 / 2 up, however links turn."""
    changes = [f"parameters.{name}={getattr(UNLIKE, name)}" for name in (
        "mass_a", "mass_b", "inertia_a", "inertia_b", "length_a", "length_b", "centre_a",
        "centre_b", "gravity",
    )]  # fmt: skip
    changes += [
        "initial.switches.magnet_a=false", "initial.twist=[0, 1.5, 0.7, 2.0, 0, 0]",
        "initial.roll=0.4", "controller={name: none}",
    ]  # fmt: skip
    setup = setup_of("monkeybot", "flight", *changes)
    found = run_in(setup, duration=0.4)
    x, v = oracle(pack(setup.initial))
    right, up = (lagrangian.mass_matrix(UNLIKE, x) @ v)[:2] / (UNLIKE.mass_a + UNLIKE.mass_b)
    figures = metrics_of(setup, found)
    assert figures["travel"] == pytest.approx(0.4 * right, abs=1e-9)
    assert figures["rise"] == pytest.approx(0.4 * up - 0.5 * UNLIKE.gravity * 0.4**2, abs=1e-9)
    assert figures["grips"] == figures["largest_impulse"] == 0.0


def test_grips_and_the_largest_impulse_are_those_of_the_magnets_that_come_on():
    """Two grips from one swing, A's 0.3 s after B's, the impulses by the Lagrangian."""
    steps = "[{at: 0.2, hold: b}, {at: 0.5, hold: a}]"
    changes = [f"controller={{name: schedule, steps: {steps}}}"]
    setup = setup_of("monkeybot", "flight", *changes)
    found = run_in(setup, duration=0.6)
    x, v = oracle(pack(setup.initial))
    impulses = []
    for held, other, duration in (("a", "b", 0.2), ("b", "a", 0.3)):
        x, v = lagrangian.move(REPORT, x, v, 0.0, held, duration)
        v, impulse = lagrangian.impact(REPORT, x, v, other)
        impulses.append(np.hypot(*impulse))
    figures = metrics_of(setup, found)
    assert figures["grips"] == 2.0
    assert figures["largest_impulse"] == pytest.approx(max(impulses), rel=1e-6)


@pytest.mark.parametrize(
    ("event", "value"),
    [
        (level(), lambda s: -0.61 * (np.cos(s[0]) + np.cos(s[0] + s[1]))),
        (linear("bent", th2=1.0, above=1.0), lambda s: s[1] - 1.0),
        (linear("slower", w2=-1.0, above=-8.0), lambda s: 8.0 - s[3]),
    ],
    ids=["level", "straight", "rate"],
)
def test_events_are_where_another_integrator_finds_them(event, value):
    start = np.array([0.1, 0.2, 0.9, 10.9])
    full = np.array([0.0, 0.0, *start[:2], 0.0, 0.0, *start[2:]])
    time, end = lagrangian.move_until(
        REPORT, full, 0.0, lambda x, v: value(np.array([*x[2:], *v[2:]]))
    )
    motion = Motion(REPORT, np.array([*start, 0.0, 0.0, 0.0, 0.0]))
    assert motion.advance(3.0, until=event)
    assert motion.time == pytest.approx(time, abs=1e-9)
    assert np.abs(motion.u[:4] - end[[2, 3, 6, 7]]).max() < 1e-8
    assert motion.events[-1].kind == event.name
    assert motion.events[-1].time == motion.time


def test_an_event_that_only_just_happens_between_two_steps_is_found():
    """The tip rises over a line and falls back within one step of a loose integrator."""
    start = np.array([0.0, 0.0, 3.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    truth = Motion(REPORT, start)
    assert truth.advance(2.0, until=linear("turns", w1=-1.0))
    top = truth.u[0]
    for margin in (1e-3, 1e-5, 1e-7):
        just_below = linear("grazed", th1=1.0, above=top - margin)
        loose = Motion(REPORT, start, tolerance=1e-9)
        assert loose.advance(2.0, until=just_below), margin
        assert loose.time < truth.time
        assert not Motion(REPORT, start).advance(
            truth.time + 0.05, until=linear("missed", th1=1.0, above=top + margin)
        )


def test_tightening_the_tolerance_settles_the_motion():
    ends = []
    for tolerance in (1e-6, 1e-8, 1e-10, 1e-12):
        motion = Motion(UNLIKE, START, tolerance=tolerance)
        motion.advance(0.5, until=VERTICAL)
        motion.advance(0.3, torque=2.0, until=energy_restored(1e6))
        ends.append(motion.u)
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    assert errors[0] > 10.0 * errors[1] > 100.0 * errors[2] and errors[2] < 1e-8


def test_the_reference_measures_its_own_error_by_a_tighter_tolerance():
    """Its error is in proportion to the tolerance, but for the last step."""

    def place(tolerance):
        options = [f"engine_options.reference.tolerance={tolerance}", "control_period=0.05"]
        setup = setup_of("monkeybot", "swing", *options, "duration=0.3")
        simulator = make_simulator(setup)
        assert simulator.tighter == {"tolerance": 0.1 * tolerance}
        return run_setup(setup, simulator).orientation[-1]

    truth = place(1e-14)
    coarse, fine = (np.abs(place(tolerance) - truth).max() for tolerance in (1e-9, 1e-11))
    assert fine < 1e-9
    assert 10.0 < coarse / fine < 1000.0


@pytest.mark.parametrize("tolerance", [0, -1, 2])
def test_a_tolerance_without_sense_is_refused(tolerance):
    changes = [f"engine_options.reference.tolerance={tolerance}"]
    setup = setup_of("monkeybot", "swing", *changes)
    with pytest.raises(AccordError, match="is not between 0 and 1"):
        make_simulator(setup)
