"""Adapters of engines: one body without contact moves as the scene says, and forces balance.

Without contact the motion is known, and each engine takes rates before positions: n steps of h
under an acceleration a move a body by v n h + a h^2 n (n + 1) / 2. An adapter that loses a mass, a
rate or an axis fails here, before any problem of contact is judged.
"""

import sys
from math import cos, sin

import numpy as np
import pytest
from roboaccord.contract import AccordError
from roboaccord_bench import engines
from roboaccord_bench.engine import World
from roboaccord_bench.found import load_engine, load_problem, named_entries
from roboaccord_bench.problem import Trial
from roboaccord_bench.scene import GROUND, Body, G, Scene
from scipy.spatial.transform import Rotation

STEP, COUNT = 1e-3, 50
TIME = STEP * COUNT
FALL = 0.5 * STEP**2 * COUNT * (COUNT + 1)  # of a unit of acceleration [s^2]
# Of positions some metres from the origin: single numbers, and how far a link moves before Gazebo
# updates its pose; of others round-off.
LOST = {"newton": 1e-5, "sapien": 1e-5, "mjwarp": 1e-5, "gazebo": 2e-6, "gazebo_bullet": 2e-6}
SLOW = "mjwarp", "newton"
LIBRARIES = {
    "dart": "dartpy",
    "drake": "pydrake",
    "gazebo": "gz",
    "gazebo_bullet": "gz",
    "mjwarp": "mujoco_warp",
    "mujoco": "mujoco",
    "newton": "newton",
    "sapien": "sapien",
}
SETTINGS = ("default", "expert", "featherstone")
CASES = [
    pytest.param(name, setting, marks=[pytest.mark.slow] if name in SLOW else [])
    for name in LIBRARIES
    for setting in SETTINGS
    if setting != "featherstone" or name == "newton"
    if setting != "expert" or not name.startswith("gazebo")
]


def moved(
    case: tuple[str, str], body: Body, force: tuple[float, float, float] | None = None
) -> World:
    """Return a world in which a body has moved, far above the ground."""
    name, setting = case
    try:
        engine = load_engine(name)
    except AccordError as error:
        pytest.skip(str(error))
    world = engine.make(Scene((GROUND, body), 0.5), STEP, setting)
    for _ in range(COUNT):
        world.advance({} if force is None else {body.name: np.array(force)})
    return world


def test_each_adapter_is_tested() -> None:
    """A new adapter is entered in the lists above."""
    assert {*LIBRARIES} == {*named_entries(engines, "ENGINE")}


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_a_body_falls_and_drifts(name: str, setting: str) -> None:
    """A box with a velocity and a yaw, and the exact answer of the scheme."""
    box = Body(
        name="box",
        size=(0.2, 0.3, 0.4),
        mass=2.0,
        position=(0.5, 0.0, 3.0),
        yaw=0.6,
        velocity=(1.0, 2.0, 3.0),
    )
    motion = moved((name, setting), box).motion("box")
    exact = np.array(box.position) + TIME * np.array(box.velocity) - [0.0, 0.0, G * FALL]
    lost = LOST.get(name, 1e-12)
    assert motion.position == pytest.approx(exact, abs=lost)
    assert motion.velocity == pytest.approx([1.0, 2.0, 3.0 - G * TIME], abs=max(lost, 1e-11))
    assert motion.rotation == pytest.approx(box.axes, abs=lost)


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_a_sphere_spins_under_a_force_on_its_centre(name: str, setting: str) -> None:
    """The spin stays, but for the damping that PhysX has by default, and the force accelerates."""
    spin = np.array([1.0, 2.0, 3.0])
    # bullet-featherstone takes the torque that makes the spin in the axes of the body.
    yaw = 0.0 if name == "gazebo_bullet" else 0.7
    ball = Body(
        name="ball",
        size=(0.2,),
        mass=2.0,
        position=(0.0, 0.0, 3.0),
        yaw=yaw,
        spin=(1.0, 2.0, 3.0),
    )
    motion = moved((name, setting), ball, (4.0, -2.0, 2.0 * G)).motion("ball")
    lost = LOST.get(name, 1e-12)
    damped = 0.05 * TIME if (name, setting) == ("sapien", "default") else 0.0
    turned = Rotation.from_rotvec(spin * TIME) * Rotation.from_rotvec([0.0, 0.0, yaw])
    assert motion.position == pytest.approx([2.0 * FALL, -FALL, 3.0], abs=lost)
    assert motion.velocity == pytest.approx([2.0 * TIME, -TIME, 0.0], abs=max(lost, 1e-11))
    assert motion.spin == pytest.approx(spin * (1.0 - damped), abs=max(10.0 * lost, 1e-9))
    # Drake turns a quaternion by its rate, which loses h^2 |spin|^3 t / 12.
    assert motion.rotation == pytest.approx(turned.as_matrix(), abs=max(lost, 1e-6) + damped)


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_a_slide_moves_along_its_axis_alone(name: str, setting: str) -> None:
    """An oblique axis in a body with a yaw: its parts of weight and force accelerate."""
    axis, yaw, speed = (cos(0.4), 0.0, sin(0.4)), 0.5, 1.5
    along = Rotation.from_rotvec([0.0, 0.0, yaw]).apply(axis)
    body = Body(
        name="finger",
        size=(0.2, 0.2, 0.2),
        mass=2.0,
        position=(0.0, 1.0, 3.0),
        yaw=yaw,
        velocity=tuple(speed * along),
        slide=axis,
    )
    if name == "gazebo_bullet":
        with pytest.raises(AccordError, match="no joint to the world but a fixed one"):
            moved((name, setting), body)
        return
    motion = moved((name, setting), body, (3.0, 4.0, 0.0)).motion("finger")
    acceleration = along @ [1.5, 2.0, -G]
    exact = np.array(body.position) + along * (speed * TIME + acceleration * FALL)
    # Constraints of XPBD and of PhysX's joints between two bodies are solved in few iterations.
    lost = max(LOST.get(name, 1e-12), 2e-4 if name == "newton" else 0.0)
    assert motion.position == pytest.approx(exact, abs=lost)
    assert motion.velocity == pytest.approx(along * (speed + acceleration * TIME), abs=20.0 * lost)
    assert motion.rotation == pytest.approx(body.axes, abs=lost)
    assert motion.spin == pytest.approx(np.zeros(3), abs=20.0 * lost)


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_contact_forces_balance_the_momentum(name: str, setting: str) -> None:
    """The forces that an engine reports of a sliding box are those that brake and carry it.

    MuJoCo's of a pyramid lose 1e-4 of the weight, and those of Drake's patches 1e-2 in the step in
    which the box meets the ground.
    """
    try:
        engine = load_engine(name)
    except AccordError as error:
        pytest.skip(str(error))
    problem = load_problem("stopping")
    trial = Trial(engine, setting, STEP, certify=True)
    assert len([*trial.run(problem.scene(heading=22.5), "box", 0.05, {})]) == 50
    if reason := trial.certificate.get("does_not_apply"):
        assert reason == "it gives no contact forces"
        assert name not in ("dart", "drake", "mujoco")
        return
    bound = 2e-2 if (name, setting) == ("drake", "expert") else 1e-3
    assert trial.certificate["momentum"]["value"] < bound
    if name != "drake":
        assert trial.certificate["signorini"]["value"] < 1e-3


@pytest.mark.parametrize("name", LIBRARIES)
def test_an_engine_that_is_not_installed_gives_one_line(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library is hidden, and the adapter is imported anew."""
    for adapter in ("gazebo", "mujoco", name):
        monkeypatch.delitem(sys.modules, f"{engines.__name__}.{adapter}", raising=False)
        monkeypatch.delattr(engines, adapter, raising=False)
    for module in [each for each in sys.modules if each.partition(".")[0] == LIBRARIES[name]]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, LIBRARIES[name], None)
    with pytest.raises(AccordError, match=f"{name} is not installed: ") as caught:
        load_engine(name)
    assert "\n" not in str(caught.value)


def test_drake_refuses_restitution() -> None:
    """It has no coefficient of it, and says so."""
    pytest.importorskip("pydrake")
    engine = load_engine("drake")
    ball = Body(name="ball", size=(0.2,), mass=1.0, position=(0.0, 0.0, 1.0))
    with pytest.raises(AccordError, match="no coefficient of restitution"):
        engine.make(Scene((GROUND, ball), restitution=0.5), STEP)
    bouncing = Body(name="ball", size=(0.2,), mass=1.0, position=(0.0, 0.0, 1.0), restitution=0.5)
    with pytest.raises(AccordError, match="no coefficient of restitution"):
        engine.make(Scene((GROUND, bouncing)), STEP)
