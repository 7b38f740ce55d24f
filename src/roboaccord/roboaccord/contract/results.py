"""Typed results: quantities with a unit and a meaning, and their JSON.

Figures are added to a result as annotated fields of its class, not here; a name for a unit that
recurs may be added beside `Metres`, a unit on screen in SCALES. What must stay are the rules by
which `to_json` makes the JSON of every command from fields (null for NaN and infinity; IF_ANY,
LEFT_OUT, INLINE): users read it, and test_results checks them. `text`, `html` and `plot` come from
contract/shown.py, because folders above this one print and draw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import PurePath
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args, get_type_hints

import numpy as np

from roboaccord.contract.shown import display

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from matplotlib.figure import Figure

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""What JSON can hold."""

IF_ANY = {"if_any": True}  # metadata of a field that is left out of the JSON where it is None
LEFT_OUT = {"left_out": True}  # metadata of a field that is not part of the JSON
INLINE = {"inline": True}  # metadata of a field whose keys stand among those beside it
BESIDE = {"beside": True}  # metadata of a field whose quantities are shown among those beside it


@dataclass(frozen=True)
class Quantity:
    """Unit and meaning of a field of a result: `speed: Annotated[float, Quantity("m/s", "...")]`.

    Args:
        unit: SI symbol, products with blanks as `N m`; 1 for a ratio, "" for what has none.
        meaning: what is measured, in a few words.
        name: heading on screen; the field's own by default.
        form: how a number is formatted; `s` for words, `text` for sentences, which are wrapped.
        shown: unit on screen where that is another one of `SCALES`.
    """

    unit: str
    meaning: str = ""
    name: str = ""
    form: str = ".4g"
    shown: str = ""


SCALES = {
    ("m", "mm"): 1e3, ("s", "ms"): 1e3, ("1", "%"): 1e2, ("rad", "deg"): 180.0 / math.pi,
}  # fmt: skip
"""By unit and unit on screen: the factor between them."""

Word = Annotated[str, Quantity("", form="s")]
Ratio = Annotated[float, Quantity("1")]
Seconds = Annotated[float, Quantity("s")]
Hertz = Annotated[float, Quantity("Hz")]
Metres = Annotated[float, Quantity("m")]
MetresPerSecond = Annotated[float, Quantity("m/s")]
Radians = Annotated[float, Quantity("rad")]
RadiansPerSecond = Annotated[float, Quantity("rad/s")]
Degrees = Annotated[float, Quantity("deg")]
NewtonMetres = Annotated[float, Quantity("N m")]
Kilograms = Annotated[float, Quantity("kg")]


@cache
def quantities(result: type) -> Mapping[str, Quantity]:
    """Return the quantities among the fields and properties of a dataclass, by name.

    Those of a field that is itself a dataclass are called `FIELD.NAME`.
    """
    hints = get_type_hints(result, include_extras=True)
    for kind in filter(is_dataclass, reversed(result.__mro__)):
        for name, member in vars(kind).items():
            if isinstance(member, property):
                hints[name] = get_type_hints(member.fget, include_extras=True).get("return")
    by_name = dict[str, Quantity]()
    for name, hint in hints.items():
        for item in (hint, *get_args(hint)):
            if isinstance(item, Quantity):
                by_name[name] = item
            elif isinstance(item, type) and is_dataclass(item) and item is not result:
                by_name |= {f"{name}.{key}": inner for key, inner in quantities(item).items()}
    return by_name


def inline(result: type[DataclassInstance]) -> set[str]:
    """Return the fields whose quantities are shown among those beside them."""
    return {field.name for field in fields(result) if {"inline", "beside"} & set(field.metadata)}


def unit_of(result: type, name: str) -> str:
    """Return the unit of a field of a dataclass."""
    return quantities(result)[name].unit


def plain_type(kind: Any) -> Any:
    """Return a type without its annotations, and without those of its arguments."""
    return get_type_hints(SimpleNamespace(__annotations__={"kind": kind}))["kind"]


def unit_in(kind: Any) -> str:
    """Return the unit that a type, or one of its arguments, is annotated with; "" for none."""
    if isinstance(kind, Quantity):
        return kind.unit
    return next(filter(None, map(unit_in, get_args(kind))), "")


def to_json(value: object) -> Json:
    """Return a result as JSON has it: a dataclass by its fields, null for NaN and infinity.

    A class whose keys are not its fields has a method `to_json` of its own.
    """
    method = getattr(value, "to_json", None)
    if method is not None:
        return to_json(method())
    if is_dataclass(value) and not isinstance(value, type):
        return by_fields(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return to_json(value.tolist())
    if isinstance(value, Enum | PurePath):
        return str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, Sequence):
        return [to_json(item) for item in value]
    raise TypeError(f"no JSON of {type(value).__name__}")


def by_fields(value: DataclassInstance) -> dict[str, Json]:
    """Return a dataclass as JSON by its fields, whether or not it has a `to_json` of its own."""
    data: dict[str, Json] = {}
    for field in fields(value):
        if "left_out" in field.metadata:
            continue
        item = to_json(getattr(value, field.name))
        if "inline" in field.metadata and isinstance(item, Mapping):
            data |= item
        elif item is not None or "if_any" not in field.metadata:
            data[field.name] = item
    return data


class Shown:
    """A result that shows itself: as JSON, and printed or in a notebook as by the command."""

    def to_json(self) -> Mapping[str, Json]:
        """Return the fields."""
        return by_fields(self)  # type: ignore[arg-type]  # it is of a dataclass

    def __str__(self) -> str:
        """Return what the command prints."""
        return display.text(self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return display.html(self)

    def plot(self, *what: str, out: str | PurePath | None = None) -> Figure:
        """Draw it.

        Args:
            what: signals of a run, by name or pattern (`JOINT.q`, `.qd`, `.effort`, `base.x`);
                figures of a report: `path`, `convergence`, `distance`, `one_step`, ...
            out: file to write, .svg or .png.

        Raises:
            AccordError: for a name that is unknown, or a file that cannot be written.
        """
        figure: Figure = display.plot(self, what, out)
        return figure


class Drawn(Shown):
    """A result with figures."""

    def figure(self, *what: str) -> Figure:
        """Return a figure of Matplotlib; as `plot`, without a file."""
        return self.plot(*what)
