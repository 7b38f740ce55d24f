"""Modes of a command, and of the function that does the same: which options go together.

A mode is one way to use a command: `accord crosscheck`, for example, has modes for a robot, a file
and a recorded run. The `Modes` of a command determine which modes are in force for given options,
and which options each mode takes; options that only other modes take are refused with a message:

    MODES = Modes(lambda values: ["a film"] if values["film"] else ["a page"],
                  {"a film": "film fps", "a page": "theme", "": "out"})

Here the option `--film` selects the mode "a film", in which `--fps` is allowed and `--theme` is
not. A `Modes` is a decorator of the command (`__call__`), and of the Python function that does the
same (`guard`). Packages add modes by entry points (`AddedMode`). test_modes goes through all
commands: each option must belong to a mode, and no mode may ignore it silently.

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
# Options that describe a robot, by the form in which it is given; a setup is complete.
ROBOTS = {
    SETUP: "",
    "ROBOT": "words set fault",
    "FILE": "words set fault base package trust",
    "FILE.xacro": "words set fault base package trust :=",
}
# Option of a command by the parameter of the function, where their names differ.
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
        of: function from the values of options and arguments to the modes in force.
        takes: names of options by mode, as on the command line, separated by blanks; `:=` stands
            for the arguments of a xacro file. Options of the mode "" go with every mode, and so do
            positional arguments and parameters that no mode names.
    """

    of: Callable[[Mapping[str, Any]], Sequence[str]]
    takes: Mapping[str, str]

    def __call__(self, command: Callable[P, R]) -> Callable[P, R]:
        """Attach the modes to the function of a command, so that `add_command` checks options."""
        command.__dict__["modes"] = self
        return command

    def check(
        self,
        command: str,
        given: Collection[str],
        values: Mapping[str, Any],
        written: Mapping[str, str],
    ) -> set[str]:
        """Refuse options of other modes, and return those that the modes in force take.

        Args:
            command: name of the command, for the message.
            given: names of the options and arguments that the user set.
            values: values of all options, defaults included.
            written: by option, its form in the message, such as `--fps`.

        Raises:
            AccordError: naming the modes to which a given option belongs.
        """
        in_force = self.of(values)
        options_by_mode = {mode: names.split() for mode, names in self.takes.items()}
        accepted = {name for mode in ("", *in_force) for name in options_by_mode.get(mode, ())}
        for name in sorted({*given} - accepted):
            owners = [m for m, names in options_by_mode.items() if name in names and m != SETUP]
            if owners:
                options = ", ".join(written[n] for n in sorted(accepted & {*written})) or "none"
                belongs = f"{written[name]} belongs to {command} {' or '.join(owners)}"
                raise AccordError(f"{belongs}; {' '.join(in_force)} takes {options}")
        return accepted

    def guard(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return a function that refuses arguments of modes not in force, as the command does.

        An argument that is empty, False or None counts as not given, the number 0 as given. If a
        mode is in force that a package adds by the entry point `FUNCTION.MODE`, the function of
        that mode is called instead, with all arguments by name.
        """
        signature = inspect.signature(function)
        subject = next(iter(signature.parameters))
        written = {FLAGS.get(name, name): name for name in (*signature.parameters, *FLAGS, "base")}

        @functools.wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            name = function.__name__
            others = added_modes("functions", name)
            bound = signature.bind(*args, **kwargs).arguments
            if not bound[subject]:
                raise AccordError(f"{name}: {subject} is empty")
            bound |= bound.pop("options", {})
            # Arguments by the names of their options, and the names of those that are given.
            values = {FLAGS.get(key, key): value for key, value in bound.items()}
            given = [option for option, value in values.items() if _is_given(value)]
            # Refuse arguments of other modes, then call the function of the mode.
            modes = with_added(self, others)
            modes.check(name, given, values, written)
            for mode in modes.of(values):
                if mode in others:
                    result: R = others[mode].command(**bound)
                    return result
            return function(*args, **kwargs)

        return self(guarded)


def _is_given(value: object) -> bool:
    """Return whether an argument counts as given: the number 0 does; empty, False, None do not."""
    return bool(value) or (value is not False and isinstance(value, Real))


@dataclass(frozen=True)
class AddedMode:
    """A mode that a package adds to a command or a function, by the entry point `COMMAND.MODE`.

    Args:
        applies: function from the values of options and arguments to whether it is in force.
        takes: names of its options, as in `Modes`.
        command: function that is called, with type hints like that of a command. Parameters that
            the command does not have become its options; the others mean the same as there.
    """

    applies: Callable[[Mapping[str, Any]], bool]
    takes: str
    command: Callable[..., Any]


def added_modes(group: str, owner: str) -> dict[str, AddedMode]:
    """Return the modes that packages add to a command or function (`owner`), by name."""
    return {mode: load(group, f"{owner}.{mode}") for mode in added(group, owner)}


def with_added(modes: Modes, others: Mapping[str, AddedMode]) -> Modes:
    """Return the modes of a command together with added ones, which prevail where they apply."""

    def of(values: Mapping[str, Any]) -> Sequence[str]:
        in_force = [name for name, mode in others.items() if mode.applies(values)]
        return in_force or modes.of(values)

    return Modes(of, {**modes.takes, **{name: mode.takes for name, mode in others.items()}})


def by_option(option: str, taken: str, without: str, every: str) -> Modes:
    """Return two modes: one with an option, or with one value of it, and one without.

    Args:
        option: name of the option, and perhaps its value, as in `objective cost`.
        taken: names of the options that go with it.
        without: names of those that go without it.
        every: names of those that go with both modes.
    """
    name, _, value = option.partition(" ")
    with_option, without_option = f"with --{option}", f"without --{option}"

    def of(values: Mapping[str, Any]) -> list[str]:
        is_set = values[name] == value if value else bool(values[name])
        return [with_option if is_set else without_option]

    return Modes(of, {with_option: taken, without_option: without, "": f"{name} {every}"})
