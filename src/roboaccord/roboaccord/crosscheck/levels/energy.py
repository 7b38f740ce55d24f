"""Level `energy`: an engine's energy must be accounted for, up to what time stepping explains.

The energy book of a run (run/energy_book.py) lists the work of the efforts, the stored energy and
the losses by channel (stops, impacts, friction); its rest is what they do not account for [J]. The
engine simulates parts of the run again, each from its first state, at its physics step, a half and
a quarter of it. A rest that vanishes with the step is due to time stepping; one that does not is
energy from nowhere, or lost to an unknown channel. No reference is needed, nor a regular motion.

The twin of an engine simulates our equations of motion under the engine's integration scheme. If
the engine's control periods (ticks) equal its twin's (level `scheme`), both have the same book up
to round-off: in parts without an event the two are compared, and time stepping explains nothing.

`check_energy` chooses the parts; they are repeated and compared in measures/energy_parts.py, which
returns an `EnergyCheck`: `left` is the rest at a step of 0 [J], `bound` what explains it, and an
excess of the one over the other is certain (`sure`) or not. An engine may not report some channels
of losses (`unmeasured`); then only gains of energy are judged.
"""

from __future__ import annotations

import numpy as np

from roboaccord.contract.outcome import Code, Finding, because
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.measures.energy_parts import EnergyCheck, EnergyParts
from roboaccord.crosscheck.measures.scheme import NoTwin, SchemeCheck, is_twin
from roboaccord.crosscheck.restart import simulators_by_step, why_no_restart
from roboaccord.crosscheck.special_ticks import eventful_ticks, stop_ticks
from roboaccord.engines.spec import EngineSpec
from roboaccord.run.energy_book import EnergyBook, NoBook
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup

RULE_ORDER = 2  # order of the trapezoidal rule, by which run/energy_book.py integrates losses


def check_energy(
    setup: Setup,
    engine: EngineSpec,
    run: Trajectory,
    book: EnergyBook | NoBook,
    scheme: SchemeCheck | NoTwin | None = None,
) -> EnergyCheck | NoBook:
    """Check the energy book of an engine's run, by how its rest changes with the physics step.

    Parts without an event converge with the engine's order and are checked separately: the larger
    errors of the others would hide theirs. If the ticks are the twin's, they are compared with it.

    Args:
        setup: robot and scenario.
        engine: that made the run.
        run: recorded.
        book: energy book of the run, or the reason why there is none.
        scheme: comparison of the engine's ticks with its twin's, if there is one.

    Returns:
        the check with the largest excess, or the reason why there is none.
    """
    if isinstance(book, NoBook) or book.reason:
        return NoBook(book.reason or "")
    simulators = simulators_by_step(setup, engine)
    if reason := why_no_restart(simulators[0]):
        return NoBook(f"{reason}, so the energy is not known")
    # Parts of the book that contain no eventful tick.
    eventful = eventful_ticks(run, setup.scenario.control_period) | stop_ticks(simulators[0], run)
    parts = EnergyParts(setup, run, book)
    events_before = np.concatenate([[0], np.cumsum(eventful)])  # by sample of the run
    is_free = np.diff(events_before[parts.ends]) == 0
    checks = list[EnergyCheck]()
    # Parts without an event: by the twin, which leaves those with a stop to the others, or by the
    # order of convergence.
    if is_twin(scheme) and engine.simulator:
        judged_by_twin = parts.choose(np.flatnonzero(is_free))
        twin_check, stopped = parts.compare_twin(engine, judged_by_twin)
        if twin_check:
            checks.append(twin_check)
        is_free[judged_by_twin[stopped]] = False
    elif is_free.any():
        order = min(RULE_ORDER, simulators[0].order) if setup.contact is None else 1
        checks.append(parts.check_convergence(simulators, np.flatnonzero(is_free), order))
    # The others have no order.
    if not is_free.all():
        checks.append(parts.check_convergence(simulators, np.flatnonzero(~is_free), None))
    # A certain excess comes first, then the largest one.
    outside = [check for check in checks if check.left > check.bound]
    return max(outside or checks, key=lambda check: (check.sure, check.left / check.bound))


class EnergyLevel(Level["EnergyCheck | NoBook"]):
    """Judge the rest that remains at a physics step of 0."""

    name = "energy"
    title = "Energy"

    def measure(self, case: CheckCase) -> EnergyCheck | NoBook:
        """Account for the energy of parts of the run, at several physics steps or by a twin."""
        return check_energy(case.setup, case.engine, case.run, case.book, case.checks.get("scheme"))

    def judge(self, check: EnergyCheck | NoBook, tolerances: Tolerances) -> Finding:
        """Return `outside` if the rest exceeds what time stepping and round-off explain."""
        if isinstance(check, NoBook):
            return Finding.does_not_apply(because(Code.NO_BOOK, text=check.reason))
        if check.left <= check.bound:
            if not check.unmeasured:
                return Finding.within()
            return Finding.within(because(Code.ONLY_GAINS, channels=check.unmeasured))
        why = because(Code.ENERGY_OF_TWIN if check.twin else Code.ENERGY, **vars(check))
        if not (check.twin or check.sure):
            return Finding.not_judged(why)
        where = f"t = {check.time:g} s"
        return Finding.outside(why, quantity="energy", where=where, size=check.left)

    def rows(self, check: EnergyCheck | NoBook) -> Rows:
        """Return the rest at a physics step of 0, its bound, and the worst part of the run."""
        if isinstance(check, NoBook):
            return {"most from t =": Entry(check.reason)}
        return {
            "left at 0": Entry(check.left, "J", ".2g"),
            "explained": Entry(check.bound, "J", ".2g"),
            "in parts of": Entry(check.length, "s", ".2g"),
            "most from t =": Entry(check.time, "s", "g"),
        }
