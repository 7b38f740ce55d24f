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
from roboaccord.contract.contact import Contact, Fixture
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Command, RobotState
from roboaccord.engines import simulate_model
from roboaccord.engines.model import EngineModel
from roboaccord.numerics.rotations import yaw_quaternion
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


def stopped(engine: str, options: Options, angle: float, speed: float = SPEED) -> RobotState:
    """Return where a box has come to rest that slides at an angle [deg] to the world's x axis."""
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
    return simulator.step(Command(NONE), 0.4)


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
