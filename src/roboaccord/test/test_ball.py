"""A ball that floats beside a rig, or turns in its bearing; contact with what stands still."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from roboaccord.bag.transforms import RobotTransforms
from roboaccord.contract.contact import Contact, Fixture
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.description.tree import Tree
from roboaccord.engines import simulate_model
from roboaccord.engines.model import EngineModel
from roboaccord.numerics.rotations import matrix_quaternion, quaternion_matrix, rpy_matrix

RADIUS, MASS = 0.1, 2.0
INERTIA = (0.008, 0.010, 0.014)  # a ball of uneven density, about its own axes
EVEN = (0.008, 0.008, 0.008)  # 2/5 m r^2
LIBRARIES = {"dart": "dartpy", "mujoco": "mujoco"}

URDF = """
<robot name="rig">
  <link name="base_link">
    <inertial><mass value="{mass}"/>
      <inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="{radius}"/></geometry></collision>
  </link>
  <joint name="bearing" type="floating"><parent link="{root}"/><child link="base_link"/></joint>
  <link name="{root}"/>
  <link name="arm_link">
    <inertial><origin xyz="0 0 0.1"/><mass value="0.5"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="arm" type="continuous">
    <parent link="{root}"/><child link="arm_link"/>
    <origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/><axis xyz="1 0 0"/>
  </joint>
</robot>
"""


def urdf(root: str, inertia: tuple[float, float, float] = INERTIA) -> str:
    xx, yy, zz = inertia
    return URDF.format(mass=MASS, ixx=xx, iyy=yy, izz=zz, radius=RADIUS, root=root)


def engine_model(
    base: str, inertia: tuple[float, float, float] = INERTIA, **more: Any
) -> EngineModel:
    return EngineModel(
        urdf=urdf("frame_link" if base == "ball" else "world", inertia),
        base=base,  # type: ignore[arg-type]
        joints=("arm",),
        effort_limits=np.array([10.0]),
        physics_step=0.001,
        **{"gravity": 9.81, **more},
    )


@pytest.fixture(params=sorted(LIBRARIES))
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    module: ModuleType = pytest.importorskip(LIBRARIES[name])
    assert module
    return name


def some_state(position: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> RobotState:
    return RobotState(
        0.0, np.array([0.4]), np.array([-0.3]), np.zeros(1), np.array(position),
        matrix_quaternion(rpy_matrix(0.5, -0.3, 0.8)),
        np.array([0.0, 0.0, 0.0, 1.0, -2.0, 3.0]),
    )  # fmt: skip


def momentum(state: RobotState, inertia: tuple[float, float, float]) -> Array:
    """Return the angular momentum of the ball in the world (3,)."""
    return quaternion_matrix(state.orientation) @ (np.array(inertia) * state.twist[3:])


def test_a_ball_floats_in_the_world_which_stays() -> None:
    tree = Tree.parse(urdf("world"))
    assert [link.name for link in tree.links] == ["base_link", "world", "arm_link"]
    assert not tree.bearing
    state = some_state((5.0, 6.0, 7.0))
    origins, rotations = tree.forward(("arm",), state.q, state.position, state.orientation)
    assert origins == pytest.approx(np.array([[5.0, 6.0, 7.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    assert rotations[2] == pytest.approx(rpy_matrix(0, 0, np.pi / 2) @ rpy_matrix(0.4, 0, 0))


def test_a_bearing_goes_where_its_ball_goes_and_does_not_turn() -> None:
    tree = Tree.parse(urdf("frame_link"))
    assert tree.bearing
    state = some_state((5.0, 6.0, 7.0))
    origins, rotations = tree.forward(("arm",), state.q, state.position, state.orientation)
    assert origins[1:] == pytest.approx(np.array([[5.0, 6.0, 7.0], [6.0, 6.0, 7.0]]))
    assert rotations[1] == pytest.approx(np.eye(3))
    poses = RobotTransforms(tree, ("arm",)).poses(state)
    assert poses[-1] == pytest.approx([5.0, 6.0, 7.0, 0.0, 0.0, 0.0, 1.0])


def test_a_bearing_keeps_the_angular_momentum(engine: str) -> None:
    """No moment acts on a ball of any inertia in a bearing, whatever gravity and the arm do."""
    simulator = simulate_model(engine_model("ball"), engine)
    before = some_state()
    placed = simulator.reset(before)
    assert placed.orientation == pytest.approx(before.orientation, abs=1e-12)
    assert placed.twist == pytest.approx(before.twist, abs=1e-12)
    after = simulator.step(Command(np.array([0.3])), 0.2)
    kept = momentum(after, INERTIA)
    # DART's steps are of the first order: 1 ms at 4 rad/s.
    assert kept == pytest.approx(momentum(before, INERTIA), abs=2e-4 if engine == "dart" else 1e-8)
    assert after.position == pytest.approx([0.0, 0.0, 0.0])
    assert np.linalg.norm(after.twist[3:] - before.twist[3:]) > 0.1


def test_mass_matrix_of_ball_and_arm(engine: str) -> None:
    """In the world's axes R I R' for the ball, and for the arm I + m d^2."""
    state = some_state()
    mass = simulate_model(engine_model("ball"), engine).mass_matrix(state)
    rotation = quaternion_matrix(state.orientation)
    expected = np.zeros((4, 4))
    expected[:3, :3] = rotation @ np.diag(INERTIA) @ rotation.T
    expected[3, 3] = 0.01 + 0.5 * 0.1**2
    assert np.abs(mass - expected).max() < 1e-10


def test_turned_axes_of_dart_change_nothing_without_contact() -> None:
    pytest.importorskip("dartpy")
    for base in ("ball", "free"):
        ends = []
        for axis in ((0.0, 0.0, 1.0), (0.3, -0.5, 0.6)):
            options = {"dart": {"z_axis": axis}}
            simulator = simulate_model(engine_model(base, options=options), "dart")
            simulator.reset(some_state())
            ends.append(simulator.step(Command(np.array([0.2])), 0.1))
        for name in ("q", "qd", "position", "twist"):
            assert getattr(ends[0], name) == pytest.approx(getattr(ends[1], name), abs=1e-9)
        matrices = [quaternion_matrix(end.orientation) for end in ends]
        assert matrices[0] == pytest.approx(matrices[1], abs=1e-9)


def test_a_sliding_ball_comes_to_roll_at_five_sevenths(engine: str) -> None:
    """Whatever the friction, a solid ball that starts without turning ends at 5/7 of its speed."""
    ground = Fixture(
        name="ground", size=np.array([20.0, 20.0, 1.0]), position=np.array([0.0, 0.0, -0.5])
    )
    contact = Contact(
        pairs=(("base_link", "ground"),),
        friction={"base_link": 0.9, "ground": 0.3},
        fixtures=(ground,),
    )
    simulator = simulate_model(engine_model("free", EVEN, contact=contact), engine)
    start = some_state((0.0, 0.0, RADIUS))
    identity = np.array([0.0, 0.0, 0.0, 1.0])
    simulator.reset(replace(start, orientation=identity, twist=np.array([0.7, 0, 0, 0, 0, 0])))
    sliding = simulator.step(Command(np.zeros(1)), 0.03)
    rolling = simulator.step(Command(np.zeros(1)), 0.17)
    velocity = quaternion_matrix(rolling.orientation) @ rolling.twist[:3]
    spin = quaternion_matrix(rolling.orientation) @ rolling.twist[3:]
    close = 0.01 if engine == "dart" else 0.03  # MuJoCo's contacts are soft
    assert velocity[0] == pytest.approx(0.5, rel=close)
    assert spin[1] == pytest.approx(0.5 / RADIUS, rel=close)
    assert rolling.position[2] == pytest.approx(RADIUS, abs=1e-3)
    if engine == "dart":  # contacts of MuJoCo hop as they slide, and brake by half
        # It slides for 2 v / (7 mu g) = 0.068 s, by the smaller of both coefficients.
        slowed = quaternion_matrix(sliding.orientation) @ sliding.twist[:3]
        assert slowed[0] == pytest.approx(0.7 - 0.3 * 9.81 * 0.03, rel=0.01)


def test_only_the_pairs_named_touch(engine: str) -> None:
    """Without its pair the ball falls through the ground."""
    ground = Fixture(name="ground", size=np.ones(3), position=np.array([0.0, 0.0, -0.6]))
    contact = Contact(pairs=(), friction={}, fixtures=(ground,))
    simulator = simulate_model(engine_model("free", contact=contact), engine)
    simulator.reset(replace(some_state(), twist=np.zeros(6)))
    fallen = simulator.step(Command(np.zeros(1)), 0.2)
    assert fallen.position[2] == pytest.approx(-0.5 * 9.81 * 0.2**2, rel=0.02)
