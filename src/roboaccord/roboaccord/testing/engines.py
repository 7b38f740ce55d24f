"""What every engine keeps, on three small descriptions: dynamics, order, limits, states, refusals.

Rules may be added, as methods `test_...`; to add a feature that engines may lack, an entry in
FEATURES. SEED and STATES may be changed. descriptions/, JOINTS, EFFORTS, DRIVE, STEPS and WITHIN
must fit each other: change one, and check the order that is measured. SAME, SAME_SCHEME and
ROUND_OFF hold for every engine and stay as they are for each.

An engine's package inherits it in a test module of its own:

    class TestEngine(EngineConformance):
        engine = "dart"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np
import pytest

from roboaccord.contract.contact import Contact
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Json
from roboaccord.contract.state import STATE_ARRAYS, Array, Command, RobotState
from roboaccord.crosscheck.extrapolation import observed_order
from roboaccord.crosscheck.levels.acceleration import relative
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.tree import Tree
from roboaccord.engines import simulate_model, spec
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel
from roboaccord.engines.reading import TreeReading, draw_question, read_tree
from roboaccord.engines.spec import Available, Feature, Missing
from roboaccord.engines.twin import twin_of
from roboaccord.numerics.rotations import (
    matrix_quaternion,
    quaternion_matrix,
    rpy_matrix,
    turn_twist,
)
from roboaccord.simulators.friction import JointFriction

GRAVITY = 9.81  # m/s^2
STATES = 20  # drawn at random
SEED = 3
STEPS = (4e-3, 2e-3)  # s: at which the error is measured
FINE = 2.5e-4  # s: of the reference, of order 4
DURATION = 0.4  # s
SAME = 1e-8  # relative, of accelerations
SAME_SCHEME = 1e-10  # of coordinates and rates, at the end of the motion
ROUND_OFF = 1e-13  # of coordinates
WITHIN = 0.15  # of the order
END, BEYOND = 1.0, 2e-3  # m: the stop of the cart, as described, and how far it may go past it
PUSH = 40.0  # N

DESCRIPTIONS = {
    name: files(__package__).joinpath("descriptions", f"{name.replace(' ', '_')}.urdf").read_text()
    for name in ("pendulums", "floating arm", "cart")
}
"""By name: two skew pendulums, an arm that floats, and a cart with stops and a pendulum on it."""
JOINTS = ("shoulder", "elbow")
EFFORTS = np.full(2, 50.0)
REST = np.zeros(2)
DRAG = JointFriction(np.array([0.5, 0.2]), np.array([0.3, 0.1]), 0.05)
Setting = Mapping[str, Json]
DRIVE = np.array([2.0, -1.0])  # N m, N: held while the order is measured


class EngineConformance:
    """Tests of one engine; they are skipped, with the reason, where it is not installed.

    Attributes:
        engine: its name, as its entry point has it.
        settings: by which it is tested beside its defaults, the keys of `engine_options.NAME`.
    """

    engine: str
    settings: tuple[Setting, ...] = ()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run a test with every description and all settings that it asks for."""
        if "robot" in metafunc.fixturenames:
            metafunc.parametrize("robot", DESCRIPTIONS)
        if "setting" in metafunc.fixturenames:
            every = ({}, *self.settings)
            names = [", ".join(map(str, each.values())) or "default" for each in every]
            metafunc.parametrize("setting", every, ids=names)

    def _of(self, robot: str, setting: Setting, **changes: Any) -> EngineSimulator:
        """Return the simulator of a description, with settings of the engine."""
        return self._simulator(replace(model_of(robot), options={self.engine: setting}, **changes))

    def _simulator(self, model: EngineModel) -> EngineSimulator:
        if isinstance(found := spec(self.engine).look(), Missing):
            pytest.skip(found.reason)
        return simulate_model(model, self.engine)

    def test_it_is_what_its_entry_point_names(self) -> None:
        """The simulator has the engine's name, and the version of the library."""
        simulator, found = self._simulator(PENDULUMS), spec(self.engine).look()
        assert isinstance(found, Available)
        assert simulator.name == self.engine
        assert simulator.version.startswith(found.version)

    def test_accelerations_are_those_of_the_tree(self, robot: str, setting: Setting) -> None:
        """Within 1e-8, in states drawn at random: by articulated bodies, without the engine."""
        simulator = self._of(robot, setting)
        for state, effort in drawn(robot):
            found = simulator.acceleration(state, effort)
            assert found
            expected = accelerate(robot, state, effort)
            assert relative(np.append(found.base, found.joints), expected) < SAME

    def test_masses_and_gravity_are_those_of_the_tree(self, robot: str) -> None:
        """The mass matrix and gravity forces, whatever the engine's own coordinates are."""
        simulator, tree = self._simulator(model_of(robot)), dynamics(robot)
        for state, _ in drawn(robot):
            place = state.position, quaternion_matrix(state.orientation)
            mass, gravity = tree.mass_matrix(state.q, *place), tree.gravity_forces(state.q, *place)
            np.testing.assert_allclose(simulator.mass_matrix(state), mass, atol=1e-10)
            np.testing.assert_allclose(simulator.gravity_forces(state), gravity, atol=1e-10)

    def test_the_order_is_the_one_stated(self, robot: str, setting: Setting) -> None:
        """The error against a reference of order 4 falls by 2^order as the step is halved."""
        errors = []
        for step in STEPS:
            simulator = self._of(robot, setting, physics_step=step)
            simulator.reset(start(robot))
            end = simulator.step(Command(DRIVE), DURATION)
            errors.append(float(np.abs(end.q - truth(robot)).max()))
        order = observed_order(STEPS, errors, ROUND_OFF)
        assert order == pytest.approx(simulator.order, abs=WITHIN)

    def test_it_steps_as_its_scheme_says(self, robot: str, setting: Setting) -> None:
        """Its twin, our equations under that scheme, ends the motion where it does."""
        if spec(self.engine).scheme is None:
            pytest.skip(f"the integration scheme of {self.engine} is not specified")
        model = replace(model_of(robot), options={self.engine: setting}, friction=DRAG)
        found, twin = self._simulator(model), simulate_model(model, twin_of(self.engine))
        ends = []
        for simulator in (found, twin):
            simulator.reset(start(robot))
            ends.append(simulator.step(Command(DRIVE), DURATION))
        assert_same(ends[1], ends[0], SAME_SCHEME)

    def test_a_state_that_is_set_is_read_back(self, robot: str, setting: Setting) -> None:
        """After a reset, and after questions about other states."""
        simulator = self._of(robot, setting)
        for state, effort in drawn(robot):
            read = simulator.reset(state)
            assert_same(read, state, 1e-12, 1e-7)
            simulator.mass_matrix(start(robot))
            simulator.acceleration(start(robot), effort)
            assert_same(simulator.state(), read, 1e-12, 1e-7)

    def test_a_reset_leaves_nothing_behind(self, robot: str, setting: Setting) -> None:
        """The same motion again, bit for bit."""
        simulator = self._of(robot, setting)
        simulator.reset(start(robot))
        first = simulator.step(Command(0.1 * EFFORTS), 0.02)
        simulator.reset(start(robot))
        assert_same(simulator.step(Command(0.1 * EFFORTS), 0.02), first)

    def test_efforts_are_clipped_to_their_limits(self, robot: str) -> None:
        """And reported as they act."""
        limited = replace(model_of(robot), effort_limits=np.array([2.0, 3.0]))
        simulator, ends = self._simulator(limited), list[RobotState]()
        for factor in (1.0, 5.0):
            simulator.reset(start(robot))
            ends.append(simulator.step(Command(factor * np.array([-2.0, 3.0])), 0.01))
            np.testing.assert_array_equal(ends[-1].effort, [-2.0, 3.0])
        np.testing.assert_array_equal(ends[0].qd, ends[1].qd)

    def test_a_stop_holds_what_pushes_against_it(self) -> None:
        """The cart comes to rest there, an event names it, and it leaves when it is pulled."""
        simulator = self._simulator(model_of("cart"))
        simulator.reset(start("cart"))
        end = simulator.step(Command(np.array([PUSH, 0.0])), 1.0)
        assert END - BEYOND < end.q[0] < END + BEYOND
        events = {(event.kind, event.subject) for event in simulator.take_events()}
        assert events == {("joint_stop", "shoulder")}
        assert simulator.step(Command(np.array([-PUSH, 0.0])), 0.2).q[0] < END - 0.05

    def test_rotors_turn_with_their_joints_alone(self) -> None:
        """Reflected inertia adds to the diagonal of the mass matrix, where the engine has it."""
        if "armature" in spec(self.engine).lacks:
            pytest.skip(spec(self.engine).lacks["armature"])
        rotors = np.array([0.2, 0.1])
        with_rotors = self._simulator(replace(PENDULUMS, armature=rotors))
        more = with_rotors.mass_matrix(start("pendulums"))
        more = more - self._simulator(PENDULUMS).mass_matrix(start("pendulums"))
        np.testing.assert_allclose(more, np.diag(rotors), atol=1e-13)

    def test_a_feature_it_lacks_is_refused(self) -> None:
        """In one line with the reason; what is not a feature of a model has no test here."""
        self._simulator(PENDULUMS)
        for feature, reason in spec(self.engine).lacks.items():
            if feature in FEATURES:
                refused = self._refusal(FEATURES[feature])
                assert refused == f"{self.engine}: {reason}"

    def test_what_cannot_be_done_is_refused(self) -> None:
        """Unknown settings and joints, a twist, a wrench on what is fixed: one line each."""
        setting = replace(PENDULUMS, options={self.engine: {"no_such_key": 1}})
        assert f"engine_options.{self.engine}.no_such_key" in self._refusal(setting)
        wrist = replace(PENDULUMS, joints=("shoulder", "wrist"))
        assert "joint wrist is missing" in self._refusal(wrist)
        simulator = self._simulator(PENDULUMS)
        for command in (Command(REST, twist=np.ones(6)), Command(REST, wrench=np.ones(6))):
            with pytest.raises(AccordError, match=f"^{self.engine}.*") as refused:
                simulator.step(command, STEPS[0])
            assert "\n" not in str(refused.value)

    def _refusal(self, model: EngineModel) -> str:
        """Return the line by which a model is refused."""
        with pytest.raises(AccordError) as refused:
            self._simulator(model)
        assert "\n" not in str(refused.value)
        return str(refused.value)

    def test_its_reader_reads_the_same_tree(self, robot: str) -> None:
        """Joints, mass and accelerations; skipped for an engine that reads no descriptions."""
        self._simulator(model_of(robot))
        found, urdf = spec(self.engine), DESCRIPTIONS[robot]
        if found.reader is None:
            pytest.skip(f"{self.engine} reads no descriptions")
        tree = read_tree(urdf)
        question = draw_question(tree, base_of(robot), SEED)
        reading = found.load(found.reader)(urdf, question, "default", {})
        expected = TreeReading(tree, question)
        assert {*reading.joints} == {*JOINTS}
        for state in question.states[:STATES]:
            have = reading.acceleration(state)
            assert relative(have, expected.acceleration(state)) < SAME


def assert_same(
    found: RobotState, expected: RobotState, atol: float = 0.0, rtol: float = 0.0
) -> None:
    """Assert that the arrays of two states are the same, within a tolerance or in every bit."""
    for name in STATE_ARRAYS:
        one, other = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol, err_msg=name)


def base_of(robot: str) -> Literal["fixed", "free"]:
    """Return how the base of a description moves."""
    return "fixed" if "world" in DESCRIPTIONS[robot] else "free"


def model_of(robot: str) -> EngineModel:
    """Return the model of a description."""
    return EngineModel(
        urdf=DESCRIPTIONS[robot], base=base_of(robot), joints=JOINTS, effort_limits=EFFORTS,
        physics_step=1e-3, gravity=GRAVITY,
    )  # fmt: skip


@cache
def dynamics(robot: str) -> TreeDynamics:
    """Return the equations of motion of a description."""
    return TreeDynamics(Tree.parse(DESCRIPTIONS[robot]), JOINTS, base_of(robot), GRAVITY)


def accelerate(robot: str, state: RobotState, effort: Array) -> Array:
    """Return the accelerations of base and joints (8,)."""
    place = state.position, quaternion_matrix(state.orientation)
    twist = turn_twist(place[1], state.twist)
    found = dynamics(robot).acceleration(state.q, state.qd, effort, *place, twist)
    return np.append(found.base, found.joints)


@cache
def start(robot: str) -> RobotState:
    """Return the state from which the motions start; a base is at rest."""
    q, qd = np.array([0.1, 0.3]), np.array([0.2, -0.4])
    if base_of(robot) == "fixed":
        return RobotState(0.0, q, qd, REST)
    turned = matrix_quaternion(rpy_matrix(0.3, -0.5, 0.8))
    return RobotState(0.0, q, qd, REST, np.array([1.0, -2.0, 0.5]), turned)


@cache
def truth(robot: str) -> Array:
    """Return where the joints of a description are at the end (2,), by Runge-Kutta of order 4."""
    state, tree = start(robot), dynamics(robot)
    y = tree.state(state.q, state.qd, state.position, state.orientation, state.twist)
    tree.advance(y, DRIVE, FINE, round(DURATION / FINE), None)
    return np.array(y[7:9])


def drawn(robot: str) -> list[tuple[RobotState, Array]]:
    """Return states and efforts drawn at random, joints within their limits."""
    rng, found = np.random.default_rng(SEED), list[tuple[RobotState, Array]]()
    for _ in range(STATES):
        state = RobotState(0.0, rng.uniform(-END, END, 2), rng.normal(size=2), REST)
        position, orientation, twist = KINDS[base_of(robot)].draw(state, rng)
        state = replace(state, position=position, orientation=orientation, twist=twist)
        found.append((state, rng.normal(size=2)))
    return found


PENDULUMS = model_of("pendulums")
TOUCHING = Contact(pairs=(("base_link", "lower_link"),), friction={})
FEATURES: Mapping[Feature, EngineModel] = {
    "armature": replace(PENDULUMS, armature=np.array([0.2, 0.1])),
    "armature_impacts": replace(model_of("cart"), armature=np.array([0.2, 0.1])),
    "bearing": replace(PENDULUMS, base="ball"),
    "contact": replace(PENDULUMS, contact=TOUCHING),
    "soft_stops": replace(PENDULUMS, stop_softness=2.0),
}
