"""Interface of a level of the cross-check: it measures, judges its measurement and lists figures.

Your own level derives from `Level` and is passed to `crosscheck(levels=...)`; a level of this
package is a file in levels/ and an entry of LEVELS there. Nothing else has to know it: terminal,
page and `--json` show its `rows`, and a scenario excuses it or sets its tolerance by its name.
docs/new_level.md shows one. Levels are measured in order, in other processes, so checks are plain
data. A level that checks anything but a motion, such as a robot's file, derives from `LevelOf`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from roboaccord.contract.outcome import Finding
from roboaccord.contract.results import Json, to_json

if TYPE_CHECKING:  # they import loop, bags and scenarios, which levels of files do not need
    from roboaccord.crosscheck.motion import CheckCase
    from roboaccord.scenario.scenario import Tolerances

LISTED = 6  # names in a cell of a table, which then still fits a terminal
K = TypeVar("K")  # case: what is measured
C = TypeVar("C")  # check: the measurement


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


Rows = Mapping[str, Entry]
"""The figures of a check, by heading."""


def listed(names: Sequence[str]) -> Entry:
    """Return an entry that lists names, as many as a table has room for."""
    more = [f"and {len(names) - LISTED} more"] * (len(names) > LISTED)
    return Entry("; ".join([*names[:LISTED], *more]) or "nothing")


class LevelOf(ABC, Generic[K, C]):
    """Measure a case of any kind, and judge the measurement by tolerances.

    Attributes:
        name: in findings, excuses and tolerances.
        title: of the table; "" for no table.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""

    @abstractmethod
    def measure(self, case: K) -> C | None:
        """Return what is measured; None where the level has nothing to say."""

    @abstractmethod
    def judge(self, check: C, tolerances: Tolerances) -> Finding:
        """Return the outcome, with what is off; causes are sought later, in causes/."""

    def rows(self, check: C) -> Rows:
        """Return the figures of a check, by heading."""
        return {}


class Level(LevelOf[Any, C]):
    """Measure one engine's motion, and judge it by the level's tolerances.

    Attributes:
        of_motion: whether the level looks at the motion; then it is not judged where the
            reference diverges.
        of_reference: whether the reference is measured, too; it is never judged.
        substitute: name of the level whose outcome stands in where `judge` says so.
    """

    of_motion: ClassVar[bool] = True
    of_reference: ClassVar[bool] = False
    substitute: ClassVar[str] = ""

    @abstractmethod
    def measure(self, case: CheckCase) -> C | None:
        """Return what is measured; None where the level has nothing to say."""


AnyLevel = Level[Any]
