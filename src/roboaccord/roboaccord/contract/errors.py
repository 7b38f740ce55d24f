"""The one family of errors that the command line turns into one line and exit status 2."""

from __future__ import annotations

import difflib
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


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint for a mistyped word, or what there is to choose from."""
    options = sorted(known)
    close = difflib.get_close_matches(word, options, n=1)
    if close:
        return f"; did you mean {close[0]}?"
    more = f" and {len(options) - MANY} more" if len(options) > MANY else ""
    return f"; there is {', '.join(options[:MANY]) or 'none'}{more}"


def check_known(word: str, known: Collection[str], what: str) -> None:
    """Refuse a word that is none of those known.

    Args:
        word: to look for.
        known: what there is.
        what: what stands before the word in the message, such as "unknown joint ".

    Raises:
        AccordError: with a hint at what may have been meant.
    """
    if word not in known:
        raise AccordError(f"{what}{word}{did_you_mean(word, known)}")
