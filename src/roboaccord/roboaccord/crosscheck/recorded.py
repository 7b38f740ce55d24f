"""A recorded run: every control period against the reference's, and against the engine's twin.

How a period is judged is changed in step_check.py, which the live node uses, too, so that both give
one verdict (test_live_crosscheck compares them). What a bag may lack is decided here: a scenario,
wrenches and twists, the twin of its engine. test_recorded (snake) holds verdicts of sound and of
wrong runs. Keys of the result are those of recorded_report.py.
"""

from __future__ import annotations

from dataclasses import replace

from roboaccord.bag.reader import BagRun
from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import excuse
from roboaccord.crosscheck.causes.resolution import shown_of
from roboaccord.crosscheck.recorded_report import RecordedReport
from roboaccord.crosscheck.scheme import SchemeCheck, judge_scheme
from roboaccord.crosscheck.step_check import StepCheck
from roboaccord.crosscheck.twin_ticks import check_twin
from roboaccord.engines import engine_names
from roboaccord.scenario.setup import Setup


def check_bag(run: BagRun, setup: Setup | None = None, *, resolved: bool = True) -> RecordedReport:
    """Compare every control period of a recorded run with the reference, as the live check does.

    Args:
        run: from a bag.
        setup: robot and scenario in place of the recorded ones.
        resolved: whether the resolution is found, which no verdict needs.

    Raises:
        AccordError: if the scenario is not known.
    """
    if not run.scenario and not setup:
        raise AccordError("the bag holds no scenario: accord crosscheck BAG SCENARIO")
    setup, motion = setup or run.setup(), run.trajectory
    check = StepCheck(setup, run.engine, run.engine_version, transport=run.transport)
    given = [dict(zip(c.time.tolist(), c.effort)) for c in (run.wrenches, run.twists)]
    check.note(motion.events)
    for i in range(len(motion) - 1):
        before = motion.state(i)
        wrench, twist = (known.get(before.time) for known in given)
        check.take(before, motion.state(i + 1), wrench, twist, motion.asked(i))
    check.settle()
    found = check.verdict()
    if why := motion.divergence:
        none = replace(found.finding, outcome="not_judged", reason=why)
        levels = replace(found.levels, one_step={none.engine: none}, scheme={})
        return replace(found, levels=levels)
    if run.engine not in engine_names() or any(given):
        return found
    twin = check_twin(setup, run.engine, run.transport, motion, found.delay, resolved=resolved)
    (scheme,) = excuse([judge_scheme(run.engine, twin)], setup.scenario.crosscheck.excuse)
    levels = replace(found.levels, scheme={run.engine: scheme})
    resolution = shown_of(twin.resolution) if isinstance(twin, SchemeCheck) else []
    return replace(found, levels=levels, resolution=resolution)
