"""Deliberate errors do to an engine's model what they state, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Command, RobotState
from roboaccord.crosscheck.engines import make_engines
from roboaccord.crosscheck.levels.acceleration import ModelCheck, check_model
from roboaccord.crosscheck.run import run_crosscheck
from roboaccord.falsify import KINDS, Perturbation, parse_perturbation, wrap
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from running import setup_of

pytestmark = pytest.mark.thorough

ENGINES = ["dart", "mujoco"]


@pytest.fixture(scope="module")
def snake() -> Setup:
    pytest.importorskip("dartpy", reason="DART is not installed, or libGL is missing")
    return setup_of("snake", "serpenoid")


@pytest.fixture(scope="module")
def short(snake: Setup) -> Setup:
    return setup_of("snake", "serpenoid", "crosscheck.duration=0.2", "crosscheck.states=5")


def compared(setup: Setup, *items: Perturbation) -> ModelCheck:
    return check_model(setup, make_simulator(setup), falsified(setup, *items), 1e-6)


def falsified(setup: Setup, *items: Perturbation) -> Simulator:
    return make_simulator(setup, wrap(items[0].engine, perturbations=items))


def test_a_text_is_read_as_it_is_written() -> None:
    assert parse_perturbation("dart:mass:arm_link=1.01") == Perturbation(
        "dart", "mass", 1.01, "arm_link"
    )
    for text in ("dart:gravity=0.99", "mujoco:axis:joint_02=0.01"):
        assert str(parse_perturbation(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dart", "takes ENGINE:KIND"),
        ("dart:base_link=1.01", "unknown kind base_link"),
        ("dart:mass=heavy", "'heavy' is not a number"),
        ("dart:mass=nan", "'nan' is not a number"),
        ("dart:gravity:base_link=1.01", "gravity has one place only"),
        ("dart:mass=0", "mass takes a number of 1e-06 at least"),
        ("dart:impact=-1", "impact takes a number from 0 to 1"),
        ("dart:delay=0.4", "delay takes a whole number from 0 to 1000"),
    ],
)
def test_what_is_no_perturbation_is_refused(text: str, message: str) -> None:
    with pytest.raises(AccordError, match=message):
        parse_perturbation(text)


# By kind: size, where, and what the check calls it.
DIRECT = {
    "mass": (1.001, "segment_05_link", "mass"),
    "inertia": (1.001, "segment_05_link", "inertia"),
    "centre": (1e-4, "segment_05_link", "centre"), "length": (1e-4, "joint_05", "origin"),
    "axis": (1e-4, "joint_05", "axis"), "axis_sign": (-1.0, "joint_05", "axis"),
    "damping": (1e-4, "joint_05", "damping"), "limit": (1e-4, "joint_05", "limit"),
    "effort_limit": (1.001, "joint_05", "effort limit"),
    "armature": (1e-6, "joint_05", "armature"), "sensor": (1e-5, "joint_05", "sensor"),
    "gravity": (1.001, "", "gravity"),
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", DIRECT)
def test_errors_of_a_model_are_named_with_link_or_joint(
    snake: Setup, kind: str, engine: str
) -> None:
    size, where, quantity = DIRECT[kind]
    item = Perturbation(engine, kind, size, where)
    if (engine, kind) == ("dart", "armature"):
        with pytest.raises(AccordError, match="dart: no reflected inertia"):
            compared(snake, item)
        return
    found = compared(snake, item).differences
    assert {(d.quantity, d.where) for d in found} == {(quantity, where)}


def test_at_a_creep_friction_falls_as_the_slip_speed_grows(snake: Setup) -> None:
    """Far below the slip speed a force is mu N times the speed over it: twice that, half of it."""
    twist, none = np.array([0, 1e-9, 0, 0, 0, 0]), np.zeros(len(snake.joints))
    creeping = replace(snake.initial, q=none, qd=none, twist=twist)
    losses = []
    for items in ([], [Perturbation("mujoco", "slip_speed", 2.0)]):
        engine = wrap("mujoco", perturbations=items)
        simulator = make_simulator(snake, engine, physics_step=1e-6)
        simulator.reset(creeping)
        losses.append(1e-9 - simulator.step(Command(none), 1e-6).twist[1])
    assert losses[0] > 0.0
    assert losses[1] / losses[0] == pytest.approx(0.5, rel=1e-3)


def test_a_link_that_weighs_nothing_in_the_reference_is_not_overlooked(snake: Setup) -> None:
    """16 kg against 12 kg: the total, and each link that only one of both has."""

    class Heavier:
        """An engine of the snake with a link that nobody described."""

        def __init__(self) -> None:
            self._engine = make_simulator(snake, "mujoco")

        def __getattr__(self, name: str) -> object:
            return getattr(self._engine, name)

        def masses(self) -> dict[str, float]:
            return {**self._engine.masses(), "payload_link": 4.0}

    check = check_model(snake, make_simulator(snake), Heavier(), 1e-6)  # type: ignore[arg-type]
    assert check.total == pytest.approx(check.reference + 4.0)
    assert [(d.quantity, d.where) for d in check.differences] == [("mass", "payload_link")]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_late_command_acts_a_period_later(snake: Setup, engine: str) -> None:
    """At rest for one period, then as the sound engine; the effort is reported as if in time."""
    late = falsified(snake, Perturbation(engine, "delay", 1.0))
    sound = make_simulator(snake, engine)
    push = Command(np.linspace(-1.0, 1.0, len(snake.joints)))
    first = late.step(push, 1e-3)
    assert first.effort == pytest.approx(push.effort)
    assert np.abs(first.qd).max() < 1e-12 < np.abs(late.step(push, 1e-3).qd).max()
    sound.step(Command(np.zeros(len(snake.joints))), 1e-3)
    assert late.state().qd == pytest.approx(sound.step(push, 1e-3).qd, abs=1e-15)


def test_an_engine_without_the_thing_says_so(snake: Setup) -> None:
    """The snake has no dry friction in its joints, and no contact."""
    for kind in ("friction", "contact_friction", "impact"):
        with pytest.raises(AccordError, match=f"--perturb mujoco:{kind}"):
            falsified(snake, Perturbation("mujoco", kind, 0.5))
    with pytest.raises(AccordError, match="there is no link nothing"):
        compared(snake, Perturbation("mujoco", "mass", 1.1, "nothing"))


def test_a_neutral_value_of_every_kind_changes_nothing(snake: Setup) -> None:
    """The same motion to the last bit, so that a table of sizes starts from a sound engine."""
    push = Command(np.linspace(-1.0, 1.0, len(snake.joints)))
    sound = make_simulator(snake, "mujoco").step(push, 0.01)
    for kind, about in KINDS.items():
        if kind in ("friction", "contact_friction", "impact"):
            continue
        item = Perturbation("mujoco", kind, about.neutral)
        same = falsified(snake, item).step(push, 0.01)
        assert same.qd == pytest.approx(sound.qd, abs=1e-12), kind


def test_a_link_without_inertial_weighs_nothing_in_dart() -> None:
    """DART gives it 1 kg of its own accord."""
    pytest.importorskip("dartpy", reason="DART is not installed, or libGL is missing")
    from roboaccord.engines import simulate_model
    from roboaccord.engines.model import EngineModel

    inertial = (
        '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        "</inertial>"
    )
    joint = '<joint name="j" type="fixed"><parent link="base_link"/><child link="tool"/></joint>'
    links = f'<link name="base_link">{inertial}</link><link name="tool"/>'
    urdf = f'<robot name="r">{links}{joint}</robot>'
    model = EngineModel(
        urdf=urdf, base="free", joints=(), effort_limits=np.zeros(0), physics_step=1e-3,
        gravity=9.81,
    )  # fmt: skip
    assert simulate_model(model, "dart").masses() == {"base_link": 2.0, "tool": 0.0}


def test_mujoco_names_the_link_that_it_refuses(snake: Setup) -> None:
    """Its second line has the name: an inertia that no body can have."""
    with pytest.raises(AccordError, match=r"segment_05_link"):
        falsified(snake, Perturbation("mujoco", "inertia", -1.0, "segment_05_link"))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_base_that_is_not_where_it_was_put_is_told_of(
    snake: Setup, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that reads its base 1 mm off has joints as they were set."""
    simulator = make_simulator(snake, engine)
    right = simulator.reset

    def wrong(state: RobotState) -> RobotState:
        seen = right(state)
        return replace(seen, position=seen.position + 1e-3)

    monkeypatch.setattr(simulator, "reset", wrong)
    found = check_model(snake, make_simulator(snake), simulator, 1e-6).differences
    assert {(d.quantity, d.where) for d in found} == {("sensor", "position of base_link")}


def test_an_error_that_an_engine_does_not_take_is_no_pass_of_the_others(snake: Setup) -> None:
    """An engine that refuses a scenario may be left out; one that refuses its error may not."""
    refused: list[str] = []

    def leave_out(name: str, error: AccordError) -> None:
        refused.append(name)

    wrong = wrap("dart", perturbations=[Perturbation("dart", "impact", 0.5)])
    with pytest.raises(AccordError, match="--perturb dart:impact"):
        make_engines(snake, [wrong, "mujoco"], leave_out)
    assert not refused


def creep(simulator: Simulator) -> None:
    """Move the base by 10 um along each axis, at unchanged velocities."""
    state = simulator.state()
    simulator.reset(replace(state, position=state.position + 1e-5))


def settle(simulator: Simulator) -> None:
    """Take 0.1 % of all rates away, as a damping of energy in the solver would."""
    state = simulator.state()
    simulator.reset(replace(state, qd=0.999 * state.qd, twist=0.999 * state.twist))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "levels"),
    [
        (settle, {"scheme", "one_step", "trajectory", "energy"}),
        (creep, {"scheme", "invariance", "one_step", "trajectory", "energy"}),
    ],
)
def test_an_engine_that_a_function_breaks_is_found(
    short: Setup, tmp_path: Path, broken: Callable[[Simulator], None], levels: set[str]
) -> None:
    """The model is right, and no kind of perturbation has these errors: the motion shows them.

    The state that is set anew forgets what friction took, so the energy book is off, too.
    """
    wrong = wrap("dart", after_step=broken)
    report = run_crosscheck(short, [wrong], refine=3, out=tmp_path)
    found = {level: each["dart"].outcome for level, each in report.levels.items()}
    assert {level for level, outcome in found.items() if outcome == "outside"} == levels
    assert found["acceleration"] == "within"
    assert report.engines == ["reference", "dart"]
    assert report.perturbations == [f"dart:after_step={broken.__name__}"]


def test_a_function_that_does_nothing_breaks_nothing(short: Setup) -> None:
    """The same motion to the last bit, by the same name and version; wraps add up."""
    push = Command(np.linspace(-1.0, 1.0, len(short.joints)))
    late = wrap("mujoco", perturbations=[Perturbation("mujoco", "delay", 1.0)])
    for engine in ("mujoco", late):
        wrapped = wrap(engine, after_step=lambda simulator: None)
        same, sound = make_simulator(short, wrapped), make_simulator(short, engine)
        assert (same.name, same.version) == (sound.name, sound.version)
        for _ in range(3):
            found, expected = same.step(push, 0.01), sound.step(push, 0.01)
            assert found.time == expected.time
            assert (found.qd == expected.qd).all() and (found.q == expected.q).all()
    assert wrapped.changes == ("mujoco:delay=1", "mujoco:after_step=<lambda>")


def test_names_of_engines_and_reasons_of_excuses_are_checked(tmp_path: Path) -> None:
    """A slip of the pen would take a tolerance away without a word."""
    for change, message in (
        ("crosscheck.tolerances.trajectory={darrt: 1e-3}", "did you mean dart"),
        ("crosscheck.tolerances.level={trajectry: 1e-3}", "did you mean crosscheck.*trajectory"),
        ("crosscheck.excuse={trajectory: {drat: why}}", "did you mean dart"),
        ("crosscheck.excuse={trajectry: {dart: why}}", "did you mean crosscheck.*trajectory"),
        ("crosscheck.excuse={trajectory: {dart: ' '}}", "an excuse needs a reason"),
    ):
        setup = Setup.of(load_scenario("snake", "snake", "serpenoid", [change]))
        with pytest.raises(AccordError, match=message):
            run_crosscheck(setup, [], refine=1, out=tmp_path)
