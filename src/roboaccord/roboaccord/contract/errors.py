"""Errors that commands turn into one line and exit status 2, and text free of terminal controls.

Kinds of errors may be added, as subclasses of AccordError whose text is one line. A library that
becomes optional must be an entry of EXTRAS and the same requirement in setup.cfg: test_packaging
compares them. DISPENSABLE must list only what the code runs without. MANY may be tuned. CONTROLS
may grow but not shrink: it is what keeps names in files from steering a terminal
(test_control_characters).
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

from roboaccord.numerics.machine import SAFE

MANY = 24  # names at most in a line of choices, which then fills a few lines of a terminal
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "reference": {"joblib": "joblib>=1.5", "numba": "numba>=0.60,<0.69", "scipy": "scipy>=1.11"},
    "report": {"jinja2": "jinja2>=3.1", "matplotlib": "matplotlib>=3.10", "PIL": "pillow>=10",
               "plotly": "plotly>=5.20"},
    "bag": {"mcap": "mcap>=1.2", "rosbags": "rosbags>=0.11.7,<0.12",
            "zstandard": "zstandard>=0.20"},
}  # fmt: skip
"""What pip is asked for, by module; setup.cfg has the same."""
DISPENSABLE = ("numba",)  # kernels are interpreted without it
# Control characters but for tab and newline; those that reorder text; halves of pairs.
CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class AccordError(Exception):
    """State in one line what is wrong and, where that is known, what to do."""


class DivergedError(AccordError):
    """Report the time and the joint at which a simulation left the finite numbers."""


class LockstepError(AccordError):
    """Report a peer that did not answer in time, or answered something else than asked."""


class Terminated(KeyboardInterrupt):
    """End the program because of SIGTERM, as Ctrl-C does."""


def check_known(what: str, names: str | Iterable[str], available: Collection[str]) -> None:
    """Refuse the first of some names that is not among those available.

    Args:
        what: begins the message, such as "unknown engine ".
        names: to be checked, one or several.
        available: what there is.

    Raises:
        AccordError: naming what is like it.
    """
    for name in [names] if isinstance(names, str) else names:
        if name not in available:
            raise AccordError(f"{what}{name}{did_you_mean(name, available)}")


def check_switch(name: str, value: object) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise AccordError(f"{name} is {value}, and must be true or false")


def did_you_mean(word: str, available: Iterable[str]) -> str:
    """Return a hint for a mistyped word, or what there is to choose from."""
    options = sorted(available)
    same = [option for option in options if _plain(option) == _plain(word)]
    if close := same or difflib.get_close_matches(word, options, n=1):
        return f"; did you mean {close[0]}?"
    more = f" and {len(options) - MANY} more" if len(options) > MANY else ""
    return f"; available: {', '.join(options[:MANY]) or 'none'}{more}"


def _plain(word: str) -> str:
    """Return a word in lower case, its numbers without leading zeros."""
    return re.sub(r"0+(?=\d)", "", word.lower())


def need(what: str, *extras: str) -> None:
    """Refuse to go on where libraries of extras are missing.

    Args:
        what: begins the message, such as "reports need".
        extras: their names.

    Raises:
        AccordError: one line that states what to install.
    """
    if line := missing(*extras):
        raise AccordError(f"{what} {line}")


def missing(*extras: str) -> str:
    """Return what is missing of extras, and how to install it; "" for nothing."""
    modules = [module for extra in extras for module in EXTRAS[extra].items()]
    return _line(asked for n, asked in modules if n not in DISPENSABLE and not find_spec(n))


def missing_behind(error: BaseException) -> str:
    """Return in a line which library of an extra is missing behind an error, "" for none."""
    name = (getattr(error, "name", None) or "").partition(".")[0]
    asked = next((modules[name] for modules in EXTRAS.values() if name in modules), "")
    if asked and isinstance(error, ModuleNotFoundError) and not find_spec(name):
        return f"this needs {_line([asked])}"
    return ""


def _line(asked: Iterable[str]) -> str:
    names = {requirement.partition(">")[0]: requirement for requirement in asked}
    words = [full if "<" in full else name for name, full in names.items()]  # an upper bound counts
    return f"{', '.join(names)}: pip install {shlex.join(words)}" if names else ""


def visible(text: str) -> str:
    """Return text whose control characters are escaped as in JSON."""
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class Visible:
    """A stream of text that escapes control characters.

    Args:
        stream: to write to. rich, whose styles consist of such characters, finds it by the name
            that the attribute has here.
    """

    def __init__(self, stream: IO[str]) -> None:
        self.rich_proxied_file = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)

    def write(self, text: str) -> int:
        """Write text."""
        self.rich_proxied_file.write(visible(text))
        return len(text)


def guard() -> None:
    """Escape control characters in what this process prints, and make its children's path safe."""
    os.environ[SAFE] = "1"  # for libraries, too: glfw asks another Python for its version
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        if stream is not None and not isinstance(stream, Visible):
            setattr(sys, name, Visible(stream))
