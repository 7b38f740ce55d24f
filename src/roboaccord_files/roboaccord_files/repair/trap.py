"""A trap: a kind of text that readers interpret differently, its places, and their repair.

`cause`, `where` and `fix` are keys of the JSON, and stay. Lower-cased and with hyphens a cause is
the name of its rule, which must be in rules.yaml. `certain` decides what `--repair` writes. Fields
may be added, with a default.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from roboaccord.contract.results import Json

Edit = Callable[[ET.Element, Collection[str]], None]


@dataclass(frozen=True)
class Flaw:
    """Hold what readers interpret differently, where it is, and what to write in the file."""

    cause: str
    where: tuple[str, ...]
    fix: str

    def to_json(self) -> Mapping[str, Json]:
        """Return these three, also of what knows more."""
        return {"cause": self.cause, "where": self.where, "fix": self.fix}


@dataclass(frozen=True)
class Trap(Flaw):
    """Hold one kind of trap in a text.

    Args:
        repair: removes it from a parsed text, at the places named.
        certain: whether that follows from the file, so that `--repair` may write it.
        of: the elements of the robot that its places name: `link`, `joint` or `loop_joint`.
        needs: what a certain repair lacks of each place, if it lacks a number.
    """

    repair: Edit
    certain: bool = True
    of: str = "link"
    needs: str = ""

    def edit(self, top: ET.Element) -> None:
        """Repair a parsed text."""
        self.repair(top, self.where)


def each_of(top: ET.Element, tag: str, places: Collection[str]) -> Iterator[tuple[ET.Element, str]]:
    """Yield the elements named, with their names."""
    for element in top.findall(tag):
        if (name := element.get("name", "")) in places:
            yield element, name
