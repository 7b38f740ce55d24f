"""Make a command of a function: its parameters become options, and its result is printed.

A command is written as a plain function with type hints that returns a `Result`. `add_command`
gives it the options that all commands share, such as `--json`, and registers it with Typer: when
the command is called, it checks the options, calls the function with stdout redirected to stderr,
prints the result and sets the exit status. A command may have modes (contract/modes.py), sets of
options that go together, and other packages may add modes to it. The docstring of the function is
the help; the examples in it are run by tests (test_commands, test_modes).

Options are read in parameters.py, results are printed in result.py. Stdout must have the result and
nothing else.
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
from typing import Annotated, get_type_hints

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

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]

EXAMPLES = "\n\nExamples:"  # heading, in the docstring of a command


def add_command(
    app: typer.Typer, name: str, function: Callable[..., Result | None], robot: str = ""
) -> None:
    """Register a function as a command, together with the modes that other packages add to it.

    A function that returns a `Result` gets the option `--json`; its result is all that is printed
    on stdout, and sets the exit status. One that takes a robot's file gets the option `--trust`,
    one whose work can be split gets `--cluster`. A parameter that is a dataclass stands for its
    fields, each an option.

    Args:
        app: to which the command is added.
        name: of the command.
        function: that is called.
        robot: whose command it is; "" for one of `accord` itself.
    """
    full_name = f"{robot.replace('_', '-')} {name}".lstrip()
    mode_entries = added_modes("commands", f"{robot}.{name}" if robot else name)
    in_pieces = hasattr(function, "in_pieces")
    modes: Modes | None = getattr(function, "modes", None)
    modes = with_added(modes, mode_entries) if modes else None
    # Parameters of the command come first, then those of added modes. Where two have the same name,
    # the command's counts.
    functions = [function, *(other.command for other in mode_entries.values())]
    parameter_names = dict.fromkeys(name for f in functions for name in parameters_of(f))
    by_name = {n: p for f in functions[::-1] for n, p in parameters_of(f).items()}
    signature = inspect.Signature([by_name[name] for name in parameter_names])

    @functools.wraps(function)
    def command(ctx: typer.Context, **given: Value) -> None:
        quiet = bool(given.pop("as_json", False))
        # Which parameters the modes in force take, and which function has the mode.
        taken, in_force = taken_by(modes, full_name, ctx, given) if modes else (given, ())
        mode_function = next(
            (mode_entries[mode].command for mode in in_force if mode in mode_entries), function
        )
        os.environ.update({TRUST: "1"} if given.get("trust") else {})
        check_numbers(signature, given)
        # Call it: what it prints itself goes to stderr.
        token = call.set(Call(full_name, quiet))
        try:
            cluster = str(given.get("cluster") or "")
            work = on_cluster(cluster) if in_pieces and cluster else nullcontext()
            with redirect_stdout(sys.stderr), work:
                result = call_with(mode_function, given)
        finally:
            call.reset(token)
        # Print the result, with the options that had an effect.
        if result is not None:
            used = options_of(signature, taken) | dict(result.used)
            used = {key: value for key, value in used.items() if value is not None}
            show(result, used, units_of(signature), quiet)
            result.after()
            if not result.ok:
                raise typer.Exit(1)

    # The signature from which Typer makes the options.
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
    """Return the help of a command and its added modes: all descriptions, then all examples."""
    split_docs = [(inspect.getdoc(function) or "").partition(EXAMPLES) for function in functions]
    examples = "".join(
        "\n\n" + example_text.strip("\n") for *_, example_text in split_docs if example_text
    )
    return "\n\n".join(text for text, *_ in split_docs) + (EXAMPLES + examples if examples else "")


def call_with(function: Callable[..., Result | None], given: Used) -> Result | None:
    """Call the function of a command; parameters that are dataclasses are made of their fields."""
    values = {name: given[name] for name in parameters_of(function)}
    groups = {
        name: kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        for name, kind in groups_of(function).items()
    }
    return function(**values, **groups)


def taken_by(
    modes: Modes, command: str, ctx: typer.Context, given: Used
) -> tuple[Used, Sequence[str]]:
    """Return the parameters that the modes in force take, and the names of these modes.

    Args:
        modes: of the command.
        command: its full name, for messages.
        ctx: of the call, which knows the parameters that were typed.
        given: value of each parameter.

    Raises:
        AccordError: if a parameter was typed that these modes do not take.
    """
    # By parameter: flag without dashes. By flag: value, how a user writes it, whether it was typed.
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
    taken_values = {name: value for name, value in given.items() if flags[name] in taken}
    return taken_values, modes.of(values)


def unwrapped(text: str) -> str:
    """Return a docstring with each paragraph on one line: the terminal's width will wrap it."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else " ".join(p.split()) for p in paragraphs)
