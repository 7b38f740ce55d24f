"""Options that take any number of numbers, negative ones too: `--q 0 1.2 -0.5`.

A command line would take `-0.5` for an option. The decorator `gathers` therefore makes a command
join the numbers behind such an option into one word before Typer reads them (`join_numbers`), and
`numbers` splits that word again. A number is at most LARGEST, as in scenarios.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from roboaccord.cli.flags import PlainCommand
from roboaccord.cli.options import P, R, marked
from roboaccord.contract.errors import AccordError
from roboaccord.scenario.files import LARGEST as LARGEST

if TYPE_CHECKING:
    from typer._click import Context


def gathers(*options: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for the function of a command whose `options` take many numbers."""

    class NumberJoiningCommand(PlainCommand):
        """A command that joins the numbers behind its options into one word."""

        def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
            """Parse the words of the command line, after numbers were joined."""
            return super().parse_args(ctx, join_numbers(args, options))

    return marked("command_class", NumberJoiningCommand)


def join_numbers(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return the words of a command line; numbers behind each of `options` are one word."""
    result: list[str] = []
    for word in words:
        is_further = len(result) > 1 and result[-2] in options and result[-1] not in options
        if is_further and _is_number(word):
            result[-1] += f" {word}"
        else:
            result.append(word)
    return result


def numbers(words: str, option: str) -> list[float]:
    """Return the numbers in the word that `join_numbers` made.

    Raises:
        AccordError: for a word that is not a number, or where there is none.
    """
    if not words.split():
        raise AccordError(f"{option} takes numbers")
    for word in words.split():
        if math.isnan(quantity(word)):
            raise AccordError(f"{option}: {word!r} is not a number up to {LARGEST:g}")
    return [float(word) for word in words.split()]


def quantity(word: str) -> float:
    """Return a word as a number; NaN where it is not one, or its size is above LARGEST."""
    return float(word) if _is_number(word) and abs(float(word)) <= LARGEST else math.nan


def _is_number(word: str) -> bool:
    """Return whether a word can be read as a number, negative, infinite or NaN."""
    try:
        float(word)
    except ValueError:
        return False
    return True
