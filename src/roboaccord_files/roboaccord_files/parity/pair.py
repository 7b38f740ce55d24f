"""The result of `accord parity A B`: whether two files describe one robot, and how they differ.

Fields of `Pair` and `PairDifference` are keys of the JSON. comparison.py computes the result, and
pair_shown.py makes tables and pages of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from roboaccord.contract.outcome import Cause
from roboaccord.contract.results import INLINE, Json, Quantity, Shown, by_fields

from roboaccord_files.parity.result import RobotParity

TOLERANCE = 1e-5  # relative: MuJoCo, for one, writes six digits


@dataclass(frozen=True)
class PairDifference:
    """A quantity that two descriptions state differently.

    Args:
        cause: what, where in the first, and by how much: the second's minus the first's, or a part
            of the first's where the unit is 1.
        other: the link or joint in the second.
        values: in the first and in the second; None for what is no number.
        effect: how much it alone changes accelerations at random states, relative; None where it
            makes other joints, or accelerations are not determined.
    """

    cause: Cause = field(metadata=INLINE)
    other: str
    values: tuple[float | None, float | None] = (None, None)
    effect: Annotated[float | None, Quantity("1", "change of accelerations by it alone")] = None


@dataclass(frozen=True)
class Pair(Shown):
    """Whether two descriptions are of one robot, and how they differ.

    Args:
        robots: both, without engines.
        differences: by effect, the largest first.
        acceleration: how much all of them change accelerations; None where joints differ.
        names: links and joints of the second by those of the first, where they are others.
        notes: what is not counted.
        tolerance: relative, below which nothing is a difference.
        command: by which it is done again.
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
        """Whether they are one robot."""
        return not self.differences

    def to_json(self) -> Mapping[str, Json]:
        """Return the verdict, too."""
        return {"verdict": "pass" if self.ok else "fail", **by_fields(self)}
