"""Calls of code that users wrote: its arguments are checked, and its errors become one line.

Users add robots, engines and controllers of their own. `build` calls such code with the keys of a
scenario, after `check_keys` has compared them with its signature. When it raises an error,
`explain` returns a message of one line, made of what was raised (`line_of`) and of the file and
line in the user's code (`place_of`). An error is a user's if the traceback has a frame in a file of
theirs, that is, of neither this project nor a library; any other error is a bug of this project or
of a library, and keeps its traceback (test_user_code).

A new group of entry points by which users add code goes into GROUPS; the name DEBUG must stay.
"""

from __future__ import annotations

import dis
import inspect
import math
import os
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import FrozenInstanceError
from functools import cache
from importlib.metadata import entry_points, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, TypeGuard, TypeVar

from roboaccord.contract.errors import AccordError, Terminated, did_you_mean, nearest

if TYPE_CHECKING:
    from roboaccord.contract.results import Json

DEBUG = "ROBOACCORD_DEBUG"  # environment variable that `--debug` sets: tracebacks are shown
# Groups of entry points by which users add packages.
GROUPS = ("robots", "engines", "runners", "teleop")
CORE = "roboaccord"
INSTALLED = {"site-packages", "dist-packages"}  # folders of installed libraries
# One of these is in the message of NumPy, numba or Python that refuses to write into a state.
READ_ONLY = ("read-only", "readonly", "mappingproxy")
R = TypeVar("R")
S = TypeVar("S")


def shows_tracebacks() -> bool:
    """Return whether tracebacks are asked for, by `--debug` or the environment."""
    return os.environ.get(DEBUG, "") not in ("", "0")


@contextmanager
def users_code() -> Iterator[None]:
    """Run a block that may call a user's code; an error of that code becomes one line.

    Raises:
        AccordError: for an error of a user's code; any other error is raised unchanged.
    """
    try:
        yield
    except AccordError:
        raise
    except Exception as error:
        if line := explain(error):
            raise AccordError(line) from error
        raise


def explain(error: BaseException) -> str:
    """Return one line: what a user's code raised, and where; "" for an error of other code."""
    location = place_of(error)
    return f"{line_of(error)}{location}" if location else ""


def line_of(error: BaseException) -> str:
    """Return one line with the class and the first line of the message of an error.

    Raises:
        KeyboardInterrupt: if `error` is one that a person or a signal caused: it is raised again.
    """
    interrupted = isinstance(error, KeyboardInterrupt) and not _is_raised(error)
    if interrupted or isinstance(error, Terminated):
        raise error
    text = str(error.msg if isinstance(error, SyntaxError) else error)
    reason = (text.splitlines() or [""])[0]
    line = f"raised {type(error).__name__}" + (f": {reason}" if reason else "")
    line += meant_by(error)
    if isinstance(error, FrozenInstanceError) or any(word in text for word in READ_ONLY):
        line += " (states are read-only: change a copy)"
    return line


def meant_by(error: BaseException) -> str:
    """Return the attribute that may have been meant by one that does not exist, as a question."""
    if not isinstance(error, AttributeError) or not error.name:
        return ""
    near = nearest(error.name, [name for name in dir(error.obj) if name[0] != "_"])
    return f" (did you mean {near[0]}?)" if near else ""


def place_of(error: BaseException) -> str:
    """Return the innermost line of a user's code in a traceback, as " (FILE:LINE in FUNCTION)".

    The path is relative to the working folder where the file is below it. Return "" where no frame
    of the traceback is a user's.
    """
    if isinstance(error, SyntaxError) and Path(error.filename or "").is_file():
        return f" ({_short_path(error.filename or '')}:{error.lineno})"
    # Frames from the innermost outwards.
    for frame, line_number in reversed([*traceback.walk_tb(error.__traceback__)]):
        code, module_globals = frame.f_code, frame.f_globals
        module = str(module_globals.get("__package__") or module_globals.get("__name__"))
        if _is_users(module.partition(".")[0], code.co_filename):
            return f" ({_short_path(code.co_filename)}:{line_number} in {code.co_qualname})"
    return ""


def _short_path(file: str) -> str:
    """Return a path, relative to the working folder where the file is below it."""
    path = Path(file)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _is_users(package: str, file: str) -> bool:
    """Return whether a user wrote a file.

    Args:
        package: top-level name of the package to which the file belongs.
        file: its path.
    """
    is_ours = _is_ours_by_package()
    if package in is_ours:
        return not is_ours[package]
    stdlib = sysconfig.get_path("stdlib")
    is_library = bool(INSTALLED & {*Path(file).parts}) or file.startswith(stdlib)
    return not is_library and Path(file).is_file()


@cache
def _is_ours_by_package() -> dict[str, bool]:
    """Return the packages that entry points name, and whether each is this project's.

    One is this project's if its metadata names the same author as the core's.
    """
    own_author = metadata(CORE)["Author"]
    packages = {CORE: True}
    for group in GROUPS:
        for entry in entry_points(group=f"{CORE}.{group}"):
            author = entry.dist.metadata["Author"] if entry.dist else None
            packages.setdefault(entry.module.partition(".")[0], author == own_author)
    return packages


def _is_raised(error: BaseException) -> bool:
    """Return whether a `raise` statement raised the error, rather than a signal from outside.

    The byte code tells, at the instruction where the innermost frame stopped: RAISE_VARARGS, which
    `raise` is compiled to. A signal stops at any instruction.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    return dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"


def check_keys(factory: Callable[..., R], spec: Mapping[str, Json], key: str) -> None:
    """Check the keys of a mapping against the parameters of the function that takes them.

    Args:
        factory: function that will be called with `spec` as keyword arguments.
        spec: keys and values from a scenario.
        key: where `spec` stands in the scenario, for messages.

    Raises:
        AccordError: for a key that is no parameter, or a value that must be a number and is not.
    """
    accepted = dict(inspect.signature(factory).parameters)
    accepted.pop("setup", None)
    for name, value in spec.items():
        if name not in accepted:
            hint = did_you_mean(name, accepted, f"{key}.")
            raise AccordError(f"unknown key {key}.{name}{hint}")
        default = accepted[name].default
        if _is_number(default) and not (_is_number(value) and math.isfinite(value)):
            raise AccordError(f"{key}.{name}: {value!r} is not a number")


def build(
    factory: Callable[Concatenate[S, ...], R], setup: S, spec: Mapping[str, Json], key: str
) -> R:
    """Return `factory(setup, **spec)`, with the keys checked by `check_keys`.

    Raises:
        AccordError: for keys that do not pass, or an error that the factory raises.
    """
    check_keys(factory, spec, key)
    try:
        return factory(setup, **spec)
    except AccordError:
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        line = explain(error)
        raise AccordError(f"{key} {line}" if line else f"{key}: {reason}") from error


def _is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number, and not True or False."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
