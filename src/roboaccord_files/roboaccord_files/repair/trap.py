"""A trap: a kind of text that readers interpret differently, its places, and their repair.

`cause`, `where`, `before`, `after` and `fix` are keys of the JSON, and stay. Lower-cased and with
hyphens a cause is the name of its rule, which must be in rules.yaml. `certain` decides what
`--repair` writes. Fields may be added, with a default.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from roboaccord.contract.outcome import Cause
from roboaccord.contract.results import LEFT_OUT, Json, Quantity

Edit = Callable[[ET.Element, Collection[str]], None]


@dataclass(frozen=True)
class Flaw:
    """What is wrong in a file or in a reading of it, what to write, and its proof.

    Args:
        causes: of one quantity, one for each link or joint.
        before: the largest error with them alone; None where the engine refuses, or unproven.
        after: without them, likewise.
        fix: what to write in the file.
    """

    causes: tuple[Cause, ...] = field(metadata=LEFT_OUT)
    before: Annotated[float | None, Quantity("1", "largest error with it")] = None
    after: Annotated[float | None, Quantity("1", "largest error without")] = None
    fix: str = ""

    @property
    def quantity(self) -> str:
        """The name of a trap, or of the property that is off."""
        return self.causes[0].quantity

    @property
    def where(self) -> tuple[str, ...]:
        """Links or joints; "" where it has none."""
        return tuple(cause.where for cause in self.causes)

    def to_json(self) -> Mapping[str, Json]:
        """Return it without its proof, all places as one."""
        return {"cause": self.quantity, "where": self.where, "fix": self.fix}


def causes_at(quantity: str, where: Sequence[str] = ()) -> tuple[Cause, ...]:
    """Return causes of one quantity, one for each link or joint; without any, one of the whole."""
    return tuple(Cause(quantity, name) for name in where or ("",))


@dataclass(frozen=True)
class Trap:
    """One kind of trap in a text.

    Args:
        cause: its name.
        where: links or joints.
        fix: what to write in the file.
        repair: removes it from a parsed text, at the places named.
        certain: whether that follows from the file, so that `--repair` may write it.
        of: the elements of the robot that its places name: `link`, `joint` or `loop_joint`.
        needs: what a certain repair lacks of each place, if it lacks a number.
    """

    cause: str
    where: tuple[str, ...]
    fix: str
    repair: Edit
    certain: bool = True
    of: str = "link"
    needs: str = ""

    @property
    def flaw(self) -> Flaw:
        """What it is, without its repair."""
        return Flaw(causes_at(self.cause, self.where), fix=self.fix)

    def edit(self, top: ET.Element) -> None:
        """Repair a parsed text."""
        self.repair(top, self.where)


def each_of(top: ET.Element, tag: str, places: Collection[str]) -> Iterator[tuple[ET.Element, str]]:
    """Yield the elements named, with their names."""
    for element in top.findall(tag):
        if (name := element.get("name", "")) in places:
            yield element, name
