"""Prove by ablation which traps in a file make an engine differ from the reference.

A `Trap` is text that readers interpret differently, at some links or joints (`where`), with its
repair (roboaccord_files.repair); ablation removes causes one at a time to see what each is
responsible for. For each trap, `ablate` lets the engine read the text with all other traps
repaired, and then with this one repaired, too. If that at least halves the error, or makes the
engine accept the text, the trap is a proven cause, and is reported as a `Flaw` with both errors.
Where no single trap is, `jointly` finds the smallest set that is. reading.py calls both.
test_parity.py plants faults in one engine at a time, whose causes must be named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from roboaccord_files.parity.compare import ReadingOutcome
from roboaccord_files.repair.find import repaired
from roboaccord_files.repair.trap import Flaw, Trap, causes_at

# A function that returns what an engine makes of a text.
Ask = Callable[[str], ReadingOutcome]


def ablate(urdf: str, traps: Sequence[Trap], ask: Ask) -> list[Flaw]:
    """Return the traps of a text that make an engine differ, with their proof.

    The engine reads the text with one trap, and without it. Later traps (in the order of repairs)
    of the same links or joints are not repaired either, for their repair would remove this one.

    Args:
        urdf: the text.
        traps: all its traps, in the order of repairs.
        ask: function that lets the engine read a text.
    """
    proven = []
    for i, trap in enumerate(traps):
        # Later traps, without the places that they share with this one.
        later = [
            replace(other, where=tuple(name for name in other.where if name not in trap.where))
            for other in traps[i + 1 :]
        ]
        with_trap = repaired(urdf, [*traps[:i], *(other for other in later if other.where)])
        before, after = ask(with_trap), ask(repaired(with_trap, [trap]))
        if before.agrees or not _is_better(before, after):
            continue
        proven.append(_proven(trap, before, after))
    return proven


def jointly(urdf: str, traps: Sequence[Trap], causes: Sequence[Trap], ask: Ask) -> list[Flaw]:
    """Return the fewest traps of a text that together make an engine differ, or refuse it.

    Without any one of them the engine reads the text as the reference does.

    Args:
        urdf: the text.
        traps: all of the text.
        causes: traps that are proven already; they are repaired in all texts.
        ask: function that lets the engine read a text.
    """

    def outcome_with(unrepaired: Sequence[Trap]) -> ReadingOutcome:
        """Return what the engine makes of the text with only these traps in it."""
        return ask(repaired(urdf, [trap for trap in traps if trap not in unrepaired]))

    after = outcome_with(())
    if not after.agrees:
        return []
    suspects = [trap for trap in traps if trap not in causes]
    needed = suspects
    for trap in suspects:
        fewer = [other for other in needed if other is not trap]
        if not outcome_with(fewer).agrees:
            needed = fewer
    before = outcome_with(needed)
    return [_proven(trap, before, after) for trap in needed]


def _proven(trap: Trap, before: ReadingOutcome, after: ReadingOutcome) -> Flaw:
    """Return a trap as a flaw, with the errors of the engine before and after its repair."""
    causes = causes_at(trap.cause, _affected(trap.where, before))
    return Flaw(causes, before.error, after.error, trap.fix)


def _is_better(before: ReadingOutcome, after: ReadingOutcome) -> bool:
    """Return whether a reading after a repair is so much better that the repaired trap is a cause.

    It is if the engine no longer refuses the text, or its error has become finite, or has halved.
    """
    if after.reading is None:
        return False
    if before.reading is None or before.error is None:
        return before.reading is None or after.error is not None
    return after.error is not None and after.error < 0.5 * before.error


def _affected(places: tuple[str, ...], outcome: ReadingOutcome) -> tuple[str, ...]:
    """Return the links or joints, of the given ones, that differ in a reading; all if none does.

    If the engine refuses the text, they are those that its message names.
    """
    if outcome.reading is None:
        differing = {name for name in places if f"'{name}'" in outcome.refusal}
    else:
        differing = {d.where for d in outcome.differences if d.excess > 1.0}
        if outcome.reference:  # if a link or joint is lost, the fault may be in the link above it
            joints = outcome.reference.tree.joints
            differing |= {j.parent for j in joints if {j.name, j.child} & differing}
    return tuple(name for name in places if name in differing) or places
