"""The event-driven reference: smooth motion, impacts, rest, friction, and its refusals."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pinocchio as pin
import pytest
from packbot.contact.clearance import Clearance
from packbot.contact.features import LOWER, Contacts
from packbot.contact.forces import impact
from packbot.contact.friction import ContactFriction
from packbot.contact.gaps import GapFunctions, Proximity
from packbot.model.arm import Arm
from packbot.simulators.reference import PackbotReference
from packbot.simulators.stiff import take_stiff_step
from packbot.source.collapse import collapse_setup
from roboaccord.contract.contact import ContactPoint
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.scenario.setup import Setup
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

pytestmark = pytest.mark.thorough

JOINTS = ("turret", "shoulder", "elbow1", "elbow2", "tilt", "pan", "wrist")
MARGIN = 5e-4  # m: the law's own
Near = tuple[GapFunctions, Array, np.ndarray]
GAP = 1e-9  # m: tolerance of a gap, the reference's own
LOSSLESS = [f"parameters.viscous_{name}=0" for name in JOINTS]


def run(
    duration: float, changes: list[str] | None = None, contact: str = "normal"
) -> tuple[PackbotReference, Trajectory]:
    setup = collapse_setup(contact, duration, changes or [])
    simulator = make_simulator(setup)
    trajectory = run_setup(setup, simulator)
    assert isinstance(simulator, PackbotReference)
    return simulator, trajectory


@pytest.fixture(scope="module")
def setup() -> Setup:
    return collapse_setup("normal", 5.0)


@pytest.fixture(scope="module")
def arm(setup: Setup) -> Arm:
    return Arm.of(setup)


@pytest.fixture(scope="module")
def fall() -> tuple[PackbotReference, Trajectory]:
    """The collapse until nothing moves but pan and wrist, which creep."""
    return run(2.5)


@pytest.fixture(scope="module")
def near(setup: Setup) -> list[Near]:
    """Poses with hulls that nearly touch: what measures, angles, features."""
    clearance = Clearance.of(setup)
    rng, poses = np.random.default_rng(7), list[Near]()
    while len(poses) < 20:
        q = rng.uniform(*np.array([setup.parameters.of_joints(k) for k in ("lower", "upper")]))
        distances = clearance.distances(q)
        if not 1e-4 < distances.min() < 5e-3:
            continue
        proximity = Proximity(clearance, near=0.02)
        proximity.restart(distances)
        touch = GapFunctions(proximity, np.zeros(len(distances)), np.array([q - 9.0, q + 9.0]))
        poses.append((touch, q, touch.features(q)))
    return poses


def test_without_contact_it_moves_as_another_integrator_has_it(arm: Arm) -> None:
    """SciPy's DOP853 at its finest, on the same equations; viscous friction included."""
    simulator, trajectory = run(1.0, contact="none")
    viscous = simulator.joint_friction.viscous

    def slope(_: float, x: Array) -> Array:
        return np.concatenate([x[7:], arm.acceleration(x[:7], x[7:], -viscous * x[7:])])

    start = np.concatenate([trajectory.q[0], trajectory.qd[0]])
    exact = solve_ivp(slope, (0.0, 1.0), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    off = np.concatenate([trajectory.q[-1], trajectory.qd[-1]]) - exact
    assert np.abs(off).max() < 1e-6  # a hundred steps' tolerances of 1e-8


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_impacts_obey_their_law(arm: Arm, restitution: float) -> None:
    """Momentum, complementarity, and -(1 - e) / (1 + e) L^T W L / 2 of energy; W = J M^-1 J^T."""
    rng = np.random.default_rng(3)
    for count in (1, 2, 4, 9):  # nine rows of seven joints are redundant
        mass = arm.mass_matrix(rng.uniform(-1.0, 1.0, 7))
        rows, v = rng.normal(size=(count, 7)), rng.normal(size=7)
        if count == 9:
            rows = np.abs(rows)  # of one mind: some motion opens them all
        impulses, after = impact(mass, rows, v, restitution)
        speeds = rows @ after + restitution * (rows @ v)
        assert mass @ (after - v) == pytest.approx(rows.T @ impulses, abs=1e-9)
        assert impulses.min() >= 0.0
        assert speeds.min() > -1e-7
        assert impulses @ speeds == pytest.approx(0.0, abs=1e-7)
        w = rows @ np.linalg.solve(mass, rows.T)
        lost = 0.5 * (1.0 - restitution) / (1.0 + restitution) * impulses @ w @ impulses
        gained = 0.5 * (after @ mass @ after - v @ mass @ v)
        assert gained == pytest.approx(-lost, abs=1e-7)
        if count == 1 and rows[0] @ v < 0.0:
            assert impulses[0] == pytest.approx(-(1.0 + restitution) * (rows[0] @ v) / w[0, 0])


def test_features_have_the_distances_of_their_hulls(near: list[Near]) -> None:
    """The least of the features' distances is that of the hulls, which coal measures."""
    for touch, q, features in near:
        gaps, _, _ = touch.measure(features, q)
        distances = touch.proximity.clearance.distances(q)
        for pair in np.flatnonzero(distances < 0.02):
            least = gaps[features[:, 5] == pair].min()
            assert least == pytest.approx(distances[pair], abs=1e-7)


def test_no_pair_comes_near_unseen(setup: Setup) -> None:
    """Between random poses bounds stay below distances, and all that is near is found.

    What is near afterwards has not moved by more than `largest_change` says. Of what is far little
    is measured.
    """
    clearance, near = Clearance.of(setup), 0.02
    rng, proximity = np.random.default_rng(12), Proximity(clearance, near)
    lower, upper = (setup.parameters.of_joints(k) for k in ("lower", "upper"))
    start, goals = setup.initial.q, rng.uniform(lower, upper, (3, 7))
    directions = [np.linspace(a, b, 20, endpoint=False) for a, b in pairwise([start, *goals])]
    before = clearance.distances(start)
    proximity.restart(before)
    came = guessed = 0
    for last, q in pairwise(np.concatenate(directions)):
        most = proximity.largest_change(np.abs(q - last))
        proximity.move(np.abs(q - last))
        found, after = proximity.features(q), clearance.distances(q)
        close = after < near
        assert set(found[:, 5]) == set(np.flatnonzero(close))
        assert (proximity.bounds <= after + 1e-7).all()
        assert proximity.bounds[close] == pytest.approx(after[close], abs=1e-7)
        apart = close & (np.minimum(before, after) > 0.0)
        assert np.abs(after - before)[apart].max(initial=0.0) <= most + 1e-7
        came += int((close & (before > near)).sum())
        guessed += int((proximity.bounds < after - 1e-3).sum())
        before = after
    assert came > 4
    assert guessed > 0.5 * 59 * len(before)
    moves, angles = clearance.reaches @ np.full(7, 0.1), np.full(7, 0.1)
    proximity.restart(np.full(len(moves), near + 0.1))
    assert proximity.largest_change(angles) == pytest.approx(moves[moves > 0.1].max())
    proximity.restart(np.full(len(moves), near + 1.01 * moves.max()))
    assert proximity.largest_change(angles) == 0.0


def test_rows_are_the_slopes_of_gaps(near: list[Near]) -> None:
    """And dJ/dt v that of the rows, both by differences of the angles."""
    step = 1e-6
    rng = np.random.default_rng(4)
    for touch, q, features in near[:5]:
        v = rng.normal(size=7)
        _, rows, _, bias = touch.measure_turning(features, q, v)
        ahead, rows_ahead, _ = touch.measure(features, q + step * v)
        back, rows_back, _ = touch.measure(features, q - step * v)
        assert (ahead - back) / (2.0 * step) == pytest.approx(rows @ v, abs=1e-6)
        assert (rows_ahead - rows_back) @ v / (2.0 * step) == pytest.approx(bias, abs=1e-6)


def test_the_collapse_feeds_no_energy_and_keeps_its_margin(
    fall: tuple[PackbotReference, Trajectory], setup: Setup
) -> None:
    simulator, trajectory = fall
    assert 0.0 <= simulator.energy_rise < 1e-4 and simulator._stepper.deepest < 10 * GAP
    clearance = Clearance.of(setup)
    closest = min(clearance.closest(q)[1] for q in trajectory.q)
    assert MARGIN - 10 * GAP < closest < MARGIN + 10 * GAP
    lower, upper = (setup.parameters.of_joints(k) for k in ("lower", "upper"))
    assert (trajectory.q > lower - 10 * GAP).all()
    assert (trajectory.q < upper + 10 * GAP).all()
    subjects = {(event.kind, event.subject) for event in trajectory.events}
    assert ("impact", "base_link/chassis link1_link/elbow1_casing") in subjects
    assert ("impact", "turret_link/shoulder_casing link2_link/tube_2") in subjects
    assert ("joint_stop", "tilt") in subjects


def test_bounds_stay_below_distances_while_contacts_press(
    fall: tuple[PackbotReference, Trajectory],
) -> None:
    """Of a pair that comes near nothing is missed, though most were last measured long ago."""
    simulator, trajectory = fall
    bounds = simulator._stepper.motion.gap_functions.proximity.bounds
    distances = simulator.clearance.distances(trajectory.q[-1])
    assert (bounds <= distances + 1e-7).all()


def push_of(arm: Arm, point: ContactPoint, q: Array) -> Array:
    """Return the efforts (7,) of a contact's force, by pinocchio's Jacobians of its links."""
    total = np.zeros(7)
    for link, sign in zip(point.pair, (-1.0, 1.0), strict=True):
        frame = arm.model.getFrameId(link)
        jacobian = pin.computeFrameJacobian(arm.model, arm.data, q, frame, pin.LOCAL_WORLD_ALIGNED)
        offset = point.position - arm.data.oMf[frame].translation
        linear = jacobian[:3] - pin.skew(offset) @ jacobian[3:]
        total += sign * point.force * point.normal @ linear
    return total


def test_at_rest_contacts_carry_the_arm(arm: Arm) -> None:
    """The turret, which else rocks on for twelve seconds, is braked."""
    simulator, trajectory = run(2.5, ["parameters.viscous_turret=200"])
    points = simulator.contacts()
    q, v = trajectory.q[-1], trajectory.qd[-1]
    assert min(point.force for point in points) >= 0.0
    assert max(point.force for point in points) > 10.0
    assert max(abs(point.depth + MARGIN) for point in points) < 10 * GAP
    carried = sum(push_of(arm, point, q) for point in points)
    missing = arm.bias(q, v) + simulator.joint_friction.viscous * v - carried
    assert np.abs(missing).max() < 1e-3  # of 50 N m of gravity; what creeps still accelerates


def test_trajectories_converge_with_the_tolerances() -> None:
    """Through the first impacts, as the tolerances of steps and of gaps shrink together."""
    key = "engine_options.reference"
    ends = [
        run(0.22, [f"{key}.tolerance={size!r}", f"{key}.gap_tolerance={10 * size!r}"])[1].q[-1]
        for size in (1e-6, 1e-8, 1e-10)
    ]
    coarse, fine = (np.abs(end - ends[2]).max() for end in ends[:2])
    assert fine < 0.1 * coarse and fine < 1e-6


def test_what_bounces_fully_keeps_its_energy(arm: Arm) -> None:
    """Until 0.3 s there are bounces of the elbow's casing and of link 2."""
    _, trajectory = run(0.3, ["friction.restitution=1", *LOSSLESS])
    energies = [arm.energy(q, v) for q, v in zip(trajectory.q, trajectory.qd, strict=True)]
    assert len(trajectory.events) > 1
    assert np.ptp(energies) < 1e-4
    parted = np.diff(np.sign(trajectory.qd[:, 1]))  # the shoulder turns round
    assert parted.any()


def test_friction_takes_what_coulomb_says(near: list[Near], arm: Arm) -> None:
    """The power is -mu lambda |s|^2 / sqrt(|s|^2 + eps^2), s from velocities of the points."""
    rng, slow = np.random.default_rng(5), 0.01
    for touch, q, features in near[:5]:
        v = rng.normal(size=7)
        proximity = touch.proximity
        mu = np.full(len(touch.margins), 0.4)
        friction = ContactFriction(proximity.model, mu, slow)
        _, rows, witnesses = touch.measure(features, q)
        directions = friction.force_directions(Contacts(features, rows, witnesses), q, v)
        pin.forwardKinematics(arm.model, arm.data, q, v)
        for feature, row, direction, witness in zip(
            features, rows, directions, witnesses, strict=True
        ):
            if feature[0] >= LOWER:
                assert (row == direction).all()
                continue
            speeds = []
            for hull, x in ((feature[1], witness[:3]), (feature[3], witness[3:6])):
                body = int(proximity.model.owner[hull])
                twist = pin.getVelocity(arm.model, arm.data, body, pin.LOCAL_WORLD_ALIGNED)
                arms = x - arm.data.oMi[body].translation
                speeds.append(twist.linear + np.cross(twist.angular, arms) if body else 0.0 * x)
            relative, normal = speeds[1] - speeds[0], witness[6:]
            square = relative @ relative - (relative @ normal) ** 2
            power = (direction - row) @ v
            assert power == pytest.approx(-0.4 * square / np.sqrt(square + slow**2), abs=1e-9)


def test_friction_at_impacts_takes_energy_alone(near: list[Near], arm: Arm) -> None:
    rng = np.random.default_rng(6)
    for touch, q, features in near[:10]:
        proximity, v = touch.proximity, 3.0 * rng.normal(size=7)
        features = features[features[:, 0] < LOWER]
        mu = np.full(len(touch.margins), 0.4)
        friction = ContactFriction(proximity.model, mu, 0.01)
        _, rows, witnesses = touch.measure(features, q)
        mass = arm.mass_matrix(q)
        impulses, parted = impact(mass, rows, v)
        more, braked = friction.friction_impulses(
            mass, Contacts(features, rows, witnesses), q, parted, impulses
        )
        assert braked @ mass @ braked <= parted @ mass @ parted + 1e-12
        assert (rows @ braked).min() > -1e-7
        assert more.min() >= 0.0


def past_each_other(
    touch: GapFunctions, arm: Arm, feature: Array, witness: Array, q: Array
) -> Array:
    """Return how fast the second point of a feature moves past the first (3, 7), by pinocchio."""
    pin.computeJointJacobians(arm.model, arm.data, q)
    total = np.zeros((3, 7))
    for hull, x, sign in ((feature[1], witness[:3], -1.0), (feature[3], witness[3:6], 1.0)):
        if body := int(touch.proximity.model.owner[hull]):
            rows = pin.getJointJacobian(arm.model, arm.data, body, pin.LOCAL_WORLD_ALIGNED)
            offset = x - arm.data.oMi[body].translation
            total += sign * (rows[:3] - pin.skew(offset) @ rows[3:])
    return total


def test_friction_of_an_impact_is_mu_times_its_whole_impulse(near: list[Near], arm: Arm) -> None:
    """Of one contact, by the change of momentum: M (v+ - v-) = J^T (Lambda n + friction).

    Friction may push the contact together: what parts it then has friction, too. While it slides
    all of it is against slips between the first and the last, which is as long but for the cosine.
    To 1e-6: the solver's 1e-9 over singular values of the Jacobian from 0.01 on, and a reserve.
    """
    rng, mu = np.random.default_rng(9), 0.05
    slides = again = 0
    for touch, q, features in near:
        feature, pairs, fixed = features[:1], len(touch.margins), touch.proximity
        friction = ContactFriction(fixed.model, np.full(pairs, mu), 0.01)
        _, rows, witnesses = touch.measure(feature, q)
        mass, v, n = arm.mass_matrix(q), rng.normal(size=7), witnesses[0, 6:]
        v *= -np.sign(rows[0] @ v)
        first, parted = impact(mass, rows, v)
        (whole,), braked = friction.friction_impulses(
            mass, Contacts(feature, rows, witnesses), q, parted, first
        )
        moves = past_each_other(touch, arm, feature[0], witnesses[0], q)
        if np.linalg.svd(moves)[1].min() < 0.01:
            continue  # joints too few for an impulse in each direction
        momentum = mass @ (braked - v)
        impulse = np.linalg.lstsq(moves.T, momentum, rcond=None)[0]
        assert moves.T @ impulse == pytest.approx(momentum, abs=1e-9)
        friction = impulse - impulse @ n * n
        assert whole == pytest.approx(impulse @ n, rel=1e-6)
        assert np.linalg.norm(friction) <= mu * whole * (1.0 + 1e-6)
        before, after = (s - s @ n * n for s in (moves @ parted, moves @ braked))
        if np.linalg.norm(after) > 1e-6:
            cosine = before @ after / np.linalg.norm(before) / np.linalg.norm(after)
            assert np.linalg.norm(friction) >= mu * whole * (cosine - 1e-6)
            slides += cosine > 0.99
            again += cosine > 0.99 and whole > 1.01 * first[0]
    assert slides > 4 and again > 2


def test_what_jams_is_stopped_with_a_loss(near: list[Near], arm: Arm) -> None:
    """No slip and no closing are left; what is taken is the energy of the change (Kelvin)."""
    rng = np.random.default_rng(8)
    for touch, q, features in near[:10]:
        proximity, v = touch.proximity, rng.normal(size=7)
        features = features[features[:, 0] < LOWER][:3]
        mu = np.full(len(touch.margins), 0.4)
        friction = ContactFriction(proximity.model, mu, 1e-9)
        contacts, mass = touch.contacts(features, q), arm.mass_matrix(q)
        after = friction.rates_without_slip(mass, contacts, q, v)
        directions, rows = friction.force_directions(contacts, q, after), contacts.jacobian
        assert np.abs(rows @ after).max() < 1e-7
        assert np.abs((directions - rows) @ after).max() < 1e-7
        lost = 0.5 * (v @ mass @ v - after @ mass @ after)
        assert lost == pytest.approx(0.5 * (v - after) @ mass @ (v - after), abs=1e-9)
        assert np.abs(v - after).max() > 1e-3


def test_a_joint_is_parked_at_its_limit_and_pressed_on_it(setup: Setup, arm: Arm) -> None:
    """Steps stay as long as they may: three of 4 ms or less in each tick of 10 ms."""
    simulator = make_simulator(setup)
    assert isinstance(simulator, PackbotReference)
    upper = setup.parameters.upper_turret
    for beyond in (0.0, 5e-8):
        q = np.array([upper + beyond, 1.2, 0.3, -0.5, 0.0, 0.0, 0.0])
        state = simulator.reset(RobotState(0.0, q, np.zeros(7), np.zeros(7)))
        for _ in range(50):  # gravity is carried, and the turret pushed with 5 N m
            effort = arm.bias(state.q, np.zeros(7)) + np.array([5.0, 0, 0, 0, 0, 0, 0])
            state = simulator.step(Command(effort), 0.01)
        assert simulator._stepper.steps <= 160
        assert abs(state.q[0] - q[0]) < 2 * GAP


def test_states_of_other_simulators_may_overlap(setup: Setup) -> None:
    """The cross-check puts the reference in them: nothing leaps, and no energy comes of it."""
    simulator = make_simulator(setup)
    assert isinstance(simulator, PackbotReference)
    clearance = Clearance.of(setup)
    q = setup.initial.q.copy()
    while clearance.closest(q)[1] > -1e-3:  # the shoulder, back until 1 mm deep
        q[1] += 1e-3
    simulator.reset(RobotState(0.0, q, np.zeros(7), np.zeros(7)))
    after = simulator.step(Command(np.zeros(7)), 0.01)
    assert np.abs(after.qd).max() < 1.0  # falling freely it has 0.3 rad/s by then
    assert simulator.energy_rise < 1e-6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("engine_options.reference.tolerence=1", "did you mean engine_options.reference.tol"),
        ("engine_options.reference.max_step=0", "max_step: 0 is not a positive number"),
    ],
)
def test_wrong_starts_and_options_are_refused(change: str, message: str) -> None:
    with pytest.raises(AccordError) as caught:
        make_simulator(collapse_setup("normal", 0.1, [change]))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_arm_that_its_friction_holds_creeps_as_the_law_says_in_real_time() -> None:
    """The load t = b w + k w / sqrt(w^2 + e^2) of gravity; explicit steps took 480 a tick."""
    dry = {"turret": 20, "shoulder": 150, "elbow1": 60, "elbow2": 30, "tilt": 2, "pan": 1}
    dry["wrist"] = 1
    setup = collapse_setup("normal", 0.3, [f"parameters.coulomb_{k}={v}" for k, v in dry.items()])
    simulator = make_simulator(setup, "reference")
    assert isinstance(simulator, PackbotReference)
    for _ in range(30):
        before = simulator._stepper.steps
        state = simulator.step(Command(np.zeros(7)), 0.01)
    assert simulator._stepper.steps - before <= 4
    load = -Arm.of(setup).bias(state.q, np.zeros(7))
    speed, viscous = setup.parameters.friction_speed, setup.parameters.of_joints("viscous")

    def excess(w: float, k: float, b: float, t: float) -> float:
        return float(b * w + k * w / np.hypot(w, speed) - t)

    for rate, k, b, t in zip(state.qd, map(float, dry.values()), viscous, load, strict=True):
        assert abs(t) < k
        creep = brentq(excess, -1.0, 1.0, args=(k, b, t), xtol=1e-15)
        # What it creeps turns the load: accelerations of 1e-5 rad/s^2, 1e-5 of it.
        assert rate == pytest.approx(creep, rel=1e-4, abs=1e-9)


def test_linearly_implicit_steps_are_of_order_3_with_any_matrix_and_damp_what_is_stiff() -> None:
    def slope(x: Array) -> Array:
        return np.array([x[1], -np.sin(x[0]) - 0.3 * x[1] ** 3, x[0] * x[3], np.cos(x[1]) - x[2]])

    start = np.array([0.5, 0.2, -0.3, 0.4])
    true = solve_ivp(
        lambda _, x: slope(x), (0.0, 1.0), start, method="DOP853", rtol=1e-13, atol=1e-13
    ).y[:, -1]
    for jacobian in (np.zeros((4, 4)), np.random.default_rng(0).normal(size=(4, 4))):
        errors = []
        for count in (40, 80):
            x = start
            for _ in range(count):
                x = take_stiff_step(slope, x, slope(x), jacobian, 1.0 / count, 1e-8).end
            errors.append(np.abs(x - true).max())
        assert np.log2(errors[0] / errors[1]) == pytest.approx(3.0, abs=0.1)
    stiff = -1e6 * np.eye(4)
    step = take_stiff_step(lambda x: stiff @ x, start, stiff @ start, stiff, 0.1, 1e-8)
    assert np.abs(step.end).max() < 1e-4
