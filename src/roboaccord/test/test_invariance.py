"""The level `invariance`: sound engines change nothing in moved worlds, and wrong ones do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from roboaccord.contract.contact import Contact, Fixture
from roboaccord.contract.interfaces import AnyEngine
from roboaccord.contract.outcome import Code
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.crosscheck.levels.invariance import (
    InvarianceCheck,
    InvarianceLevel,
    check_invariance,
)
from roboaccord.description.base_kinds import Base
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.tree import Tree
from roboaccord.engines import default_names, simulate_model, spec
from roboaccord.engines.model import EngineModel
from roboaccord.engines.moves import MOVES, Move, move_text
from roboaccord.engines.spec import EngineSpec
from roboaccord.numerics.rotations import matrix_quaternion, quaternion_matrix, rpy_matrix
from roboaccord.robots.file import FileRobot
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.scenario import Initial, Scenario, Tolerances
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.proxy import Proxy
from test_scheme import broken

pytestmark = pytest.mark.thorough

GRAVITY = 9.81
MASS, SIZE, MU, SPEED = 2.0, 0.2, 0.4, 3.0
TURNED, MIRRORED, SHIFTED, REORDERED = (move.name for move in MOVES)

# Nothing in it is symmetrical: it branches, slides, and its inertias are askew.
ARM = """<robot name="askew">
  <link name="base_link"><inertial><origin xyz="0.1 0.2 -0.1" rpy="0.3 -0.2 0.5"/><mass value="3"/>
    <inertia ixx="0.05" iyy="0.06" izz="0.08" ixy="0.01" ixz="-0.008" iyz="0.012"/></inertial>
  </link>
  <link name="turning"><inertial><origin xyz="0.2 0.05 0.02"/><mass value="1"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.004" ixz="0.002" iyz="-0.003"/></inertial>
  </link>
  <link name="sliding"><inertial><origin xyz="0.1 -0.1 0" rpy="0.1 0.2 0.3"/><mass value="0.7"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0.001" iyz="0"/></inertial></link>
  <link name="other"><inertial><origin xyz="0 0.2 0.1"/><mass value="0.5"/>
    <inertia ixx="0.02" iyy="0.01" izz="0.015" ixy="0" ixz="0" iyz="0.002"/></inertial></link>
  <joint name="a" type="continuous"><parent link="base_link"/><child link="turning"/>
    <origin xyz="0.3 0.1 0.2" rpy="0.4 0.5 -0.6"/><axis xyz="0.6 0 0.8"/></joint>
  <joint name="b" type="prismatic"><parent link="turning"/><child link="sliding"/>
    <origin xyz="0.4 0 0.1" rpy="0 1.5707963 0.2"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-9" upper="9" effort="50" velocity="99"/></joint>
  <joint name="c" type="continuous"><parent link="base_link"/><child link="other"/>
    <origin xyz="-0.2 0.1 0" rpy="0.1 -0.4 0.9"/></joint>
</robot>"""
BLOCK = f"""<robot name="block"><link name="base_link"><inertial><mass value="{MASS}"/>
  <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="{SIZE} {SIZE} {0.1 * SIZE}"/></geometry></collision></link>
</robot>"""


class Sliding(FileRobot):
    """A block on level ground, with the engine's own contact."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        size, position = np.array([20.0, 20.0, 1.0]), np.array([0.0, 0.0, -0.5])
        ground = Fixture(name="ground", size=size, position=position)
        pair = ("base_link", "ground")
        friction = dict.fromkeys(pair, MU)
        contact = Contact(pairs=(pair,), friction=friction, fixtures=(ground,))
        self.friction_laws = {"contact": lambda setup: contact}

    def engine(self, setup: Setup, engine: AnyEngine) -> Simulator:
        return simulate_model(EngineModel.of(setup, urdf=BLOCK), engine)


def file_setup(
    folder: Path, text: str, initial: Initial, kind: type[FileRobot] = FileRobot, **more: Any
) -> Setup:
    """Return a robot of a file for 0.1 s."""
    path = folder / "robot.urdf"
    path.write_text(text)
    return Setup(kind(path), Scenario(robot=str(path), duration=0.1, initial=initial, **more))


def sliding(folder: Path) -> Setup:
    """Return the block in its motion along x."""
    start = Initial(twist=(SPEED, 0.0, 0.0, 0.0, 0.0, 0.0), position=(0.0, 0.0, 0.05 * SIZE))
    return file_setup(folder, BLOCK, start, Sliding, base="free", friction={"law": "contact"})


def askew(folder: Path, base: Base = "free") -> Setup:
    """Return the arm that falls, turns and slides."""
    if base == "fixed":
        return file_setup(folder, ARM, Initial(qd={"a": 1.0, "c": 2.0}), base=base)
    moving = Initial(
        roll=0.4, pitch=0.3, yaw=0.5, position=(0.2, -0.3, 0.4),
        twist=(0.5, -0.4, 0.3, 1.0, 2.0, -1.5),
        q={"a": 0.7, "b": 0.1, "c": -0.4}, qd={"a": 1.0, "b": -0.5, "c": 2.0},
    )  # fmt: skip
    return file_setup(folder, ARM, moving, base=base)


def snake() -> Setup:
    """Return the gait for 0.1 s."""
    return Setup.of(load_scenario("snake", "snake", "serpenoid", ["duration=0.1"]))


def check_of(setup: Setup, engine: EngineSpec) -> InvarianceCheck:
    """Return the check of a run."""
    return check_invariance(setup, engine, run_setup(setup, make_simulator(setup, engine)))


def outside(check: InvarianceCheck) -> set[str]:
    """Return the moves that change something."""
    return {name for name, change in check.changes.items() if change.outside}


class Pushed(Proxy):
    """Add a wrench to the base, a function of the state."""

    def wrench(self, state: RobotState) -> Array:
        """Return it, in the world (6,)."""
        raise NotImplementedError

    def _advance(self, command: Command, duration: float) -> None:
        wrench = self.wrench(self._inner.state())
        self._inner.step(replace(command, wrench=wrench), duration)

    def _read(self) -> RobotState:
        return replace(super()._read(), effort=self._effort)


class AlongX(Pushed):
    """Push along x of the world: 1e-6 N."""

    def wrench(self, state: RobotState) -> Array:
        return np.array([1e-6, 0.0, 0.0, 0.0, 0.0, 0.0])


class Screw(Pushed):
    """Push along the angular velocity, as a wrong sign in a cross product does."""

    def wrench(self, state: RobotState) -> Array:
        turn = quaternion_matrix(state.orientation)
        v, w = turn @ state.twist[:3], turn @ state.twist[3:]
        return 1e-6 * np.append(np.cross(v, w) + w, np.zeros(3))


class Drawn(Pushed):
    """Draw to the origin of the world's map, 1e-6 N/m."""

    def wrench(self, state: RobotState) -> Array:
        return -1e-6 * np.append(state.position, np.zeros(3))


class Indexed(Proxy):
    """Brake the first joint, whichever that is."""

    def _advance(self, command: Command, duration: float) -> None:
        effort = np.array(command.effort)
        effort[0] -= 1e-8 * self._inner.state().qd[0]
        self._inner.step(replace(command, effort=effort), duration)

    def _read(self) -> RobotState:
        return replace(super()._read(), effort=self._effort)


@pytest.mark.parametrize("engine", default_names())
@pytest.mark.parametrize("base", ["free", "fixed"])
def test_an_engine_that_is_right_changes_nothing(engine: str, base: Base, tmp_path: Path) -> None:
    check = check_of(askew(tmp_path, base), spec(engine))
    assert set(check.changes) == {TURNED, MIRRORED, SHIFTED, REORDERED} and not check.refused
    assert all(each.error < 0.2 * each.floor for each in check.changes.values())
    assert all(each.floor < 1e-7 for each in check.changes.values())
    assert InvarianceLevel().judge(check, Tolerances()).outcome == "within"


@pytest.mark.parametrize("engine", default_names())
def test_friction_along_and_across_goes_with_the_links(engine: str) -> None:
    found = check_of(snake(), spec(engine))
    assert all(each.error < 0.2 * each.floor < 1e-8 for each in found.changes.values())


@pytest.mark.parametrize(
    ("change", "moves"),
    [(AlongX, {TURNED}), (Screw, {MIRRORED}), (Drawn, {SHIFTED}), (Indexed, {REORDERED})],
)
def test_an_error_shows_in_the_world_that_is_unlike_it(
    change: type[Proxy], moves: set[str], tmp_path: Path
) -> None:
    found = check_of(askew(tmp_path), broken("dart", change))
    assert outside(found) == moves
    finding = InvarianceLevel().judge(found, Tolerances())
    assert finding.outcome == "outside" and finding.codes == (Code.NOT_INVARIANT,)
    assert {finding.reasons[0].figures["move"]} == moves


def test_a_push_along_x_is_as_large_as_it_is(tmp_path: Path) -> None:
    """Turned by 45 degrees it pushes along -45: F t / m times 1 - cos 45 and sin 45 are changed."""
    setup = file_setup(tmp_path, BLOCK, Initial(), base="free")
    change = check_of(setup, broken("mujoco", AlongX)).changes[TURNED]
    along, across = (1e-6 * change.time / MASS * part for part in (1.0 - 0.5**0.5, 0.5**0.5))
    expected = {"linear velocity along x": along, "linear velocity along y": across}
    assert change.error == pytest.approx(expected[change.quantity], rel=1e-6)


def test_a_box_of_friction_is_outside_with_the_law_as_reason(tmp_path: Path) -> None:
    """DART's default solver: 1.41 mu g at 45 degrees to the axes of the world, mu g along them."""
    check = check_of(sliding(tmp_path), spec("dart"))
    finding, change = InvarianceLevel().judge(check, Tolerances()), check.changes[TURNED]
    less = 0.5 * (2.0**0.5 - 1.0) * MU * GRAVITY * change.time * (change.time + 0.001)
    assert change.quantity == "position along x"
    assert change.error == pytest.approx(less, rel=0.02)
    assert outside(check) == {TURNED}
    assert (finding.outcome, finding.quantity, check.law) == ("outside", "contact law", "box")
    assert "its contact friction is a box along the world's axes" in finding.reason


def test_a_cone_of_friction_is_within(tmp_path: Path) -> None:
    found = check_of(sliding(tmp_path), spec("mujoco"))
    assert InvarianceLevel().judge(found, Tolerances()).outcome == "within"


@pytest.mark.parametrize("move", MOVES, ids=[move.name for move in MOVES])
def test_the_description_moves_with_the_world(move: Move) -> None:
    """By our own equations, which know nothing of moves: the same accelerations of the joints."""
    rng = np.random.default_rng(1)
    q, qd, effort = rng.normal(size=(3, 3))
    orientation = matrix_quaternion(rpy_matrix(0.3, -0.4, 0.8))
    state = RobotState(0.0, q, qd, effort, rng.normal(size=3), orientation, rng.normal(size=6))
    there = move.move_state(state)
    joints, answers = ("a", "b", "c"), []
    for text, at in ((ARM, state), (move_text(ARM, move, "base_link"), there)):
        bodies = TreeDynamics(Tree.parse(text), joints, "free", GRAVITY)
        turn = quaternion_matrix(at.orientation)
        twist = np.concatenate([turn @ at.twist[:3], turn @ at.twist[3:]])
        answers.append(bodies.acceleration(q, qd, effort, at.position, turn, twist))
    assert np.allclose(answers[1].joints, answers[0].joints, rtol=1e-11)
    assert np.allclose(answers[1].base, move.move_wrench(answers[0].base), rtol=1e-11, atol=1e-11)
    back = move.move_state_back(there)
    for name in ("position", "orientation", "twist"):
        assert np.allclose(getattr(back, name), getattr(state, name), atol=1e-15)
