"""The result of `accord parity A B`: whether two files describe one robot, and how they differ.

`Pair` is computed by pair_comparison.py, printed and drawn by pair_shown.py, and returned by
`ra.parity(a, b)`. The first robot is that of file A, the second that of file B. Names and order of
the fields are those of the JSON, on which users' scripts rely.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from roboaccord.contract.outcome import Cause, Verdict
from roboaccord.contract.results import INLINE, Json, Quantity, Shown, by_fields

from roboaccord_files.parity.result import RobotParity

# Relative; MuJoCo, for example, writes six digits, so values are rounded by up to 5e-6.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class PairDifference:
    """A quantity that two descriptions state differently.

    Args:
        cause: the quantity, the link or joint of the first robot, and the difference: the second's
            value minus the first's, or relative to the first's if the unit is 1.
        other: name of the link or joint in the second robot.
        values: values of the first and of the second; None for what is no number.
        effect: relative change of accelerations at random states due to this difference alone; None
            if it changes which joints there are, or accelerations are not determined.
    """

    cause: Cause = field(metadata=INLINE)
    other: str
    values: tuple[float | None, float | None] = (None, None)
    effect: Annotated[float | None, Quantity("1", "change of accelerations by it alone")] = None


@dataclass(frozen=True)
class Pair(Shown):
    """Whether two descriptions are of one robot, and how they differ.

    Args:
        robots: both robots, without engines.
        differences: in the order of their effect, the largest first.
        acceleration: relative change of accelerations by all differences; None if joints differ.
        names: links and joints of the second by those of the first, where the names differ.
        notes: remarks on what was not compared.
        tolerance: relative; smaller deviations are no differences.
        command: command line that repeats the comparison.
    """

    robots: tuple[RobotParity, RobotParity]
    differences: tuple[PairDifference, ...]
    acceleration: Annotated[float | None, Quantity("1", "change of accelerations by all")]
    names: Mapping[str, str]
    notes: tuple[str, ...]
    tolerance: float
    command: str = ""

    @property
    def ok(self) -> bool:
        """Whether the two files describe one robot."""
        return not self.differences

    @property
    def verdict(self) -> Verdict:
        """The verdict: pass if the two files describe one robot, else fail."""
        return "pass" if self.ok else "fail"

    def to_json(self) -> Mapping[str, Json]:
        """Return the verdict and all fields."""
        return {"verdict": self.verdict, **by_fields(self)}
