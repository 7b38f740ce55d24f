"""Names of errors that no hypothesis has in its own form: they are planted in adapters and files.

The twin is predicted in the states of an engine that a proxy, or another description, falsifies.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import running
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.causes.explain import Conclusion
from roboaccord.crosscheck.causes.findings import resolve
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.measures.scheme import SchemeCheck, check_scheme
from roboaccord.crosscheck.runs import Job, Runs, run_job
from roboaccord.engines import spec
from roboaccord.engines.base import engine_parts
from roboaccord.engines.force_laws import PushedLaw
from roboaccord.engines.spec import EngineSpec
from roboaccord.falsify import Perturbation, wrap
from roboaccord.numerics.rotations import (
    axis_angle_matrix,
    matrix_quaternion,
    quaternion_matrix,
    quaternion_rpy,
    rpy_matrix,
)
from roboaccord.report.cause_words import text_of
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.proxy import Proxy
from slow_cases import late
from test_scheme import broken

pytestmark = pytest.mark.thorough

DATA = Path(__file__).parent / "data" / "urdf"
FINGER = str(DATA / "finger_edu.urdf")  # MuJoCo refuses an inertia of it
PANDA = str(DATA / "panda.urdf")
TICKS = 60

Change = Callable[[Simulator], Simulator]


class Wrong(Proxy):
    """Take efforts, clipped, and give states, in another order, by factors, or a tick late."""

    places: Sequence[int] = ()
    efforts: Array = np.ones(1)
    most: Array = np.full(1, np.inf)
    rates: Array = np.ones(1)
    states_too = False
    late_rates = False

    def _turned(self, state: RobotState) -> RobotState:
        order = self.places if self.states_too else range(len(self.joints))
        return replace(state, **{n: getattr(state, n)[[*order]] for n in ("q", "qd", "effort")})

    def _start(self, state: RobotState) -> None:
        self._inner.reset(self._turned(state))
        self._before = self._inner.state()

    def _advance(self, command: Command, duration: float) -> None:
        self._before = self._inner.state()
        order = [*(self.places or range(len(self.joints)))]
        effort = (self.efforts * command.effort[order]).clip(-self.most, self.most)
        self._inner.step(replace(command, effort=effort), duration)

    def _read(self) -> RobotState:
        state = super()._read()
        if self.late_rates:
            state = replace(state, qd=self._before.qd, twist=self._before.twist)
        return replace(
            self._turned(state), qd=self.rates * self._turned(state).qd, effort=self._effort
        )


class Lagged(Proxy):
    """Give states a tick late."""

    def _start(self, state: RobotState) -> None:
        super()._start(state)
        self._before = self._inner.state()

    def _advance(self, command: Command, duration: float) -> None:
        self._before = self._inner.state()
        super()._advance(command, duration)

    def _read(self) -> RobotState:
        return replace(self._before, time=self._time, effort=self._effort)


class InWorld(Proxy):
    """Give the base's velocities in the world's axes."""

    def _read(self) -> RobotState:
        state = super()._read()
        turn = quaternion_matrix(state.orientation)
        twist = np.concatenate([turn @ state.twist[:3], turn @ state.twist[3:]])
        return replace(state, twist=twist)


def wrong(**changes: object) -> Change:
    """Return a proxy of another order, sign or tick."""
    return type("Planted", (Wrong,), changes)


def tilted(simulator: Simulator) -> Simulator:
    """Tilt gravity by 1e-3 about y, by forces of the engine's own."""
    for model in engine_parts(simulator):
        pull = 1e-3 * model.intended.gravity * np.array([1.0, 0.0, 0.0])
        pushes = {link.name: link.mass * pull for link in model.tree.links if link.mass}
        model._set_law(PushedLaw(model._law, pushes))
        model._compile()
    return simulator


def swapped(n: int) -> list[int]:
    """Return an order with the first and the last interchanged."""
    return [n - 1, *range(1, n - 1), 0]


def one_at(n: int, value: float) -> Array:
    """Return ones but for the last."""
    return np.array([*np.ones(n - 1), value])


def planted(setup: Setup, name: str, engine: str) -> tuple[EngineSpec, set[tuple[str, str]]]:
    """Return an engine with errors, and what is off where."""
    joints, n = setup.joints, len(setup.joints)
    pair, last = f"{joints[0]}, {joints[-1]}", joints[-1]
    link = next(joint.child for joint in setup.tree.moving if joint.name == last)
    proxies: dict[str, tuple[Change, set[tuple[str, str]]]] = {
        "efforts interchanged": (wrong(places=swapped(n)), {("order of effort", pair)}),
        "joints interchanged": (
            wrong(places=swapped(n), states_too=True),
            {("order of axis", pair)},
        ),
        "sign of a rate": (wrong(rates=one_at(n, -1.0)), {("sign of rate", last)}),
        "sign of an effort": (wrong(efforts=one_at(n, -1.0)), {("sign of effort", last)}),
        "effort clipped": (
            wrong(most=np.array([*np.full(n - 1, np.inf), 0.01])),
            {("effort limit", last)},
        ),
        "states late": (Lagged, {("delay", "")}),
        "rates late": (wrong(late_rates=True), {("lag", "")}),
        "gravity tilted": (tilted, {("gravity", "")}),
        "all efforts": (wrong(efforts=0.97 * np.ones(n)), {("gear", "*")}),
        "velocities in the world": (InWorld, {("frame", "base_link")}),
        "gravity and gear": (
            lambda s: wrong(efforts=one_at(n, 0.99))(tilted(s)),
            {("gravity", ""), ("gear", last)},
        ),
        "interchanged and gear": (
            wrong(places=swapped(n), efforts=one_at(n, 0.99)),
            {("order of effort", pair), ("gear", last)},
        ),
    }
    if name in proxies:
        change, names = proxies[name]
        return broken(engine, change), names
    files = {
        "centre": [Perturbation(engine, "centre", 0.005, link)],
        "inertia": [Perturbation(engine, "inertia", 1.1, link)],
        "mass": [Perturbation(engine, "mass", 1.05, link)],
        "friction of a link": [Perturbation(engine, "link_friction", 0.9, link)],
        "mass and gear": [
            Perturbation(engine, "mass", 1.02, link),
            Perturbation(engine, "gear", 0.99, joints[0]),
        ],
    }
    return wrap(engine, perturbations=files[name]), {(p.kind, p.where) for p in files[name]}


def setup_of(robot: str) -> Setup:
    """Return a robot that moves without contact."""
    if robot == "snake":
        return running.setup_of(robot, "serpenoid", "physics_step=0.0005")
    return Setup.of(make_scenario({"robot": robot, "base": "fixed", "control_period": 0.002}))


def run_of(setup: Setup, engine: EngineSpec) -> Trajectory:
    """Return a run under efforts of several frequencies, well within their limits."""
    n, period = len(setup.joints), setup.scenario.control_period
    simulator, rng = make_simulator(setup, engine), np.random.default_rng(5)
    start = replace(setup.initial, q=setup.initial.q + 0.1 * rng.uniform(-1.0, 1.0, n))
    size = np.minimum(0.2 * setup.effort_limits, 2.0)
    states = [simulator.reset(start)]
    for i in range(TICKS):
        effort = size * np.sin(20.0 * period * i * (1.0 + np.arange(n) / n) + np.arange(n))
        states.append(simulator.step(Command(effort), period))
    return Trajectory.from_states(setup.joints, states, simulator.take_events())


def name_of(robot: str, engine: str, error: str) -> tuple[str, set[tuple[str, str]]]:
    """Return the name in words, and what is to be in it."""
    setup = setup_of(robot)
    specified, names = planted(setup, error, engine)
    found = check_scheme(setup, specified, run_of(setup, specified))
    assert isinstance(found, SchemeCheck) and found.error > found.floor
    return text_of(found.explanation), names


WORDS = {
    "order of effort": "effort of {} are interchanged",
    "order of axis": "position, rate and effort of {} are interchanged",
    "sign of rate": "rate of {} has the other sign",
    "sign of effort": "effort of {} has the other sign",
    "effort limit": "the effort of {} is clipped at 0.01 N m",
    "link_friction": "friction of {} is -10 % off",
    "delay": "efforts act 1 tick late, or states are recorded 1 tick late",
    "lag": "rates are recorded 1 tick late",
    "gravity": "gravity is x +0.1 % off",
    "frame": "velocities are in the world's axes",
}
SINGLE = [
    "efforts interchanged", "joints interchanged", "sign of a rate", "sign of an effort",
    "states late", "rates late", "gravity tilted", "all efforts", "centre", "inertia", "mass",
]  # fmt: skip
PAIRS = ["gravity and gear", "interchanged and gear", "mass and gear"]


def is_named(text: str, names: set[tuple[str, str]]) -> bool:
    """Return whether all that is off is named; of links of one body another may be beside it."""
    for quantity, where in names:
        place = where.replace(", ", " and ").replace("*", "every joint")
        words = WORDS.get(quantity, f"{quantity} of {{}} is").format(place)
        if words not in text:
            return False
    alternatives = text.partition("cannot be distinguished: ")[2]
    return alternatives.count(";") <= 3 and "no known error" not in text


@pytest.mark.parametrize(
    "error",
    ["joints interchanged", "effort clipped", *late("rates late", "centre", "mass and gear")],
)
def test_what_is_off_in_a_file_is_named(error: str) -> None:
    text, names = name_of(FINGER, "dart", error)
    assert is_named(text, names), text


@pytest.mark.parametrize(
    ("what", "turn", "name"),
    [
        *late(((1e-4, 0.0, 0.0), 0.0, "origin of panda_joint4 is x +0.0001 m off")),
        ((0.0, 0.0, 0.0), 1e-3, "zero of panda_joint4 is -0.001 rad off"),
    ],
)
def test_a_joint_that_is_elsewhere_in_the_engines_file_is_named(
    tmp_path: Path, what: tuple[float, float, float], turn: float, name: str
) -> None:
    """The engine reads another file, whose joint is moved, or turned about its axis."""
    tree = ET.parse(PANDA)
    joint = tree.find("joint[@name='panda_joint4']")
    origin = joint.find("origin") if joint is not None else None
    assert joint is not None and origin is not None
    position = np.array(origin.get("xyz", "").split(), float) + what
    axis = np.array(joint.find("axis").get("xyz", "").split(), float)  # type: ignore[union-attr]
    turned = rpy_matrix(*map(float, origin.get("rpy", "").split()))
    turned = turned @ axis_angle_matrix(axis, turn)
    rpy = quaternion_rpy(matrix_quaternion(turned))
    origin.set("xyz", " ".join(map(repr, position.tolist())))
    origin.set("rpy", " ".join(map(repr, map(float, rpy))))
    tree.write(tmp_path / "panda.urdf")
    run = run_of(setup_of(str(tmp_path / "panda.urdf")), spec("dart"))
    found = check_scheme(setup_of(PANDA), spec("dart"), run)
    assert isinstance(found, SchemeCheck) and found.error > found.floor
    assert name in text_of(found.explanation), text_of(found.explanation)


ROBOTS = ("snake", "packbot", PANDA)
ENGINES = ("dart", "mujoco")
# A robot and an engine each, in turn; those in the world need a base that moves.
CASES = [
    (ROBOTS[i % 3], ENGINES[i // 3 % 2], error) for i, error in enumerate([*SINGLE, *PAIRS])
] + [("snake", "mujoco", "velocities in the world"), ("snake", "dart", "friction of a link")]


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "engine", "error"), CASES)
def test_what_is_off_is_named(robot: str, engine: str, error: str) -> None:
    text, names = name_of(robot, engine, error)
    assert is_named(text, names), text


def test_what_no_hypothesis_has_is_not_named_but_placed() -> None:
    """Efforts that depend on the angle by a wave: none of the parameters does that."""

    class Wavy(Proxy):
        def _advance(self, command: Command, duration: float) -> None:
            effort = np.array(command.effort)
            effort[1] += 1e-3 * np.sin(500.0 * self._inner.state().q[1])
            self._inner.step(replace(command, effort=effort), duration)

        def _read(self) -> RobotState:
            return replace(super()._read(), effort=self._effort)

    setup = setup_of(FINGER)
    specified = broken("dart", Wavy)
    found = check_scheme(setup, specified, run_of(setup, specified))
    assert isinstance(found, SchemeCheck)
    assert found.explanation.code in (Conclusion.NO_SINGLE_CAUSE, Conclusion.NOTHING_EXPLAINS)
    assert found.explanation.causes == () and "look at the" in text_of(found.explanation)


@pytest.mark.slow
def test_without_a_twin_one_step_says_what_it_would_have_seen() -> None:
    """The ball on its rollers: friction of its contacts is a parameter of the reference."""
    setup = running.setup_of("roller_sphere", "figure_eight", "duration=0.2")
    jobs = [Job("mujoco", step) for step in (1e-3, 5e-4, 2.5e-4)]
    runs = {job: run_job(setup.scenario.data(), job, spec("mujoco"))[1] for job in jobs}
    case = CheckCase(setup, "mujoco", "mujoco", Runs(runs, [job.dt for job in jobs]))
    assert case.order == 4
    found = {each.parameter: each for each in resolve(case)}
    assert {each.level for each in found.values()} == {"one_step"}
    assert 0.0 < found["friction.coefficient"].smallest < 1e-3
