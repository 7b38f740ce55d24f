"""Free bodies beside a robot in engines: closed forms of flight, sliding and impact."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from roboaccord.contract.contact import Contact, CylinderFixture, Fixture, FreeBody, MeshFixture
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import BODY_TWIST, Array, Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.kinematics import motion_of_bodies
from roboaccord.engines import engine_names, simulate_model, spec
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel
from roboaccord.engines.moves import HALF_RIGHT
from roboaccord.engines.symmetries import moved
from roboaccord.engines.twin import twin_of
from roboaccord.numerics.rotations import (
    quaternion_matrix,
    rpy_quaternion,
    turn_quaternion,
    yaw_matrix,
)
from roboaccord.run.energy_book import Stored

LIBRARIES = {"dart": "dartpy", "mujoco": "mujoco"}
G, STEP, MU = 9.81, 1e-3, 0.3
SIZE, MASS = np.array([0.12, 0.12, 0.2]), 1.5  # m, kg; a box with two equal moments
CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)  # fmt: skip
FLOOR = Fixture(name="floor", size=np.array([4.0, 4.0, 1.0]), position=np.array([0.0, 0.0, -0.5]))
# A bar 0.6 m long that swings about a vertical axis at one end, at the origin.
LENGTH, BAR_INERTIA = 0.6, 0.3  # m; kg m^2, about the axis
BAR = """<robot name="bar"><link name="world"/><link name="base_link"/><link name="bar">
<inertial><origin xyz="0.3 0 0"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.12" izz="0.12" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0.3 0 0"/><geometry><box size="0.6 0.04 0.1"/></geometry></collision></link>
<joint name="foot" type="fixed"><parent link="world"/><child link="base_link"/></joint>
<joint name="hinge" type="continuous"><parent link="base_link"/><child link="bar"/>
<origin xyz="0 0 0.5"/><axis xyz="0 0 1"/></joint></robot>"""
PASSIVE, HANGING = Command(np.zeros(1)), RobotState(0.0, *np.zeros((3, 1)))


@pytest.fixture(params=sorted(LIBRARIES))
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    pytest.importorskip(LIBRARIES[name])
    return name


def body(name: str, shape: str = "box", at: Any = (0, 0, 0), twist: Any = (0.0,) * 6) -> FreeBody:
    """Return a body of the mass and inertia of a box, of one of three shapes."""
    moments = np.diag(SIZE**2) / 12.0
    inertia = MASS * (np.trace(moments) * np.eye(3) - moments)
    origin = np.zeros(3)
    corners = np.array([*product(*(0.5 * np.outer(SIZE, [-1, 1])))])
    shapes: dict[str, Fixture | CylinderFixture | MeshFixture] = {
        "box": Fixture(name=name, size=SIZE, position=origin),
        "cylinder": CylinderFixture(name=name, radius=0.06, height=0.2, position=origin),
        "mesh": MeshFixture(
            name=name, vertices=corners, faces=CUBE_FACES, position=origin, convex=True
        ),
    }
    start = np.concatenate([at, [0.0, 0.0, 0.0, 1.0], twist])
    return FreeBody(shape=shapes[shape], mass=MASS, inertia=inertia, start=start)


def beside(
    engine: str, *bodies: FreeBody, step: float = STEP, gravity: float = G, **more: Any
) -> EngineSimulator:
    """Return the bar, 0.5 m high, with a floor and bodies, at the start of these."""
    simulator = simulate_model(model_of(*bodies, step=step, gravity=gravity, **more), engine)
    simulator.reset(HANGING)
    return simulator


def model_of(*bodies: FreeBody, step: float = STEP, gravity: float = G, mu: float = MU) -> Any:
    names = [each.name for each in bodies]
    pairs = *combinations(names, 2), *product(names, ["bar", "floor"])
    contact = Contact(
        pairs=pairs, friction=dict.fromkeys([*names, "bar", "floor"], mu),
        fixtures=(FLOOR,), bodies=bodies,
    )  # fmt: skip
    return EngineModel(
        urdf=BAR, base="fixed", joints=("hinge",), effort_limits=np.ones(1), physics_step=step,
        gravity=gravity, contact=contact,
    )  # fmt: skip


def momentum(bodies: Array) -> Array:
    """Return linear and angular momentum about the origin of bodies that are equal (6,)."""
    motion, inertia = motion_of_bodies(bodies), body("").inertia
    spins = np.array([R @ inertia @ R.T @ w for R, w in zip(motion.rotation, motion.angular)])
    linear = MASS * motion.linear
    return np.concatenate([linear.sum(0), (spins + np.cross(motion.position, linear)).sum(0)])


@pytest.mark.parametrize("shape", ["box", "mesh"])
def test_a_symmetric_top_in_free_flight(engine: str, shape: str) -> None:
    """It precesses about its angular momentum L, while its centre falls.

    With moments A, A and C, w = L / A + (1 - C / A) w3 e3: the rotation from the start is one about
    L at L / A, before which the body has turned about its own axis at (1 - C / A) w3. Both engines
    are of order 1: errors of the step h and h / 2 are extrapolated. A mesh has DART's units.
    """
    time, spin = 0.4, np.array([0.5, 1.0, 6.0])
    start = np.concatenate([[0.0, 0.0, 3.0], rpy_quaternion(0.3, -0.2, 0.1), [0.2, 0.1, 1.0], spin])
    top = replace(body("top", shape), start=start)
    moments, turn = np.diag(top.inertia), quaternion_matrix(start[3:7])
    precession = turn @ (moments * spin) / moments[0]
    own = yaw_matrix(time * spin[2] * (1.0 - moments[2] / moments[0]))
    exact = quaternion_matrix(turn_quaternion(time * precession)) @ turn @ own
    fallen = start[:3] + turn @ start[7:10] * time - [0.0, 0.0, 0.5 * G * time**2]
    errors = []
    for step in (2 * STEP, STEP):
        row = beside(engine, top, step=step).step(PASSIVE, time).bodies[0]
        turned = quaternion_matrix(row[3:7]) - exact
        errors.append(np.concatenate([row[:3] - fallen, turned.ravel()]))
    assert np.abs(errors[1]).max() == pytest.approx(0.5 * G * STEP * time, rel=1e-6)  # of the fall
    assert np.abs(2.0 * errors[1] - errors[0]).max() < 1e-5


@pytest.mark.parametrize("shape", ["box", "cylinder", "mesh"])
def test_a_body_at_rest_stays_there(engine: str, shape: str) -> None:
    """On the floor for 1 s; its weight is borne."""
    simulator = beside(engine, body("can", shape, (0.0, 1.0, 0.5 * SIZE[2])))
    start = simulator.state().bodies
    rest = simulator.step(PASSIVE, 1.0).bodies
    np.testing.assert_allclose(rest, start, atol=1e-4)
    assert sum(each.force for each in simulator.contacts()) == pytest.approx(MASS * G, rel=1e-3)


@pytest.mark.parametrize("step", [STEP, 0.5 * STEP])
def test_a_sliding_box_stops_where_friction_has_taken_its_energy(engine: str, step: float) -> None:
    """After v^2 / (2 mu g), less v h / 2: the velocity of a step is that of its end.

    The losses are its energy at the start. In MuJoCo it hops by 1 mm on its way, and what the hops
    take is not counted as friction.
    """
    speed, at = 0.5, (0.0, 1.0, 0.5 * SIZE[2])
    box = body("box", "box", at, [speed, 0.0, 0.0, 0.0, 0.0, 0.0])
    simulator = beside(engine, box, step=step)
    simulator.meter()
    row = simulator.step(PASSIVE, 0.3).bodies[0]
    distance = speed**2 / (2.0 * MU * G) - 0.5 * speed * step
    assert row[:3] == pytest.approx([distance, *at[1:]], abs=0.01 * speed * step)
    assert np.abs(row[BODY_TWIST]).max() < 1e-4
    losses = simulator.take_losses()
    assert sum(losses.values()) == pytest.approx(0.5 * MASS * speed**2, rel=1e-5)
    assert losses["friction"] > 0.9 * 0.5 * MASS * speed**2


def test_momentum_of_two_bodies_at_an_impact(engine: str) -> None:
    """Both momenta stay at an impact off the centres, and some energy is lost, as measured.

    The angular one stays but for h w x (I w), as the inertia of a step is that at its start.
    """
    one = body("one", at=(0.0, 1.0, 1.0), twist=[1.0, 0.0, 0.1, 0.0, 0.0, 0.0])
    two = body("two", at=(0.15, 1.05, 1.04), twist=[-0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    simulator = beside(engine, one, two, gravity=0.0)
    start = simulator.state()
    simulator.meter()
    end = simulator.step(PASSIVE, 0.03)
    first, last = momentum(start.bodies), momentum(end.bodies)
    assert last[:3] == pytest.approx(first[:3], abs=1e-12)
    spin = np.linalg.norm(end.bodies[:, 10:], axis=1).max()
    assert spin > 1.0  # rad/s
    assert last[3:] == pytest.approx(first[3:], abs=STEP * spin**2 * one.inertia.max())
    stored = Stored(simulator.tree, ("hinge",), 0.0, bodies=(one, two))
    energies = [stored.of(state)[0] for state in (start, end)]
    assert energies[0] == pytest.approx(0.5 * MASS * (1.01 + 0.25))
    lost = sum(simulator.take_losses().values())
    assert lost > 0.5 * energies[0]
    assert energies[0] - energies[1] == pytest.approx(lost, rel=1e-4)


def test_angular_momentum_of_arm_and_body_at_an_impact(engine: str) -> None:
    """A box that hits the bar turns it: what it loses about the hinge, the bar gets."""
    box = body("box", at=(0.5, -0.1, 0.5), twist=[0.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    simulator = beside(engine, box, gravity=0.0)
    state = simulator.step(PASSIVE, 0.1)
    assert state.qd[0] > 1.0
    about_hinge = momentum(state.bodies)[5] + BAR_INERTIA * state.qd[0]
    assert about_hinge == pytest.approx(MASS * 2.0 * 0.5, rel=1e-8)


def test_a_locked_arm_stops_a_body(engine: str) -> None:
    """A contact on which no joint can act is one of the body all the same."""
    box = body("box", at=(0.5, -0.1, 0.5), twist=[0.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    simulator = beside(engine, box, gravity=0.0)
    simulator.lock(0, True)
    row = simulator.step(PASSIVE, 0.2).bodies[0]
    assert row[1] < 1e-4 - 0.08  # m: half the widths of bar and box
    assert abs(row[8]) < 0.15 * 2.0  # MuJoCo rebounds with e^-2 of the speed


def test_a_motion_continues_from_a_state_that_is_set(engine: str) -> None:
    """Of boxes that tumble and slide, also in `predict`; a state without bodies is their start."""
    boxes = (
        body("one", at=(0.0, 1.0, 1.0), twist=[0.3, 0.0, 1.0, 3.0, -2.0, 5.0]),
        body("two", at=(0.0, -1.0, 0.1), twist=[1.0, 0.2, 0.0, 0.0, 0.0, 0.0]),
    )
    simulator, again = beside(engine, *boxes), beside(engine, *boxes)
    np.testing.assert_array_equal(simulator.state().bodies, [each.start for each in boxes])
    middle = simulator.step(PASSIVE, 0.1)
    end = simulator.step(PASSIVE, 0.1)
    np.testing.assert_allclose(again.reset(middle).bodies, middle.bodies, atol=1e-13)
    np.testing.assert_allclose(again.step(PASSIVE, 0.1).bodies, end.bodies, atol=1e-9)
    middles = Trajectory.from_states(("hinge",), [middle, middle])
    ends, _ = simulator.predict(middles, (middles, [0.1, 0.0]))
    assert ends.bodies is not None
    np.testing.assert_allclose(ends.bodies, [end.bodies, middle.bodies], atol=1e-9)


def test_bodies_are_no_part_of_the_robot(engine: str) -> None:
    """Its mass matrix and accelerations are its own, and questions about it move no body."""
    simulator = beside(engine, body("box", at=(0.5, 0.1, 0.5)))  # into the bar
    before = simulator.state()
    assert simulator.mass_matrix(before) == pytest.approx(np.array([[BAR_INERTIA]]))
    acceleration = simulator.acceleration(HANGING, np.array([0.6]))
    assert acceleration
    assert acceleration.joints == pytest.approx([0.6 / BAR_INERTIA])
    np.testing.assert_allclose(simulator.state().bodies, before.bodies, atol=1e-13)
    assert [*simulator.masses()] == ["base_link", "bar"]


def test_whoever_has_no_bodies_refuses_them() -> None:
    """In one line: engines, before they are imported, twins and moved worlds."""
    model, engines = model_of(body("box")), map(spec, engine_names())
    refusing = [engine for engine in engines if not engine.bodies]
    refusing += [replace(spec("dart"), name="own", bodies=False)]
    for engine in refusing:
        with pytest.raises(
            AccordError, match=rf"\A{engine.name}: .*no free bodies, such as box.*\Z"
        ):
            engine.check_bodies(model.contact.bodies)
    for changed in (twin_of("dart"), moved(spec("dart"), HALF_RIGHT)):
        with pytest.raises(AccordError, match=r"\Afree bodies .*\Z"):
            changed.simulate(model)
