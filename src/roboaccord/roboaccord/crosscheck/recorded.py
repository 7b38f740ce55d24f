"""Check of a bag: every control period against the reference's, and against the engine's twin.

Periods are judged in step_check.py, which the live node uses, too, so that both give one verdict
(test_live_crosscheck compares them). What a bag may lack is decided here: a scenario, wrenches and
twists, the twin of its engine. test_recorded (snake) has verdicts of sound and of wrong runs.
"""

from __future__ import annotations

from roboaccord.bag.reader import BagRun
from roboaccord.contract.errors import AccordError
from roboaccord.crosscheck.report import Report, report_of_run
from roboaccord.crosscheck.step_check import StepCheck
from roboaccord.crosscheck.twin_ticks import check_twin
from roboaccord.engines import engine_names
from roboaccord.scenario.setup import Setup


def check_bag(run: BagRun, setup: Setup | None = None, *, resolved: bool = True) -> Report:
    """Compare every control period of a recorded run with the reference, as the live check does.

    Args:
        run: from a bag.
        setup: robot and scenario in place of the recorded ones.
        resolved: whether the resolution is computed, which no verdict needs.

    Raises:
        AccordError: for a bag without a scenario.
    """
    if not run.scenario and not setup:
        raise AccordError("the bag holds no scenario: accord crosscheck BAG SCENARIO")
    setup, motion = setup or run.setup(), run.trajectory
    check = StepCheck(setup, run.engine, run.engine_version, transport=run.transport)
    given = [dict(zip(c.time.tolist(), c.effort)) for c in (run.wrenches, run.twists)]
    check.note(motion.events)
    for i in range(len(motion) - 1):
        before = motion.state(i)
        wrench, twist = (by_time.get(before.time) for by_time in given)
        check.take(before, motion.state(i + 1), wrench, twist, motion.asked(i))
    check.settle()
    checks = check.checks()
    if motion.divergence:
        return report_of_run(setup, run.engine, checks, motion.divergence)
    if run.engine in engine_names() and not any(given):
        delay = checks["one_step"].delay
        checks["scheme"] = check_twin(
            setup, run.engine, run.transport, motion, delay, resolved=resolved
        )
    return report_of_run(setup, run.engine, checks)
