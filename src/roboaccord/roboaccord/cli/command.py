"""Make a command of a function: its parameters become options, and its result is printed.

A command is written as a plain function with type hints that returns a `Result`. `add_command`
gives it the options that all commands share, such as `--json`, and registers it with Typer, the
library that parses command lines: when the command is called, it checks the options, calls the
function with stdout redirected to stderr, prints the result and sets the exit status. A command may
have modes (contract/modes.py), sets of options that go together, and other packages may add modes
to it. The docstring of the function is the help; the examples in it are run by tests
(test_commands, test_modes).

Options are read in parameters.py, results are printed in result.py. Stdout must have the result and
nothing else.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import fields
from typing import Annotated, get_type_hints

import typer

from roboaccord.cli import parameters as signatures
from roboaccord.cli.console import Call, call
from roboaccord.cli.flags import PlainCommand
from roboaccord.cli.options import Cluster, Trust
from roboaccord.cli.parameters import KEYWORD, CommandFunction, groups_of, parameters_of
from roboaccord.cli.result import Result, Used, Value, show
from roboaccord.contract.modes import Modes, added_modes, with_added
from roboaccord.description.xacro_file import TRUST
from roboaccord.run.pieces import on_cluster

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]

EXAMPLES = "\n\nExamples:"  # heading, in the docstring of a command


def add_command(app: typer.Typer, name: str, function: CommandFunction, robot: str = "") -> None:
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
    added = added_modes("commands", f"{robot}.{name}" if robot else name)
    modes: Modes | None = getattr(function, "modes", None)
    modes = with_added(modes, added) if modes else None
    functions = [function, *(mode.command for mode in added.values())]
    signature = joint_signature(functions)
    parameters = typer_parameters(function, signature, modes)

    @functools.wraps(function)
    def command(ctx: typer.Context, **values: Value) -> None:
        as_json = bool(values.pop("as_json", False))
        # Parameters that the modes in force take, and the functions of these modes.
        accepted: Used = values
        in_force: Sequence[str] = ()
        if modes:
            accepted, in_force = accepted_values(modes, full_name, ctx, values)
        added_functions = [added[mode].command for mode in in_force if mode in added]
        if values.get("trust"):
            os.environ[TRUST] = "1"
        signatures.check_numbers(signature, values)
        # Call it: what it prints itself goes to stderr.
        chosen_function = added_functions[0] if added_functions else function
        token = call.set(Call(full_name, as_json))
        cluster = str(values.get("cluster") or "")  # only a command in pieces has it
        try:
            with redirect_stdout(sys.stderr), on_cluster(cluster) if cluster else nullcontext():
                result = call_with(chosen_function, values)
        finally:
            call.reset(token)
        # Print the result, with the options that had an effect.
        if result is not None:
            used = signatures.options_of(signature, accepted) | dict(result.used)
            used = {key: value for key, value in used.items() if value is not None}
            show(result, used, signatures.units_of(signature), as_json)
            result.after()
            if not result.ok:
                raise typer.Exit(1)

    command.__doc__ = unwrapped(documented(functions))
    command.__dict__["modes"] = modes
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    app.command(name, cls=getattr(function, "command_class", PlainCommand))(command)


def joint_signature(functions: Sequence[CommandFunction]) -> inspect.Signature:
    """Return the parameters of a command, then those of its added modes.

    Where two functions have a parameter of the same name, the first one's counts.
    """
    by_name = dict[str, inspect.Parameter]()
    for function in functions:
        for name, parameter in parameters_of(function).items():
            by_name.setdefault(name, parameter)
    return inspect.Signature([*by_name.values()])


def typer_parameters(
    function: CommandFunction, signature: inspect.Signature, modes: Modes | None
) -> list[inspect.Parameter]:
    """Return the parameters from which Typer makes the options, with those that commands share."""
    parameters = [inspect.Parameter("ctx", KEYWORD, annotation=typer.Context)]
    parameters += map(signatures.with_unit, signature.parameters.values())
    if hasattr(function, "in_pieces"):
        parameters.append(inspect.Parameter("cluster", KEYWORD, default="", annotation=Cluster))
    reads_file = signatures.takes_file(signature)
    if reads_file and (not modes or "trust" in " ".join(modes.options.values()).split()):
        parameters.append(inspect.Parameter("trust", KEYWORD, default=False, annotation=Trust))
    if get_type_hints(function)["return"] is Result:
        parameters.append(inspect.Parameter("as_json", KEYWORD, default=False, annotation=AsJson))
    return parameters


def documented(functions: Sequence[CommandFunction]) -> str:
    """Return the help of a command and its added modes: all descriptions, then all examples."""
    texts, examples = list[str](), list[str]()
    for function in functions:
        text, _, example = (inspect.getdoc(function) or "").partition(EXAMPLES)
        texts.append(text)
        if example:
            examples.append(example.strip("\n"))
    if examples:
        texts[-1] += EXAMPLES
    return "\n\n".join(texts + examples)


def call_with(function: CommandFunction, values: Used) -> Result | None:
    """Call the function of a command; parameters that are dataclasses are made of their fields."""
    arguments: dict[str, object] = {name: values[name] for name in parameters_of(function)}
    for name, kind in groups_of(function).items():
        arguments[name] = kind(**{field.name: arguments.pop(field.name) for field in fields(kind)})
    return function(**arguments)


def accepted_values(
    modes: Modes, command: str, ctx: typer.Context, values: Used
) -> tuple[Used, Sequence[str]]:
    """Return the values of parameters that the modes in force take, and the names of these modes.

    Args:
        modes: of the command.
        command: its full name, for messages.
        ctx: of the call, which knows the parameters that were typed.
        values: of each parameter.

    Raises:
        AccordError: if a parameter was typed that these modes do not take.
    """
    flags = dict[str, str]()  # flag of each parameter, without dashes
    values_by_flag = dict[str, Value]()
    flag_texts = {":=": "NAME:=VALUE"}  # how a user writes each flag
    typed = set[str]()  # flags that were typed
    for parameter in ctx.command.params:
        name = str(parameter.name)
        text = parameter.opts[0]
        flag = text.lstrip("-")
        value = values.get(name)
        if text == flag:  # a positional argument
            text = re.findall(r"\w+", getattr(parameter, "metavar", None) or name.upper())[0]
            if isinstance(value, list):
                typed |= {":=" for word in value if ":=" in str(word)}
                value = [word for word in value if ":=" not in str(word)]
        flags[name] = flag
        values_by_flag[flag] = value
        flag_texts[flag] = text
        if value != [] and str(ctx.get_parameter_source(name)).endswith("COMMANDLINE"):
            typed.add(flag)
    accepted_flags = modes.check_options(command, typed, values_by_flag, flag_texts)
    accepted = {name: value for name, value in values.items() if flags[name] in accepted_flags}
    return accepted, modes.in_force(values_by_flag)


def unwrapped(text: str) -> str:
    """Return a docstring with each paragraph on one line: the terminal's width will wrap it."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else " ".join(p.split()) for p in paragraphs)
