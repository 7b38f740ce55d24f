"""A command: a function whose parameters become options, and whose result is printed.

What all commands share may be changed here, such as the help of `--json`. The docstring of a
command is its help, and the examples in it are run (test_commands, test_modes). Fixed: stdout has
the result and nothing else. Options are in parameters.py, printing is in result.py.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, get_type_hints

import typer

from roboaccord.cli.console import Call, call
from roboaccord.cli.options import Cluster, Trust
from roboaccord.cli.parameters import (
    KEYWORD,
    check_numbers,
    groups_of,
    options_of,
    parameters_of,
    takes_file,
    units_of,
    with_unit,
)
from roboaccord.cli.result import Result, Used, Value, show
from roboaccord.contract.modes import Modes, added_modes, with_added
from roboaccord.description.xacro_file import TRUST
from roboaccord.run.pieces import on_cluster

if TYPE_CHECKING:
    pass

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]

EXAMPLES = "\n\nExamples:"


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
    order = dict.fromkeys(name for f in functions for name in parameters_of(f))
    by_name = {n: p for f in functions[::-1] for n, p in parameters_of(f).items()}
    signature = inspect.Signature([by_name[name] for name in order])

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
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    app.command(name, cls=getattr(function, "command_class", None))(command)


def documented(functions: Sequence[Callable[..., Result | None]]) -> str:
    """Return the help of a command: what it does, and its added modes, then the examples of all."""
    parts = [(inspect.getdoc(function) or "").partition(EXAMPLES) for function in functions]
    examples = "".join("\n\n" + rest.strip("\n") for *_, rest in parts if rest)
    return "\n\n".join(text for text, *_ in parts) + (EXAMPLES + examples if examples else "")


def call_with(function: Callable[..., Result | None], given: Used) -> Result | None:
    """Call the function of a command with its parameters; some of them are dataclasses."""
    values = {name: given[name] for name in parameters_of(function)}
    groups = {
        name: kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        for name, kind in groups_of(function).items()
    }
    return function(**values, **groups)


def taken_by(
    modes: Modes, command: str, ctx: typer.Context, given: Used
) -> tuple[Used, Sequence[str]]:
    """Return the parameters that the modes in force take, and these modes; refuse others."""
    flags, values, typed = dict[str, str](), dict[str, Value](), set[str]()
    written = {":=": "NAME:=VALUE"}
    for parameter in ctx.command.params:
        name, text = str(parameter.name), parameter.opts[0]
        flag, value = text.lstrip("-"), given.get(name)
        if text == flag:  # a positional argument
            text = re.findall(r"\w+", getattr(parameter, "metavar", None) or name.upper())[0]
            if isinstance(value, list):
                typed |= {":=" for word in value if ":=" in str(word)}
                value = [word for word in value if ":=" not in str(word)]
        flags[name], values[flag], written[flag] = flag, value, text
        if value != [] and str(ctx.get_parameter_source(name)).endswith("COMMANDLINE"):
            typed.add(flag)
    taken = modes.check(command, typed, values, written)
    used = {name: value for name, value in given.items() if flags[name] in taken}
    return used, modes.of(values)


def unwrapped(text: str) -> str:
    """Return a docstring whose paragraphs are lines, to be wrapped at the width of a terminal."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else " ".join(p.split()) for p in paragraphs)
