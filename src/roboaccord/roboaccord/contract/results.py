"""Typed results of commands: dataclasses whose fields have a unit and a meaning, and their JSON.

A new figure of a result needs only a field, such as `speed: Annotated[float, Quantity("m/s", "mean
speed")]`. `to_json` makes the JSON of every command from the fields, and terminal and pages show
heading, unit and meaning of the `Quantity` (`quantities` returns them). A result that derives from
`Shown` can print and draw itself; the functions for that are set in contract/shown.py.

The rules of the JSON must stay: null for NaN and infinity, and IF_ANY, LEFT_OUT and INLINE
(test_results). A recurring unit may get a name like `Metres`; a unit on screen is added to SCALES.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from importlib.util import find_spec
from pathlib import PurePath
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args, get_type_hints

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.shown import display

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from roboaccord.numerics.arrays import Array

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""What JSON can hold."""

# Metadata of a field of a result, as in `field(metadata=IF_ANY)`.
IF_ANY = {"if_any": True}  # left out of the JSON where it is None
LEFT_OUT = {"left_out": True}  # never part of the JSON
# A dataclass whose fields appear, in the JSON and when printed, as fields of the result itself.
INLINE = {"inline": True}
BESIDE = {"beside": True}  # the same when printed, but a mapping of its own in the JSON


@dataclass(frozen=True)
class Quantity:
    """Unit and meaning of a field of a result: `speed: Annotated[float, Quantity("m/s", "...")]`.

    Args:
        unit: SI symbol, products with blanks as `N m`; "1" for a ratio, "" for what has no unit.
        meaning: what is measured, in a few words.
        name: heading on screen; by default the name of the field.
        form: how a number is formatted; `s` for words, `text` for sentences, which are wrapped.
        shown: unit on screen if it differs from `unit`; a pair in SCALES.
    """

    unit: str
    meaning: str = ""
    name: str = ""
    form: str = ".4g"
    shown: str = ""


# By (unit, unit on screen): the factor between them.
SCALES = {("m", "mm"): 1e3, ("s", "ms"): 1e3, ("1", "%"): 1e2, ("rad", "deg"): 180.0 / math.pi}

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
    """Return the fields and properties of a dataclass that are quantities, by name.

    The quantities of a field that is itself a dataclass have names `FIELD.NAME`.
    """
    # Type hints of all fields, and of the properties of all base classes.
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
    """Return the names of fields whose quantities are printed among those of their owner."""
    return {field.name for field in fields(result) if {"inline", "beside"} & set(field.metadata)}


def unit_of(result: type, name: str) -> str:
    """Return the unit of a field of a dataclass."""
    return quantities(result)[name].unit


def plain_type(kind: Any) -> Any:
    """Return a type with all `Annotated` removed, also in its arguments."""
    return get_type_hints(SimpleNamespace(__annotations__={"kind": kind}))["kind"]


def unit_in(kind: Any) -> str:
    """Return the unit with which a type, or one of its arguments, is annotated; "" for none."""
    if isinstance(kind, Quantity):
        return kind.unit
    return next(filter(None, map(unit_in, get_args(kind))), "")


def to_json(value: object) -> Json:
    """Return a value as plain data for JSON: a dataclass by its fields, None for NaN and infinity.

    A class whose keys are not its fields has a method `to_json`, which is used instead.
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
    """Return a dataclass as plain data by its fields, even if it has a `to_json` of its own."""
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
    """Base class of results, which print themselves as JSON, as text and in notebooks."""

    def to_json(self) -> Mapping[str, Json]:
        """Return the fields."""
        return by_fields(self)  # type: ignore[arg-type]  # classes that derive from it are dataclasses

    def __str__(self) -> str:
        """Return what the command prints."""
        return display.text(self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return display.html(self)

    def _repr_mimebundle_(self, **_: Any) -> Mapping[str, str]:
        """Return what IPython prints, in place of all fields."""
        return {"text/plain": str(self)}

    def plot(self, *what: str, out: str | PurePath | None = None) -> Figure:
        """Draw the result.

        Args:
            what: signals of a run, by name or pattern (`q/JOINT`, `qd/*`, `base/x`, `com/speed`);
                figures of a report: `path`, `convergence`, `distance`, `one_step`, ...
            out: file to write, .svg or .png.

        Raises:
            AccordError: for a name that is unknown, or a file that cannot be written.
        """
        figure: Figure = display.plot(self, what, out)
        return figure


class Drawn(Shown):
    """Base class of results that return their figure, too."""

    def figure(self, *what: str) -> Figure:
        """Return the Matplotlib figure that `plot` draws."""
        return self.plot(*what)

    def arrays(self, *what: str) -> Mapping[str, Array]:
        """Return the curves that `plot` draws, by name: x and y of their points (2, k).

        Args:
            what: as of `plot`.

        Example:
            >>> time, angle = run.arrays("q/joint_01")["q/joint_01"]  # [s], [rad]
        """
        curves: Mapping[str, Array] = display.arrays(self, what)
        return curves


class Signals(Drawn):
    """Base class of runs, whose signals are the columns of a table, too."""

    def to_pandas(self, *what: str) -> DataFrame:
        """Return signals as a table of pandas: a column each, rows by the time [s].

        Args:
            what: signals as of `plot`; by default positions, rates and efforts of the joints, and
                all signals of the base, in the units in which `plot` draws them.

        Raises:
            AccordError: for a name that is unknown, or without pandas.

        Example:
            >>> frame = run.to_pandas("q/*", "com/speed")
            >>> frame["com/speed"].max()  # [m/s]
        """
        if not find_spec("pandas"):
            raise AccordError("to_pandas needs pandas: pip install pandas")
        from pandas import DataFrame, Index, Series

        base = ("base/*",) if getattr(self, "has_base", True) else ()
        curves = self.arrays(*(what or ("q/*", "qd/*", "effort/*", *base)))
        return DataFrame(
            {name: Series(y, Index(x, name="time")) for name, (x, y) in curves.items()}
        )
