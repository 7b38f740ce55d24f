"""The parameters of a command's function: its options, their units, and the bounds of numbers.

An option that changes no figure must be entered in APART, or it is printed as in force. MOST and
UNLIMITED may be changed. A parameter that is a dataclass stands for its fields (test_modes,
test_units).
"""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Annotated, get_args, get_type_hints

from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

from roboaccord.cli.many_numbers import LARGEST
from roboaccord.cli.result import Result, Used, Value
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import plain_type, quantities
from roboaccord.contract.results import unit_in as unit_of
from roboaccord.scenario.scenario import Scenario

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

APART = {"out", "force", "timeout", "view", "speed", "stay", "csv", "npz", "mat", "verbose"}
"""Options that change no figure."""
KEYWORD = inspect.Parameter.KEYWORD_ONLY
UNLIMITED = ("timeout", "stay")  # options that may be infinite
MOST = 1_000_000  # of a count, such as steps or seeds
NAMES = {"deg": "degrees"}  # of units in a sentence


def groups_of(function: Callable[..., Result | None]) -> dict[str, type[DataclassInstance]]:
    """Return the parameters of a function that are dataclasses of options."""
    hints = get_type_hints(function)
    names = inspect.signature(function).parameters
    return {name: hints[name] for name in names if is_dataclass(hints[name])}


def parameters_of(function: Callable[..., Result | None]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function; of one that is a dataclass, its fields."""
    groups, by_name = groups_of(function), dict[str, inspect.Parameter]()
    for name, given in inspect.signature(function, eval_str=True).parameters.items():
        kind = groups.get(name)
        if kind is None:
            by_name[name] = given.replace(kind=KEYWORD)
            continue
        for key, hint in get_type_hints(kind, include_extras=True).items():
            default = getattr(given.default, key)
            by_name[key] = inspect.Parameter(key, KEYWORD, default=default, annotation=hint)
    return by_name


def with_unit(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return an option whose help names the unit of its type, and whose type is a plain one."""
    infos = [copy.copy(i) for i in get_args(parameter.annotation) if isinstance(i, ParameterInfo)]
    unit = unit_of(parameter.annotation)
    for info in infos if unit not in ("", "1") else ():
        first, stop, rest = (info.help or "").removesuffix(".").partition(". ")
        start = f"{first}, in" if first else "In"
        info.help = f"{start} {NAMES.get(unit, unit)}{stop}{rest}."
    kind = plain_type(parameter.annotation)
    return parameter.replace(annotation=Annotated[(kind, *infos)] if infos else kind)


def check_numbers(signature: inspect.Signature, given: Used) -> None:
    """Refuse numbers that are not finite, or larger than any quantity or count.

    Raises:
        AccordError: naming the option.
    """
    for name, info in options(signature).items():
        flag = f"--{_flag(name, info).replace('_', '-')}"
        value = given.get(name)
        for number in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                continue
            if math.isnan(number) or (math.isinf(number) and name not in UNLIMITED):
                raise AccordError(f"{flag}: {number:g} is not a number")
            most = MOST if isinstance(number, int) and name != "seed" else LARGEST
            if math.isfinite(number) and abs(number) > most:
                raise AccordError(f"{flag}: {number:g} is out of range: {most:g} at most")


def options_of(signature: inspect.Signature, given: Used) -> dict[str, Value]:
    """Return the options that a command ran with, by their names, those left out not among them."""
    values = {_flag(name, info): given.get(name) for name, info in options(signature).items()}
    nothing: tuple[object, ...] = (None, "", [], ())
    return {key: v for key, v in values.items() if key not in APART and v not in nothing}


def takes_file(signature: inspect.Signature) -> bool:
    """Return whether an argument of a command may be the file of a robot."""
    extras = (e for p in signature.parameters.values() for e in get_args(p.annotation)[1:])
    return any(isinstance(e, ArgumentInfo) and "FILE" in (e.metavar or "") for e in extras)


def options(signature: inspect.Signature) -> dict[str, OptionInfo]:
    """Return the options among a function's parameters, arguments left out."""
    return {
        name: extra
        for name, parameter in signature.parameters.items()
        for extra in get_args(parameter.annotation)[1:]
        if isinstance(extra, OptionInfo)
    }


def units_of(signature: inspect.Signature) -> dict[str, str]:
    """Return the units of options, and of the keys of a scenario."""
    units = {name: quantity.unit for name, quantity in quantities(Scenario).items()}
    for name, info in options(signature).items():
        units[_flag(name, info)] = unit_of(signature.parameters[name].annotation)
    return {n: unit for n, unit in units.items() if unit != "1" and not n.endswith("_deg")}


def _flag(name: str, info: OptionInfo) -> str:
    # Typer keeps the first name that an annotation gives in `default`.
    names = (info.default, *(info.param_decls or ()))
    flags = [text for text in names if isinstance(text, str) and text.startswith("--")]
    return (flags or [name])[0].partition("/")[0].removeprefix("--").replace("-", "_")
