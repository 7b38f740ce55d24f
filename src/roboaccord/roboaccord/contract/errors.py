"""The one family of errors that the command line turns into one line and exit status 2."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable

MANY = 24  # names that a line of choices has at most


class AccordError(Exception):
    """Tell the user in one line what is wrong and, where it can be said, what to do."""


class DivergedError(AccordError):
    """Report the time and the joint at which a simulation left the finite numbers."""


class LockstepError(AccordError):
    """Report a peer that did not answer in time, or answered something else than asked."""


class Terminated(KeyboardInterrupt):
    """End the program because of SIGTERM, in the same way as Ctrl-C does."""


def check_known(what: str, names: str | Iterable[str], known: Collection[str]) -> None:
    """Refuse the first of some names that is not known.

    Args:
        what: begins the message, "unknown engine " say.
        names: to be checked, one or several.
        known: what there is.

    Raises:
        AccordError: naming what is like it.
    """
    for name in [names] if isinstance(names, str) else names:
        if name not in known:
            raise AccordError(f"{what}{name}{did_you_mean(name, known)}")


def check_switch(name: str, value: object) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise AccordError(f"{name} is {value}, and must be true or false")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint for a mistyped word, or what there is to choose from."""
    options = sorted(known)
    same = [each for each in options if _plain(each) == _plain(word)]
    close = same or difflib.get_close_matches(word, options, n=1)
    if close:
        return f"; did you mean {close[0]}?"
    more = f" and {len(options) - MANY} more" if len(options) > MANY else ""
    return f"; there is {', '.join(options[:MANY]) or 'none'}{more}"


def _plain(word: str) -> str:
    """Return a word in small letters, its numbers without leading zeros."""
    return re.sub(r"0+(?=\d)", "", word.lower())
