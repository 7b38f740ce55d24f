"""The result of a command (`Result`), and its printing by `show`: for people, or as JSON.

Every command of `accord` is a function that returns a `Result`; command.py calls `show` with it.
For people, tables and texts are printed, and then a last line "with ..." that lists the options and
scenario keys on which the figures depend. For `--json`, the fields of `data` are printed, whose
names users rely on and must stay. Where a robot's file calls links by other names than this project
does, the user's names are printed. Stdout has the result and nothing else (test_commands). A field
may be added to `Result` with a default.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from roboaccord.cli.console import out
from roboaccord.cli.rendering import rendered
from roboaccord.contract.results import Json, to_json
from roboaccord.scenario.setup import Setup

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Value of an option or of a scenario's key.
Value: TypeAlias = "bool | int | float | str | Path | Enum | Sequence[Value] | None"
# By name, values of the options and scenario keys that were used, on which the figures depend.
Used: TypeAlias = "Mapping[str, Value]"


@dataclass(frozen=True)
class Result:
    """The result of a command.

    Args:
        data: what `--json` prints, by the names of its fields.
        shown: what people see, in this order: tables and `Text`, which are wrapped, and strings,
            which are not. By default the whole of `data`, as `rendered` prints it.
        used: what the figures depend on in addition to the options, such as keys of the scenario;
            None for an option that had no effect. It is printed in the last line.
        ok: whether the verdict is not a failure: exit status 0 if true, 1 if false.
        after: called when everything is printed, for a page that stays open.
        names: {our name: the user's name} of links whose names differ; the latter are printed.
    """

    data: DataclassInstance | Mapping[str, Json]
    shown: Sequence[RenderableType] | None = None
    used: Used = field(default_factory=dict)
    ok: bool = True
    after: Callable[[], None] = lambda: None
    names: Mapping[str, str] = field(default_factory=dict)


def show(result: Result, options: Used, units: Mapping[str, str], as_json: bool) -> None:
    """Print a result on stdout.

    Args:
        result: of the command.
        options: with their values, on which the figures depend.
        units: of the options, by name.
        as_json: print JSON instead of tables and texts.
    """
    if as_json:
        data: Any = renamed(to_json(result.data), result.names)
        if options:
            data = {**data, "options": to_json(options)}
        typer.echo(json.dumps(data, allow_nan=False))
        return
    output = result.shown
    if output is None:
        output = rendered(result.data) if is_dataclass(result.data) else ()
    for item in output:
        _print_item(item, result.names)
    if texts := option_texts(options, units):
        out.print(Text(joined("with ", texts), style="dim"))


def _print_item(item: RenderableType, names: Mapping[str, str]) -> None:
    """Print a table or text, with links renamed, for which it is changed in place."""
    if isinstance(item, str):
        out.print(renamed(item, names), soft_wrap=True)
        return
    text = item.renderable if isinstance(item, Padding) else item
    if isinstance(text, Text) and names:
        text.plain = str(renamed(text.plain, names))
    if isinstance(item, Table) and item.title:
        out.print(item.title, style="table.title")  # a table wraps its title at its own width
        item.title = None
    out.print(item)


def renamed(data: Json, names: Mapping[str, str]) -> Json:
    """Return data with links renamed in all texts; keys of mappings are not changed."""
    if not names:
        return data
    # A name that is not part of a longer name or of a path.
    word = re.compile(rf"(?<![\w/.-])({'|'.join(map(re.escape, names))})(?![\w/.-])")

    def with_names(value: Json) -> Json:
        if isinstance(value, str):
            return word.sub(lambda match: names[match[1]], value)
        if isinstance(value, Mapping):
            return {key: with_names(item) for key, item in value.items()}
        return [with_names(item) for item in value] if isinstance(value, list | tuple) else value

    return with_names(data)


def option_texts(options: Used, units: Mapping[str, str]) -> list[str]:
    """Return one text for each option, NAME VALUE UNIT; a switch that is on is its name alone."""
    texts = []
    for name, value in options.items():
        if value is True:
            texts.append(name)
        elif value is not False:
            texts.append(f"{name} {_text(value)} {units.get(name, '')}".rstrip())
    return texts


def joined(start: str, texts: Iterable[str]) -> str:
    """Return texts joined by commas, wrapped between them at the width of the terminal.

    Lines after the first are indented by the length of `start`.
    """
    # Blanks within a text are not broken: they become no-break spaces while lines are wrapped.
    line = ", ".join(text.replace(" ", "\xa0") for text in texts)
    width = out.width - len(start)
    lines = textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)
    return start + ("\n" + " " * len(start)).join(lines).replace("\xa0", " ")


def used_by(setup: Setup, *names: str) -> dict[str, Value]:
    """Return scenario keys to be printed with figures: those named, or the most important ones."""
    keys = names or ("duration", "control_period", "physics_step", "seed")
    values = {name: getattr(setup.scenario, name) for name in keys}
    controller = setup.scenario.controller.get("name", "none")
    return values if names else {"controller": controller, **values}


def _text(value: Value) -> str:
    """Return the value of an option as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        return " ".join(map(_text, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
