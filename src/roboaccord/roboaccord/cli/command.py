"""A command: a function that returns a result, which is printed for people or as JSON."""

from __future__ import annotations

import functools
import inspect
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text
from typer.models import OptionInfo

from roboaccord.cli.console import Call, call, out
from roboaccord.cli.endings import go_on
from roboaccord.cli.gathering import LARGEST
from roboaccord.cli.pieces import Pieces
from roboaccord.contract.errors import AccordError, Terminated
from roboaccord.run.output import plain
from roboaccord.scenario.setup import Setup

Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]

APART = (
    "out",
    "force",
    "timeout",
    "view",
    "speed",
    "stay",
    "csv",
    "npz",
    "mat",
)  # options that change no figure
UNLIMITED = ("timeout", "stay")  # options that may be infinite
MOST = 1_000_000  # of a count
UNIT = re.compile(
    r"\b[Ii]n (rad/s|rad|s|Hz|N m|m/s|mm|m L\^2|m|kg/m\^3|voxels|r|degrees|deg)(?![\w/^])"
)
UNITS = {"duration": "s", "control_period": "s", "physics_step": "s"}


@dataclass(frozen=True)
class Result:
    """What a command found.

    Args:
        data: what `--json` prints.
        shown: what people get, in order: tables and texts, wrapped; lines, which are not.
        used: what the figures depend on beside the options, such as keys of the scenario; None
            for an option that played no part.
        ok: whether all is as it is to be; if not, the exit status is 1.
        after: called when all is printed: a page that stays, say.
    """

    data: Mapping[str, Any]
    shown: Sequence[RenderableType] = ()
    used: Mapping[str, Any] = field(default_factory=dict)
    ok: bool = True
    after: Callable[[], None] = lambda: None


def add_command(app: typer.Typer, name: str, function: Callable[..., Result | None]) -> None:
    """Add a command to a group.

    One that returns a `Result` gets the option `--json`, prints what it found and nothing else on
    stdout, and sets the exit status. Whatever is printed while it runs goes to stderr.
    """
    signature = inspect.signature(function, eval_str=True)
    robot = function.__module__.partition(".")[0].replace("_", "-")
    full = name if robot == "roboaccord" else f"{robot} {name}"
    pieces: Pieces | None = getattr(function, "pieces", None)

    @functools.wraps(function)
    def command(**given: Any) -> None:
        quiet = given.pop("as_json", False)
        check_numbers(signature, given)
        token = call.set(Call(full, quiet))
        try:
            work = pieces.running(full, given) if pieces else nullcontext()
            with redirect_stdout(sys.stderr), work:
                own = {name: given[name] for name in signature.parameters}
                result = function(**own)
        finally:
            call.reset(token)
        if result is not None:
            used = options_of(signature, given) | dict(result.used)
            used = {key: value for key, value in used.items() if value is not None}
            show(result, used, signature, quiet)
            result.after()
            if not result.ok:
                raise typer.Exit(1)

    parameters = [*signature.parameters.values(), *(pieces.parameters if pieces else ())]
    if signature.return_annotation is Result:
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter("as_json", kind, default=False, annotation=Json))
    command.__doc__ = unwrapped(inspect.getdoc(function) or "")
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    app.command(name, cls=getattr(function, "command_class", None))(command)


@contextmanager
def until_interrupted() -> Iterator[None]:
    """Do what lasts until Ctrl-C, which is its regular end; SIGTERM is not."""
    try:
        yield
    except Terminated:
        raise
    except KeyboardInterrupt:
        go_on()


def check_numbers(signature: inspect.Signature, given: Mapping[str, Any]) -> None:
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
                raise AccordError(f"{flag}: {number:g} is no number")
            most = MOST if isinstance(number, int) and name != "seed" else LARGEST
            if math.isfinite(number) and abs(number) > most:
                raise AccordError(f"{flag}: {number:g} is out of range: {most:g} at most")


def unwrapped(text: str) -> str:
    """Return a docstring whose paragraphs are lines, to be wrapped at the width of a terminal."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else " ".join(p.split()) for p in paragraphs)


def show(
    result: Result, options: dict[str, Any], signature: inspect.Signature, as_json: bool
) -> None:
    """Print a result on stdout."""
    if as_json:
        data = dict(result.data)
        if options:
            data["options"] = options
        typer.echo(json.dumps(plain(data), allow_nan=False))
        return
    for item in result.shown:
        if isinstance(item, str):
            out.print(item, soft_wrap=True)
            continue
        if isinstance(item, Table) and item.title:
            out.print(item.title, style="table.title")  # a table wraps its title at its own width
            item.title = None
        out.print(item)
    words = words_of(options, UNITS | units_of(signature))
    if words:
        out.print(Text(filled("with ", words), style="dim"))


def options_of(signature: inspect.Signature, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a command ran with, by their names, those left out not among them."""
    found = {}
    for name, info in options(signature).items():
        value = given.get(name)
        key = _flag(name, info)
        if key not in APART and value is not None and value not in ("", [], ()):
            found[key] = _plain(value)
    return found


def options(signature: inspect.Signature) -> dict[str, OptionInfo]:
    """Return the options among a function's parameters, arguments left out."""
    found = {}
    for name, parameter in signature.parameters.items():
        for extra in get_args(parameter.annotation)[1:]:
            if isinstance(extra, OptionInfo):
                found[name] = extra
    return found


def units_of(signature: inspect.Signature) -> dict[str, str]:
    """Return the units that the help of options names, as in "Of the ball, in m/s."."""
    found = {_flag(n, info): UNIT.search(info.help or "") for n, info in options(signature).items()}
    return {name: m[1] for name, m in found.items() if m and not name.endswith("_deg")}


def words_of(options: Mapping[str, Any], units: Mapping[str, str]) -> list[str]:
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
    lines = [start]
    for word in words:
        if len(lines[-1]) + len(word) > out.width - 2 and lines[-1].strip() != start.strip():
            lines[-1] = lines[-1].rstrip()
            lines.append(" " * len(start))
        lines[-1] += f"{word}, "
    return "\n".join(lines).removesuffix(", ")


def used_by(setup: Setup, *names: str) -> dict[str, Any]:
    """Return the keys of a scenario that figures depend on most, to be told with them."""
    scenario = setup.scenario
    keys = names or ("duration", "control_period", "physics_step", "seed")
    controller = {"controller": scenario.controller.get("name", "none")} if not names else {}
    return {**controller, **{name: getattr(scenario, name) for name in keys}}


def _flag(name: str, info: OptionInfo) -> str:
    # Typer keeps the first name that an annotation gives in `default`.
    names = (info.default, *(info.param_decls or ()))
    flags = [each for each in names if isinstance(each, str) and each.startswith("--")]
    return (flags or [name])[0].partition("/")[0].removeprefix("--").replace("-", "_")


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        return " ".join(_text(each) for each in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
