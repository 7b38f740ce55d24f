"""Define a trap: a kind of text in a URDF that programs read differently, and its repair.

The other modules here find traps, and parity/ proves which of them matter to an engine. A `Trap` is
what is found in a text, with the function that repairs it. A `Flaw` is what is reported: causes,
advice, and the proof that they matter.

The fields `cause`, `where`, `before`, `after` and `fix` are keys of the JSON. The name of a trap in
lower case with hyphens is the name of its rule in rules.yaml.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from roboaccord.contract.outcome import Cause
from roboaccord.contract.results import LEFT_OUT, Json, Quantity

# A function that changes a parsed URDF, by its <robot> element, at the named links or joints.
RepairFunction = Callable[[ET.Element, Collection[str]], None]


@dataclass(frozen=True)
class Flaw:
    """What is wrong in a file or in an engine's reading of it, with advice and proof.

    Args:
        causes: causes of one quantity, one for each link or joint.
        before: largest relative error of the engine with these causes alone; None if the engine
            refuses the text, or nothing was proven.
        after: largest relative error without them; None likewise.
        fix: what to write in the file.
    """

    causes: tuple[Cause, ...] = field(metadata=LEFT_OUT)
    before: Annotated[float | None, Quantity("1", "largest error with it")] = None
    after: Annotated[float | None, Quantity("1", "largest error without")] = None
    fix: str = ""

    @property
    def quantity(self) -> str:
        """The name of the trap, or of the property that is wrong."""
        return self.causes[0].quantity

    @property
    def where(self) -> tuple[str, ...]:
        """The names of links or joints; "" for a flaw of the whole file."""
        return tuple(cause.where for cause in self.causes)

    def to_json(self) -> Mapping[str, Json]:
        """Return the flaw without its proof, with all its places in one list."""
        return {"cause": self.quantity, "where": self.where, "fix": self.fix}


def causes_at(quantity: str, where: Sequence[str] = ()) -> tuple[Cause, ...]:
    """Return a cause for each link or joint; without any, one cause for the whole file."""
    return tuple(Cause(quantity, name) for name in where or ("",))


@dataclass(frozen=True)
class Trap:
    """A trap in a text, with all its places.

    Args:
        cause: name of the trap.
        where: names of the links or joints that have it.
        fix: advice: what to write in the file.
        repair: function that removes the trap at given places of a parsed text.
        certain: whether the repair follows from the file, so that `--repair` may write it.
        of: tag of the elements that `where` names: `link`, `joint` or `loop_joint`.
        needs: name of the number that the user must supply for a repair; "" if none.
    """

    cause: str
    where: tuple[str, ...]
    fix: str
    repair: RepairFunction
    certain: bool = True
    of: str = "link"
    needs: str = ""

    @property
    def flaw(self) -> Flaw:
        """The flaw that is reported of this trap, without a proof."""
        return Flaw(causes_at(self.cause, self.where), fix=self.fix)

    def edit(self, top: ET.Element) -> None:
        """Repair the trap at all its places in a parsed text."""
        self.repair(top, self.where)


def named_elements(
    top: ET.Element, tag: str, names: Collection[str]
) -> Iterator[tuple[ET.Element, str]]:
    """Yield the elements in <robot> that have a tag and one of the names, each with its name."""
    for element in top.findall(tag):
        if (name := element.get("name", "")) in names:
            yield element, name


def remove_children(tag: str, child_tag: str, first: int = 0) -> RepairFunction:
    """Return the repair that removes the children of a tag from elements, from the `first` on."""

    def repair(top: ET.Element, names: Collection[str]) -> None:
        """Remove the children of all named elements."""
        for element, _ in named_elements(top, tag, names):
            for child in element.findall(child_tag)[first:]:
                element.remove(child)

    return repair
