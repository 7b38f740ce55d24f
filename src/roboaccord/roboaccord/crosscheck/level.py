"""What a level of the cross-check is: it measures, judges what it measured, and lists its figures.

A level of one's own derives from `Level`, and is given to `crosscheck(levels=...)`; one of the tree
is a file in levels/ and an entry of LEVELS there. Nothing else has to know it: terminal, page and
`--json` show its `rows`, a scenario excuses it and gives it a tolerance by its name.
docs/new_level.md shows one. Levels are measured in their order, in other processes, so that checks
are plain data. A level of anything but a motion, as of a robot's file, derives from `LevelOf`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from roboaccord.contract.outcome import Finding
from roboaccord.contract.results import Json, to_json

if TYPE_CHECKING:  # which need what a robot's file does not: a loop, bags, scenarios
    from roboaccord.crosscheck.motion import CheckCase
    from roboaccord.scenario.scenario import Tolerances

LISTED = 6  # things that a table names
K = TypeVar("K")
C = TypeVar("C")


@dataclass(frozen=True)
class Entry:
    """Hold a figure of a level for terminal, page and JSON.

    Args:
        value: in SI units; a sequence is joined by commas.
        unit: of it; "" where it has none.
        form: how a number is formatted.
    """

    value: Json
    unit: str = ""
    form: str = ".3g"

    def to_json(self) -> Json:
        """Return the value."""
        return to_json(self.value)


Rows = Mapping[str, Entry]
"""The figures of a check, by heading."""


def listed(names: Sequence[str]) -> Entry:
    """Return a figure that names what is off, as far as a table has room."""
    more = [f"and {len(names) - LISTED} more"] * (len(names) > LISTED)
    return Entry("; ".join([*names[:LISTED], *more]) or "nothing")


class LevelOf(ABC, Generic[K, C]):
    """Measure a case, whatever is checked of an engine, and judge it by tolerances.

    Attributes:
        name: in findings, excuses and tolerances.
        title: of its table; "" for none.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""

    @abstractmethod
    def measure(self, case: K) -> C | None:
        """Return what is measured; None where the level has nothing to say."""

    @abstractmethod
    def judge(self, check: C, tolerances: Tolerances) -> Finding:
        """Return the outcome, with what is off; no cause is sought here."""

    def rows(self, check: C) -> Rows:
        """Return the figures of a check, by heading."""
        return {}


class Level(LevelOf[Any, C]):
    """Measure one engine's motion, and judge it by its own tolerances.

    Attributes:
        of_motion: whether it follows from the motion, and is not judged where the reference
            diverges.
        of_reference: whether it measures the reference, too, which is not judged.
        substitute: name of the level whose outcome stands in for this one where it says so.
    """

    of_motion: ClassVar[bool] = True
    of_reference: ClassVar[bool] = False
    substitute: ClassVar[str] = ""

    @abstractmethod
    def measure(self, case: CheckCase) -> C | None:
        """Return what is measured; None where the level has nothing to say."""


AnyLevel = Level[Any]
