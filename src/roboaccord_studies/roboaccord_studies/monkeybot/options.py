"""Command-line options that several studies of the MonkeyBot have in common.

They are about walks, grids, and kinds of gaits with their controls, the numbers that a gait is made
from. `grid_of` makes an array from the three values A B N of a grid; `controls_of` makes the
controls of a kind from DEFAULTS and the changes `--at CONTROL=VALUE`.

DEFAULTS must have a value for each control in kinds.py; TIMES has those that must be positive.
MADE_WITH lists the distributions whose versions are written into files. The names of options stay.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
import typer
from monkeybot.cli.options import with_changes
from roboaccord.cli import LARGEST
from roboaccord.contract import AccordError, Array, Metres, check_known
from typer.models import OptionInfo

from roboaccord_studies.monkeybot.kinds import KINDS, OF_PULSES, Kind

# Distributions whose versions are written into files.
MADE_WITH = ("roboaccord-monkeybot", "roboaccord-studies", "numba")
GAIT = typer.Option("--gait", metavar="NAME", help="A gait of `accord monkeybot gaits`.")
GaitName = Annotated[str, GAIT]
Samples = Annotated[int, typer.Option(min=1, help="Number of walks.")]
Steps = Annotated[int, typer.Option(min=1, help="Number of changes of hands of every walk.")]
Span = tuple[float, float, int]  # first and last value of a grid, and their number


def grid_option(what: str) -> OptionInfo:
    """Return the option of a grid A B N; `what` completes its help text."""
    option: OptionInfo = typer.Option(metavar="A B N", help=f"Grid of the {what}.")
    return option


def grid_of(low: float, high: float, count: int, name: str, *, above: float = -math.inf) -> Array:
    """Return evenly spaced values from `low` to `high` (count,).

    Args:
        low, high: first and last value.
        count: number of values.
        name: of the option, for errors.
        above: bound that `low` must exceed.

    Raises:
        AccordError: for fewer than two values, or bounds that are not in order.
    """
    if count < 2:
        raise AccordError(f"{name} has {count} values, and needs 2 at least")
    if not above < low < high < math.inf:
        least = f" from above {above:g}" if above > -math.inf else ""
        raise AccordError(f"{name} goes from {low:g} to {high:g}, and must rise{least}")
    return np.linspace(low, high, count)


# Controls of the shipped gaits (config/gaits.yaml of the MonkeyBot), rounded, and small values of
# those that they lack: starts of a search, which changes them. TIMES has those that are times.
TIMES = {"period": 0.935, "flight": 0.01, "first": 0.933, "second": 0.953}  # s
TIMES |= {"switch": 0.44, "motor": 0.006}
DEFAULTS = {**TIMES, "torque": 0.7, "more": 0.0}  # s, N m
DEFAULTS |= dict(zip(OF_PULSES, (0.28, 0.32, 7.6, 0.62, 0.64, 0.4, 0.87, 0.89, 5.2), strict=True))


AT = typer.Option(
    "--at", metavar="CONTROL=VALUE", help="A control of the gait, such as torque=0.7."
)
Controls = Annotated[list[str] | None, AT]
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
    """Return the default controls of a kind with changes `CONTROL=VALUE`.

    Raises:
        AccordError: for an unknown control, or a value that is no number or out of range.
    """
    controls = with_changes({name: DEFAULTS[name] for name in kind.controls}, changes)
    for name, value in controls.items():
        if name not in kind.controls:
            raise AccordError(f"{kind.name} takes {', '.join(kind.controls)}, not {name}")
        if not abs(value) <= LARGEST or (name in TIMES and value <= 0.0):
            raise AccordError(f"{name} is {value:g}; times are positive, and numbers finite")
    return {name: float(value) for name, value in controls.items()}
