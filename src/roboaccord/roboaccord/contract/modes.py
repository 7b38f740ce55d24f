"""Modes of a command, and of the function that does the same: which options belong to which.

A command gets modes where it is defined, by a `Modes` beside it; nothing here lists commands.
Options may be added to a mode in that command's `takes`; what refines every robot is added to
ROBOTS. If the parameter of a function and the option have different names, the pair is added to
FLAGS. test_modes goes through all commands: a mode must name every option, and no other mode may
ignore it silently.
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
SETUP = "a setup"  # a mode of functions alone
ROBOTS = {SETUP: "", "ROBOT": "words set fault", "FILE": "words set fault base package trust",
          "FILE.xacro": "words set fault base package trust :="}  # fmt: skip
"""Options that refine a robot, by what it is given as: a setup is complete, a file takes most."""
FLAGS = {"arguments": ":=", "columns": "map", "every": "all", "faults": "fault",
         "packages": "package", "robot_or_recording": "what",
         "scenario": "words", "settings": "set"}  # fmt: skip
"""Option of a command by the parameter of the function, where their names differ."""


@dataclass(frozen=True)
class Modes:
    """Which options each mode of a command takes.

    Args:
        of: returns the modes in force, by the values of options and arguments.
        takes: names of options by mode, as on the command line, with blanks between; `:=` are the
            arguments of a xacro file. Those of "" go with every mode, and so do positional
            arguments and parameters of functions that no mode names.
    """

    of: Callable[[Mapping[str, Any]], Sequence[str]]
    takes: Mapping[str, str]

    def __call__(self, command: Callable[P, R]) -> Callable[P, R]:
        """Mark a function with its modes: `add_command` refuses options of others."""
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
            command: its name.
            given: names of the options and arguments that the user gave.
            values: of these, and of others with their defaults.
            written: how each is written.

        Raises:
            AccordError: naming the modes that take an option.
        """
        modes = self.of(values)
        taken = {name for mode in ("", *modes) for name in self.takes.get(mode, "").split()}
        for name in sorted({*given} - taken):
            having = [m for m, names in self.takes.items() if name in names.split() and m != SETUP]
            if having:
                takes = ", ".join(written[n] for n in sorted(taken & {*written})) or "none"
                belongs = f"{written[name]} belongs to {command} {' or '.join(having)}"
                raise AccordError(f"{belongs}; {' '.join(modes)} takes {takes}")
        return taken

    def guard(self, function: Callable[P, R]) -> Callable[P, R]:
        """Let a function refuse the arguments of its other modes, as its command does.

        An argument that is empty, False or None counts as not given; 0 as given. Modes that
        packages add to the function, by the entry point `FUNCTION.MODE`, are called with all
        arguments by name.
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
            values = {FLAGS.get(key, key): value for key, value in bound.items()}
            given = [k for k, v in values.items() if v or (v is not False and isinstance(v, Real))]
            modes = with_added(self, others)
            modes.check(name, given, values, written)
            for mode in modes.of(values):
                if mode in others:
                    result: R = others[mode].command(**bound)
                    return result
            return function(*args, **kwargs)

        return self(guarded)


@dataclass(frozen=True)
class AddedMode:
    """A mode that a package adds to a command or a function, by the entry point `COMMAND.MODE`.

    Args:
        applies: whether it is in force, by the values of options and arguments.
        takes: names of its options, as in `Modes`.
        command: the function that does it, typed as a command's is. Its parameters that the
            command does not have become options of that; the others mean what they do there.
    """

    applies: Callable[[Mapping[str, Any]], bool]
    takes: str
    command: Callable[..., Any]


def added_modes(group: str, owner: str) -> dict[str, AddedMode]:
    """Return the modes that packages add to a command or a function, by name."""
    return {mode: load(group, f"{owner}.{mode}") for mode in added(group, owner)}


def with_added(modes: Modes, others: Mapping[str, AddedMode]) -> Modes:
    """Return the modes of a command with those that packages add to it, which come first."""

    def of(given: Mapping[str, Any]) -> Sequence[str]:
        in_force = [name for name, mode in others.items() if mode.applies(given)]
        return in_force or modes.of(given)

    return Modes(of, {**modes.takes, **{name: mode.takes for name, mode in others.items()}})


def by_option(option: str, taken: str, without: str, every: str) -> Modes:
    """Return two modes: with an option, or a value of it such as `objective cost`, and without.

    Args:
        option: its name, and the value if there are several.
        taken, without, every: names of options of the one, of the other and of both.
    """
    name, _, value = option.partition(" ")
    modes = f"with --{option}", f"without --{option}"

    def of(given: Mapping[str, Any]) -> list[str]:
        return [modes[given[name] != value if value else not given[name]]]

    return Modes(of, {modes[0]: taken, modes[1]: without, "": f"{name} {every}"})
