"""Rule for left and right: links whose names are mirror images of each other weigh the same.

`left_hand` and `right_hand`, or `fl_hip` and `fr_hip`, are such pairs. `mirrored` takes the links
with known masses and shapes (bodies.py) and yields a finding for each pair whose masses or moments
of inertia differ; plausible.py calls it. MASS_ERROR and MOMENT_ERROR are tuned on public files;
docs/rules.md has the rates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from roboaccord.description.broken import Found
from roboaccord.description.source import label

from roboaccord_files.rules.bodies import Solid

# Relative; larger differences of masses, and of moments of inertia, are found. Of 529 public files
# 20 have such a pair, 16 of them faults.
MASS_ERROR, MOMENT_ERROR = 0.02, 0.1
# Smallest number of pairs of a robot that is judged: in a single pair l and r may be names of axes.
MIN_PAIRS = 2
# Words of the left side and of the right: left, l; front, rear, hind or back left; and reversed.
_WORDS_OF_SIDES = "left-right l-r fl-fr rl-rr hl-hr bl-br lf-rf lh-rh lb-rb lr-rr"
SIDES = dict(pair.split("-") for pair in _WORDS_OF_SIDES.split())
SIDES |= {right: left for left, right in SIDES.items() if left not in ("lr", "rl")}
# A word in full within a name, and one or two letters that stand alone in it.
WORDS = re.compile(r"left|right", re.IGNORECASE)
LETTERS = re.compile(
    r"(?<![a-zA-Z])[a-zA-Z]{1,2}(?![a-zA-Z0-9])|(?:(?<=left)|(?<=right))[LR](?![a-z])"
)


def mirrored(links: Sequence[Solid]) -> Found:
    """Yield links whose mass or moments differ from those of their partner on the other side."""
    by_name = {body.link.get("name", ""): body for body in links}
    pairs = {frozenset((name, other_side(name))) for name in by_name}
    pairs = {pair for pair in pairs if len(pair) == 2 and pair <= by_name.keys()}
    if len(pairs) < MIN_PAIRS:
        return
    for first, second in sorted(map(sorted, pairs)):
        one, other = by_name[first], by_name[second]
        difference = _moments_difference(one, other)
        if abs(one.mass - other.mass) > MASS_ERROR * max(one.mass, other.mass):
            message = f"{label(other.link)}: {other.mass:g} kg, {first} {one.mass:g} kg"
            cure = "write the same mass, if they are alike"
        elif difference > MOMENT_ERROR:
            message = f"{label(other.link)}: moments of inertia {difference:.0%} other than {first}"
            cure = "write the same moments, products mirrored"
        else:
            continue
        yield "mirrored-mass", other.inertial, message, cure


def _moments_difference(one: Solid, other: Solid) -> float:
    """Return the largest difference of principal moments, relative to the largest moment."""
    moments = np.linalg.eigvalsh([one.inertia, other.inertia])
    return float(np.abs(moments[0] - moments[1]).max() / (np.abs(moments).max() or 1.0))


def other_side(name: str) -> str:
    """Return the name of a link's partner on the other side, or its own name if it has none."""

    def swapped(match: re.Match[str]) -> str:
        """Return the word of the other side, in capitals as the one that is found."""
        word = match[0]
        other = SIDES.get(word.lower(), word)
        in_capitals = {word.title(): other.title(), word.upper(): other.upper()}
        return in_capitals.get(word, other)

    return LETTERS.sub(swapped, WORDS.sub(swapped, name))
