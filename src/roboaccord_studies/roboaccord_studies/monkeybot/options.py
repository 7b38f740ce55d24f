"""Options that the commands share: of walks, of grids, of a kind of gait and its controls.

`span` makes a grid of numbers from A B N, and `controls_of` a kind's controls from DEFAULTS and
`--at CONTROL=VALUE`.

DEFAULTS may be changed, and must have a value for each control that a kind in kinds.py names; one
that may be negative is left out of TIMES. MADE_WITH, the distributions whose versions are written
into files, may be extended. Names of options are in docs/cli.md and stay.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
import typer
from monkeybot.cli.options import changed
from roboaccord.cli import LARGEST
from roboaccord.contract import AccordError, Array, Metres, check_known
from typer.models import OptionInfo

from roboaccord_studies.monkeybot.kinds import KINDS, Kind

MADE_WITH = ("roboaccord-monkeybot", "roboaccord-studies", "numba")
GaitName = Annotated[
    str, typer.Option("--gait", metavar="NAME", help="A gait of `accord monkeybot gaits`.")
]
Samples = Annotated[int, typer.Option(min=1, help="Number of walks.")]
Steps = Annotated[int, typer.Option(min=1, help="Number of changes of hands of every walk.")]
Span = tuple[float, float, int]


def grid(what: str) -> OptionInfo:
    """Return an option of a grid: of what, and its values."""
    option: OptionInfo = typer.Option(metavar="A B N", help=f"Grid of the {what}.")
    return option


def span(low: float, high: float, count: int, name: str, *, above: float = -math.inf) -> Array:
    """Return evenly spaced rates (count,) [rad/s].

    Raises:
        AccordError: for fewer than two, or bounds that are not in order.
    """
    if count < 2:
        raise AccordError(f"{name} has {count} values, and needs 2 at least")
    if not above < low < high < math.inf:
        least = f" from above {above:g}" if above > -math.inf else ""
        raise AccordError(f"{name} goes from {low:g} to {high:g}, and must rise{least}")
    return np.linspace(low, high, count)


DEFAULTS = {
    "period": 0.935, "torque": 0.7, "flight": 0.01, "first": 0.933, "second": 0.953, "more": 0.0,
    "switch": 0.44, "motor": 0.006,
}  # fmt: skip

TIMES = {*DEFAULTS} - {"torque", "more"}

Controls = Annotated[
    list[str] | None,
    typer.Option(
        "--at", metavar="CONTROL=VALUE", help="A control of the gait, such as torque=0.7."
    ),
]
Rise = Annotated[Metres, typer.Option(help="Rise of a cycle; where a control can meet it.")]
KindName = Annotated[str, typer.Option("--kind", help=f"Kind of gait: {', '.join(KINDS)}.")]


def kind_of(name: str) -> Kind:
    """Return a kind of gait by name.

    Raises:
        AccordError: for an unknown one.
    """
    check_known("unknown kind of gait ", name, KINDS)
    return KINDS[name]


def controls_of(kind: Kind, changes: list[str] | None) -> dict[str, float]:
    """Return a kind's controls by default, with `CONTROL=VALUE` changes.

    Raises:
        AccordError: for a control that the kind has not, or no number.
    """
    controls = changed({name: DEFAULTS[name] for name in kind.controls}, changes)
    for name, value in controls.items():
        if name not in kind.controls:
            raise AccordError(f"{kind.name} takes {', '.join(kind.controls)}, not {name}")
        if not abs(value) <= LARGEST or (name in TIMES and value <= 0.0):
            raise AccordError(f"{name} is {value:g}; times are positive, and numbers finite")
    return {name: float(value) for name, value in controls.items()}
