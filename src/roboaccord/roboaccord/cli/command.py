"""A command: a function that returns a result, which is printed for people or as JSON.

What all commands share may be changed here: the help of `--json` and `--trust`, units in the help,
and the bounds of numbers (MOST, UNLIMITED). An option that changes no figure must be entered in
APART. The docstring of a command is its help, and its examples are run: test_commands, test_modes.
Fixed: stdout has the result and nothing else.
"""

from __future__ import annotations

import copy
import functools
import inspect
import json
import math
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args, get_type_hints

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

from roboaccord.cli.console import Call, call, out
from roboaccord.cli.options import LARGEST, Cluster, Trust
from roboaccord.cli.rendering import rendered
from roboaccord.cli.signals import go_on
from roboaccord.contract.errors import AccordError, Terminated
from roboaccord.contract.modes import Modes, added_modes, with_added
from roboaccord.contract.results import Json, plain_type, quantities, to_json
from roboaccord.contract.results import unit_in as unit_of
from roboaccord.description.xacro_file import TRUST
from roboaccord.run.pieces import on_cluster
from roboaccord.scenario.scenario import Scenario
from roboaccord.scenario.setup import Setup

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]

APART = {"out", "force", "timeout", "view", "speed", "stay", "csv", "npz", "mat", "verbose"}
"""Options that change no figure."""
EXAMPLES = "\n\nExamples:"
KEYWORD = inspect.Parameter.KEYWORD_ONLY
UNLIMITED = ("timeout", "stay")  # options that may be infinite
MOST = 1_000_000  # of a count
NAMES = {"deg": "degrees"}  # of units in a sentence
Value: TypeAlias = "bool | int | float | str | Path | Enum | Sequence[Value] | None"
"""Of an option."""
Used: TypeAlias = "Mapping[str, Value]"


@dataclass(frozen=True)
class Result:
    """What a command found.

    Args:
        data: what `--json` prints, by the names of its fields.
        shown: what people get, in order: tables and texts, wrapped; lines, which are not. By
            default all of a result, as `rendered` shows it.
        used: what the figures depend on beside the options, such as keys of the scenario; None
            for an option that played no part.
        ok: whether all is as it is to be; if not, the exit status is 1.
        after: called when all is printed, for a page that stays.
        names: what links are called in what is printed, by our names, where a user has others.
    """

    data: DataclassInstance | Mapping[str, Json]
    shown: Sequence[RenderableType] | None = None
    used: Used = field(default_factory=dict)
    ok: bool = True
    after: Callable[[], None] = lambda: None
    names: Mapping[str, str] = field(default_factory=dict)


def add_command(
    app: typer.Typer, name: str, function: Callable[..., Result | None], robot: str = ""
) -> None:
    """Add a command to a group: a robot's, or that of `accord` itself, with the modes added to it.

    One that returns a `Result` gets the option `--json`, prints what it found and nothing else on
    stdout, and sets the exit status. One that takes a robot's file gets the option `--trust`.
    Whatever is printed while it runs goes to stderr. A parameter that is a dataclass stands for its
    fields, each an option.
    """
    full = f"{robot.replace('_', '-')} {name}".lstrip()
    others = added_modes("commands", f"{robot}.{name}" if robot else name)
    in_pieces = hasattr(function, "in_pieces")
    modes: Modes | None = getattr(function, "modes", None)
    modes = with_added(modes, others) if modes else None
    # The command's own parameters come first, and stand for those of its modes of the same name.
    functions = [function, *(other.command for other in others.values())]
    given_by = {n: p for each in functions[::-1] for n, p in parameters_of(each).items()}
    own = {n: p for each in functions for n, p in parameters_of(each).items()}
    signature = inspect.Signature([given_by[name] for name in own])

    @functools.wraps(function)
    def command(ctx: typer.Context, **given: Value) -> None:
        quiet = bool(given.pop("as_json", False))
        taken, in_force = taken_by(modes, full, ctx, given) if modes else (given, ())
        chosen = next((others[mode].command for mode in in_force if mode in others), function)
        os.environ.update({TRUST: "1"} if given.get("trust") else {})
        check_numbers(signature, given)
        token = call.set(Call(full, quiet))
        try:
            cluster = str(given.get("cluster") or "")
            work = on_cluster(cluster) if in_pieces and cluster else nullcontext()
            with redirect_stdout(sys.stderr), work:
                result = call_with(chosen, given)
        finally:
            call.reset(token)
        if result is not None:
            used = options_of(signature, taken) | dict(result.used)
            used = {key: value for key, value in used.items() if value is not None}
            show(result, used, units_of(signature), quiet)
            result.after()
            if not result.ok:
                raise typer.Exit(1)

    parameters = [inspect.Parameter("ctx", KEYWORD, annotation=typer.Context)]
    parameters += map(with_unit, signature.parameters.values())
    if in_pieces:
        parameters.append(inspect.Parameter("cluster", KEYWORD, default="", annotation=Cluster))
    if takes_file(signature) and (not modes or "trust" in " ".join(modes.takes.values()).split()):
        parameters.append(inspect.Parameter("trust", KEYWORD, default=False, annotation=Trust))
    if get_type_hints(function)["return"] is Result:
        parameters.append(inspect.Parameter("as_json", KEYWORD, default=False, annotation=AsJson))
    command.__doc__ = unwrapped(documented(functions))
    command.__dict__["modes"] = modes
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    app.command(name, cls=getattr(function, "command_class", None))(command)


def documented(functions: Sequence[Callable[..., Result | None]]) -> str:
    """Return the help of a command: what it does, and its added modes, then the examples of all."""
    parts = [(inspect.getdoc(each) or "").partition(EXAMPLES) for each in functions]
    examples = "".join("\n\n" + rest.strip("\n") for *_, rest in parts if rest)
    return "\n\n".join(text for text, *_ in parts) + (EXAMPLES + examples if examples else "")


def call_with(function: Callable[..., Result | None], given: Used) -> Result | None:
    """Call the function of a command with its parameters, of which some are dataclasses."""
    groups = groups_of(function)
    own = {name: given[name] for name in parameters_of(function)}
    made = {
        name: kind(**{each.name: own.pop(each.name) for each in fields(kind)})
        for name, kind in groups.items()
    }
    return function(**own, **made)


def taken_by(
    modes: Modes, command: str, ctx: typer.Context, given: Used
) -> tuple[Used, Sequence[str]]:
    """Return the parameters that the modes in force take, and these; others typed are refused."""
    flags, values, typed = dict[str, str](), dict[str, Value](), set[str]()
    written = {":=": "NAME:=VALUE"}
    for each in ctx.command.params:
        name, text = str(each.name), each.opts[0]
        flag, value = text.lstrip("-"), given.get(name)
        if text == flag:  # a positional argument
            text = re.findall(r"\w+", getattr(each, "metavar", None) or name.upper())[0]
            if isinstance(value, list):
                typed |= {":=" for word in value if ":=" in str(word)}
                value = [word for word in value if ":=" not in str(word)]
        flags[name], values[flag], written[flag] = flag, value, text
        if value != [] and str(ctx.get_parameter_source(name)).endswith("COMMANDLINE"):
            typed.add(flag)
    taken = modes.check(command, typed, values, written)
    used = {name: value for name, value in given.items() if flags[name] in taken}
    return used, modes.of(values)


def groups_of(function: Callable[..., Result | None]) -> dict[str, type[DataclassInstance]]:
    """Return the parameters of a function that are dataclasses of options."""
    hints = get_type_hints(function)
    names = inspect.signature(function).parameters
    return {name: hints[name] for name in names if is_dataclass(hints[name])}


def parameters_of(function: Callable[..., Result | None]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function; of one that is a dataclass, its fields."""
    groups, found = groups_of(function), dict[str, inspect.Parameter]()
    for name, given in inspect.signature(function, eval_str=True).parameters.items():
        kind = groups.get(name)
        if kind is None:
            found[name] = given.replace(kind=KEYWORD)
            continue
        for part, hint in get_type_hints(kind, include_extras=True).items():
            default = getattr(given.default, part)
            found[part] = inspect.Parameter(part, KEYWORD, default=default, annotation=hint)
    return found


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


@contextmanager
def until_interrupted() -> Iterator[None]:
    """Do what lasts until Ctrl-C, which is its regular end; SIGTERM is not."""
    try:
        yield
    except Terminated:
        raise
    except KeyboardInterrupt:
        go_on()


def check_numbers(signature: inspect.Signature, given: Used) -> None:
    """Refuse numbers that are not finite, or beyond what any quantity or count is.

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


def unwrapped(text: str) -> str:
    """Return a docstring whose paragraphs are lines, to be wrapped at the width of a terminal."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else " ".join(p.split()) for p in paragraphs)


def show(result: Result, options: Used, units: Mapping[str, str], as_json: bool) -> None:
    """Print a result on stdout, and the options with their units."""
    if as_json:
        data: Any = renamed(to_json(result.data), result.names)
        more = {"options": to_json(options)} if options else {}
        typer.echo(json.dumps({**data, **more}, allow_nan=False))
        return
    shown = result.shown
    if shown is None:
        shown = rendered(result.data) if is_dataclass(result.data) else ()
    for item in shown:
        text = item.renderable if isinstance(item, Padding) else item
        if isinstance(text, Text) and result.names:
            text.plain = str(renamed(text.plain, result.names))
        if isinstance(item, str):
            out.print(renamed(item, result.names), soft_wrap=True)
            continue
        if isinstance(item, Table) and item.title:
            out.print(item.title, style="table.title")  # a table wraps its title at its own width
            item.title = None
        out.print(item)
    if words := words_of(options, units):
        out.print(Text(filled("with ", words), style="dim"))


def renamed(data: Json, names: Mapping[str, str]) -> Json:
    """Return data whose texts call links by other names; keys stay."""
    if not names:
        return data
    word = re.compile(rf"(?<![\w/.-])({'|'.join(map(re.escape, names))})(?![\w/.-])")

    def renew(each: Json) -> Json:
        if isinstance(each, str):
            return word.sub(lambda match: names[match[1]], each)
        if isinstance(each, Mapping):
            return {key: renew(value) for key, value in each.items()}
        return [renew(value) for value in each] if isinstance(each, list | tuple) else each

    return renew(data)


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
    found = {}
    for name, parameter in signature.parameters.items():
        for extra in get_args(parameter.annotation)[1:]:
            if isinstance(extra, OptionInfo):
                found[name] = extra
    return found


def units_of(signature: inspect.Signature) -> dict[str, str]:
    """Return the units of options, and of the keys of a scenario."""
    found = {name: each.unit for name, each in quantities(Scenario).items()}
    for name, info in options(signature).items():
        found[_flag(name, info)] = unit_of(signature.parameters[name].annotation)
    return {n: unit for n, unit in found.items() if unit != "1" and not n.endswith("_deg")}


def words_of(options: Used, units: Mapping[str, str]) -> list[str]:
    """Return options with units, to be read."""
    words = []
    for name, value in options.items():
        if value is True:
            words.append(name)
        elif value is not False:
            words.append(f"{name} {_text(value)} {units.get(name, '')}".rstrip())
    return words


def filled(start: str, words: Iterable[str]) -> str:
    """Return words with commas between, broken into lines between words only."""
    text = ", ".join(word.replace(" ", "\xa0") for word in words)
    lines = textwrap.wrap(
        text, out.width - len(start), break_long_words=False, break_on_hyphens=False
    )
    return start + f"\n{' ' * len(start)}".join(lines).replace("\xa0", " ")


def used_by(setup: Setup, *names: str) -> dict[str, Value]:
    """Return the keys of a scenario that figures depend on most, to be printed with them."""
    scenario = setup.scenario
    keys = names or ("duration", "control_period", "physics_step", "seed")
    controller = {"controller": scenario.controller.get("name", "none")} if not names else {}
    return {**controller, **{name: getattr(scenario, name) for name in keys}}


def _flag(name: str, info: OptionInfo) -> str:
    # Typer keeps the first name that an annotation gives in `default`.
    names = (info.default, *(info.param_decls or ()))
    flags = [each for each in names if isinstance(each, str) and each.startswith("--")]
    return (flags or [name])[0].partition("/")[0].removeprefix("--").replace("-", "_")


def _text(value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        return " ".join(_text(each) for each in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
