"""Check of a bag: a recorded run, one control period at a time, against reference and twin.

The reference is the analytical model. The twin is a simulation of the same equations with the
scheme of the engine that was recorded, and differs from a sound engine by round-off alone. Periods
are judged in step_check.py, which the live node uses, too, so that both give the same verdict. A
bag may lack a scenario, commanded wrenches and twists, or a twin of its engine; this module decides
what is then compared.
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
        resolved: whether to compute the smallest errors that would have been found; no verdict
            needs them, and they take time.

    Raises:
        AccordError: for a bag without a scenario.
    """
    if not run.scenario and not setup:
        raise AccordError("the bag holds no scenario: accord crosscheck BAG SCENARIO")
    setup, motion = setup or run.setup(), run.trajectory
    check = StepCheck(setup, run.engine, run.engine_version, transport=run.transport)
    # Commanded wrenches and twists by time stamp; their record calls the six numbers `effort`.
    wrenches = dict(zip(run.wrenches.time.tolist(), run.wrenches.effort))
    twists = dict(zip(run.twists.time.tolist(), run.twists.effort))
    # Every control period against the reference.
    check.note_events(motion.events)
    for i in range(len(motion) - 1):
        before, after = motion.state(i), motion.state(i + 1)
        wrench, twist = wrenches.get(before.time), twists.get(before.time)
        check.compare(before, after, wrench, twist, motion.requested(i))
    check.choose_delay()
    checks = check.checks()
    # And against the twin, which knows no external wrenches and twists.
    if run.engine in engine_names() and not (wrenches or twists or motion.divergence):
        delay = checks["one_step"].delay
        scheme = check_twin(setup, run.engine, run.transport, motion, delay, resolved=resolved)
        checks["scheme"] = scheme
    return report_of_run(setup, run.engine, checks, motion.divergence)
