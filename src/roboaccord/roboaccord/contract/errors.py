"""Errors for the user, and output without control characters.

A command prints an `AccordError` as one line, and ends with exit status 2. `check_known` and
`did_you_mean` make errors about unknown names; `need`, `missing` and `missing_behind` make those
about libraries that are not installed, by the pip extras (groups of optional libraries) to which
they belong. `visible` replaces control characters in a text, and `guard`, called once at the start
of a process, in everything that it prints, so that names in a stranger's file cannot control the
terminal (test_control_characters).

EXTRAS must equal the requirements in setup.cfg (test_packaging). CONTROLS may grow, and must not
shrink.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Mapping
from importlib.util import find_spec
from io import TextIOWrapper
from typing import IO, Any

from roboaccord.numerics.machine import SAFE_PATH

# Number of names that a message lists at most: with 12 characters each, four lines of a terminal.
MOST_CHOICES = 24
# By extra, which is a group of optional libraries: pip's requirement for each module.
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "reference": {"joblib": "joblib>=1.5", "numba": "numba>=0.60,<0.69", "scipy": "scipy>=1.11"},
    "report": {"jinja2": "jinja2>=3.1", "matplotlib": "matplotlib>=3.10", "PIL": "pillow>=10",
               "plotly": "plotly>=5.20"},
    "bag": {"mcap": "mcap>=1.2", "rosbags": "rosbags>=0.11.7,<0.12",
            "zstandard": "zstandard>=0.20"},
    "gym": {"gymnasium": "gymnasium>=1.0"},
}  # fmt: skip
DISPENSABLE = ("numba",)  # libraries that are not required: kernels can be interpreted
# Control characters except tab and newline, characters that reorder text, and lone surrogates.
CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class AccordError(Exception):
    """An error for the user: one line that states what is wrong and, where possible, what to do."""


class DivergedError(AccordError):
    """A simulation diverged; the line states when, and at which joint."""


class LockstepError(AccordError):
    """Another process, or a controller, did not answer in time or gave a wrong answer."""


class Terminated(KeyboardInterrupt):
    """SIGTERM was received; it ends the program as Ctrl-C does."""


def check_known(what: str, names: str | Iterable[str], available: Collection[str]) -> None:
    """Refuse the first name that is not among the available ones.

    Args:
        what: begins the message, such as "unknown engine ".
        names: one name or several, to be checked.
        available: all names that exist.

    Raises:
        AccordError: with a hint to a similar name.
    """
    for name in [names] if isinstance(names, str) else names:
        if name not in available:
            raise AccordError(f"{what}{name}{did_you_mean(name, available)}")


def check_switch(name: str, value: object) -> None:
    """Refuse the value of a switch that is neither True nor False."""
    if not isinstance(value, bool):
        raise AccordError(f"{name} is {value}, and must be true or false")


def did_you_mean(word: str, available: Iterable[str]) -> str:
    """Return the end of a message: the word that was meant, or all words available."""
    options = sorted(available)
    spelled_alike = [option for option in options if _normalised(option) == _normalised(word)]
    if close := spelled_alike or difflib.get_close_matches(word, options, n=1):
        return f"; did you mean {close[0]}?"
    others = f" and {len(options) - MOST_CHOICES} more" if len(options) > MOST_CHOICES else ""
    return f"; available: {', '.join(options[:MOST_CHOICES]) or 'none'}{others}"


def _normalised(word: str) -> str:
    """Return a word in lower case, with leading zeros of its numbers removed."""
    return re.sub(r"0+(?=\d)", "", word.lower())


def need(what: str, *extras: str) -> None:
    """Raise an error if libraries of extras are not installed.

    Args:
        what: begins the message, such as "reports need".
        extras: names of the extras.

    Raises:
        AccordError: stating what to install.
    """
    if line := missing(*extras):
        raise AccordError(f"{what} {line}")


def missing(*extras: str) -> str:
    """Return which libraries of extras are missing, and how to install them; "" if none is."""
    requirements = {name: full for extra in extras for name, full in EXTRAS[extra].items()}
    required = [name for name in requirements if name not in DISPENSABLE]
    return _install_line(requirements[name] for name in required if not find_spec(name))


def missing_behind(error: BaseException) -> str:
    """Return a line that names the missing library which caused an error; "" for other errors."""
    name = (getattr(error, "name", None) or "").partition(".")[0]
    requirement = next((modules[name] for modules in EXTRAS.values() if name in modules), "")
    if requirement and isinstance(error, ModuleNotFoundError) and not find_spec(name):
        return f"this needs {_install_line([requirement])}"
    return ""


def _install_line(requirements: Iterable[str]) -> str:
    """Return the names of required libraries, and the pip command that installs them."""
    by_name = {requirement.partition(">")[0]: requirement for requirement in requirements}
    # Pip needs the bounds where there is an upper one.
    pip_arguments = [full if "<" in full else name for name, full in by_name.items()]
    return f"{', '.join(by_name)}: pip install {shlex.join(pip_arguments)}" if by_name else ""


def visible(text: str) -> str:
    """Return text with its control characters escaped as in JSON."""
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class Visible:
    """A text stream that escapes control characters in the written text.

    Args:
        stream: to write to. The attribute has the name by which the library rich, whose styles are
            control characters, finds the stream behind a proxy.
    """

    def __init__(self, stream: IO[str]) -> None:
        self.rich_proxied_file = stream

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the stream itself: all but `write` is as it was."""
        return getattr(self.rich_proxied_file, name)

    def write(self, text: str) -> int:
        """Write text."""
        self.rich_proxied_file.write(visible(text))
        return len(text)


def guard() -> None:
    """Escape control characters in what this process prints, from now on.

    Python processes that it starts, or that libraries start, as glfw does, will not import modules
    from the current folder.
    """
    os.environ[SAFE_PATH] = "1"
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        if stream is not None and not isinstance(stream, Visible):
            setattr(sys, name, Visible(stream))
