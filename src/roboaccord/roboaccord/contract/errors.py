"""Errors for the user, and output without control characters.

A command prints an `AccordError` as one line, and ends with exit status 2. `check_known` and
`did_you_mean` (suggestions.py) make errors about unknown names; `need`, `missing` and
`missing_behind` make those about libraries that are not installed, by the pip extras (groups of
optional libraries) to which they belong. `visible` replaces control characters in a text, and
`guard`, called once at the start of a process, in everything that it prints, so that names in a
stranger's file cannot control the terminal (test_control_characters). It also wraps long lines on
stderr (`wrapped`).

EXTRAS must equal the requirements in setup.cfg (test_packaging). CONTROLS may grow, and must not
shrink.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import textwrap
from collections.abc import Collection, Iterable, Mapping
from importlib.util import find_spec
from io import TextIOWrapper
from typing import IO, Any

from roboaccord.contract.suggestions import did_you_mean as did_you_mean
from roboaccord.contract.suggestions import listed as listed
from roboaccord.contract.suggestions import nearest as nearest
from roboaccord.contract.suggestions import translated as translated
from roboaccord.numerics.machine import SAFE_PATH

# By extra, which is a group of optional libraries: pip's requirement for each module.
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "reference": {"joblib": "joblib>=1.5", "numba": "numba>=0.60,<0.69", "scipy": "scipy>=1.11"},
    "report": {"jinja2": "jinja2>=3.1", "matplotlib": "matplotlib>=3.10", "PIL": "pillow>=10",
               "plotly": "plotly>=5.20"},
    "bag": {"mcap": "mcap>=1.2", "rosbags": "rosbags>=0.11.7,<0.12",
            "zstandard": "zstandard>=0.20"},
    "gym": {"gymnasium": "gymnasium>=1.0"},
}  # fmt: skip
# Columns of a line on stderr at most, but for a path that is longer; COLUMNS of the environment in
# place of it for programs that read single lines.
WIDTH, COLUMNS = 100, "ROBOACCORD_COLUMNS"
DISPENSABLE = ("numba",)  # libraries that are not required: kernels can be interpreted
# Control characters except tab and newline, characters that reorder text, and lone surrogates.
CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class AccordError(Exception):
    """An error for the user: one line that states what is wrong and, where possible, what to do."""

    def __str__(self) -> str:
        """Return the line in words of this project, with the next step."""
        return translated(super().__str__())


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
            prefix = what.rpartition(" ")[2]  # such as "initial.q.", which must be typed as well
            raise AccordError(f"{what}{name}{did_you_mean(str(name), available, prefix)}")


def check_switch(name: str, value: object) -> None:
    """Refuse the value of a switch that is neither True nor False."""
    if not isinstance(value, bool):
        raise AccordError(f"{name} is {value}, and must be true or false")


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


def wrapped(text: str) -> str:
    """Return text with long lines wrapped at WIDTH columns, further ones indented."""
    asked = os.environ.get(COLUMNS, "")
    width = int(asked) if asked.isdecimal() and int(asked) else WIDTH
    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    wrapper.subsequent_indent = "  "
    return re.sub(f".{{{width + 1},}}", lambda line: wrapper.fill(line[0]), text)


def visible(text: str) -> str:
    """Return text with its control characters escaped as in JSON."""
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class Visible:
    """A text stream that escapes control characters in the written text.

    Args:
        stream: to write to. The attribute has the name by which the library rich, whose styles are
            control characters, finds the stream behind a proxy.
        wraps: whether long lines are wrapped.
    """

    def __init__(self, stream: IO[str], *, wraps: bool = False) -> None:
        self.rich_proxied_file, self._wraps = stream, wraps

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the stream itself: all but `write` is as it was."""
        return getattr(self.rich_proxied_file, name)

    def write(self, text: str) -> int:
        """Write text."""
        shown = visible(text)
        self.rich_proxied_file.write(wrapped(shown) if self._wraps else shown)
        return len(text)


def guard() -> None:
    """Escape control characters in what this process prints, and wrap stderr, from now on.

    Python processes that it starts, or that libraries start, as glfw does, will not import modules
    from the current folder.
    """
    os.environ[SAFE_PATH] = "1"
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        if stream is not None and not isinstance(stream, Visible):
            setattr(sys, name, Visible(stream, wraps=name == "stderr"))
