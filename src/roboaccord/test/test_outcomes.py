"""Outcomes of levels and the verdict, on figures that are made up to be right or wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Code, Finding, because, excuse, verdict_of
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.engines import check_names
from roboaccord.crosscheck.extrapolation import (
    extrapolate,
    has_settled,
    observed_order,
    remainder_of_samples,
    remainder_over_time,
)
from roboaccord.crosscheck.level import AnyLevel
from roboaccord.crosscheck.level_context import LevelContext
from roboaccord.crosscheck.levels import LEVELS
from roboaccord.crosscheck.levels.acceleration import AccelerationCheck, ModelCheck, relative
from roboaccord.crosscheck.levels.statistics import compare_cells
from roboaccord.crosscheck.levels.trajectory import Seeds
from roboaccord.crosscheck.measures.convergence import ConvergenceCheck, uncertainty_of
from roboaccord.crosscheck.measures.event_ticks import EventTicks
from roboaccord.crosscheck.measures.one_step import OneStepCheck
from roboaccord.crosscheck.measures.scheme import SchemeCheck
from roboaccord.crosscheck.report import remarks
from roboaccord.crosscheck.run import judge_case
from roboaccord.crosscheck.runs import Job, Runs
from roboaccord.engines import REFERENCE
from roboaccord.engines.differences import Difference, compare_limits, compare_link
from roboaccord.engines.model import LinkProperties
from roboaccord.run.sweep import Cell
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.scenario import (
    Allowance,
    CrosscheckSpec,
    Scenario,
    StatisticsSpec,
    Tolerances,
)

NONE = np.zeros(0)
STEP = OneStepCheck(1e-6, 1e-5, 1e-5, 0.0, NONE, NONE, order=1.0, left=1e-9, bound=1e-8)
RUNS = ConvergenceCheck(
    [1e-3, 5e-4, 2.5e-4], [4e-3, 2e-3, 1e-3], 1.0, 1, 1e-9, NONE, {}, 1.0, left=1e-6, bound=1e-5,
    where="x of a", since=0.5, engine="dart",
)  # fmt: skip
CHECKS = {
    "acceleration": AccelerationCheck(1e-12, 100, model=ModelCheck(1.0, 1.0, ())),
    "one_step": STEP,
    "trajectory": RUNS,
}
OTHERS = EventTicks(9, 0.1, "rate", "a", 0.0)
TWIN = SchemeCheck(1e-15, 1e-14, "rate", "a", 0.0, judged=90, left_out=10, others=OTHERS)
HALVES = (
    Cell(name, 1e-3, dict(enumerate([v, v + 0.1, v - 0.1, v])), {})
    for name, v in (("reference", 2.0), ("dart", 1.0))
)
SEEDS = compare_cells(*HALVES, StatisticsSpec(figure="speed", seeds=4), {})
STANDING = Trajectory((), np.zeros(2), *(np.zeros((2, n)) for n in (0, 0, 0, 3, 4, 6)))


def outcomes(
    checks: Mapping[str, Any],
    tolerances: Tolerances | None = None,
    levels: tuple[AnyLevel, ...] = LEVELS,
) -> dict[str, Finding]:
    """Return the findings on figures of `dart`, each beside what the others say, by level."""
    spec = CrosscheckSpec(tolerances=tolerances or Tolerances())
    setup: Any = SimpleNamespace(scenario=Scenario(robot="none", crosscheck=spec))
    case = CheckCase(setup, "dart", "dart", Runs({Job(REFERENCE, 1e-3): STANDING}, [1e-3]))
    for name in [level.name for level in levels if level.name in checks]:
        context = {"context": LevelContext.of(case)} if hasattr(checks[name], "context") else {}
        case.checks[name] = replace(checks[name], **context)
    return {f.level: f for f in judge_case(case, levels)}


@pytest.mark.parametrize("order", [-0.5, 1e-17, 0.2])
def test_where_errors_hardly_fall_the_uncertainty_is_that_of_half_an_order(order: float) -> None:
    """3 / (1 - 2^-1/2) times what two steps differ by: no division by 0, nothing negative."""
    found = uncertainty_of(4e-3, 1e-9, 1e-3, order, 1)
    assert found.numerical == pytest.approx(3e-3 / (1.0 - 2.0**-0.5))


def test_what_is_not_finite_is_an_infinite_error() -> None:
    """Comparisons with NaN are false: the largest of 0 and NaN is 0, and would be within."""
    for bad in (np.nan, np.inf):
        assert relative(np.array([bad, 1.0]), np.ones(2)) == np.inf
    broken = LinkProperties(0.1, np.zeros(3), np.full((3, 3), np.nan))
    found = compare_link("a", LinkProperties(0.1, np.zeros(3), np.eye(3)), broken, 1e-12)
    assert [d.quantity for d in found if d.error > d.allowed] == ["inertia"]
    lost = compare_limits("a", (-1.0, 1.0), (-np.inf, np.inf), 1e-12)
    assert (lost.error, lost.text) == (np.inf, "inf rad off")


def test_what_converges_to_the_reference_is_within() -> None:
    assert {f.outcome for f in outcomes(CHECKS).values()} == {"within"}
    assert verdict_of(list(outcomes(CHECKS).values())) == "pass"


HEAVY = Difference("mass", "a", 0.1, 1e-6, because(Code.OFF_BY_SHARE, share=0.1))


@pytest.mark.parametrize(
    ("level", "changes"),
    [
        ("acceleration", {"acceleration": AccelerationCheck(1e-6, 100)}),
        ("acceleration", {"acceleration": AccelerationCheck(float("nan"), 100)}),
        (
            "acceleration",
            {"acceleration": AccelerationCheck(1e-12, 100, model=ModelCheck(1.1, 1.0, (HEAVY,)))},
        ),
        ("one_step", {"one_step": replace(STEP, relative=0.3, order=0.2)}),
        ("one_step", {"one_step": replace(STEP, left=1e-7)}),
        ("trajectory", {"trajectory": replace(RUNS, order=0.5)}),
        ("trajectory", {"trajectory": replace(RUNS, order=3.4, expected_order=4)}),
        ("trajectory", {"trajectory": replace(RUNS, left=1e-4)}),
    ],
)
def test_each_figure_that_is_off_is_outside_and_fails(level: str, changes: dict[str, Any]) -> None:
    found = outcomes({**CHECKS, **changes})
    assert [name for name, f in found.items() if f.outcome == "outside"] == [level]
    assert verdict_of(list(found.values())) == "fail"


@pytest.mark.parametrize(
    ("level", "changes"),
    [
        ("one_step", {"one_step": replace(STEP, relative=0.32, order=None, left=None)}),
        ("trajectory", {"trajectory": replace(RUNS, order=None, left=None)}),
        ("trajectory", {"trajectory": replace(RUNS, left=1e-4, asymptotic=False)}),
        ("trajectory", {"trajectory": replace(RUNS, order=0.8, settled=False)}),
        ("one_step", {"one_step": replace(STEP, left=1e-7, asymptotic=False)}),
    ],
)
def test_too_few_steps_leave_a_level_unjudged_and_the_verdict_undecided(
    level: str, changes: dict[str, Any]
) -> None:
    """A third of the change off in one step, and nothing that explains it: that is no pass."""
    found = outcomes({**CHECKS, **changes})
    assert [name for name, f in found.items() if f.outcome == "not_judged"] == [level]
    assert verdict_of(list(found.values())) == "undecided"


@pytest.mark.parametrize(
    "twin", [None, SchemeCheck(1e-15, 1e-14, "rate", "a", 0.0, judged=9, left_out=0)]
)
@pytest.mark.parametrize("limit", [None, Allowance(limit=1.0, reason="stated")])
@pytest.mark.parametrize("left", [1e-9, 0.0])
def test_what_stands_still_never_passes(twin: SchemeCheck | None, limit: Any, left: float) -> None:
    """Whatever other levels say: a twin stands, too, and so does what is allowed to be far off."""
    checks = {**CHECKS, **({"scheme": twin} if twin else {})}
    still = {**checks, "trajectory": replace(RUNS, range=0.0, left=left)}
    tolerances = Tolerances(trajectory={"dart": limit} if limit else {})
    none = AccelerationCheck(None, 0, because(Code.NOTHING_CAN_MOVE))
    for acceleration in (CHECKS["acceleration"], none):
        found = outcomes({**still, "acceleration": acceleration}, tolerances)
        assert found["trajectory"].outcome == "not_judged"
        assert found["trajectory"].codes == (Code.NOTHING_MOVES,)
        assert verdict_of(list(found.values())) == "undecided"
    moved = outcomes({**checks, "trajectory": replace(RUNS, range=0.0, left=1e-4)}, tolerances)
    assert moved["trajectory"].outcome == ("outside" if not (limit or twin) else "not_judged")


def test_a_sound_scheme_does_not_excuse_what_stops_keep_doing_wrong() -> None:
    """Of ticks with an event no twin applies: errors there must fall with the step."""
    off = {**CHECKS, "one_step": replace(STEP, left=1e-3)}

    def outcome(others: EventTicks) -> str:
        found = outcomes({**off, "scheme": replace(TWIN, others=others)})
        return found["one_step"].outcome

    assert outcome(OTHERS) == "within"
    assert outcome(replace(OTHERS, excess=2.0)) == "outside"
    assert outcome(replace(OTHERS, excess=2.0, count=2)) == "not_judged"


def test_where_the_loop_throws_joints_each_tick_decides_in_place_of_statistics() -> None:
    """Of medians that differ by 1, half of the reference's; runs that diverge excuse nothing."""
    thrown = replace(SEEDS, loop=-2.0)

    def outcome(**changes: Any) -> str:
        checks = {**CHECKS, "trajectory": Seeds(), "statistics": thrown, "scheme": TWIN, **changes}
        judged = outcomes({name: check for name, check in checks.items() if check})
        assert judged["trajectory"].outcome == judged["statistics"].outcome
        assert judged["trajectory"].stands_in
        return judged["statistics"].outcome

    assert outcome() == "within" and outcome(scheme=None) == "not_judged"
    assert outcome(scheme=replace(TWIN, error=1e-13)) == "not_judged"
    assert outcome(scheme=replace(TWIN, others=replace(OTHERS, excess=2.0))) == "outside"
    assert outcome(statistics=replace(thrown, loop=0.3)) == "outside"
    lost = replace(thrown, failures={"1": "dart diverged at t = 1 s"}, diverged=True)
    assert outcome(statistics=lost) == "not_judged"


def test_errors_below_the_floor_say_so_and_need_no_order() -> None:
    tiny = replace(RUNS, error=[1e-13] * 3, order=None, left=1e-13, bound=1e-12)
    found = outcomes({**CHECKS, "trajectory": tiny})["trajectory"]
    assert (found.outcome, found.codes) == ("within", (Code.BELOW_ROUND_OFF,))


def test_a_robot_that_rests_has_no_order_and_no_error_in_one_step() -> None:
    """Rates of 1e-17 rad/s that change by as much: 100 % of nothing, with order -0.00."""
    rest = replace(STEP, rms=1e-16, relative=0.9, order=-0.003, floor=1e-12)
    found = outcomes({**CHECKS, "one_step": rest})["one_step"]
    assert (found.outcome, found.codes) == ("within", (Code.BELOW_ROUND_OFF,))


def test_a_number_tightens_and_a_reason_loosens() -> None:
    """2 mm at most fail 4 mm that converge; 5 mm with a reason pass what does not converge."""
    tight = Tolerances(trajectory={"dart": 2e-3})
    assert outcomes(CHECKS, tight)["trajectory"].outcome == "outside"
    wide = Tolerances(trajectory={"dart": 5e-3})
    lost = {**CHECKS, "trajectory": replace(RUNS, left=1e-4)}
    assert outcomes(lost, wide)["trajectory"].outcome == "outside"
    loose = Tolerances(trajectory={"dart": Allowance(limit=5e-3, reason="facets")})
    found = outcomes(lost, loose)["trajectory"]
    assert (found.outcome, found.codes) == ("within", (Code.ALLOWED,))
    assert "facets" in found.reason


@pytest.mark.parametrize(("finest", "outcome"), [(0.3, "within"), (0.5, "outside")])
def test_an_allowed_share_is_of_what_does_not_fall_with_the_step(
    finest: float, outcome: str
) -> None:
    """The share at the smallest step counts; at the largest one the step's own error is in it."""
    step = replace(STEP, rms=1e-2, relative=0.55, finest=(finest, 0.0), floor=1e-9)
    allowed = Tolerances(one_step=Allowance(limit=0.4, reason="facets"))
    assert outcomes({**CHECKS, "one_step": step}, allowed)["one_step"].outcome == outcome


def test_a_loose_number_without_a_reason_is_refused() -> None:
    for words in ({"one_step": 0.2}, {"trajectory": {"dart": float("nan")}}, {"one_step": -1.0}):
        with pytest.raises(AccordError, match=r"crosscheck\.tolerances\."):
            make_scenario({"robot": "snake", "crosscheck": {"tolerances": words}})
    for words in ({"order": 1.0}, {"acceleration": 1.0}, {"mass": 0.1}, {"one_step_order": 5.0}):
        with pytest.raises(AccordError, match="input should be less than or equal"):
            make_scenario({"robot": "snake", "crosscheck": {"tolerances": words}})
    endless = {"trajectory": {"dart": {"limit": float("inf"), "reason": "x"}}}
    with pytest.raises(AccordError, match="limit"):
        make_scenario({"robot": "snake", "crosscheck": {"tolerances": endless}})
    spec = CrosscheckSpec(excuse={"steps": {"dart": "why"}})
    with pytest.raises(AccordError, match=r"crosscheck\.excuse"):
        check_names(spec, [level.name for level in LEVELS])


def test_a_kinematic_reference_is_judged_by_one_step() -> None:
    still = {**CHECKS, "acceleration": AccelerationCheck(None, 0, because(Code.KINEMATIC))}
    assert outcomes(still)["acceleration"].outcome == "within"
    lost = outcomes({**still, "one_step": replace(STEP, left=1e-7)})
    assert lost["acceleration"].outcome == "outside"


def test_an_excuse_covers_its_level_and_engine_alone() -> None:
    """An outcome within stays within; an excuse for another engine does not help."""
    findings = list(outcomes({**CHECKS, "trajectory": replace(RUNS, left=1e-4)}).values())
    excused = excuse(findings, {"trajectory": {"dart": "it rebounds"}, "one_step": {"dart": "no"}})
    assert [f.outcome for f in excused] == ["within", "within", "excused"]
    assert verdict_of(excused) == "pass"
    assert verdict_of(excuse(findings, {"trajectory": {"mujoco": "it rebounds"}})) == "fail"


def test_what_is_excused_allowed_or_needs_no_excuse_is_said() -> None:
    findings = list(outcomes({**CHECKS, "trajectory": replace(RUNS, left=1e-4)}).values())
    excuses = {"trajectory": {"dart": "it rebounds"}, "one_step": {"dart": "no"}}
    reasons = [*remarks(excuse(findings, excuses), excuses)]
    assert [(reason.code, reason.figures["level"]) for reason in reasons] == [
        (Code.NO_EXCUSE_NEEDED, "one_step"),
        (Code.LEVEL_EXCUSED, "trajectory"),
    ]
    assert "trajectory excused: it rebounds" in str(reasons[1])


def test_an_error_hidden_by_another_floor_is_not_below_round_off() -> None:
    """Small against the largest floor of all rates, large against its own."""
    found = outcomes({**CHECKS, "one_step": replace(STEP, left=1e-7, floor=1e-3)})["one_step"]
    assert found.outcome == "outside"


def test_no_engine_gives_no_verdict() -> None:
    assert verdict_of([]) is None


@given(st.integers(1, 4), st.floats(-1e-2, 1e-2), st.floats(-1e-3, 1e-3))
def test_extrapolation_is_exact_for_one_power_of_the_step(order: int, a: float, b: float) -> None:
    """x(h) = b + a h^p has x(0) = b by two runs; 1e-15: round-off of numbers of 1e-2."""
    coarse, fine = np.array([b + a]), np.array([b + a / 2**order])
    assert extrapolate(coarse, fine, order) == pytest.approx(b, abs=1e-15)


@given(st.integers(1, 4), st.floats(0.5, 2.0), st.floats(-0.4, 0.4))
def test_time_stepping_is_within_and_a_constant_is_not(order: int, a: float, b: float) -> None:
    """Errors a h^p + b h^(p+1) is explained; a constant ten times the second term is not."""
    time = np.linspace(0.0, 1.0, 11)[:, None] + 1.0
    steps = (0.1, 0.05, 0.025)
    errors = [time * (a * h**order + b * h ** (order + 1)) for h in steps]
    floor = np.full((11, 1), 1e-15)
    over_time = remainder_over_time(errors, order, floor)
    of_samples = remainder_of_samples(errors, order, floor[0])
    for remainder in (over_time, of_samples):
        assert remainder.size <= remainder.bound
    constant = 10.0 * abs(b) * steps[0] ** (order + 1) + 1e-9
    off = [e + constant for e in errors]
    for remainder in (
        remainder_over_time(off, order, floor),
        remainder_of_samples(off, order, floor[0]),
    ):
        assert remainder.size > remainder.bound


def test_a_small_constant_does_not_hide_behind_another_coordinate() -> None:
    """The norm of both converges with order 0.99; the second coordinate alone does not."""
    steps = (1e-3, 5e-4, 2.5e-4)
    errors = [np.array([[h, 0.0], [h, 1e-6]]) for h in steps]
    left = remainder_over_time(errors, 1, np.full((2, 2), 1e-12))
    assert (left.size > left.bound, left.coordinate, left.sample) == (True, 1, 1)
    norms = [float(np.linalg.norm(e, axis=1).max()) for e in errors]
    assert observed_order(steps, norms, 1e-9) == pytest.approx(1.0, abs=0.01)


def test_an_excess_outside_the_asymptotic_range_is_not_sure() -> None:
    """Angles of a snake in DART 20 ms after a kick, 1e-6 rad, at 1, .5 and .25 ms.

    The first angle's two estimates are near by chance, and beyond twice their difference; at .0625
    and .03125 ms .65 and .15 are left of 15.7. The second one falls with order 1.8. An angle with
    its own error of ten times that keeps it at any step.
    """
    chance, other = (-388.3, -184.0, -84.16), (350.0, 100.0, 29.0)
    floor = np.full((1, 2), 1e-9)
    errors = [np.array([[a, b]]) for a, b in zip(chance, other, strict=True)]
    rest = remainder_over_time(errors, 1, floor)
    assert (rest.size > rest.bound, rest.coordinate, rest.asymptotic) == (True, 0, False)
    rest = remainder_of_samples(errors, 1, floor[0])
    assert (rest.size > rest.bound, rest.asymptotic) == (True, False)
    near = [np.array([[a, b]]) for a, b in zip(chance, (400.0, 196.0, 97.0), strict=True)]
    off = [e + np.array([[157.0, 0.0]]) for e in near]
    rest = remainder_over_time(off, 1, floor)
    assert (rest.size > rest.bound, rest.coordinate, rest.asymptotic) == (True, 0, True)


@given(st.integers(1, 4), st.floats(0.5, 2.0), st.floats(0.1, 10.0))
def test_a_wrong_order_and_a_constant_have_settled(order: int, a: float, b: float) -> None:
    """Whatever falls by one power, or by the scheme's to a constant; b against a: any direction."""
    steps = (0.1, 0.05, 0.025)
    shape = np.array([[a, -b, a * b]])
    assert has_settled([shape * h for h in steps], order)
    assert has_settled([shape * h**order for h in steps], order)
    kept = np.array([[0.0, b, b]]) * steps[0] ** order
    assert has_settled([shape * h**order + kept for h in steps], order)


def test_an_order_that_rises_to_the_schemes_has_not_settled() -> None:
    """A snake in MuJoCo by RK4 (1e-10 m), and a swing whose dry friction no step resolves."""
    for errors in ((9.68, 0.888, 0.0602), (0.0081, 0.0025, 9.1e-5)):
        assert not has_settled([np.array([[e]]) for e in errors], 4)
    assert has_settled([np.array([[e]]) for e in (8.0, 3.9, 1.95)], 4)  # of another scheme
    assert has_settled([np.array([[e]]) for e in (16.0, 2.0, 1.1)], 4)  # to a constant, of order 1


def test_no_order_is_asked_of_an_error_that_falls_to_the_floor() -> None:
    low = replace(RUNS, error=[1e-6, 1e-7, 1e-9], order=3.3, expected_order=4, floor=1e-9)
    assert outcomes({**CHECKS, "trajectory": low})["trajectory"].outcome == "within"
    high = replace(low, floor=5e-10)
    assert outcomes({**CHECKS, "trajectory": high})["trajectory"].outcome == "outside"
