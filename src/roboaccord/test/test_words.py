"""Words of codes: each code has some, and no outcome, code, name or verdict hangs on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from roboaccord.contract.outcome import Code, Finding, Reason, because, excuse, verdict_of
from roboaccord.crosscheck.differences import Name
from roboaccord.crosscheck.energy_book import NoBook
from roboaccord.crosscheck.event_ticks import EventTicks
from roboaccord.crosscheck.level import AnyLevel
from roboaccord.crosscheck.levels import LEVELS
from roboaccord.crosscheck.levels.acceleration import AccelerationCheck, ModelCheck
from roboaccord.crosscheck.levels.drive import Disobedience, DriveCheck
from roboaccord.crosscheck.levels.energy import EnergyCheck
from roboaccord.crosscheck.levels.events import LOGGED, EventDifference, EventsCheck
from roboaccord.crosscheck.levels.invariance import InvarianceCheck, Shift
from roboaccord.crosscheck.levels.one_step import NoFreeTick, Rates
from roboaccord.crosscheck.levels.recorded_step import RecordedStep
from roboaccord.crosscheck.levels.repeat import RepeatCheck
from roboaccord.crosscheck.levels.scheme import NoTwin, SchemeCheck
from roboaccord.crosscheck.levels.statistics import StatisticsCheck, compare_cells
from roboaccord.crosscheck.levels.trajectory import Seeds
from roboaccord.crosscheck.motion import CheckCase
from roboaccord.crosscheck.report import RUN_LEVELS, remarks
from roboaccord.crosscheck.run import conclude, measure_one
from roboaccord.crosscheck.runs import QUIET, make_engines, run_jobs
from roboaccord.engines import spec
from roboaccord.falsify import Perturbation, wrap
from roboaccord.report import words
from roboaccord.run.sweep import Cell
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.scenario import Allowance, StatisticsSpec, Tolerances
from roboaccord.scenario.setup import Setup
from test_outcomes import CHECKS, HEAVY, RUNS, STEP, outcomes

TEXTS: Mapping[str, Mapping[Code, str]] = {
    "each its code": {code: str(code) for code in Code},
    "a wrong one": dict.fromkeys(Code, "below round-off: nothing moves; the engine is right"),
}
ELSEWHERE = {
    *(
        Code.TEXT,
        Code.HIDDEN,
        Code.OFF_BY,
        Code.OFF_BY_ANGLE,
        Code.INSTEAD,
        Code.READS,
        Code.MISSING,
    ),
    *(Code.SUSPECT, Code.STEP_FAR, Code.LARGEST_ERROR, Code.OUR_EQUATIONS),
    *(Code.SENSITIVE, Code.SAME_SETTINGS, Code.EXCITED, Code.NO_RESTART),
}
"""Codes that no finding made up here has: of errors, of differences, of live runs, and of notes."""

TWIN = SchemeCheck(1e-15, 1e-14, "rate", "a", 0.0, judged=90, left_out=10)
OTHERS = EventTicks(9, 0.1, "rate", "a", 0.0)
SHIFT = Shift(1e-6, 1e-12, "rate", "a", 0.1)
EVENT = EventDifference("joint_stop", "a", 0.5, "impulse", 1.0, 2.0, 1e-3, 1e-6)
ENERGY = EnergyCheck(2e-6, 1e-6, -3e-6, 0.25, 0.01, True, 1e-3)
RECORDED = RecordedStep(100, 100, 0, 0, 0, 1e-6, 1e-5, 1e-4, 2e-3, tolerance=1e-3, largest=1.0)
EXPLAINED = because(Code.STEPPING_EXPLAINS, share=0.1, scheme=True)
LATE = Disobedience("late", 1.0)


def seeds(**changes: Any) -> StatisticsCheck:
    """Return statistics whose medians differ by half, with changes."""
    values = {"reference": 2.0, "dart": 1.0}
    cells = [
        Cell(name, 1e-3, dict(enumerate([v, v + 0.1, v - 0.1, v])), {})
        for name, v in values.items()
    ]
    found = compare_cells(*cells, StatisticsSpec(figure="speed", seeds=4), {})
    return replace(found, **changes)


MADE: Mapping[str, Sequence[Any]] = {
    "acceleration": (
        CHECKS["acceleration"],
        AccelerationCheck(1e-6, 100, model=ModelCheck(1.1, 1.0, (HEAVY,))),
        AccelerationCheck(1e-6, 100),
        AccelerationCheck(None, 0, because(Code.KINEMATIC)),
        AccelerationCheck(None, 0, because(Code.NOTHING_CAN_MOVE)),
    ),
    "drive": (
        DriveCheck(100, 100),
        DriveCheck(0, 100),
        DriveCheck(10, 100),
        DriveCheck(100, 100, 40, 0.5, "b", 0.25, [LATE], 3, "magnet_a", 0.5),
    ),
    "repeat": (RepeatCheck(), RepeatCheck(1e-9, "rate", "a", 0.1)),
    "invariance": (
        InvarianceCheck(0.1, {"mirrored": replace(SHIFT, error=0.0)}),
        InvarianceCheck(0.1, {}, {"": "it stands"}),
        InvarianceCheck(0.1, {"turned": SHIFT, "mirrored": SHIFT}, law="box"),
    ),
    "events": (
        EventsCheck(9, 9),
        EventsCheck(0, 0, why=because(Code.NO_EVENTS)),
        EventsCheck(9, 2),
        EventsCheck(9, 9, [EVENT]),
        EventsCheck(9, 9, [replace(EVENT, sure=False)]),
        EventsCheck(9, 9, [replace(EVENT, what=LOGGED)]),
        EventsCheck(9, 9, [replace(EVENT, what="")]),
    ),
    "energy": (
        replace(ENERGY, left=0.0),
        replace(ENERGY, left=0.0, unmeasured=("impacts",)),
        NoBook("it is kinematic"),
        ENERGY,
        replace(ENERGY, sure=False),
        replace(ENERGY, twin=True),
    ),
}
"""Figures of levels that look at no other, made up to come to each of their outcomes."""
SCHEMES = (
    None,
    NoTwin("a ball stands in a frame"),
    TWIN,
    replace(TWIN, left_out=0),
    replace(TWIN, others=OTHERS),
    replace(TWIN, others=replace(OTHERS, excess=2.0)),
    replace(TWIN, others=replace(OTHERS, excess=2.0, count=2)),
    replace(TWIN, error=1e-12, name=Name("mass", "a", "mass of a is +1 % off")),
    replace(TWIN, judged=20, left_out=80),
)
STEPS = (
    STEP,
    NoFreeTick(),
    replace(STEP, relative=0.3, order=0.2),
    replace(STEP, relative=0.3, order=0.2, settled=False),
    replace(STEP, left=1e-7),
    replace(STEP, relative=0.3, order=None, left=None),
    replace(STEP, rms=1e-5, relative=0.3, floor=1e-3),
    replace(STEP, rms=1e-16, floor=1e-12),
    replace(STEP, judged=20, ticks=100),
)
MOTIONS = (
    RUNS,
    replace(RUNS, range=0.0),
    replace(RUNS, order=0.5),
    replace(RUNS, left=1e-4),
    replace(RUNS, left=1e-4, asymptotic=False),
    replace(RUNS, order=None, left=None),
    replace(RUNS, error=[1e-13] * 3, order=None, left=1e-13, bound=1e-12),
)
FIGURES = (
    seeds(allowance=2.0),
    seeds(),
    seeds(loop=-2.0),
    seeds(failures={"1": "dart diverged at t = 1 s"}, diverged=True),
    seeds(failures={"1": "it has no figure"}),
    seeds(difference=None),
    seeds(share_probability=1e-3),
    seeds(unsettled=1.0),
    seeds(allowance=math.nan),
)
TAKEN = (
    RECORDED,
    replace(RECORDED, compared=0, refused=because(Code.REFUSED_STATE, time=0.1, text="a wall")),
    replace(RECORDED, largest=0.0),
    replace(RECORDED, least=0.5),
    replace(RECORDED, compared=20),
    replace(RECORDED, rates=(Rates("base", 0.5, 0.1, EXPLAINED),)),
)
STRICT = (
    Tolerances(),
    Tolerances(trajectory={"dart": 2e-3}),
    Tolerances(trajectory={"dart": 1e-12}),
    Tolerances(one_step=Allowance(limit=0.2, reason="facets"),
               trajectory={"dart": Allowance(limit=1.0, reason="facets")}),
)  # fmt: skip


def made_up() -> Iterator[tuple[Mapping[str, Any], Tolerances, tuple[AnyLevel, ...]]]:
    """Yield figures of a check, its tolerances and its levels."""
    for level, checks in MADE.items():
        for check in checks:
            yield {**CHECKS, level: check}, Tolerances(), LEVELS
    pairs = [*product(STEPS, [RUNS]), *product([STEP], MOTIONS)]
    for scheme, (step, motion), strict in product(SCHEMES, pairs, STRICT):
        twin = {"scheme": scheme} if scheme else {}
        yield {**CHECKS, **twin, "one_step": step, "trajectory": motion}, strict, LEVELS
    for scheme, found in product(SCHEMES, FIGURES):
        twin = {"scheme": scheme} if scheme else {}
        yield {**CHECKS, **twin, "trajectory": Seeds(), "statistics": found}, Tolerances(), LEVELS
    for scheme, taken in product(SCHEMES, TAKEN):
        yield (
            {"one_step": taken, **({"scheme": scheme} if scheme else {})},
            Tolerances(),
            RUN_LEVELS,
        )


def comes_to(findings: Sequence[Finding]) -> tuple[Any, ...]:
    """Return all of findings but their words, and the verdict."""
    names = ("level", "outcome", "codes", "quantity", "where", "size", "smaller", "unexplained")
    found = [tuple(str(getattr(each, name)) for name in names) for each in findings]
    return verdict_of(findings), found


def judged() -> list[tuple[Any, ...]]:
    """Return what the figures come to, as they are and excused."""
    excuses = {"trajectory": {"dart": "it rebounds"}, "one_step": {"dart": "it rebounds"}}
    found = [[*outcomes(*each).values()] for each in made_up()]
    return [comes_to(each) for one in found for each in (one, excuse(one, excuses))]


def codes_in(value: object) -> Iterator[str]:
    """Yield the codes of reasons, those in their figures among them."""
    if isinstance(value, Reason):
        yield value.code
        yield from codes_in([*value.figures.values()])
    elif isinstance(value, Finding):
        yield from codes_in(value.reasons)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from codes_in(each)


def test_each_code_has_words() -> None:
    assert set(words.TEXTS) == set(Code)


def test_the_figures_made_up_here_have_every_code_and_each_is_put_into_words() -> None:
    found = [f for each in made_up() for f in outcomes(*each).values()]
    excuses = {"one_step": {"dart": "it rebounds"}}
    said = [*remarks(excuse(found, excuses), excuses)]
    assert {*codes_in([*found, *said])} == set(Code) - ELSEWHERE
    for each in [*found, *said]:
        text = each.reason if isinstance(each, Finding) else str(each)
        assert bool(text) is bool(isinstance(each, Reason) or each.reasons) and "{" not in text


@pytest.mark.parametrize("texts", TEXTS.values(), ids=TEXTS)
def test_no_outcome_hangs_on_words(
    texts: Mapping[Code, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = judged()
    assert {verdict for verdict, _ in before} == {"pass", "fail", "undecided"}
    monkeypatch.setattr(words, "TEXTS", texts)
    assert str(because(Code.NO_STEP)) == texts[Code.NO_STEP]
    assert judged() == before


@pytest.mark.slow
@pytest.mark.parametrize("heavier", [False, True])
def test_nor_does_that_of_a_check(heavier: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A swing of 0.1 s in one engine, sound or with 1 % more mass: measured, judged and named."""
    pytest.importorskip("monkeybot", reason="the monkeybot is not installed")
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    changes = ["crosscheck.duration=0.1", "crosscheck.states=5"]
    setup = Setup.of(load_scenario("monkeybot", "monkeybot", "swing", changes))
    wrong = [Perturbation("mujoco", "mass", 1.01, "arm_b_link")]
    engine = wrap("mujoco", perturbations=wrong) if heavier else spec("mujoco")
    runs = run_jobs(setup, make_engines(setup, [engine]), 3, QUIET)

    def found() -> tuple[Any, ...]:
        case = CheckCase(setup, engine, "mujoco", runs)
        measure_one(case, LEVELS)
        findings, _ = conclude(case, LEVELS)
        return comes_to(findings)

    before = found()
    assert before[0] == ("fail" if heavier else "pass")
    for texts in TEXTS.values():
        monkeypatch.setattr(words, "TEXTS", texts)
        assert found() == before
