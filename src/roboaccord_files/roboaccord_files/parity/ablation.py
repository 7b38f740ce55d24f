"""Causes proven by ablation: a trap (a text read differently) alone left in a text, and taken out.

Which traps there are stands in roboaccord_files/repair, in the order of repair.find.FINDERS, which
must stay. What counts as proof is `_better`: half of the error, which may be changed;
test_parity.py plants a fault in one engine at a time, and its cause must be named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from roboaccord.crosscheck.differences import Difference
from roboaccord.engines.reading import Reading

from roboaccord_files.parity.compare import ReferenceReading
from roboaccord_files.parity.result import DifferenceCause, ReadingStatus
from roboaccord_files.repair.find import repaired
from roboaccord_files.repair.trap import Trap


@dataclass(frozen=True)
class Outcome:
    """Hold what came of asking an engine for a text.

    Args:
        differences: the worst first.
        reading: None where the engine refuses the text.
        refusal: why it does.
        reference: what it was compared with; None where that has no accelerations.
    """

    differences: tuple[Difference, ...]
    reading: Reading | None
    refusal: str = ""
    reference: ReferenceReading | None = None

    @property
    def status(self) -> ReadingStatus:
        """Whether the reading is the same, or refused."""
        if self.reading is None:
            return ReadingStatus.REFUSED
        return (
            ReadingStatus.DIFFER
            if any(d.excess > 1.0 for d in self.differences)
            else ReadingStatus.SAME
        )

    @property
    def error(self) -> float | None:
        """The worst difference, relative; None for a refusal and what is not finite."""
        return self.differences[0].finite if self.differences else None


Ask = Callable[[str], Outcome]


def ablate(urdf: str, traps: Sequence[Trap], ask: Ask) -> list[DifferenceCause]:
    """Return the traps of a text that make an engine differ, with their proof.

    Each trap is left in alone, then repaired. Those behind it in order stay where it is, because
    their repair would remove it too.
    """
    found = []
    for i, trap in enumerate(traps):
        others = [*traps[:i], *(_elsewhere(t, trap.where) for t in traps[i + 1 :])]
        left = repaired(urdf, [t for t in others if t.where])
        before, after = ask(left), ask(repaired(left, [trap]))
        if before.status is ReadingStatus.SAME or not _better(before, after):
            continue
        where = _narrow(trap.where, before)
        found.append(DifferenceCause(trap.cause, where, before.error, after.error, trap.fix))
    return found


def jointly(
    urdf: str, traps: Sequence[Trap], known: Sequence[Trap], ask: Ask
) -> list[DifferenceCause]:
    """Return the fewest traps of a text that together make an engine differ, or refuse it.

    None of them does so alone: without any one of these it reads the text as the reference does.
    Those known to be causes are repaired throughout.
    """

    def without(left: Sequence[Trap]) -> Outcome:
        return ask(repaired(urdf, [trap for trap in traps if trap not in left]))

    after = without(())
    if after.status is not ReadingStatus.SAME:
        return []
    left = suspects = [trap for trap in traps if trap not in known]
    for trap in suspects:
        fewer = [other for other in left if other is not trap]
        if without(fewer).status is not ReadingStatus.SAME:
            left = fewer
    before = without(left)
    return [
        DifferenceCause(
            trap.cause, _narrow(trap.where, before), before.error, after.error, trap.fix
        )
        for trap in left
    ]


def _elsewhere(trap: Trap, places: Iterable[str]) -> Trap:
    return replace(trap, where=tuple(name for name in trap.where if name not in places))


def _better(before: Outcome, after: Outcome) -> bool:
    if after.reading is None:
        return False
    if before.reading is None or before.error is None:
        return before.reading is None or after.error is not None
    return after.error is not None and after.error < 0.5 * before.error


def _narrow(places: tuple[str, ...], outcome: Outcome) -> tuple[str, ...]:
    """Return the places that are off in a reading or named by a refusal; all if none is."""
    off = {d.where for d in outcome.differences if d.excess > 1.0}
    if outcome.reference:  # what is lost hangs on the culprit
        off |= {j.parent for j in outcome.reference.tree.joints if {j.name, j.child} & off}
    if outcome.reading is None:
        off = {name for name in places if f"'{name}'" in outcome.refusal}
    return tuple(name for name in places if name in off) or places
