"""The heavy ball in DART and MuJoCo, against theory and against its reference."""

import importlib.util
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from roboaccord.contract.contact import Contact, HeightField, MeshFixture
from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Code
from roboaccord.contract.state import Command
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.levels.invariance import InvarianceLevel, check_invariance
from roboaccord.crosscheck.measures.one_step import OneStepCheck, check_one_step
from roboaccord.crosscheck.measures.predictions import predict
from roboaccord.crosscheck.step_check import StepCheck
from roboaccord.engines import simulate_model, spec
from roboaccord.engines.model import EngineModel
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup
from rolling_pendulum import in_the_bowl
from running import run_in
from voxel_sphere.simulators.engines import mesh_fixture

pytestmark = pytest.mark.thorough

R, G = 0.1, 9.81  # m, m/s^2
FACETS = 0.05  # of the change of the rates in 10 ms, as scenario bowl has it
NOTHING = np.zeros(0)
LIBRARIES = {"reference": "numpy", "dart": "dartpy", "mujoco": "mujoco"}
needs = {
    name: pytest.mark.skipif(
        importlib.util.find_spec(library) is None, reason=f"{library} is not installed"
    )
    for name, library in LIBRARIES.items()
}
SIMULATORS = [pytest.param(name, marks=needs[name]) for name in LIBRARIES]
ENGINES = SIMULATORS[1:]


def setup_of(name, *changes):
    return Setup.of(load_scenario("voxel_sphere", "voxel_sphere", name, changes))


def free_model(setup, contact=None):
    """Return the ball in free space, without weight."""
    return EngineModel(
        urdf=setup.urdf(), base="free", joints=(), effort_limits=NOTHING, physics_step=1e-3,
        gravity=0.0, contact=contact,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("engine", "bound"),
    [
        pytest.param("reference", 0.02, marks=needs["reference"]),
        pytest.param("dart", 0.1, marks=needs["dart"]),
        pytest.param("mujoco", 0.1, marks=needs["mujoco"]),
    ],
)
def test_released_in_a_bowl_it_follows_the_rolling_pendulum(engine, bound):
    """At n = 100; docs/voxel_sphere.md has n = 200."""
    path = run_in(setup_of("bowl"), engine)
    assert np.linalg.norm(path.position - in_the_bowl(path.time), axis=1).max() < bound * R


@pytest.mark.parametrize("engine", SIMULATORS)
def test_down_an_incline_it_gains_five_sevenths_of_what_falls(engine):
    heading, slope = math.radians(30.0), math.radians(10.0)
    terrain = "terrain={surface: incline, n: 100, parameters: {direction_deg: 30}}"
    path = run_in(
        setup_of("bowl", terrain, "initial.position=[0.6, 0.6, 0]", "duration=0.5"), engine
    )
    way_down = 0.5 * (G / 1.4) * math.sin(slope) * 0.5**2
    exact = -way_down * np.array(
        [math.cos(slope) * math.cos(heading), math.cos(slope) * math.sin(heading)]
    )
    moved = path.position[-1, :2] - path.position[0, :2]
    assert np.linalg.norm(moved - exact) < 0.02 * way_down


@pytest.mark.parametrize("engine", SIMULATORS[:2])  # in MuJoCo what slides hops
def test_what_friction_does_not_hold_slips(engine):
    changes = ("friction.mu=0.1", "duration=0.2", "controller={name: drive, vx: 9}")
    path = run_in(setup_of("teleop", "terrain={surface: plane, n: 50}", *changes), engine)
    # The centre is accelerated by mu g, the ball's turning by the rest of the torque.
    moved, spin = path.position[-1] - path.position[0], path.twist[-1, 3:]
    assert moved[0] == pytest.approx(0.5 * 0.1 * G * 0.2**2, rel=0.02)
    assert np.linalg.norm(spin) == pytest.approx((0.5 - 0.1 * G * R) / 0.004 * 0.2, rel=0.02)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_wrench_moves_a_free_ball_by_newton_and_euler(engine):
    model = free_model(setup_of("bowl", "terrain.n=50"))
    simulator = simulate_model(model, engine)
    start = replace(simulator.state(), orientation=np.array([0.5, -0.5, 0.5, 0.5]))
    simulator.reset(start)
    force, torque = np.array([1.0, -2.0, 3.0]), np.array([0.001, 0.002, -0.003])
    wrench = np.concatenate([force, torque])
    for _ in range(10):
        state = simulator.step(Command(NOTHING, wrench=wrench), 0.01)
    speeds = np.linalg.norm(state.twist[:3]), np.linalg.norm(state.twist[3:])
    assert speeds[0] == pytest.approx(np.linalg.norm(force) * 0.1, rel=1e-9)  # of 1 kg
    assert speeds[1] == pytest.approx(np.linalg.norm(torque) * 0.1 / 0.004, rel=1e-9)
    heading = state.position - start.position
    assert heading == pytest.approx(0.5 * force * 0.1**2, rel=0.011)  # Euler: half a step of 100
    # Once it is no longer commanded it acts no longer.
    after = simulator.step(Command(NOTHING), 0.01)
    assert np.linalg.norm(after.twist[:3]) == pytest.approx(speeds[0], rel=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_one_step_is_compared_by_the_turning_of_a_robot_without_joints(engine):
    setup = setup_of("teleop", "duration=0.3", "control_period=0.01")
    path = run_in(setup, engine)
    reference = make_simulator(setup)

    def check(run: Trajectory) -> OneStepCheck:
        return check_one_step(run, predict(reference, run))

    right = check(path)
    assert 0.0 < right.rms == right.spin and right.spin_relative < FACETS
    # Without the torques that were commanded the reference predicts something else.
    wrong = check(replace(path, wrench=None))
    assert wrong.spin_relative > 10.0 * FACETS


def test_engines_refuse_what_they_do_not_take():
    with pytest.raises(AccordError, match="the kinematic ball, and dart has forces"):
        make_simulator(setup_of("incline", "terrain.n=50"), "dart")
    walled = setup_of("bowl", "terrain={surface: arena, n: 50}", "initial.position=[0.5, 0.5, 0]")
    with pytest.raises(AccordError, match="arena has walls; try dart"):
        make_simulator(walled, "mujoco")


BOX = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-0.2, 0.0)], dtype=float)
SIDES = [[0, 2, 6, 4], [1, 5, 7, 3], [0, 4, 5, 1], [2, 3, 7, 6], [0, 1, 3, 2], [4, 6, 7, 5]]
FACES = np.array([[a, b, c] for a, b, c, _ in SIDES] + [[a, c, d] for a, _, c, d in SIDES])


def on_mesh(engine, *, inward=False, convex=True):
    """Return where a ball comes to rest that is put on a box of triangles."""
    faces = FACES[:, ::-1] if inward else FACES
    box = MeshFixture(name="terrain", vertices=BOX, faces=faces, convex=convex)
    pair = ("base_link", "terrain")
    contact = Contact(pairs=(pair,), friction=dict.fromkeys(pair, 1.0), fixtures=(box,))
    model = replace(free_model(setup_of("bowl", "terrain.n=50"), contact), gravity=G)
    simulator = simulate_model(model, engine)
    simulator.reset(replace(simulator.state(), position=np.array([0.1, 0.2, R])))
    return simulator.step(Command(NOTHING), 0.5).position


@pytest.mark.parametrize("engine", ENGINES)
def test_a_ball_rests_on_a_convex_mesh(engine):
    assert on_mesh(engine) == pytest.approx([0.1, 0.2, R], abs=1e-3 * R)


@needs["dart"]
def test_dart_refuses_an_inward_mesh_and_a_height_field():
    with pytest.raises(AccordError, match="faces inwards"):
        on_mesh("dart", inward=True)
    field = HeightField(name="terrain", heights=np.zeros((3, 3)), spacing=1.0)
    contact = Contact(pairs=(), friction={}, fixtures=(field,))
    with pytest.raises(AccordError, match="as a mesh, and not as a height field"):
        simulate_model(free_model(setup_of("bowl", "terrain.n=50"), contact), "dart")


@needs["mujoco"]
def test_mujoco_refuses_a_mesh_that_is_not_convex():
    with pytest.raises(AccordError, match="convex hull of terrain; give it as a height field"):
        on_mesh("mujoco", convex=False)


def test_the_mesh_of_the_engines_is_within_a_tenth_of_a_voxel_of_the_bowl():
    scene = setup_of("bowl").terrain
    vertices = mesh_fixture(scene).vertices / scene.voxel
    inside = np.hypot(*(vertices[:, :2] - 50.0).T) < 35.0
    inside &= vertices[:, 2] > 5.0  # not the floor that closes it
    off = np.linalg.norm(vertices[inside] - [50.0, 50.0, 60.0], axis=1) - 50.0
    assert np.abs(off).mean() < 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "mu", "outcome"),
    [("dart", 1.0, "within"), ("dart", 0.02, "outside"), ("mujoco", 0.02, "within")],
)
def test_a_ball_that_slides_shows_the_box_of_friction(engine, mu, outcome):
    """In the bowl, 0.4 s; docs/voxel_sphere.md: outside by DART's law."""
    changes = (f"friction.mu={mu}", "duration=4", "crosscheck.duration=4")
    setup = setup_of("bowl", *changes)
    found = check_invariance(setup, spec(engine), run_setup(setup, make_simulator(setup, engine)))
    assert InvarianceLevel().judge(found, Tolerances()).outcome == outcome
    assert found.law == ("box" if outcome == "outside" else "")


def test_a_ball_that_was_driven_off_its_terrain_is_judged_up_to_there():
    """The reference has no state beside its terrain: of 99 steps the last 39 are left out."""
    setup = Setup.of(load_scenario("voxel_sphere", "voxel_sphere", "teleop", ["duration=0.1"]))
    states = [*map(run_in(setup, "reference").state, range(101))]
    fallen = [replace(state, position=state.position - [0.0, 0.0, 5.0]) for state in states]
    check = StepCheck(setup, "reference", "1")
    for before, after in [*pairwise(states[:61]), *pairwise(fallen[61:])]:
        check.compare(before, after)
    found = check.verdict()
    assert (found.step.compared, found.step.left_out) == (60, 39)
    assert found.finding.outcome == "within"
    assert found.finding.codes == (Code.ALLOWED, Code.REFUSED_STATE)
    assert "not in the reference at 0.061 s: the start is inside the ground" in found.line()
