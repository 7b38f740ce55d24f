"""The parameters of a command's function: which are options, their units, and bounds of numbers.

A command is a function; a parameter whose type is annotated with `typer.Option` is an option of the
command. `add_command` (command.py) asks these functions about the signature of a command. A
parameter that is a dataclass stands for its fields, each an option. The unit of an option is part
of its type and is added to its help. The options that a command ran with are printed with its
result; those listed in NO_FIGURES, which change no figure, are not (test_modes, test_units).
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
from roboaccord.contract.results import plain_type, quantities, unit_in
from roboaccord.scenario.scenario import Scenario

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Options that change no figure, such as where results are written.
NO_FIGURES = {"out", "force", "timeout", "view", "speed", "stay", "csv", "npz", "mat", "verbose"}
KEYWORD = inspect.Parameter.KEYWORD_ONLY
UNLIMITED = ("timeout", "stay")  # options whose value may be infinite
# Largest count, such as of steps or seeds; a larger one is a typing error: a million runs of 1 s
# take 12 days.
LARGEST_COUNT = 1_000_000
CommandFunction = Callable[..., Result | None]  # the function of a command
UNIT_NAMES = {"deg": "degrees"}  # units that have another name in a sentence


def groups_of(function: CommandFunction) -> dict[str, type[DataclassInstance]]:
    """Return the classes of those parameters that are dataclasses of options, by name."""
    hints = get_type_hints(function)
    names = inspect.signature(function).parameters
    return {name: hints[name] for name in names if is_dataclass(hints[name])}


def parameters_of(function: CommandFunction) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function by name; in place of a dataclass, its fields."""
    groups = groups_of(function)
    by_name = dict[str, inspect.Parameter]()
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        options_class = groups.get(name)
        if options_class is None:
            by_name[name] = parameter.replace(kind=KEYWORD)
            continue
        for key, hint in get_type_hints(options_class, include_extras=True).items():
            default = getattr(parameter.default, key)
            by_name[key] = inspect.Parameter(key, KEYWORD, default=default, annotation=hint)
    return by_name


def with_unit(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter for Typer: its unit is moved from its type into the help."""
    infos = [copy.copy(i) for i in get_args(parameter.annotation) if isinstance(i, ParameterInfo)]
    unit = unit_in(parameter.annotation)
    for info in infos if unit not in ("", "1") else ():
        sentence, stop, others = (info.help or "").removesuffix(".").partition(". ")
        start = f"{sentence}, in" if sentence else "In"
        info.help = f"{start} {UNIT_NAMES.get(unit, unit)}{stop}{others}."
    kind = plain_type(parameter.annotation)
    return parameter.replace(annotation=Annotated[(kind, *infos)] if infos else kind)


def check_numbers(signature: inspect.Signature, values: Used) -> None:
    """Refuse options whose numbers are not finite, or out of range.

    A count is at most LARGEST_COUNT; any other number, and the seed, at most LARGEST.

    Raises:
        AccordError: naming the option.
    """
    for name, info in options(signature).items():
        flag = f"--{_flag(name, info).replace('_', '-')}"
        value = values.get(name)
        for number in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                continue
            if math.isnan(number) or (math.isinf(number) and name not in UNLIMITED):
                raise AccordError(f"{flag}: {number:g} is not a number")
            largest = LARGEST_COUNT if isinstance(number, int) and name != "seed" else LARGEST
            if math.isfinite(number) and abs(number) > largest:
                raise AccordError(f"{flag}: {number:g} is out of range: {largest:g} at most")


def options_of(signature: inspect.Signature, values: Used) -> dict[str, Value]:
    """Return the options that have a value and may change figures, by the name of their flag."""
    by_flag = {_flag(name, info): values.get(name) for name, info in options(signature).items()}
    empty: tuple[object, ...] = (None, "", [], ())
    return {key: v for key, v in by_flag.items() if key not in NO_FIGURES and v not in empty}


def takes_file(signature: inspect.Signature) -> bool:
    """Return whether an argument of a command may be a robot's file."""
    infos = [i for p in signature.parameters.values() for i in get_args(p.annotation)[1:]]
    return any(isinstance(i, ArgumentInfo) and "FILE" in (i.metavar or "") for i in infos)


def options(signature: inspect.Signature) -> dict[str, OptionInfo]:
    """Return those parameters of a function that are options, not positional arguments."""
    infos = dict[str, OptionInfo]()
    for name, parameter in signature.parameters.items():
        for annotation in get_args(parameter.annotation)[1:]:
            if isinstance(annotation, OptionInfo):
                infos[name] = annotation
    return infos


def units_of(signature: inspect.Signature) -> dict[str, str]:
    """Return the units of the options and of the keys of a scenario, by name."""
    units = {name: quantity.unit for name, quantity in quantities(Scenario).items()}
    for name, info in options(signature).items():
        units[_flag(name, info)] = unit_in(signature.parameters[name].annotation)
    return {n: unit for n, unit in units.items() if unit != "1" and not n.endswith("_deg")}


def _flag(name: str, info: OptionInfo) -> str:
    """Return the name of an option's flag, with underscores and without leading dashes."""
    # Typer keeps the first name that an annotation gives in `default`.
    names = (info.default, *(info.param_decls or ()))
    flags = [text for text in names if isinstance(text, str) and text.startswith("--")]
    # The flag of a switch may have its opposite behind it, `--yes/--no`.
    flag = flags[0].partition("/")[0] if flags else name
    return flag.removeprefix("--").replace("-", "_")
