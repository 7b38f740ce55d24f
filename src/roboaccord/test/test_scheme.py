"""The level `scheme`: engines agree with their twins, and what is wrong by O(h) is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from roboaccord.contract.outcome import Code, Finding, Outcome, because
from roboaccord.contract.state import Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.causes.findings import resolve
from roboaccord.crosscheck.causes.resolution import Resolved, ask_resolution, shown_of
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.drawn import draw_states
from roboaccord.crosscheck.levels.energy import EnergyLevel, check_energy
from roboaccord.crosscheck.levels.repeat import RepeatLevel, check_repeat
from roboaccord.crosscheck.levels.scheme import SchemeLevel
from roboaccord.crosscheck.measures.scheme import NoTwin, SchemeCheck, check_scheme
from roboaccord.crosscheck.runs import Job, Runs, run_job
from roboaccord.engines import default_names, spec
from roboaccord.engines.deviations import ModelChange
from roboaccord.engines.model import EngineModel
from roboaccord.engines.spec import EngineSpec, Scheme
from roboaccord.engines.twin import Twin, twin_of
from roboaccord.engines.twin_coordinates import inverse_differential
from roboaccord.numerics.rotations import (
    quaternion_matrix,
    quaternion_product,
    turn_quaternion,
)
from roboaccord.report.cause_words import summary_of
from roboaccord.run.energy_book import energy_of
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.files import load_scenario, make_scenario
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup, find_robot
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.friction import JointFriction
from roboaccord.simulators.proxy import Proxy
from slow_cases import late

pytestmark = pytest.mark.thorough

PENDULUM = Path(__file__).parent / "data" / "urdf" / "double_pendulum_continuous.urdf"
Change = Callable[[Simulator], Simulator]
WITHIN = 0.2  # of the floor, in what is sound


def snake(*changes: str) -> Setup:
    """Return the gait for 0.1 s, two physics steps a tick, sliding on dry ground."""
    keys = ("duration=0.1", "physics_step=0.0005", *changes)
    return Setup.of(load_scenario("snake", "snake", "serpenoid", keys))


def run_of(setup: Setup, engine: EngineSpec) -> Trajectory:
    """Return a run of a setup."""
    return run_job(setup.scenario.data(), Job(engine.name, setup.scenario.physics_step), engine)[1]


def check_of(setup: Setup, engine: EngineSpec, *, named: bool = False) -> SchemeCheck:
    """Return the check of a run."""
    found = check_scheme(setup, engine, run_of(setup, engine), named=named)
    assert isinstance(found, SchemeCheck)
    return found


@dataclass(frozen=True, kw_only=True)
class Broken(EngineSpec):
    """Specify an engine in front of which something stands."""

    change: Change

    def complete(self, simulator: Simulator) -> Simulator:
        return self.change(simulator)


def broken(engine: str, change: Change) -> Broken:
    """Return an engine with an error that no perturbation of ours has."""
    kept = {each.name: getattr(spec(engine), each.name) for each in fields(EngineSpec)}
    return Broken(**kept, change=change)


class Late(Proxy):
    """Let the effort of the tick before act in the first physics step."""

    def _start(self, state: RobotState) -> None:
        self._before = np.array(state.effort)
        super()._start(state)

    def _advance(self, command: Command, duration: float) -> None:
        step = self.physics_step
        self._inner.step(replace(command, effort=self._before), step)
        self._inner.step(command, duration - step)
        self._before = np.array(self._effort)


class Lossy(Proxy):
    """Lose one physics step in 100."""

    def _start(self, state: RobotState) -> None:
        self._count = 0
        super()._start(state)

    def _advance(self, command: Command, duration: float) -> None:
        self._count += 1
        lost = self.physics_step if self._count % 50 == 0 else 0.0
        self._inner.step(command, duration - lost)

    def _read(self) -> RobotState:
        return replace(super()._read(), time=self._time)


class Strong(Proxy):
    """Let efforts be too large by 20 times the physics step in seconds."""

    def _advance(self, command: Command, duration: float) -> None:
        more = 1.0 + 20.0 * self.physics_step
        self._inner.step(replace(command, effort=more * command.effort), duration)

    def _read(self) -> RobotState:
        return replace(super()._read(), effort=self._effort)


class Rounded(Proxy):
    """Give states in single precision."""

    def _read(self) -> RobotState:
        state = super()._read()
        return replace(state, qd=state.qd.astype(np.float32).astype(float))


class Noisy(Proxy):
    """Add noise of 1e-9 rad/s to the rates."""

    def _start(self, state: RobotState) -> None:
        self._rng = np.random.default_rng(7)
        super()._start(state)

    def _advance(self, command: Command, duration: float) -> None:
        state = self._inner.step(command, duration)
        self._inner.reset(replace(state, qd=state.qd + 1e-9 * self._rng.normal(size=len(state.qd))))


class Unseeded(Noisy):
    """Add noise that differs from run to run."""

    def _start(self, state: RobotState) -> None:
        super()._start(state)
        self._rng = np.random.default_rng()


@cache
def sound(engine: str) -> SchemeCheck:
    """Return the check of an engine as it is."""
    return check_of(snake(), spec(engine))


def test_a_scheme_steps_a_point_of_a_free_base() -> None:
    """The centre of a body that spins and falls: p + n h v - g h^2 n (n + 1) / 2, exactly."""
    centre, step, count = np.array([0.1, -0.2, 0.05]), 1e-3, 100
    model = EngineModel(
        urdf=f"""<robot name="body"><link name="base_link"><inertial>
          <origin xyz="{' '.join(map(str, centre))}"/><mass value="2"/>
          <inertia ixx="0.03" iyy="0.05" izz="0.06" ixy="0" ixz="0" iyz="0"/></inertial></link>
        </robot>""",
        base="free", joints=(), effort_limits=np.zeros(0), physics_step=step, gravity=9.81,
    )  # fmt: skip
    scheme = Scheme("semi-implicit Euler", turning="quaternion", point=(0.1, -0.2, 0.05))
    state = RobotState(0.0, *np.zeros((3, 0)), twist=np.array([0.3, 0.1, -0.2, 2.0, -1.0, 3.0]))
    twin = Twin(model, scheme)
    twin.reset(state)
    end = twin.step(Command(np.zeros(0)), count * step)
    velocity = state.twist[:3] + np.cross(state.twist[3:], centre)
    fallen = 9.81 * step**2 * count * (count + 1) / 2.0 * np.array([0.0, 0.0, 1.0])
    found = end.position + quaternion_matrix(end.orientation) @ centre
    np.testing.assert_allclose(found, centre + count * step * velocity - fallen, atol=1e-13)


@pytest.mark.parametrize("engine", default_names())
def test_a_sound_engine_is_far_within_its_floor(engine: str) -> None:
    found = sound(engine)
    assert found.error < WITHIN * found.floor < 1e-10
    assert (found.judged, found.left_out) == (100, 0)
    assert SchemeLevel().judge(found, Tolerances()).outcome == "within"


@pytest.mark.parametrize("change", [Late, *late(Lossy, Strong, Rounded, Noisy)])
def test_an_error_of_first_order_is_outside(change: Change) -> None:
    """Each of these vanishes with the step, or is far below what an engine of order 1 errs by."""
    found = check_of(snake(), broken("dart", change))
    assert found.error > 100.0 * found.floor
    assert SchemeLevel().judge(found, Tolerances()).outcome == "outside"


@pytest.mark.parametrize("order", [1, 4])
@pytest.mark.parametrize("base", ["snake", "pendulum"])
def test_a_kernel_takes_the_steps_of_the_twin(
    order: int, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Python they are the same to round-off, for a planar and a fixed base, by both schemes."""
    changes = [f"engine_options.mujoco.integrator={'rk4' if order == 4 else 'euler'}"]
    setup = snake(*changes)
    if base == "pendulum":
        robot = find_robot(str(PENDULUM))
        setup = Setup.of(load_scenario(robot.package, robot.key, "released", changes))
    model = make_simulator(setup, twin_of(spec("mujoco")))
    assert model.order == order
    ends = []
    for compiles in (True, False):
        monkeypatch.setattr("roboaccord.engines.twin.COMPILES", compiles)
        state, *_ = (s for s, _ in draw_states(setup, 1, 5))
        model.reset(state)
        effort = np.linspace(-1.0, 1.0, len(setup.joints))
        end = model.step(Command(effort), 10 * setup.scenario.control_period)
        ends.append(np.concatenate([end.q, end.qd, end.position, end.orientation, end.twist]))
    size = np.abs(ends[0]).max()
    assert np.allclose(*ends, rtol=0.0, atol=1e-12 * size)
    assert np.abs(ends[0][: len(setup.joints)] - state.q).max() > 1e-3


@pytest.mark.parametrize("gain", [0.0, 1e-6])
def test_the_energy_book_of_an_engine_that_is_its_twin_is_the_twins(gain: float) -> None:
    """A millionth too much of what the ground takes is outside; time stepping would hide it."""

    class Thirsty(Proxy):
        def take_losses(self) -> Mapping[str, float]:
            return {k: (1.0 + gain) * e for k, e in super().take_losses().items()}

    setup, engine = snake(), broken("dart", Thirsty)
    run = run_of(setup, engine)
    book = energy_of(setup, engine, run)
    found = EnergyLevel().judge(check_energy(setup, engine, run, book, sound("dart")), Tolerances())
    assert found.outcome == ("outside" if gain else "within")
    assert found.codes == ((Code.ENERGY_OF_TWIN,) if gain else ())


@pytest.mark.slow
def test_what_would_have_been_seen_is_what_is_seen() -> None:
    """A gear off by three times its resolution is outside, by a tenth of it within."""
    resolved = next(each for each in sound("dart").resolution if each.parameter == "gear")
    assert (resolved.level, resolved.unit) == ("scheme", "1")
    joint = snake().joints.index(resolved.where)
    for part, outcome in ((3.0, "outside"), (0.1, "within")):
        gear = np.ones(21)
        gear[joint] += part * resolved.smallest

        class Geared(Proxy):
            def _advance(self, command: Command, duration: float) -> None:
                effort = gear * command.effort  # noqa: B023
                self._inner.step(replace(command, effort=effort), duration)

            def _read(self) -> RobotState:
                return replace(super()._read(), effort=self._effort)

        check = check_of(snake(), broken("dart", Geared))
        assert SchemeLevel().judge(check, Tolerances()).outcome == outcome


def test_where_there_is_no_twin_the_level_does_not_apply_and_counts_neither_way() -> None:
    finding = SchemeLevel().judge(NoTwin("a ball stands in a frame"), Tolerances())
    none = because(Code.NO_TWIN, text="a ball stands in a frame")
    assert (finding.outcome, finding.reasons) == ("does_not_apply", (none,))


def test_an_engine_that_does_not_repeat_itself_is_outside() -> None:
    """Noise without a seed, 1e-9 rad/s."""
    setup = snake()
    run, again = (run_of(setup, broken("dart", Unseeded)) for _ in range(2))
    found = check_repeat(run, again)
    assert (found.quantity, found.time) == ("rate", run.time[1])
    assert 1e-10 < found.apart < 1e-8
    assert RepeatLevel().judge(found, Tolerances()).outcome == "outside"
    assert RepeatLevel().judge(check_repeat(run, run), Tolerances()).outcome == "within"


def test_the_differential_of_a_turn_is_that_of_the_exponential() -> None:
    """By differences: exp(u + d u') is exp(u) times the turn by d w, in the base's own axes."""
    rng, step = np.random.default_rng(4), 1e-6
    for size in (1e-5, 0.3, 2.0):
        u, w = size * rng.normal(size=3), rng.normal(size=3)
        change = inverse_differential(u, w)
        two = turn_quaternion(u + step * change), turn_quaternion(u - step * change)
        back = turn_quaternion(u) * np.array([-1.0, -1.0, -1.0, 1.0])
        ahead, behind = (quaternion_product(back, q)[:3] for q in two)
        assert np.allclose((ahead - behind) / step, w, atol=1e-9)


def test_a_check_coarser_than_asked_is_not_judged() -> None:
    """Parts alone count, .5 N m s/rad is none: 2 % of a mass could hide, 1 % is asked."""
    sizes = [("gear", "a", 1e-9, "1"), ("mass", "b", 0.02, "1"), ("damping", "a", 0.5, "N m s/rad")]
    resolved = [Resolved(what, where, "scheme", size, unit) for what, where, size, unit in sizes]
    within = [Finding(Outcome.WITHIN, level=level) for level in ("scheme", "one_step")]
    setup = snake("control_period=0.005")
    assert ask_resolution(within, resolved, 0.03, setup, 1) == within
    coarse, other = ask_resolution(within, resolved, 0.01, setup, 1)
    assert (coarse.outcome, coarse.where, other) == ("not_judged", "b", within[1])
    assert coarse.codes == (Code.HIDDEN,)
    assert "mass of b 2 %" in coarse.reason and "control_period=0.01 or" in coarse.reason
    idle = ask_resolution(within, [replace(resolved[1], smallest=1e7)], 0.01, setup, 1)[0]
    assert idle.reason.endswith("choose another motion") and "b not at all" in idle.reason
    unknown = SchemeLevel().judge(NoTwin("a ball stands in a frame"), Tolerances())
    none = [replace(unknown, level="scheme"), within[1]]
    assert ask_resolution(none, [], 0.01, setup, 1)[0].outcome == "not_judged"
    wrong = [replace(within[0], outcome=Outcome.OUTSIDE), within[1]]
    assert ask_resolution(wrong, resolved, 0.01, setup, 1) == wrong


def test_the_best_level_is_asked_and_the_step_that_it_names_will_do() -> None:
    """An engine whose scheme nobody knows: `one_step` resolves, and the less the shorter a step."""
    pytest.importorskip("dartpy")
    engine = replace(spec("dart"), scheme=None)

    def asked(step: float, share: float) -> tuple[float, list[Finding]]:
        data = {"robot": str(PENDULUM), "base": "fixed", "duration": 0.1, "physics_step": step}
        start = {"q": {"joint1": 0.7, "joint2": -0.4}}
        setup = Setup.of(make_scenario({**data, "control_period": 0.01, "initial": start}))
        steps = (step, step / 2, step / 4)
        runs = {h: run_job(setup.scenario.data(), Job("dart", h), engine)[1] for h in steps}
        made = Runs({Job("dart", h): run for h, run in runs.items()}, steps)
        checks = {"scheme": NoTwin("its scheme is not known")}
        case = CheckCase(setup, engine, "dart", made, checks=checks)
        assert case.order == 1
        errors = resolve(case)
        assert {item.level for item in errors} == {"one_step"}
        most = max(item.smallest for item in errors if item.unit == "1")
        within = [
            Finding(Outcome.DOES_NOT_APPLY, level="scheme"),
            Finding(Outcome.WITHIN, level="one_step"),
        ]
        return most, ask_resolution(within, errors, share, setup, 1)

    could, judged = asked(1e-3, 1e-9)
    assert [item.outcome for item in judged] == ["does_not_apply", "not_judged"]
    _, judged = asked(1e-3, could / 4.9)
    assert "set physics_step=0.0002 or smaller" in judged[1].reason
    _, judged = asked(2e-4, could / 4.9)
    assert judged[1].outcome == "within"


def test_ten_parameters_are_shown_those_with_the_largest_effect() -> None:
    """Of 13 at two joints each, the least of each at any; all are in the list itself."""
    shown = [
        Resolved(f"p{i:02d}", joint, "scheme", size * 2.0**i, "1")
        for size in (1e-9, 1e-3)
        for i, joint in ((i, "a" if size < 1e-6 else "b") for i in range(13))
    ]
    line = summary_of(shown)
    assert line.count(",") == 9 and line.startswith("p00 of any link 0.1 %")
    assert [each.parameter for each in shown_of(shown)] == [f"p{i:02d}" for i in range(10)]


def test_damping_at_the_end_of_the_step_divides_the_rate() -> None:
    """(I + h D) a = -D v, so that a rate v becomes v / (1 + h D / I)."""
    urdf = """<robot name="rod"><link name="world"/><link name="base_link"/>
      <joint name="tie" type="fixed"><parent link="world"/><child link="base_link"/></joint>
      <link name="rod"><inertial><mass value="1"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="pivot" type="continuous"><parent link="base_link"/><child link="rod"/>
        <axis xyz="0 0 1"/></joint></robot>"""
    friction = JointFriction(np.array([5.0]), np.zeros(1), 0.01)
    model = EngineModel(
        urdf=urdf, base="fixed", joints=("pivot",), effort_limits=np.ones(1), physics_step=0.001,
        gravity=9.81, friction=friction,
    )  # fmt: skip
    start, end = RobotState(0.0, np.zeros(1), np.ones(1), np.zeros(1)), Command(np.zeros(1))
    for damping, rate in ((True, 1.0 / 1.05), (False, 0.95)):
        twin = Twin(model, Scheme("semi-implicit Euler", damping=damping))
        twin.reset(start)
        assert twin.step(end, 0.001).qd[0] == pytest.approx(rate, rel=1e-14)
    off = [ModelChange("damping", "pivot", 0, 5.0)]
    twin = Twin(model, Scheme("semi-implicit Euler", damping=True), changes=off)
    twin.reset(start)
    assert twin.step(end, 0.001).qd[0] == pytest.approx(1.0 / 1.1, rel=1e-14)
