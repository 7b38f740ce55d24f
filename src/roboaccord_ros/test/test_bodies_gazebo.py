"""Free bodies beside the Packbot in Gazebo: their models, and their motions where it is there."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from roboaccord.contract.contact import MeshFixture
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import BODY_ORIENTATION, BODY_POSITION, BODY_TWIST, Target
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.meshes import read_mesh
from roboaccord.gazebo.form import expand_for_gazebo
from roboaccord.numerics import quaternion_matrix
from roboaccord.run.loop import make_simulator, run_setup, simulate
from roboaccord.scenario import Setup, make_scenario
from roboaccord_ros.gazebo import transport
from roboaccord_ros.gazebo.simulator import GazeboSimulator
from roboaccord_ros.gazebo.world import World

pytest.importorskip("packbot", reason="the Packbot, beside which bodies are, is not installed")
pytest.importorskip("coal", reason="coal, which measures the hulls' distances, is not installed")

LACKING = transport.installed_release().lacking()
needs_gazebo = pytest.mark.skipif(
    bool(LACKING), reason=f"Python modules of Gazebo are not installed: {', '.join(LACKING)}"
)

MU, STEP, G = 0.3, 1e-3, 9.81  # friction of the scenario, physics step [s], gravity [m/s^2]
FULL = 0xFFFF  # Gazebo's mask where none is given
TOP = 0.2  # m: of the table, below the arm at its zero position
TABLE = {"size": [0.6, 0.8, TOP], "position": [1.0, 0.6, 0.5 * TOP]}
CUBE = {"size": [0.1, 0.1, 0.1], "mass": 1.0}
# Gazebo updates a pose only when it has changed by 1e-6 m or 2e-6 rad.
RESOLUTION = 2e-6
# What rests falls freely in the first step, which finds no contact, by g h^2 [m]; then DART lifts
# it by 1 % of the depth in each step, at most so fast [m/s].
SINKING, RISING = G * STEP**2, 0.01 * G * STEP


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def setup_of(bodies: dict[str, dict[str, Any]], **keys: Any) -> Setup:
    data = {
        "robot": "packbot",
        "terrain": {"ground": True, "boxes": {"table": TABLE}},
        "bodies": bodies,
        "friction": {"law": "normal", "mu": MU},
        "controller": {"name": "velocity", "clearance": 0.0},
        "control_period": 0.01,
        "physics_step": STEP,
    }
    return Setup.of(make_scenario({**data, **keys}))


def on_table(x: float, y: float, **keys: Any) -> dict[str, Any]:
    return {**CUBE, "position": [x, y, TOP + 0.05], **keys}


def run_of(setup: Setup) -> Trajectory:
    simulator = make_simulator(setup, "gz")
    assert isinstance(simulator, GazeboSimulator)
    run = run_setup(setup, simulator)
    simulator.close()
    return run


def bodies_of(run: Trajectory) -> np.ndarray:
    assert run.bodies is not None
    return run.bodies


def models_of(world: World) -> dict[str, ET.Element]:
    """Return the models that can touch anything."""
    models = ET.parse(world.path).iter("model")
    return {m.attrib["name"]: m for m in models if m.find("link/collision") is not None}


def test_bodies_touch_what_they_do_elsewhere_and_get_shape_mass_and_friction() -> None:
    from roboaccord_files.gazebo.check import check_file

    setup = setup_of(
        {
            "box": on_table(0.9, 0.4, yaw=1.0, friction=0.2),
            "can": {"radius": 0.04, "height": 0.2, "mass": 0.5, "position": [0.9, 0.7, 0.3]},
            "stone": {"file": "shoulder_casing.obj", "mass": 2.0, "position": [0.9, 0.9, 0.5]},
        }
    )
    world = World.write(setup)
    assert check_file(world.path, []) == []
    models = models_of(world)
    masks = {
        tag.attrib["reference"]: int(tag.findtext(".//collide_bitmask", "0"), 0)
        for tag in ET.fromstring(expand_for_gazebo(setup)).findall("gazebo[@reference]")
    }
    for name, model in models.items():
        masks[name] = int(model.findtext(".//collide_bitmask", str(FULL)), 0)
    assert setup.contact is not None
    names = {body.name for body in setup.bodies}
    touching = {frozenset((a, b)) for a, b in product(names, masks) if masks[a] & masks[b]}
    pairs = {frozenset(pair) for pair in setup.contact.pairs if names.intersection(pair)}
    assert {pair for pair in touching if len(pair) == 2} == pairs
    for name, model in models.items():
        for tag in ("mu", "mu2"):
            assert float(model.findtext(f".//{tag}", "nan")) == setup.contact.friction[name]
    for body in setup.bodies:
        model = models[body.name]
        assert model.find("static") is None
        pose = [float(word) for word in model.findtext("pose", "").split()]
        assert pose == body.start[:7].tolist()
        assert float(model.findtext("link/inertial/mass", "")) == body.mass
        for i, k in combinations_with_replacement(range(3), 2):
            entry = model.findtext(f"link/inertial/inertia/i{'xyz'[i]}{'xyz'[k]}", "nan")
            assert float(entry) == body.inertia[i, k]
    stone, shape = models["stone"], setup.bodies[2].shape
    assert isinstance(shape, MeshFixture)
    url = stone.findtext("link/collision/geometry/mesh/uri", "")
    points, _ = read_mesh(Path(url.removeprefix("file://")))
    assert np.array_equal(np.unique(points, axis=0), np.unique(shape.vertices, axis=0))
    for part in ("collision", "visual"):
        place = [float(word) for word in stone.findtext(f"link/{part}/pose", "").split()]
        assert place == [*shape.position.tolist(), 0.0, 0.0, 0.0]


@needs_gazebo
def test_a_physics_engine_with_another_friction_is_refused() -> None:
    options = {"gz": {"physics": "bullet-featherstone"}}
    setup = setup_of({"box": on_table(0.9, 0.4)}, engine_options=options)
    with pytest.raises(AccordError, match="in bullet-featherstone free bodies would have another"):
        make_simulator(setup, "gz")


@needs_gazebo
def test_bodies_rest_or_slide_to_a_stop_by_the_friction_of_their_pair() -> None:
    """They come to rest after v^2 / 2 mu g, with the smaller mu, less v h / 2 by the time step.

    The friction pyramid is along the axes of the world: at 45 degrees it is sqrt(2) mu.
    """
    speed, oblique = 0.4, 0.4 / math.sqrt(2.0)
    stone = {"file": "shoulder_casing.obj", "mass": 2.0, "position": [0.9, 0.9, 0.0]}
    shape = setup_of({"stone": stone}).bodies[0].shape
    assert isinstance(shape, MeshFixture)
    stone["position"] = [0.8, 0.8, TOP - shape.vertices[:, 2].min()]
    setup = setup_of(
        {
            "rough": on_table(0.8, 0.5, friction=0.5, twist=[oblique, oblique, 0, 0, 0, 0]),
            "smooth": on_table(0.8, 0.3, friction=0.2, twist=[speed, 0, 0, 0, 0, 0]),
            "stone": stone,
        },
        duration=0.3,
    )
    bodies = bodies_of(run_of(setup))
    assert np.array_equal(bodies[0], setup.initial.bodies)
    ways = bodies[-1, :, BODY_POSITION] - bodies[0, :, BODY_POSITION]
    for way, mu in zip(ways, (MU * math.sqrt(2.0), 0.2)):
        expected = 0.5 * speed**2 / (mu * G) - 0.5 * speed * STEP
        assert math.hypot(*way[:2]) == pytest.approx(expected, abs=RESOLUTION)
    assert ways[0, 0] == pytest.approx(ways[0, 1], abs=RESOLUTION)
    assert ways[1, 1] == pytest.approx(0.0, abs=RESOLUTION)
    assert np.abs(ways[2, :2]).max() < RESOLUTION
    assert np.abs(ways[:, 2]).max() < SINKING
    assert np.abs(bodies[-1, :, BODY_TWIST]).max() < RISING


@needs_gazebo
def test_a_thrown_box_flies_as_in_theory_and_goes_on_from_any_state() -> None:
    """Rates come before positions in a step, so z = v t - g t (t + h) / 2; spin is of order h."""
    twist = [0.1, 0.2, 0.3, 1.0, 2.0, 3.0]
    box = {**CUBE, "size": [0.1, 0.2, 0.3], "position": [0.9, 0.5, 1.5], "roll": 0.4, "yaw": 1.0}
    can = {"radius": 0.04, "height": 0.2, "mass": 0.5, "position": [0.9, 0.7, TOP + 0.1]}
    setup = setup_of({"box": {**box, "twist": twist}, "can": can}, duration=0.2)
    simulator = make_simulator(setup, "gz")
    run = run_setup(setup, simulator)
    rows, t = bodies_of(run)[:, 0], run.time
    turns = np.array([quaternion_matrix(row[BODY_ORIENTATION]) for row in rows])
    linear, angular = rows[:, BODY_TWIST][:, :3], rows[:, BODY_TWIST][:, 3:]
    velocity = np.einsum("kij,kj->ki", turns, linear)
    assert np.abs(velocity - velocity[0] + np.outer(t, [0.0, 0.0, G])).max() < 1e-12
    expected = rows[0, BODY_POSITION] + np.outer(t, velocity[0])
    expected[:, 2] -= 0.5 * G * t * (t + STEP)
    assert np.abs(rows[:, BODY_POSITION] - expected).max() < 1e-12
    momentum = np.einsum("kij,jl,kl->ki", turns, setup.bodies[0].inertia, angular)
    change = np.linalg.norm(momentum - momentum[0], axis=1)
    assert change.max() < STEP * np.linalg.norm(momentum[0])
    moved = np.abs(bodies_of(run)[-1, 1] - setup.initial.bodies[1])
    assert moved[BODY_POSITION].max() < SINKING and moved[BODY_TWIST].max() < RISING
    assert run_setup(setup, simulator).sha256() == run.sha256()
    assert np.array_equal(simulator.reset(run.state(10)).bodies, run.state(10).bodies)
    for index in range(10, 15):
        state = simulator.step(run.command(index), 0.01)
    assert np.abs(state.bodies[0] - rows[15]).max() < 1e-12
    simulator.close()


class Turning:
    """Have the turret turn at a rate for a time, then stand."""

    def __init__(self, inner: Any, rate: float, until: float) -> None:
        self._inner, self._rate, self._until = inner, rate, until

    def reset(self, seed: int) -> None:
        self._inner.reset(seed)

    def update(self, state: Any, target: Any) -> Any:
        rates = np.zeros(7)
        rates[0] = self._rate if state.time < self._until else 0.0
        return self._inner.update(state, Target(velocity=rates))


@needs_gazebo
def test_the_arm_pushes_a_box_which_stays_ahead_of_it() -> None:
    from packbot.controllers.velocity import VelocityController

    box = {"size": [0.12, 0.12, 0.16], "mass": 1.5, "position": [1.0, 0.3, TOP + 0.08]}
    setup = setup_of({"box": box}, duration=1.0)
    simulator = make_simulator(setup, "gz")
    run = simulate(
        simulator=simulator,
        controller=Turning(VelocityController(setup, clearance=0.0), 0.4, 0.7),
        initial=setup.initial, duration=1.0, control_period=0.01,
    )  # fmt: skip
    simulator.close()
    rows = bodies_of(run)[:, 0]
    corners = np.array([*product((-0.06, 0.06), (-0.06, 0.06), (-0.08, 0.08))])
    gaps = []
    for q, row in zip(run.q[:, 0], rows):
        points = row[BODY_POSITION] + corners @ quaternion_matrix(row[BODY_ORIENTATION]).T
        # Link 2 is a tube along x in the frame of the turret, 0.089 m at most to the left.
        left = -math.sin(q) * (points[:, 0] - 0.2) + math.cos(q) * points[:, 1]
        gaps.append(left.min() - 0.089)
    pushed = rows[:, 1] > 0.3 + 1e-3
    assert pushed.sum() > 40 and rows[-1, 1] > 0.35
    assert min(gaps) > -0.4 * 0.9 * STEP  # the way of a step, seen when it has been taken
    assert max(np.array(gaps)[pushed & (run.time < 0.7)]) < RESOLUTION  # they touch
    assert np.abs(rows[:, 2] - 0.28).max() < SINKING + RESOLUTION
    assert np.abs(rows[-1, BODY_TWIST]).max() < RISING
