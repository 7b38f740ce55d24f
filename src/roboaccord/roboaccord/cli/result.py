"""What a command returns, and how it is printed: for people, or as JSON.

A field of `Result` may be added with a default. The keys of `--json` are field names of `data`;
users have them, and they stay. The last line that people see, "with ...", lists what the figures
depend on. Stdout has the result and nothing else (test_commands).
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

Value: TypeAlias = "bool | int | float | str | Path | Enum | Sequence[Value] | None"
"""Of an option."""
Used: TypeAlias = "Mapping[str, Value]"


@dataclass(frozen=True)
class Result:
    """The result of a command.

    Args:
        data: what `--json` prints, by the names of its fields.
        shown: what people see, in order: tables and texts, which are wrapped, and lines, which
            are not. By default the whole result, as `rendered` shows it.
        used: what the figures depend on, beside the options, such as keys of the scenario; None
            for an option that had no effect.
        ok: whether the exit status is 0, or else 1.
        after: called when all is printed, for a page that stays.
        names: a user's names of links by ours, where they differ; they are printed instead.
    """

    data: DataclassInstance | Mapping[str, Json]
    shown: Sequence[RenderableType] | None = None
    used: Used = field(default_factory=dict)
    ok: bool = True
    after: Callable[[], None] = lambda: None
    names: Mapping[str, str] = field(default_factory=dict)


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

    def renew(value: Json) -> Json:
        if isinstance(value, str):
            return word.sub(lambda match: names[match[1]], value)
        if isinstance(value, Mapping):
            return {key: renew(item) for key, item in value.items()}
        return [renew(item) for item in value] if isinstance(value, list | tuple) else value

    return renew(data)


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


def _text(value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        return " ".join(map(_text, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
