"""A user's own code: called with keys that are checked, and its errors in one line.

GROUPS names the entry points whose packages can be a user's; a group by which strangers add code
may be added there. DEBUG, the variable of `--debug`, stays. Fixed is which error keeps its
traceback: one of this project or of a library, which is a bug. An error is a user's where a line
that belongs to neither is being executed (test_user_code). READ_ONLY are words in messages of other
libraries: a new version may need another one.
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

from roboaccord.contract.errors import AccordError, Terminated, did_you_mean

if TYPE_CHECKING:
    from roboaccord.contract.results import Json

DEBUG = "ROBOACCORD_DEBUG"  # environment variable: tracebacks are shown, too
GROUPS = ("robots", "engines", "runners", "teleop")  # entry points by which packages are found
CORE = "roboaccord"
INSTALLED = {"site-packages", "dist-packages"}
READ_ONLY = ("read-only", "readonly", "mappingproxy")  # NumPy's, numba's and Python's own words
R = TypeVar("R")
S = TypeVar("S")


def shows_tracebacks() -> bool:
    """Return whether tracebacks are asked for, by `--debug` or the environment."""
    return os.environ.get(DEBUG, "") not in ("", "0")


@contextmanager
def users_code() -> Iterator[None]:
    """Run code that may be a user's, where an error still has its traceback.

    Raises:
        AccordError: for an error of a user's code, in one line.
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
    """Return in a line what a user's code raised and where; "" for an error of other code."""
    place = place_of(error)
    return f"{line_of(error)}{place}" if place else ""


def line_of(error: BaseException) -> str:
    """Return in a line what was raised.

    Raises:
        KeyboardInterrupt: if a person interrupted, which is no error of the code.
    """
    interrupted = isinstance(error, KeyboardInterrupt) and not _is_raised(error)
    if interrupted or isinstance(error, Terminated):
        raise error
    text = str(error.msg if isinstance(error, SyntaxError) else error)
    reason = (text.splitlines() or [""])[0]
    line = f"raised {type(error).__name__}" + (f": {reason}" if reason else "")
    if isinstance(error, FrozenInstanceError) or any(word in text for word in READ_ONLY):
        line += " (states are read-only: change a copy)"
    return line


def place_of(error: BaseException) -> str:
    """Return the innermost line of a user's code behind an error: " (FILE:LINE in FUNCTION)".

    Files below the working folder are relative to it; "" where no line of a user's was run.
    """
    if isinstance(error, SyntaxError) and Path(error.filename or "").is_file():
        return f" ({_shown(error.filename or '')}:{error.lineno})"
    for frame, line in reversed([*traceback.walk_tb(error.__traceback__)]):
        code, names = frame.f_code, frame.f_globals
        module = str(names.get("__package__") or names.get("__name__"))
        if _is_users(module.partition(".")[0], code.co_filename):
            return f" ({_shown(code.co_filename)}:{line} in {code.co_qualname})"
    return ""


def _shown(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _is_users(package: str, file: str) -> bool:
    """Return whether a user wrote a file of a package."""
    if package in (is_ours := _packages()):
        return not is_ours[package]
    library = INSTALLED & {*Path(file).parts} or file.startswith(sysconfig.get_path("stdlib"))
    return not library and Path(file).is_file()


@cache
def _packages() -> dict[str, bool]:
    """Return whether each package that an entry point names is of this project."""
    ours, packages = metadata(CORE)["Author"], {CORE: True}
    for group in GROUPS:
        for entry in entry_points(group=f"{CORE}.{group}"):
            author = entry.dist.metadata["Author"] if entry.dist else None
            packages.setdefault(entry.module.partition(".")[0], author == ours)
    return packages


def _is_raised(error: BaseException) -> bool:
    """Return whether a `raise` statement raised an exception, not a signal from outside."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    return dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_keys(factory: Callable[..., R], spec: Mapping[str, Json], key: str) -> None:
    """Check keys and numbers against the signature of a factory, before anything is made.

    Raises:
        AccordError: for a key that it does not take, or a value that is not a number.
    """
    accepted = {n: p for n, p in inspect.signature(factory).parameters.items() if n != "setup"}
    for name, value in spec.items():
        if name not in accepted:
            new = getattr(factory, "renamed_keys", {}).get(name)
            hint = f"; it is now {key}.{new}" if new else did_you_mean(name, accepted)
            raise AccordError(f"unknown key {key}.{name}{hint}")
        default = accepted[name].default
        if _is_number(default) and not (_is_number(value) and math.isfinite(value)):
            raise AccordError(f"{key}.{name}: {value!r} is not a number")


def build(
    factory: Callable[Concatenate[S, ...], R], setup: S, spec: Mapping[str, Json], key: str
) -> R:
    """Call `factory(setup, **spec)` with keys and numbers checked against its signature.

    Raises:
        AccordError: for a key that it does not take, or a value that it refuses.
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
