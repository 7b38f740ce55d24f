"""Interface of a level of the cross-check: it measures, judges its measurement and lists figures.

A level compares engines in one respect, such as their accelerations. Its `measure` returns a check
(the measurement), `judge` turns that into a finding (the outcome with its reasons), and `rows` into
the rows of a table. Your own level derives from `Level` and is passed to `crosscheck(levels=...)`,
as docs/new_level.md shows; one of this package is a file in levels/ and an entry of LEVELS there.

No other code knows a level by name: terminal, page and `--json` show its `rows`, and a scenario
excuses it or sets its tolerance by its name. Levels are measured in order, in other processes, so
checks must be plain data. A level that checks something other than a motion, such as a robot's
file, derives from `LevelOf`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from roboaccord.contract import Finding, Json, to_json

if TYPE_CHECKING:  # they import loop, bags and scenarios, which levels of files do not need
    from roboaccord.crosscheck.check_case import CheckCase
    from roboaccord.scenario.scenario import Tolerances

# Largest number of names in a cell of a table: six of 12 characters fill a terminal of 80 columns.
LISTED = 6
# Types by which a level is generic.
K = TypeVar("K")  # type of the case: what is measured
C = TypeVar("C")  # type of the check: the measurement


@dataclass(frozen=True)
class Entry:
    """Figure of a level for terminal, page and JSON.

    Args:
        value: in SI units; a sequence is joined by commas.
        unit: of the value; "" where it has none.
        form: how a number is formatted.
    """

    value: Json
    unit: str = ""
    form: str = ".3g"

    def to_json(self) -> Json:
        """Return the value."""
        return to_json(self.value)


# The figures of a check, by heading.
Rows = Mapping[str, Entry]


def listed(names: Sequence[str]) -> Entry:
    """Return an entry that lists names, at most LISTED and the number of the others."""
    more = [f"and {len(names) - LISTED} more"] if len(names) > LISTED else []
    return Entry("; ".join([*names[:LISTED], *more]) or "nothing")


class LevelOf(ABC, Generic[K, C]):
    """Measure a case of any kind K, and judge the measurement, a check C, by tolerances.

    Attributes:
        name: in findings, excuses and tolerances.
        title: of the table; "" for no table.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""

    @abstractmethod
    def measure(self, case: K) -> C | None:
        """Return the measurement of a case; None where the level does not apply."""

    @abstractmethod
    def judge(self, check: C, tolerances: Tolerances) -> Finding:
        """Return the outcome of a check with its reasons; causes are sought later, in causes/."""

    def rows(self, check: C) -> Rows:
        """Return the figures of a check, by heading."""
        return {}


class Level(LevelOf[Any, C]):
    """Measure one engine's motion, and judge it by the level's tolerances.

    Attributes:
        of_motion: whether the level judges the motion; it is then not judged where the reference
            diverges.
        of_reference: whether the reference is measured, too; it is never judged.
        substitute: name of the level whose outcome replaces this one's, if the finding of `judge`
            has `stands_in`.
    """

    of_motion: ClassVar[bool] = True
    of_reference: ClassVar[bool] = False
    substitute: ClassVar[str] = ""

    @abstractmethod
    def measure(self, case: CheckCase) -> C | None:
        """Return the measurement of a case; None where the level does not apply."""


AnyLevel = Level[Any]
