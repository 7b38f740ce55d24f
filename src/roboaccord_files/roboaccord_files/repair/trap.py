"""Define a trap: a kind of text in a URDF that programs read differently, and its repair.

`Trap` has what is found in a text, and the function that repairs it. `Flaw` is what is reported:
causes, the advice, and the proof that they matter to an engine.

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

RepairFunction = Callable[[ET.Element, Collection[str]], None]
"""Changes a parsed URDF at the links or joints that are named."""


@dataclass(frozen=True)
class Flaw:
    """What is wrong in a file or in an engine's reading of it, with advice and proof.

    Args:
        causes: of one quantity, one for each link or joint.
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
        of: kind of elements that `where` names: `link`, `joint` or `loop_joint`.
        needs: number that the user must supply for a repair, in words; "" if none.
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
    top: ET.Element, tag: str, places: Collection[str]
) -> Iterator[tuple[ET.Element, str]]:
    """Yield the elements with a tag whose name is among `places`, each with its name."""
    for element in top.findall(tag):
        if (name := element.get("name", "")) in places:
            yield element, name
