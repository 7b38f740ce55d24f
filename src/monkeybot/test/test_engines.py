"""The MonkeyBot in DART and MuJoCo, against its Lagrangian and against its reference."""

from dataclasses import replace
from itertools import pairwise

import lagrangian
import numpy as np
import pytest
from monkeybot.model.coordinates import Arm, Mode, mode_of, pack, unpack
from roboaccord import Command, Setup, load_scenario, make_simulator
from roboaccord.contract.outcome import Code
from roboaccord.crosscheck.levels import invariance
from roboaccord.crosscheck.levels.invariance import check_invariance
from roboaccord.crosscheck.run import run_crosscheck
from roboaccord.crosscheck.step_check import StepCheck
from roboaccord.engines import default_names, spec
from roboaccord.falsify import Perturbation, wrap
from roboaccord.run.loop import run_setup
from running import or_skip, setup_of

pytestmark = pytest.mark.thorough

ENGINES = ["dart", "mujoco"]
HANDS = {Mode.SWING_A: "a", Mode.SWING_B: "b", Mode.FLIGHT: "", Mode.FIXED: "ab"}
MOVING = [Mode.SWING_A, Mode.SWING_B, Mode.FLIGHT]
# Links that have nothing in common, so that no exchange of theirs goes unseen.
UNLIKE = (
    "parameters={mass_a: 2.1, mass_b: 3.4, inertia_a: 0.04, inertia_b: 0.11, length_a: 0.5, "
    "length_b: 0.83, centre_a: 0.2, centre_b: 0.61, gravity: 3.7}"
)
ROUGH = (
    "parameters={viscous_hand: 0.05, viscous_elbow: 0.03, constant_hand: 0.2, "
    "constant_elbow: 0.1, friction_speed: 0.5}"
)


def engine(setup, name, *wrong, **options):
    """Return an engine's simulator with errors, or skip with the reason."""
    with or_skip():
        chosen = wrap(name, perturbations=wrong) if wrong else name
        return make_simulator(setup, chosen, **options)


def split(state):
    """Return the oracle's coordinates and rates of a state, 4 and 4."""
    u = pack(state)
    return u[[4, 5, 0, 1]], u[[6, 7, 2, 3]]


def join(x, v, mode):
    """Return the state of the oracle's coordinates and rates."""
    u = np.array([x[2], x[3], v[2], v[3], x[0], x[1], v[0], v[1]])
    return unpack(u, time=0.0, effort=np.zeros(1), mode=mode)


def random_states(setup, mode, count, seed=0):
    """Return random states of a mode, with efforts."""
    rng, p = np.random.default_rng(seed), setup.parameters
    for _ in range(count):
        x = np.array([*rng.normal(size=2), *rng.uniform(-np.pi, np.pi, 2)])
        v = 4.0 * rng.normal(size=4)
        J = lagrangian.held(p, x, HANDS[mode])
        v = v - np.linalg.pinv(J) @ (J @ v)
        yield join(x, v, mode), rng.uniform(-5.0, 5.0, 1)


@pytest.mark.parametrize("name", ["reference", *ENGINES])
@pytest.mark.parametrize("mode", MOVING)
@pytest.mark.parametrize("changes", [(), (UNLIKE,)], ids=["report", "unlike"])
def test_accelerations_at_100_random_states(setup_with, name, mode, changes):
    """Within 1e-8 relative, of the base in the world and of the elbow."""
    setup = setup_with(*changes)
    simulator, p = engine(setup, name), setup.parameters
    for state, effort in random_states(setup, mode, 100):
        x, v = split(state)
        expected = lagrangian.acceleration(p, x, v, effort[0], HANDS[mode])
        found = simulator.acceleration(state, effort)
        np.testing.assert_allclose(found.base[[0, 4, 5]], 0.0, atol=1e-9)
        a = np.array([*found.base[1:4], *found.joints])
        assert np.abs(a - expected).max() < 1e-8 * np.abs(expected).max()


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Mode.SWING_A, Mode.SWING_B), (Mode.SWING_B, Mode.SWING_A), (Mode.FLIGHT, Mode.SWING_A),
        (Mode.FLIGHT, Mode.SWING_B), (Mode.SWING_A, Mode.FIXED), (Mode.SWING_B, Mode.FIXED),
        (Mode.FLIGHT, Mode.FIXED),
    ],
)  # fmt: skip
def test_a_grip_is_a_plastic_impact(setup_with, name, before, after):
    """Rates right after it, impulse and energy, against the dense equations of the oracle.

    The first microsecond after it adds the acceleration times 1e-6, and half the jerk, which is
    below 1e5 rad/s^3, times 1e-12.
    """
    tick = 1e-6
    setup = setup_with(UNLIKE, f"control_period={tick}", f"physics_step={tick}", "duration=1e-5")
    simulator, p = engine(setup, name), setup.parameters
    for state, _ in random_states(setup, before, 10):
        x, v = split(state)
        w, impulse = lagrangian.impact(p, x, v, HANDS[after])
        simulator.reset(state)
        found = simulator.step(Command(np.zeros(1), after.switches), tick)
        drift = tick * lagrangian.acceleration(p, x, w, 0.0, HANDS[after])
        np.testing.assert_allclose(split(found)[1], w + drift, atol=1e-7)
        assert mode_of(found.switches) is after
        sizes = dict(zip(HANDS[after], np.linalg.norm(impulse.reshape(-1, 2), axis=1)))
        events = simulator.take_events()
        on = {f"magnet_{h}" for h in HANDS[after] if h not in HANDS[before]}
        off = {f"magnet_{h}" for h in HANDS[before] if h not in HANDS[after]}
        assert {e.subject for e in events if e.kind == "magnet_on"} == on
        assert {e.subject for e in events if e.kind == "magnet_off"} == off
        for event in events:
            assert event.time == 0.0
            size = sizes[event.subject[-1]] if event.kind == "magnet_on" else 0.0
            assert event.impulse == pytest.approx(size, rel=1e-9)
        lost = lagrangian.kinetic_energy(p, x, v) - lagrangian.kinetic_energy(p, x, w)
        work = -0.5 * impulse @ lagrangian.held(p, x, HANDS[after]) @ v
        assert lost == pytest.approx(work, rel=1e-9) and lost > 0.0


@pytest.mark.parametrize("name", ENGINES)
def test_a_grip_with_a_false_impact_changes_rates_by_as_much_more(setup_with, name):
    """By 1 + e of the plastic change, seen in the links; the hinge has the hand stand still.

    What is false in other ways makes no difference to that: a factor of 1 on the masses.
    """
    tick, e, after = 1e-6, 0.3, Mode.SWING_A
    setup = setup_with(UNLIKE, f"control_period={tick}", f"physics_step={tick}", "duration=1e-5")
    wrong = [Perturbation(name, "impact", e), Perturbation(name, "mass", 1.0)]
    simulator, p = engine(setup, name, *wrong), setup.parameters
    for state, _ in random_states(setup, Mode.FLIGHT, 5):
        x, v = split(state)
        w, _ = lagrangian.impact(p, x, v, "a")
        simulator.reset(state)
        found = simulator.step(Command(np.zeros(1), after.switches), tick)
        after_it = np.array([0.0, 0.0, *(w + e * (w - v))[2:]])
        drift = tick * lagrangian.acceleration(p, x, after_it, 0.0, "a")
        np.testing.assert_allclose(split(found)[1], after_it + drift, atol=1e-7)


def test_hands_on_a_straight_arm_come_to_rest(setup_with):
    """There the two hands hold one direction twice, and the equations are singular."""
    setup = setup_with()
    M = lagrangian.mass_matrix(setup.parameters, np.zeros(4))
    u = np.array([0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    arm = Arm(setup.parameters.length_a, setup.parameters.length_b)
    after, impulse = arm.grip(u, M, ["magnet_a", "magnet_b"])
    assert np.isfinite([*after, *impulse.values()]).all()
    reach = lagrangian.held(setup.parameters, np.zeros(4), "ab")
    np.testing.assert_allclose(reach @ after[[6, 7, 2, 3]], 0.0, atol=1e-12)


@pytest.mark.parametrize("name", ENGINES)
def test_a_held_hand_stays_where_it_gripped(setup_with, name):
    """Hand A to the last bit, hand B to the round-off of its place; FIXED, the whole robot."""
    setup = setup_with("control_period=0.01")
    simulator, p = engine(setup, name), setup.parameters
    arm = Arm(p.length_a, p.length_b)
    command = Command(np.array([1.0]))
    for mode in (Mode.SWING_A, Mode.SWING_B, Mode.FIXED):
        state, _ = next(random_states(setup, mode, 1))
        start = simulator.reset(state)
        u = pack(start)
        grip = u[4:6] + arm.reach(u)
        for _ in range(50):
            state = simulator.step(command, 0.01)
            u = pack(state)
            if mode is not Mode.SWING_B:
                assert (state.position == start.position).all()
                assert not u[6:].any()
            if mode is not Mode.SWING_A:
                np.testing.assert_allclose(u[4:6] + arm.reach(u), grip, atol=1e-14)
                np.testing.assert_allclose(u[6:] + arm.jacobian(u) @ u[2:4], 0.0, atol=1e-13)
        if mode is Mode.FIXED:
            assert (state.q == start.q).all()
            assert not state.qd.any()


SEQUENCES = {
    "swing, change, swing": [(Mode.SWING_A, 0.3, 0.0), (Mode.SWING_B, 0.3, 1.5)],
    "swing, fly, swing": [
        (Mode.SWING_A, 0.3, 1.0), (Mode.FLIGHT, 0.1, -0.5), (Mode.SWING_B, 0.2, 0.5),
    ],
    "swing, hold, swing back": [
        (Mode.SWING_A, 0.3, 0.0), (Mode.FIXED, 0.1, 0.5), (Mode.SWING_B, 0.1, 1.0),
        (Mode.SWING_A, 0.2, 0.0),
    ],
}  # fmt: skip


def truth(setup, start, phases):
    """Return the oracle's end of a sequence of (mode, duration, torque)."""
    (x, v), p, last = split(start), setup.parameters, HANDS[phases[0][0]]
    for mode, duration, torque in phases:
        hands = HANDS[mode]
        if set(hands) - set(last):
            v = np.zeros(4) if mode is Mode.FIXED else lagrangian.impact(p, x, v, hands)[0]
        if mode is not Mode.FIXED:
            x, v = lagrangian.move(p, x, v, torque, hands, duration)
        last = hands
    return x, v


def end_of(simulator, start, phases, period):
    """Return the end of the same in a simulator, commanded every `period` [s]."""
    simulator.reset(start)
    for mode, duration, torque in phases:
        for _ in range(round(duration / period)):
            simulator.step(Command(np.array([torque]), mode.switches), period)
    return split(simulator.state())


def distance(found, expected):
    """Return the largest difference of coordinates and rates; th1 is the same after a turn."""
    gap = np.concatenate(found) - np.concatenate(expected)
    gap[2] = np.angle(np.exp(1j * gap[2]))
    return np.abs(gap).max()


# The report's: hanging on hand A, in motion.
START = join(np.zeros(4), np.array([0.0, 0.0, 0.902, 10.935]), Mode.SWING_A)


@pytest.mark.slow
@pytest.mark.parametrize("phases", SEQUENCES.values(), ids=SEQUENCES)
@pytest.mark.parametrize("changes", [(UNLIKE,), (ROUGH,)], ids=["unlike", "rough"])
@pytest.mark.parametrize(
    ("name", "step", "order", "slack"), [("dart", 1e-3, 1, 0.1), ("mujoco", 5e-3, 4, 0.4)]
)
def test_sequences_converge_at_the_order_of_the_integrator(
    setup_with, phases, changes, name, step, order, slack
):
    """Errors at dt, dt/2, dt/4 against the oracle's equations, solved to 1e-12."""
    setup = setup_with(*changes, "control_period=0.01")
    expected = truth(setup, START, phases)
    steps = step / np.array([1, 2, 4])
    errors = []
    for dt in steps:
        simulator = engine(setup, name, physics_step=dt)
        assert simulator.order == order
        errors.append(distance(end_of(simulator, START, phases, 0.01), expected))
    observed = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert observed == pytest.approx(order, abs=slack), errors


@pytest.mark.parametrize("phases", SEQUENCES.values(), ids=SEQUENCES)
@pytest.mark.parametrize("changes", [(UNLIKE,), (ROUGH,)], ids=["unlike", "rough"])
def test_the_reference_follows_the_oracle(setup_with, phases, changes):
    """Both are solved to 1e-12 a step; the motion magnifies that less than a thousand times."""
    setup = setup_with(*changes, "control_period=0.01")
    found = end_of(make_simulator(setup), START, phases, 0.01)
    assert distance(found, truth(setup, START, phases)) < 1e-9


@pytest.fixture(scope="module")
def short():
    """Return `swing` with a cross-check over its change of hands alone."""
    return setup_of("monkeybot", "swing", "crosscheck.duration=0.6", "crosscheck.states=30")


def test_the_cross_check_passes(short, tmp_path):
    """All three levels; the reference does not depend on the step, but on its tolerance."""
    for name in ENGINES:
        engine(short, name)
    result = run_crosscheck(short, ["reference", *ENGINES], refine=3, out=tmp_path)
    assert result.verdict == "pass", result.reasons
    runs = result.checks["trajectory"]
    assert runs["dart"].order == pytest.approx(1, abs=0.1)
    reference = runs["reference"]
    assert len({*reference.error}) == 1 and reference.error[0] <= reference.floor < 1e-11
    assert reference.order is None
    assert all(check.max < 1e-8 for check in result.checks["acceleration"].values())
    assert all(check.relative < 1e-2 for check in result.checks["one_step"].values())
    assert {event.kind for event in result.events["dart"]} == {"magnet_on", "magnet_off"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_dry_friction_that_no_step_resolves_is_no_error_of_an_engine(name, tmp_path):
    """It turns round within a step: no scheme has its order then, but 5 % more of it are found."""
    dry = "parameters.viscous_elbow=0.05", "parameters.constant_elbow=0.3"
    changes = *dry, "crosscheck.duration=0.6", "crosscheck.states=30"
    setup = setup_of("monkeybot", "swing", *changes)
    engine(setup, name)
    result = run_crosscheck(setup, [name], refine=3, out=tmp_path / "sound")
    assert result.verdict == "pass", result.reasons
    check = result.checks["trajectory"][name]
    assert (check.kink, check.expected_order) == (0.0, 1)
    wrong = wrap(name, perturbations=[Perturbation(name, "friction", 1.05, "elbow")])
    result = run_crosscheck(setup, [wrong], refine=3, out=tmp_path / "wrong")
    levels = result.levels
    assert levels.scheme[name].outcome == "outside"
    assert levels.one_step[name].outcome == "outside"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "link"), [("dart", "base_link"), ("mujoco", "arm_b_link")])
def test_a_false_mass_is_found_and_named(short, tmp_path, name, link):
    """One per cent, by link and engine; and the motion alone gives it away."""
    engine(short, name)
    wrong = wrap(name, perturbations=[Perturbation(name, "mass", 1.01, link)])
    result = run_crosscheck(short, [wrong], refine=3, out=tmp_path)
    levels = result.levels
    assert {level for level, found in levels.items() if found[name].outcome == "outside"} == {
        "acceleration", "scheme", "one_step", "trajectory", "events", "energy"
    }  # fmt: skip
    assert levels["repeat"][name].outcome == "within"
    first = result.levels.acceleration[name]
    assert (first.quantity, first.where) == ("mass", link)
    share = first.reasons[0].figures["how"].figures["share"]
    assert share == pytest.approx(0.01, rel=1e-9)
    assert first.codes == (Code.MODEL, Code.ACCELERATION) and "+1 % off" in first.reason


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("scenario", ["swing", "flight"])
def test_the_compiled_friction_of_joints_gives_the_bits_of_the_one_in_python(name, scenario):
    """In every stage of MuJoCo's Runge-Kutta method, with a base that is held and a free one."""
    setup = Setup.of(load_scenario("monkeybot", "monkeybot", scenario, [ROUGH]))
    compiled, python = engine(setup, name), engine(setup, name)
    for part in python.parts():
        assert part._compiled is not None
        part._compiled = None
    ends = []
    for simulator in (compiled, python):
        simulator.reset(setup.initial)
        period = setup.scenario.control_period
        ends.append([simulator.step(Command(np.array([0.3])), period) for _ in range(20)])
    for one, other in zip(*ends, strict=True):
        np.testing.assert_array_equal(np.append(one.q, one.qd), np.append(other.q, other.qd))
        np.testing.assert_array_equal(one.twist, other.twist)


@pytest.mark.parametrize("name", default_names())
def test_release_flight_and_grip_are_the_same_in_a_moved_world(name, monkeypatch):
    """Both hinges, the free base, and the mass matrix by which a hand grips."""
    monkeypatch.setattr(invariance, "REPEATED_SHARE", 1.0)
    setup = Setup.of(load_scenario("monkeybot", "monkeybot", "flight", ["duration=0.5"]))
    run = run_setup(setup, make_simulator(setup, name))
    assert [event.kind for event in run.events] == ["magnet_off", "magnet_on"]
    found = check_invariance(setup, spec(name), run)
    assert (len(found.changes), found.duration) == (3, 0.5)
    assert all(each.error < each.floor for each in found.changes.values())
    assert max(each.floor for each in found.changes.values()) < 1e-8


def hanging_by_both(rates):
    """Return the verdict on a run of Gazebo that hangs by both hands, by its rates of the elbow."""
    setup = Setup.of(load_scenario("monkeybot", "monkeybot", "teleop"))
    both = dict.fromkeys(setup.initial.switches, True)
    state = replace(setup.initial, switches=both, effort=np.array([2.0]))
    check, period = StepCheck(setup, "gz", "8"), setup.scenario.control_period
    states = [
        replace(state, time=i * period, qd=np.array([rate]), q=state.q + rate * period)
        for i, rate in enumerate(rates)
    ]
    for before, after in pairwise(states):
        check.compare(before, after)
    check.choose_delay()
    return check.verdict()


def test_gazebos_magnets_may_give_a_little_but_must_hold():
    """By both hands it is at rest in the reference; Gazebo's move at 4 mrad/s per N m, and settle.

    The elbow of one that holds by a single hand would run away at some 50 rad/s^2.
    """
    settled = hanging_by_both(0.008 * 0.9 ** np.arange(300))
    assert settled.finding.outcome == "not_judged"
    assert settled.step.left_out == 296  # the first three wait for efforts that may act late
    let_go = hanging_by_both(0.05 * np.arange(300))
    assert let_go.finding.outcome == "outside"
