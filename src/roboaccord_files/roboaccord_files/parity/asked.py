"""What came of asking an engine for one text, and its outcome: within, outside, or not judged.

A code may be added: a member of `ParityCode`, in OPEN if the engine is not to blame. What stays: a
crash is outside, and no answer in time is not judged; test_parity.py tests both.
"""

from __future__ import annotations

from dataclasses import dataclass

from roboaccord.contract.outcome import Code, Finding, Outcome, because
from roboaccord.crosscheck.differences import Difference
from roboaccord.engines.reading import Reading

from roboaccord_files.parity.compare import ReferenceReading
from roboaccord_files.parity.words import ParityCode

OPEN = (ParityCode.NO_ANSWER, ParityCode.NOT_READ)  # for which an engine is not to blame


def finding_of(worst: Difference | None, ended: ParityCode | None, why: str) -> Finding:
    """Return the outcome of a reading.

    Args:
        worst: difference, None where there is none.
        ended: why there is no reading, None where there is one.
        why: in the engine's words.
    """
    if ended:
        reasons = because(ended), because(Code.TEXT, text=why)
        return Finding.not_judged(*reasons) if ended in OPEN else Finding.outside(*reasons)
    if worst and worst.excess > 1.0:
        differs = because(ParityCode.DIFFERS, error=worst.error)
        where, size = worst.where, worst.finite
        return Finding.outside(differs, quantity=worst.quantity, where=where, size=size)
    return Finding.within()


@dataclass(frozen=True)
class Asked:
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
    def ended(self) -> ParityCode | None:
        """Whether the engine refuses the text."""
        return ParityCode.REFUSED if self.reading is None else None

    @property
    def worst(self) -> Difference | None:
        """The worst difference."""
        return self.differences[0] if self.differences else None

    @property
    def error(self) -> float | None:
        """That, relative; None for a refusal and what is not finite."""
        return self.worst.finite if self.worst else None

    @property
    def finding(self) -> Finding:
        """The outcome."""
        return finding_of(self.worst, self.ended, self.refusal)

    @property
    def same(self) -> bool:
        """Whether it is read as by the reference."""
        return self.finding.outcome is Outcome.WITHIN
