"""Modes of a command, and of the function that does the same: which options go together.

A mode is one way to use a command: `accord crosscheck`, for example, has modes for a robot, a file
and a recorded run. A `Modes` states which modes are in force for given options, and which options
each mode takes; options that only other modes take are refused with a message:

    def mode_of(values):
        return ["a film"] if values["film"] else ["a page"]

    MODES = Modes(mode_of, {"a film": "film fps", "a page": "theme", "": "out"})

Here the option `--film` selects the mode "a film", in which `--fps` is allowed and `--theme` is
not; `--out` goes with both. `@MODES` decorates the function of the command, whose options are then
checked by cli/command.py; `@MODES.check_arguments` decorates the function of the Python API that
does the same. `by_option` makes the two modes of a single option. Packages add modes by entry
points (`AddedMode`). test_modes goes through all commands: each option must belong to a mode, and
no mode may ignore it silently.

Options that describe every robot are added to ROBOTS; a parameter of a function whose option has
another name is added to FLAGS.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ParamSpec, TypeVar

from roboaccord.contract.errors import AccordError
from roboaccord.contract.plugins import added, load

P = ParamSpec("P")
R = TypeVar("R")
SETUP = "a setup"  # mode of a function whose first argument is a Setup; commands do not have it
# Options that describe a robot, by the form in which it is given; a setup is complete. `words` are
# the scenario and the like, `:=` stands for the arguments NAME:=VALUE of a xacro file.
ROBOTS = {
    SETUP: "",
    "ROBOT": "words set fault",
    "FILE": "words set fault base package trust",
    "FILE.xacro": "words set fault base package trust :=",
}
# Option of a command by the parameter of the Python function that does the same, where they have
# different names.
FLAGS = {
    "arguments": ":=",
    "columns": "map",
    "every": "all",
    "faults": "fault",
    "packages": "package",
    "robot_or_recording": "what",
    "scenario": "words",
    "settings": "set",
}


@dataclass(frozen=True)
class Modes:
    """The modes of a command, and the options that each takes.

    Args:
        in_force: function from the values of options and arguments to the modes in force.
        options: names of options by mode, as on the command line, separated by blanks. Options of
            the mode "" go with every mode, and so do positional arguments and parameters that no
            mode names.
    """

    in_force: Callable[[Mapping[str, Any]], Sequence[str]]
    options: Mapping[str, str]

    def __call__(self, command: Callable[P, R]) -> Callable[P, R]:
        """Attach the modes to the function of a command, so that `add_command` checks options."""
        command.__dict__["modes"] = self
        return command

    def check_options(
        self,
        command: str,
        given: Collection[str],
        values: Mapping[str, Any],
        texts: Mapping[str, str],
    ) -> set[str]:
        """Refuse options of other modes, and return those that the modes in force take.

        Args:
            command: name of the command, for the message.
            given: names of the options and arguments that the user set.
            values: values of all options, defaults included.
            texts: by option, how a user writes it, such as `--fps`, for the message.

        Raises:
            AccordError: naming the modes to which a given option belongs.
        """
        in_force = self.in_force(values)
        options_by_mode = {mode: names.split() for mode, names in self.options.items()}
        accepted = set[str]()
        for mode in ("", *in_force):
            accepted.update(options_by_mode.get(mode, ()))
        for name in sorted({*given} - accepted):
            owners = [m for m, names in options_by_mode.items() if name in names and m != SETUP]
            if owners:  # an option that no mode names goes with all
                belongs = f"{texts[name]} belongs to {command} {' or '.join(owners)}"
                raise AccordError(f"{belongs}, not to {' '.join(in_force)}")
        return accepted

    def check_arguments(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return a function that refuses arguments of modes not in force, as the command does.

        An argument that is empty, False or None counts as not given, the number 0 as given. If a
        mode is in force that a package adds by the entry point `FUNCTION.MODE`, the function of
        that mode is called instead, with all arguments by name.
        """
        signature = inspect.signature(function)
        subject = next(iter(signature.parameters))  # a robot, a file, a recorded run
        # In messages an option has the name of its parameter.
        texts = {FLAGS.get(name, name): name for name in (*signature.parameters, *FLAGS, "base")}

        @functools.wraps(function)
        def checked_function(*args: P.args, **kwargs: P.kwargs) -> R:
            name = function.__name__
            added_by_name = added_modes("functions", name)
            arguments = signature.bind(*args, **kwargs).arguments
            if not arguments[subject]:
                raise AccordError(f"{name}: {subject} is empty")
            arguments |= arguments.pop("options", {})  # those of `**options`
            # Arguments by the names of their options, and the names of those that are given.
            values = {FLAGS.get(key, key): value for key, value in arguments.items()}
            given = [o for o, v in values.items() if v or (v is not False and isinstance(v, Real))]
            # Refuse arguments of other modes, then call the function of the mode.
            modes = with_added(self, added_by_name)
            modes.check_options(name, given, values, texts)
            for mode in modes.in_force(values):
                if mode in added_by_name:
                    result: R = added_by_name[mode].command(**arguments)
                    return result
            return function(*args, **kwargs)

        return self(checked_function)


@dataclass(frozen=True)
class AddedMode:
    """A mode that a package adds to a command or a function, by the entry point `COMMAND.MODE`.

    Args:
        applies: function from the values of options and arguments to whether it is in force.
        options: names of its options, as in `Modes`.
        command: function that is called, with type hints like that of a command. Parameters that
            the command does not have become its options; the others mean the same as there.
    """

    applies: Callable[[Mapping[str, Any]], bool]
    options: str
    command: Callable[..., Any]


def added_modes(group: str, owner: str) -> dict[str, AddedMode]:
    """Return the modes that packages add to a command or function (`owner`), by name."""
    return {mode: load(group, f"{owner}.{mode}") for mode in added(group, owner)}


def with_added(modes: Modes, added_by_name: Mapping[str, AddedMode]) -> Modes:
    """Return the modes of a command together with added ones, which prevail where they apply."""

    def in_force(values: Mapping[str, Any]) -> Sequence[str]:
        added_names = [name for name, mode in added_by_name.items() if mode.applies(values)]
        return added_names or modes.in_force(values)

    added_options = {name: mode.options for name, mode in added_by_name.items()}
    return Modes(in_force, {**modes.options, **added_options})


def by_option(option: str, options_with: str, options_without: str, options_always: str) -> Modes:
    """Return two modes: one with an option, or with one value of it, and one without.

    Args:
        option: name of the option, and perhaps its value, as in `objective cost`.
        options_with: names of the options that go with it, separated by blanks.
        options_without: names of those that go without it.
        options_always: names of those that go with both modes.
    """
    name, _, value = option.partition(" ")
    with_option, without_option = f"with --{option}", f"without --{option}"

    def in_force(values: Mapping[str, Any]) -> list[str]:
        is_set = values[name] == value if value else bool(values[name])
        return [with_option if is_set else without_option]

    always = f"{name} {options_always}"
    return Modes(in_force, {with_option: options_with, without_option: options_without, "": always})
