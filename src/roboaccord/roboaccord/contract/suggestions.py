"""Better words for messages: what a user may have meant, and what is to be done next.

`nearest` compares a word with those available in this order: by its parts (`elbow_frozen` is
`frozen_elbow`, `joint1` is `joint_01`, `onestep` is `one_step`), by meaning (words.yaml: `dt` is
`physics_step`), by parts that they share (`mass` is `link_mass`), and by spelling. A word whose
meaning is known is not compared by spelling: `record` is not `recover`. `did_you_mean` makes the
end of a message of it. `translated` replaces words of libraries in a message, and adds the next
step to those that words.yaml lists.

A synonym, a translation or a next step is added to words.yaml, without code (test_mistakes). What
is suggested must be accepted as it stands: callers give the prefix that belongs to it, such as
`controller.`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

# Number of names that a message lists at most: with 12 characters each, two lines of a terminal.
MOST_CHOICES = 12
MOST_NEAR = 3  # suggestions at most
# Similarity below which a word is not taken for another: `rso` is `ros` (0.67), and `help` is not
# `teleop` (0.6).
ALIKE = 0.65
# Characters of a message or word above which it is left as it is: a file can hold any name, and
# comparisons take the square of its length.
LONGEST = 1000


@cache
def _table(name: str) -> Mapping[str, str]:
    """Return a table of words.yaml."""
    import yaml  # imported here: most commands run without a mistake

    text = Path(__file__).with_name("words.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text)[name])


def translated(text: str, table: str = "messages") -> str:
    """Return a message, or a command line, with the replacements of a table of words.yaml."""
    for pattern, replacement in _table(table).items() if len(text) < LONGEST else ():
        text = re.sub(pattern, replacement, text)
    return text


def nearest(word: str, available: Iterable[str]) -> list[str]:
    """Return the available names that a word may stand for; none where nothing is near."""
    options = {option: _parts(option) for option in sorted(available)}
    parts = _parts(word)
    synonyms = {name: words.split() for name, words in _table("synonyms").items()}
    readings = [parts, *(_parts(n) for n, words in synonyms.items() if "".join(parts) in words)]
    is_known = len(readings) > 1
    for i, part in enumerate(parts):  # one part of the word replaced by what it means
        meant = [name for name, words in synonyms.items() if part in words]
        readings += [[*parts[:i], *_parts(name), *parts[i + 1 :]] for name in meant]
    ranks = dict[str, float]()  # of names: 0 for the same, then by number of parts
    for reading in filter(None, readings):
        for option, of_option in options.items():
            if sorted(reading) == sorted(of_option) or "".join(reading) == "".join(of_option):
                ranks[option] = 0.0
            elif {*reading} <= {*of_option}:
                ranks.setdefault(option, len(of_option))
    if not (ranks or is_known) and len(word) < LONGEST:
        ratios = {option: _similarity(option.lower(), word.lower()) for option in options}
        ranks = {option: -ratio for option, ratio in ratios.items() if ratio >= ALIKE}
    return [option for option, rank in ranks.items() if rank == min(ranks.values())]


def did_you_mean(word: str, available: Iterable[str], prefix: str = "", otherwise: str = "") -> str:
    """Return the end of a message: the word that was meant, or all words available.

    Args:
        word: that was typed, without the prefix.
        available: names that are accepted.
        prefix: what a user must type before each of them.
        otherwise: what is said in place of the available words where none is near.
    """
    options = sorted(available)
    if near := [prefix + name for name in nearest(word, options)[:MOST_NEAR]]:
        return f"; did you mean {' or '.join(near)}?"
    return f"; {otherwise or 'available: ' + listed(options)}"


def listed(names: Iterable[str]) -> str:
    """Return names for a message; of many, the first and how many more there are."""
    first, others = [*names][:MOST_CHOICES], [*names][MOST_CHOICES:]
    return ", ".join(first) + (f" and {len(others)} more" if others else "") or "none"


def _parts(word: str) -> list[str]:
    """Return the words and numbers in a name, in lower case, numbers without leading zeros."""
    return [part.lstrip("0") or "0" for part in re.findall(r"[^\W\d_]+|\d+", word.lower())]


def _similarity(*names: str) -> float:
    """Return the similarity of two names, 0 to 1: of the whole, or of what stands last if less."""
    pairs = (names, [re.split(r"[./]", name)[-1] for name in names])
    return min(difflib.SequenceMatcher(None, *pair).ratio() for pair in pairs)
