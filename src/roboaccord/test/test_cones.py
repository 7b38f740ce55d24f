"""Settings of engines that change their laws of friction, against closed forms.

A box of one speed slides to a stop on flat ground. By Coulomb's cone it comes v^2 / (2 mu g) far,
whatever its direction. By a box along the world's axes it brakes apart along both, and by a pyramid
with its corners on them it brakes along the faster one alone until both are alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from roboaccord.contract.certificate import ContactForce
from roboaccord.contract.contact import Contact, Fixture
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Command, RobotState
from roboaccord.engines import simulate_model
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel
from roboaccord.numerics.rotations import quaternion_matrix, yaw_quaternion
from roboaccord.testing.engines import STOP_EFFORT
from roboaccord.testing.small_robots import model_of, start
from running import or_skip

pytestmark = pytest.mark.thorough

Options = Mapping[str, object]
HALF = 0.05  # m: of the box's height
MU, G, SPEED, STEP = 0.4, 9.81, 1.0, 1e-3
NONE = np.zeros(0)
BOX = f"""<robot name="box"><link name="base_link"><inertial><mass value="1.3"/>
  <inertia ixx="0.02" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.4 0.4 {2 * HALF}"/></geometry></collision></link></robot>"""
CONES: list[tuple[str, Options]] = [
    ("dart", {"friction_solver": "nsgs"}),
    ("dart", {"friction_solver": "nsgs", "split_impulse": True}),
    ("dart", {"friction_solver": "fbf"}), ("mujoco", {}), ("mujoco", {"impratio": 1.0}),
    ("mujoco", {"integrator": "implicit"}), ("mujoco", {"integrator": "discrete"}),
    ("mujoco", {"diagexact": True}),
]  # fmt: skip
BOXES: list[tuple[str, Options]] = [("dart", {}), ("dart", {"split_impulse": True})]
PYRAMIDS: list[tuple[str, Options]] = [
    ("mujoco", {"cone": "pyramidal"}),
    ("mujoco", {"cone": "pyramidal", "impratio": 1.0}),
]


def box(engine: str, options: Options, angle: float, speed: float = SPEED) -> EngineSimulator:
    """Return a box on the ground that slides at an angle [deg] to the world's x axis."""
    ground = Fixture(name="ground", size=np.array([9.0, 9.0, 1.0]), position=np.array([0, 0, -0.5]))
    rough = {"base_link": MU, "ground": MU}
    contact = Contact(pairs=(("base_link", "ground"),), friction=rough, fixtures=(ground,))
    model = EngineModel(
        urdf=BOX, base="free", joints=(), effort_limits=NONE, physics_step=STEP, gravity=G,
        contact=contact, options={engine: options},
    )  # fmt: skip
    simulator = simulate_model(model, engine)
    turned, going = yaw_quaternion(math.radians(angle)), np.array([speed, 0.0, 0.0, 0.0, 0.0, 0.0])
    at = np.array([0.0, 0.0, HALF])
    simulator.reset(RobotState(0.0, NONE, NONE, NONE, at, turned, going))
    return simulator


def stopped(engine: str, options: Options, angle: float, speed: float = SPEED) -> RobotState:
    """Return where it has come to rest."""
    return box(engine, options, angle, speed).step(Command(NONE), 0.4)


def reach(engine: str, options: Options, angle: float) -> float:
    """Return how far it comes, as a multiple of v^2 / (2 mu g)."""
    with or_skip(""):
        end = stopped(engine, options, angle)
    assert np.abs(end.twist[:3]).max() < 1e-3
    return float(np.hypot(*end.position[:2])) / (0.5 * SPEED**2 / (MU * G))


ONE_STEP = 1.5 * STEP * MU * G / SPEED
"""Of the distance: what semi-implicit Euler stops short by, v h / 2, and half as much again."""


@pytest.mark.parametrize("angle", [0.0, 22.5, 45.0])
@pytest.mark.parametrize(("engine", "options"), CONES, ids=str)
def test_a_cone_brakes_alike_in_every_direction(
    engine: str, options: Options, angle: float
) -> None:
    assert reach(engine, options, angle) == pytest.approx(1.0, abs=ONE_STEP)


@pytest.mark.parametrize("angle", [0.0, 22.5, 45.0])
@pytest.mark.parametrize(("engine", "options"), BOXES, ids=str)
def test_a_box_brakes_along_each_axis_apart(engine: str, options: Options, angle: float) -> None:
    """Its sides take v cos and v sin, each at mu g."""
    along, across = math.cos(math.radians(angle)) ** 2, math.sin(math.radians(angle)) ** 2
    expected = math.hypot(along, across)
    assert reach(engine, options, angle) == pytest.approx(expected, abs=ONE_STEP)


@pytest.mark.parametrize("angle", [0.0, 22.5, 45.0])
@pytest.mark.parametrize(("engine", "options"), PYRAMIDS, ids=str)
def test_a_pyramid_brakes_the_faster_axis_first(
    engine: str, options: Options, angle: float
) -> None:
    """It takes mu g from the faster side until both are alike, then mu g / 2 from each."""
    expected = math.hypot(1.0, math.sin(2.0 * math.radians(angle)))
    assert reach(engine, options, angle) == pytest.approx(expected, abs=ONE_STEP)


C, S = math.cos(math.pi / 8.0), math.sin(math.pi / 8.0)  # of 22.5 degrees


@pytest.mark.parametrize(
    ("engine", "options", "angle", "friction", "cone"),
    [
        ("dart", {"friction_solver": "nsgs"}, 22.5, (C, S), 0.0),
        ("mujoco", {}, 22.5, (C, S), 0.0),
        ("mujoco", {}, -90.0, (0.0, -1.0), 0.0),
        ("dart", {}, 0.0, (1.0, 0.0), 0.0),
        ("dart", {}, 45.0, (1.0, 1.0), math.sqrt(2.0) - 1.0),
        ("mujoco", {"cone": "pyramidal"}, 22.5, (1.0, 0.0), 0.0),
    ],
)
def test_contact_points_have_the_friction_of_their_cone(
    engine: str, options: Options, angle: float, friction: tuple[float, float], cone: float
) -> None:
    """Of all points together, over mu f_n: the corners of DART's box are outside Coulomb's cone.

    A pyramid brakes along an axis alone, at an angle to the velocity, and dissipates less. DART's
    default bounds the friction of each point by a normal force of its own, that without friction.
    """
    with or_skip(""):
        simulator = box(engine, options, angle)
    simulator.step(Command(NONE), 0.05)
    while not (pressing := sum(point.force for point in simulator.contacts())):  # MuJoCo's hops
        simulator.step(Command(NONE), STEP)
    velocity = quaternion_matrix(simulator.state().orientation) @ simulator.state().twist[:3]
    force = np.zeros(3)
    for point in simulator.contacts():
        assert point.friction is not None and point.pair == ("base_link", "ground")
        assert float(point.friction @ point.normal) == pytest.approx(0.0, abs=1e-12)
        force += point.force * point.normal + point.friction
    bound, speed = MU * pressing, float(np.hypot(*velocity[:2]))
    assert force[:2] / bound == pytest.approx(friction, abs=1e-4)
    # On the ground, the second body, whose velocity is seen from the box.
    total = ContactForce(np.array([0.0, 0.0, -1.0]), force, 0.0, -velocity, MU)
    _, beyond, lacking = total.residuals(bound)
    assert beyond == pytest.approx(cone, abs=1e-4)
    least = speed - float(np.dot(friction, velocity[:2]))
    assert lacking == pytest.approx(max(least, 0.0), abs=1e-4)


@pytest.mark.parametrize("impratio", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("time", [0.0, 0.01])
def test_a_box_rests_as_deep_as_mujocos_regularisation_says(impratio: float, time: float) -> None:
    """Each of four points bears m g / 4: R f = k r, R = (1 - d) / (d m), k = d / (d_max t)^2.

    Friction's impedance changes nothing of it. The impedance d grows with the depth.
    """
    pytest.importorskip("mujoco")
    end = stopped("mujoco", {"impratio": impratio, "contact_time": time}, 0.0, speed=0.0)
    depth, least, most, width = HALF - end.position[2], 0.99, 0.999, 1e-4
    d = least + (most - least) * 2.0 * (depth / width) ** 2
    stiffness = d / (most * max(time, 2.0 * STEP)) ** 2
    assert depth == pytest.approx((1.0 - d) / d * G / 4.0 / stiffness, rel=0.01)


@pytest.mark.parametrize("solver", ["nsgs", "fbf"])
def test_a_solver_of_cones_holds_a_joint_at_its_stop(solver: str) -> None:
    """A micrometre from where DART's default holds it at most."""
    pytest.importorskip("dartpy")
    ends = []
    for name in ("dantzig", solver):
        model = replace(model_of("cart"), options={"dart": {"friction_solver": name}})
        simulator = simulate_model(model, "dart")
        simulator.reset(start("cart"))
        ends.append(simulator.step(Command(np.array([STOP_EFFORT, 0.0])), 1.0).q[0])
    assert ends[1] == pytest.approx(ends[0], abs=1e-6)


@pytest.mark.parametrize(
    ("engine", "key", "value"),
    [
        ("dart", "friction_solver", "newton"), ("dart", "friction_iterations", 0),
        ("dart", "split_impulse", "yes"), ("mujoco", "diagexact", 1),
        ("mujoco", "integrator", "heun"), ("mujoco", "cone", "round"),
        ("mujoco", "impratio", 0.0), ("mujoco", "impratio", math.inf),
    ],
)  # fmt: skip
def test_what_an_engine_does_not_take_is_refused(engine: str, key: str, value: object) -> None:
    with pytest.raises(AccordError, match=f"{key}.*{value}"):
        simulate_model(replace(model_of("cart"), options={engine: {key: value}}), engine)
