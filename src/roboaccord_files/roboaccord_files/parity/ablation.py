"""Prove by ablation which traps in a file make an engine differ from the reference.

A trap is text that programs read differently (roboaccord_files.repair). For each one, the engine
reads the text with all other traps repaired, and then with this one repaired, too. If that at least
halves the error, or makes the engine accept the text, the trap is a proven cause. Where no trap
alone is, `jointly` finds the smallest set that is. test_parity.py plants a fault in one engine at a
time, whose cause must be named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from roboaccord_files.parity.compare import ReadingOutcome
from roboaccord_files.repair.find import repaired
from roboaccord_files.repair.trap import Flaw, Trap, causes_at

Ask = Callable[[str], ReadingOutcome]
"""Returns what an engine makes of a text."""


def ablate(urdf: str, traps: Sequence[Trap], ask: Ask) -> list[Flaw]:
    """Return the traps of a text that make an engine differ, with their proof.

    The engine reads the text with one trap left, and with none. Traps of the agrees link or joint
    that come later in the order of repairs are left, too: their repair would remove this one.

    Args:
        urdf: the text.
        traps: all its traps, in the order of repairs.
        ask: gives a text to the engine.
    """
    proven = []
    for i, trap in enumerate(traps):
        others = [*traps[:i], *(_without_places(t, trap.where) for t in traps[i + 1 :])]
        text = repaired(urdf, [t for t in others if t.where])
        before, after = ask(text), ask(repaired(text, [trap]))
        if before.agrees or not _is_better(before, after):
            continue
        proven.append(_proven(trap, before, after))
    return proven


def jointly(urdf: str, traps: Sequence[Trap], causes: Sequence[Trap], ask: Ask) -> list[Flaw]:
    """Return the fewest traps of a text that together make an engine differ, or refuse it.

    None of them does so alone: without any one of these it reads the text as the reference does.

    Args:
        urdf: the text.
        traps: all of the text.
        causes: those that are proven already; they are repaired throughout.
        ask: gives a text to the engine.
    """

    def outcome_with(kept: Sequence[Trap]) -> ReadingOutcome:
        return ask(repaired(urdf, [trap for trap in traps if trap not in kept]))

    after = outcome_with(())
    if not after.agrees:
        return []
    needed = suspects = [trap for trap in traps if trap not in causes]
    for trap in suspects:
        fewer = [other for other in needed if other is not trap]
        if not outcome_with(fewer).agrees:
            needed = fewer
    before = outcome_with(needed)
    return [_proven(trap, before, after) for trap in needed]


def _proven(trap: Trap, before: ReadingOutcome, after: ReadingOutcome) -> Flaw:
    """Return a trap as a proven flaw, with the errors with and without it."""
    causes = causes_at(trap.cause, _affected(trap.where, before))
    return Flaw(causes, before.error, after.error, trap.fix)


def _without_places(trap: Trap, places: Iterable[str]) -> Trap:
    """Return a trap without the links or joints named."""
    return replace(trap, where=tuple(name for name in trap.where if name not in places))


def _is_better(before: ReadingOutcome, after: ReadingOutcome) -> bool:
    """Return whether a reading is so much better than one before that the repair is the reason.

    It is if the engine no longer refuses the text, or its error is finite, or half as large.
    """
    if after.reading is None:
        return False
    if before.reading is None or before.error is None:
        return before.reading is None or after.error is not None
    return after.error is not None and after.error < 0.5 * before.error


def _affected(places: tuple[str, ...], outcome: ReadingOutcome) -> tuple[str, ...]:
    """Return the links or joints that differ in a reading, or that a refusal names; else all."""
    if outcome.reading is None:
        differing = {name for name in places if f"'{name}'" in outcome.refusal}
    else:
        differing = {d.where for d in outcome.differences if d.excess > 1.0}
        if outcome.reference:  # what is lost hangs on the culprit
            joints = outcome.reference.tree.joints
            differing |= {j.parent for j in joints if {j.name, j.child} & differing}
    return tuple(name for name in places if name in differing) or places
