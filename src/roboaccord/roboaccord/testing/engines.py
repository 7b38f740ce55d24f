"""Rules that every engine keeps, on three small descriptions: dynamics, order, limits, refusals.

`EngineConformance` is a class of pytest tests. They compare an engine, such as DART or MuJoCo, with
this project's own equations of motion: its accelerations and mass matrix, the order of convergence
of its integration, and the same motion under the scheme that it states. An engine's package
inherits the tests in a test module of its own:

    class TestEngine(EngineConformance):
        engine = "dart"

A test that has a parameter `robot` runs on each description of small_robots.py, one with `setting`
with each of the engine's settings. A feature that engines may lack is an entry in FEATURES. Bounds
hold for every engine, and are not widened for one; ORDER_STEPS and ORDER_TOLERANCE fit the motion
of small_robots.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from roboaccord.contract import AccordError, Command, Contact, Json
from roboaccord.crosscheck import round_off
from roboaccord.crosscheck.extrapolation import observed_order
from roboaccord.crosscheck.levels.acceleration import relative
from roboaccord.engines import EngineModel, EngineSimulator, simulate_model, spec
from roboaccord.engines.reading import TreeReading, draw_question, read_tree
from roboaccord.engines.spec import Available, Feature, Missing
from roboaccord.engines.twin import twin_of
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.simulators.friction import JointFriction
from roboaccord.testing import small_robots as robots

# s: physics steps at which the error is measured. Of a scheme of order 4 it is 1e-9 and 7e-11
# there, well above round-off.
ORDER_STEPS = (4e-3, 2e-3)
# Relative difference of accelerations: the default tolerance of the cross-check.
ACCELERATION_TOLERANCE = 1e-8
# Difference of coordinates and rates at the end of the motion: round-off of 400 steps.
TWIN_TOLERANCE = 1e-10
# Error of coordinates below which no order can be measured: five times that at FINE_STEP, that of
# small_robots.py.
ORDER_ROUND_OFF = 1e-13
# Difference of the measured order from the stated one: the effect of the next order at these steps.
ORDER_TOLERANCE = 0.15
# m: how far a stop may yield under STOP_EFFORT, in any engine: 0.2 % of CART_STOP; 1e-8 was
# measured of MuJoCo.
STOP_TOLERANCE = 2e-3
STOP_EFFORT = 40.0  # N: effort against the stop of the cart, near the effort limits of 50 N

# Viscous [N m s/rad] and dry friction [N m] of both joints, and the rate at which dry friction has
# faded [rad/s]. Dry friction is 15 and 10 % of CONSTANT_EFFORTS, so that it acts and the joints
# still move.
JOINT_DRAG = JointFriction(np.array([0.5, 0.2]), np.array([0.3, 0.1]), 0.05)
Setting = Mapping[str, Json]  # values of `engine_options.NAME` by key

PENDULUMS = robots.model_of("pendulums")
TOUCHING = Contact(pairs=(("base_link", "lower_link"),), friction={})
# Models with a feature that an engine may lack, by name of the feature.
FEATURES: Mapping[Feature, EngineModel] = {
    "armature": replace(PENDULUMS, armature=np.array([0.2, 0.1])),
    "armature_impacts": replace(robots.model_of("cart"), armature=np.array([0.2, 0.1])),
    "bearing": replace(PENDULUMS, base="ball"),
    "contact": replace(PENDULUMS, contact=TOUCHING),
    "soft_stops": replace(PENDULUMS, stop_softness=2.0),
}


class EngineConformance:
    """Tests of one engine; skipped, with the reason, where it is not installed.

    Attributes:
        engine: name of its entry point.
        settings: values of `engine_options.NAME` with which it is tested besides its defaults.
    """

    engine: str
    settings: tuple[Setting, ...] = ()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run a test for each description and setting that its parameters ask for."""
        if "robot" in metafunc.fixturenames:
            metafunc.parametrize("robot", robots.DESCRIPTIONS)
        if "setting" in metafunc.fixturenames:
            settings = ({}, *self.settings)
            names = [", ".join(map(str, keys.values())) or "default" for keys in settings]
            metafunc.parametrize("setting", settings, ids=names)

    def _allowed(self, double: float, single: float) -> float:
        """Return a bound for the engine: that of double precision, or of single precision."""
        return double if spec(self.engine).precision == "float64" else single

    def _described(self, robot: str, setting: Setting, **changes: Any) -> EngineSimulator:
        """Return the simulator of a description, with settings of the engine."""
        options = {self.engine: setting}
        return self._simulator(replace(robots.model_of(robot), options=options, **changes))

    def _simulator(self, model: EngineModel) -> EngineSimulator:
        """Return the engine's simulator of a model; skip the test if it is not installed.

        `look` of a specification returns `Available`, or `Missing` with the reason.
        """
        availability = spec(self.engine).look()
        if isinstance(availability, Missing):
            pytest.skip(availability.reason)
        return simulate_model(model, self.engine)

    def test_it_is_what_its_entry_point_names(self) -> None:
        """The simulator has the engine's name, and the version of the library."""
        simulator, library = self._simulator(PENDULUMS), spec(self.engine).look()
        assert isinstance(library, Available)
        assert simulator.name == self.engine
        assert simulator.version.startswith(library.version)

    def test_accelerations_are_those_of_the_tree(self, robot: str, setting: Setting) -> None:
        """Within 1e-8 in random states, by the articulated-body algorithm, without the engine."""
        simulator = self._described(robot, setting)
        for state, effort in robots.random_states(robot):
            actual = simulator.acceleration(state, effort)
            assert actual
            exact = robots.dynamics(robot).acceleration_at(state, effort)
            error = relative(*(np.append(each.base, each.joints) for each in (actual, exact)))
            floor = round_off.of_accelerations(simulator, state, effort, exact)
            assert error < ACCELERATION_TOLERANCE + floor

    def test_masses_and_gravity_are_those_of_the_tree(self, robot: str) -> None:
        """Mass matrix and gravity forces, in our coordinates and not the engine's."""
        simulator, tree = self._simulator(robots.model_of(robot)), robots.dynamics(robot)
        for state, _ in robots.random_states(robot):
            mass, gravity = tree.statics(state.q, quaternion_matrix(state.orientation))
            # In single precision an engine may derive them from accelerations.
            largest = np.linalg.cond(mass) * robots.GRAVITY * mass.max()
            single = round_off.EVALUATION_ROUNDINGS * simulator.rounding * largest
            atol = self._allowed(1e-10, single)
            np.testing.assert_allclose(simulator.mass_matrix(state), mass, atol=atol)
            np.testing.assert_allclose(simulator.gravity_forces(state), gravity, atol=atol)

    def test_the_order_is_the_one_stated(self, robot: str, setting: Setting) -> None:
        """The error against a reference of order 4 falls by 2^order when the step is halved."""
        errors = []
        for step in ORDER_STEPS:
            simulator = self._described(robot, setting, physics_step=step)
            errors.append(np.abs(robots.end(robot, simulator).q - robots.truth(robot)).max())
        floor = self._allowed(ORDER_ROUND_OFF, round_off.of_coordinates(simulator.rounding))
        order = observed_order(ORDER_STEPS, errors, floor)
        if order is None:  # as of order 4 in single precision
            assert max(errors) < self._allowed(0.0, floor)
            return
        assert order == pytest.approx(simulator.order, abs=ORDER_TOLERANCE)

    def test_it_steps_as_its_scheme_says(self, robot: str, setting: Setting) -> None:
        """Its twin, our equations under that scheme, ends the motion in the same state."""
        if spec(self.engine).scheme is None:
            pytest.skip(f"the integration scheme of {self.engine} is not specified")
        model = replace(robots.model_of(robot), options={self.engine: setting}, friction=JOINT_DRAG)
        engine = self._simulator(model)
        seeds = round_off.ROUNDING_SEEDS if round_off.is_single(engine.rounding) else ()
        try:  # the twin, by seed 0, and rounded ones
            twins = [simulate_model(model, twin_of(self.engine, seed)) for seed in (0, *seeds)]
        except AccordError as error:  # of an engine whose scheme is known in part
            pytest.skip(str(error))
        # Roundings of all numbers of the bodies, and one of the state in each step.
        actual, exact, *others = (robots.end(robot, each) for each in (engine, *twins))
        spread = [np.abs(np.append(e.q - exact.q, e.qd - exact.qd)).max() for e in others]
        steps = robots.DURATION / model.physics_step * engine.rounding * np.abs(exact.qd).max()
        single = round_off.factor(engine.rounding) * max(spread, default=0.0) + steps
        robots.assert_same(exact, actual, self._allowed(TWIN_TOLERANCE, float(single)))

    def test_a_state_that_is_set_is_read_back(self, robot: str, setting: Setting) -> None:
        """After a reset, and after questions about other states."""
        simulator = self._described(robot, setting)
        for state, effort in robots.random_states(robot):
            read = simulator.reset(state)
            lost = self._allowed(1e-12, round_off.of_lost_states(simulator.rounding))
            robots.assert_same(read, state, lost, 1e-7)
            simulator.mass_matrix(robots.start(robot))
            simulator.acceleration(robots.start(robot), effort)
            robots.assert_same(simulator.state(), read, lost, 1e-7)

    def test_a_reset_leaves_nothing_behind(self, robot: str, setting: Setting) -> None:
        """The same motion again, bit for bit."""
        simulator = self._described(robot, setting)
        motion = robot, simulator, 0.1 * robots.EFFORT_LIMITS, 0.02
        robots.assert_same(robots.end(*motion), robots.end(*motion))

    def test_efforts_are_clipped_to_their_limits(self, robot: str) -> None:
        """And reported as they act."""
        limited = replace(robots.model_of(robot), effort_limits=np.array([2.0, 3.0]))
        simulator, efforts = self._simulator(limited), np.array([-2.0, 3.0])
        ends = [robots.end(robot, simulator, factor * efforts, 0.01) for factor in (1.0, 5.0)]
        for each in ends:
            np.testing.assert_array_equal(each.effort, efforts)
        np.testing.assert_array_equal(ends[0].qd, ends[1].qd)

    def test_a_stop_holds_what_pushes_against_it(self) -> None:
        """The cart comes to rest there, an event names the joint, and a pull frees it."""
        simulator = self._simulator(robots.model_of("cart"))
        end = robots.end("cart", simulator, np.array([STOP_EFFORT, 0.0]), 1.0)
        assert robots.CART_STOP - STOP_TOLERANCE < end.q[0] < robots.CART_STOP + STOP_TOLERANCE
        events = {(event.kind, event.subject) for event in simulator.take_events()}
        assert events == {("joint_stop", "shoulder")}
        pulled = simulator.step(Command(np.array([-STOP_EFFORT, 0.0])), 0.2)
        assert pulled.q[0] < robots.CART_STOP - 0.05

    def test_rotors_turn_with_their_joints_alone(self) -> None:
        """Reflected inertia adds to the diagonal of the mass matrix, where the engine has it."""
        if "armature" in spec(self.engine).lacks:
            pytest.skip(spec(self.engine).lacks["armature"])
        rotors, simulator = np.array([0.2, 0.1]), self._simulator(PENDULUMS)
        with_rotors = self._simulator(replace(PENDULUMS, armature=rotors))
        masses = [each.mass_matrix(robots.start("pendulums")) for each in (with_rotors, simulator)]
        atol = self._allowed(1e-13, round_off.of_properties(4.0 * simulator.rounding))
        np.testing.assert_allclose(masses[0] - masses[1], np.diag(rotors), atol=atol)

    def test_a_feature_it_lacks_is_refused(self) -> None:
        """In one line with the reason; only features of a model are tested here."""
        self._simulator(PENDULUMS)
        for feature, reason in spec(self.engine).lacks.items():
            if feature in FEATURES:
                assert self._refusal(FEATURES[feature]) == f"{self.engine}: {reason}"

    def test_what_cannot_be_done_is_refused(self) -> None:
        """Unknown settings and joints, a twist, a wrench on what is fixed: one line each."""
        setting = replace(PENDULUMS, options={self.engine: {"no_such_key": 1}})
        assert f"engine_options.{self.engine}.no_such_key" in self._refusal(setting)
        wrist = replace(PENDULUMS, joints=("shoulder", "wrist"))
        assert "joint wrist is missing" in self._refusal(wrist)
        simulator = self._simulator(PENDULUMS)
        passive = Command(robots.ZERO_EFFORTS)
        for command in (replace(passive, twist=np.ones(6)), replace(passive, wrench=np.ones(6))):
            with pytest.raises(AccordError, match=rf"\A{self.engine}.*\Z"):
                simulator.step(command, ORDER_STEPS[0])

    def _refusal(self, model: EngineModel) -> str:
        """Return the line with which the engine refuses a model."""
        with pytest.raises(AccordError, match=r"\A.*\Z") as refused:
            self._simulator(model)
        return str(refused.value)

    def test_its_reader_reads_the_same_tree(self, robot: str) -> None:
        """Joints, mass and accelerations; skipped for an engine that reads no descriptions."""
        self._simulator(robots.model_of(robot))
        engine, urdf = spec(self.engine), robots.DESCRIPTIONS[robot]
        if engine.reader is None:
            pytest.skip(f"{self.engine} reads no descriptions")
        tree = read_tree(urdf)
        question = draw_question(tree, robots.base_of(robot), robots.SEED)
        reading = engine.load(engine.reader)(urdf, question, "default", {})
        expected = TreeReading(tree, question)
        assert {*reading.joints} == {*robots.JOINTS}
        for state in question.states[: robots.STATE_COUNT]:
            accelerations = reading.acceleration(state)
            assert relative(accelerations, expected.acceleration(state)) < ACCELERATION_TOLERANCE
