"""Words of codes: each code has some, and no outcome, code, name or verdict hangs on them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import pytest
from roboaccord.contract.outcome import Cause, Code, Finding, Reason, because, excuse, verdict_of
from roboaccord.crosscheck import levels
from roboaccord.crosscheck.causes.explain import Conclusion, Explanation
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.engines import make_engines
from roboaccord.crosscheck.levels import LEVELS
from roboaccord.crosscheck.levels.one_step import Rates
from roboaccord.crosscheck.measures.scheme import NoTwin
from roboaccord.crosscheck.report import RUN_LEVELS, remarks
from roboaccord.crosscheck.run import conclude, measure_one
from roboaccord.crosscheck.runs import QUIET, run_jobs
from roboaccord.engines import spec
from roboaccord.falsify import Perturbation, wrap
from roboaccord.report import words
from roboaccord.run.energy_book import NoBook
from roboaccord.scenario.scenario import Allowance, Tolerances
from running import setup_of
from test_outcomes import CHECKS, HEAVY, OTHERS, RUNS, SEEDS, STEP, TWIN, outcomes

pytestmark = pytest.mark.thorough

TEXTS: Mapping[str, Mapping[Code, str]] = {
    "each its code": {code: str(code) for code in Code},
    "a wrong one": dict.fromkeys(Code, "below round-off: nothing moves; the engine is right"),
}
ELSEWHERE = {
    Code.LOG_NOISE,
    Code.LOG_EFFORT_NOISE,
    Code.LOG_EFFORT_ZERO,
    Code.LOG_RESIDUALS,
    *(Code.TEXT, Code.HIDDEN, Code.OFF_BY, Code.OFF_BY_ANGLE, Code.INSTEAD, Code.READS),
    *(Code.SUSPECT, Code.STEP_FAR, Code.LARGEST_ERROR, Code.OUR_EQUATIONS, Code.MISSING),
    *(Code.CONTACT_LAW, Code.SENSITIVE, Code.SAME_SETTINGS, Code.EXCITED, Code.NO_RESTART),
}
"""Codes that no finding made up here has: of errors, of differences, of live runs, and of notes."""
VALUES: Mapping[str, Sequence[Any]] = {
    "bool": (False, True), "int": (0, 1, 1000), "float": (-2.0, 0.0, math.inf)
}  # fmt: skip
EVENT = levels.events.EventDifference("joint_stop", "a", 0.5, "impulse", 1.0, 2.0, 1e-3, 1e-6)
MOVED = dict.fromkeys(("one", "two"), levels.invariance.MotionChange(1e-6, 1e-12, "rate", "a", 0.1))
NO_TWIN = NoTwin("a ball stands in a frame")
LATE = [levels.drive.Disobedience("late", 1.0)]
RECORDED = levels.recorded_step.RecordedStep(
    100, 100, 0, 0, 0, 1e-6, 1e-5, 1e-4, 2e-3, tolerance=1e-3, largest=1.0
)
FAR = Rates("base", 0.5, 0.1, because(Code.STEPPING_EXPLAINS, share=0.1, scheme=True))
WALL = because(Code.REFUSED_STATE, time=0.1, text="a wall")
FOUND = Explanation(Conclusion.NAMED, (Cause("mass", "a", 0.01, unit="1"),))
MADE: Mapping[str, Sequence[Any]] = {
    "acceleration": (
        CHECKS["acceleration"],
        replace(CHECKS["acceleration"], model=levels.acceleration.ModelCheck(1.1, 1.0, (HEAVY,))),
        *(levels.acceleration.AccelerationCheck(None, 0, because(code))
          for code in (Code.KINEMATIC, Code.NOTHING_CAN_MOVE)),
    ),
    "drive": (
        levels.drive.DriveCheck(100, 100),
        levels.drive.DriveCheck(100, 100, 40, 0.5, "b", 0.25, LATE, 3, "magnet_a", 0.5),
    ),
    "scheme": (
        NO_TWIN, TWIN, replace(TWIN, others=None), replace(TWIN, others=None, left_out=0),
        replace(TWIN, error=1.0, explanation=FOUND),
        *(replace(TWIN, others=replace(OTHERS, excess=2.0, count=count)) for count in (2, 9)),
    ),
    "repeat": (levels.repeat.RepeatCheck(), levels.repeat.RepeatCheck(1e-9, "rate", "a", 0.1)),
    "invariance": (
        levels.invariance.InvarianceCheck(0.1, {}, {"": "it stands"}),
        *(levels.invariance.InvarianceCheck(0.1, MOVED, {}, law) for law in ("", "box")),
    ),
    "one_step": (
        STEP, levels.one_step.NoFreeTick(), replace(STEP, relative=0.3, order=0.2, finest=(0.3, 0)),
        replace(STEP, relative=0.3, order=None, left=None),
        replace(STEP, rms=0.1, relative=0.3, floor=1.0),
    ),
    "trajectory": (RUNS, replace(RUNS, error=[1e-13] * 3, order=None, left=0.0)),
    "statistics": (SEEDS, replace(SEEDS, difference=None), replace(SEEDS, failures={"1": "lost"})),
    "events": (
        *(levels.events.EventsCheck(9, 9, found) for found in ([], [replace(EVENT, sure=False)])),
        *(levels.events.EventsCheck(9, 9, [replace(EVENT, what=what)])
          for what in ("impulse", "", levels.events.LOGGED)),
        levels.events.EventsCheck(0, 0, why=because(Code.NO_EVENTS)),
    ),
    "energy": (
        NoBook("it is kinematic"),
        levels.energy.EnergyCheck(2e-6, 1e-6, -3e-6, 0.25, 0.01, True, 1e-3, ("impacts",)),
    ),
}  # fmt: skip
"""Figures of each level, to be varied."""
TAKEN = (RECORDED, replace(RECORDED, refused=WALL), replace(RECORDED, rates=(FAR,)))
LIMITS = (1e-12, 2e-3, Allowance(limit=1.0, reason="facets"), Allowance(limit=2e-3, reason="none"))
STRICT = [Tolerances(trajectory={"dart": limit}) for limit in LIMITS]
STRICT += [Tolerances(one_step=Allowance(limit=limit, reason="facets")) for limit in (0.1, 0.5)]


def varied(checks: Sequence[Any]) -> Iterator[Any]:
    """Yield checks, and the same with each of their numbers changed."""
    for check in checks:
        yield check
        for field in fields(check):
            plain = isinstance(getattr(check, field.name), int | float | None)
            kind = (
                re.match(r"(?:Annotated\[)?(bool|int|float)\b", str(field.type)) if plain else None
            )
            for value in VALUES[kind[1]] if kind else ():
                yield replace(check, **{field.name: value})


def made_up() -> Iterator[dict[str, Finding]]:
    """Yield findings of checks: figures of each level varied, beside each twin, and as allowed."""
    for level, checks in MADE.items():
        motion = level in ("one_step", "trajectory", "statistics")
        seeds = {"trajectory": levels.trajectory.Seeds()} if level == "statistics" else {}
        for check in varied(checks):
            for scheme in MADE["scheme"] if motion else [NO_TWIN]:
                yield outcomes({**CHECKS, **seeds, "scheme": scheme, level: check})
            for strict in STRICT if motion and not seeds else ():
                yield outcomes({**CHECKS, level: check}, strict)
    for check in varied(TAKEN):
        yield outcomes({"one_step": check, "scheme": TWIN}, levels=RUN_LEVELS)


def comes_to(findings: Sequence[Finding]) -> tuple[Any, ...]:
    """Return all of findings but their words, and the verdict."""
    names = ("level", "outcome", "codes", "quantity", "where", "size", "smaller", "unexplained")
    found = [tuple(str(getattr(each, name)) for name in names) for each in findings]
    return verdict_of(findings), found


def judged() -> list[tuple[Any, ...]]:
    """Return what the figures come to, as they are and excused."""
    excuses = {"trajectory": {"dart": "it rebounds"}, "one_step": {"dart": "it rebounds"}}
    found = [[*each.values()] for each in made_up()]
    return [comes_to(each) for one in found for each in (one, excuse(one, excuses))]


def codes_in(value: object) -> set[str]:
    """Return the codes of reasons, those in their figures among them."""
    if isinstance(value, list | tuple):
        return set().union(*map(codes_in, value))
    if isinstance(value, Finding):
        return codes_in(value.reasons)
    return (
        {value.code} | codes_in([*value.figures.values()]) if isinstance(value, Reason) else set()
    )


def test_each_code_has_words_and_they_are_made_of_its_figures() -> None:
    findings = [f for item in made_up() for f in item.values()]
    excuses = {"one_step": {"dart": "it rebounds"}}
    reasons = [*remarks(excuse(findings, excuses), excuses)]
    assert set(words.TEXTS) == set(Code)
    assert codes_in([*findings, *reasons]) == set(Code) - ELSEWHERE
    assert all(bool(item.reason) is bool(item.reasons) for item in findings)
    assert all(str(item) for item in reasons)


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
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    setup = setup_of("monkeybot", "swing", "crosscheck.duration=0.1", "crosscheck.states=5")
    wrong = [Perturbation("mujoco", "mass", 1.01, "arm_b_link")]
    engine = wrap("mujoco", perturbations=wrong) if heavier else spec("mujoco")
    runs = run_jobs(setup, make_engines(setup, [engine]), 3, QUIET)

    def found() -> tuple[Any, ...]:
        case = CheckCase(setup, engine, "mujoco", runs)
        measure_one(case, LEVELS)
        return comes_to(conclude(case, LEVELS)[0])

    before = found()
    assert before[0] == ("fail" if heavier else "pass")
    for texts in TEXTS.values():
        monkeypatch.setattr(words, "TEXTS", texts)
        assert found() == before
