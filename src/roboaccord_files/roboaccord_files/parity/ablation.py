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

from roboaccord_files.parity.compare import Asked
from roboaccord_files.repair.find import repaired
from roboaccord_files.repair.trap import Flaw, Trap, causes_at

Ask = Callable[[str], Asked]


def ablate(urdf: str, traps: Sequence[Trap], ask: Ask) -> list[Flaw]:
    """Return the traps of a text that make an engine differ, with their proof.

    The engine reads the text with one trap left, and with none. Traps of the same link or joint
    that come later in the order of repairs are left, too: their repair would remove this one.

    Args:
        urdf: the text.
        traps: all its traps, in the order of repairs.
        ask: returns the engine's reading of a text.
    """
    proven = []
    for i, trap in enumerate(traps):
        others = [*traps[:i], *(_elsewhere(t, trap.where) for t in traps[i + 1 :])]
        text = repaired(urdf, [t for t in others if t.where])
        before, after = ask(text), ask(repaired(text, [trap]))
        if before.same or not _better(before, after):
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
        ask: returns what the engine makes of a text.
    """

    def asked_with(kept: Sequence[Trap]) -> Asked:
        return ask(repaired(urdf, [trap for trap in traps if trap not in kept]))

    after = asked_with(())
    if not after.same:
        return []
    needed = suspects = [trap for trap in traps if trap not in causes]
    for trap in suspects:
        fewer = [other for other in needed if other is not trap]
        if not asked_with(fewer).same:
            needed = fewer
    before = asked_with(needed)
    return [_proven(trap, before, after) for trap in needed]


def _proven(trap: Trap, before: Asked, after: Asked) -> Flaw:
    """Return a trap as a proven flaw, with the errors with and without it."""
    causes = causes_at(trap.cause, _narrow(trap.where, before))
    return Flaw(causes, before.error, after.error, trap.fix)


def _elsewhere(trap: Trap, places: Iterable[str]) -> Trap:
    """Return a trap without the links or joints named."""
    return replace(trap, where=tuple(name for name in trap.where if name not in places))


def _better(before: Asked, after: Asked) -> bool:
    """Return whether a reading is so much better than one before that the repair is the reason.

    It is if the engine no longer refuses the text, or its error is finite, or half as large.
    """
    if after.reading is None:
        return False
    if before.reading is None or before.error is None:
        return before.reading is None or after.error is not None
    return after.error is not None and after.error < 0.5 * before.error


def _narrow(places: tuple[str, ...], outcome: Asked) -> tuple[str, ...]:
    """Return the links or joints that differ in a reading, or that a refusal names; else all."""
    off = {d.where for d in outcome.differences if d.excess > 1.0}
    if outcome.reference:  # what is lost hangs on the culprit
        off |= {j.parent for j in outcome.reference.tree.joints if {j.name, j.child} & off}
    if outcome.reading is None:
        off = {name for name in places if f"'{name}'" in outcome.refusal}
    return tuple(name for name in places if name in off) or places
