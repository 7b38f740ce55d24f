"""Rule for left and right: links whose names are mirror images of each other weigh the same.

`left_hand` and `right_hand`, or `fl_hip` and `fr_hip`, are such pairs. A finding names a pair whose
masses or moments of inertia differ. OFF and TENSORS are tuned on public files; docs/rules.md has
the rates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from roboaccord.description.broken import Found
from roboaccord.description.source import label

from roboaccord_files.rules.bodies import Solid

# Relative; larger differences of masses, and of moments, are found. Of 529 public files 20 have
# such a pair, 16 of them faults.
OFF, TENSORS = 0.02, 0.1
PAIRS = 2  # pairs that a robot must have: in a single one l and r may be names of axes
# Words of one side, with those of the other: left, l; front left, rear left, hind left, back left.
SIDES = {"left": "right", "l": "r", "fl": "fr", "rl": "rr", "hl": "hr", "bl": "br",
         "lf": "rf", "lh": "rh", "lb": "rb", "lr": "rr"}  # fmt: skip
SIDES |= {right: left for left, right in SIDES.items() if left not in ("lr", "rl")}
WORDS = re.compile(r"left|right", re.IGNORECASE)
LETTERS = re.compile(
    r"(?<![a-zA-Z])[a-zA-Z]{1,2}(?![a-zA-Z0-9])|(?:(?<=left)|(?<=right))[LR](?![a-z])"
)


def mirrored(links: Sequence[Solid]) -> Found:
    """Yield links whose mass or moments differ from those of their partner on the other side."""
    by_name = {body.link.get("name", ""): body for body in links}
    pairs = {frozenset((name, other_side(name))) for name in by_name}
    pairs = {pair for pair in pairs if len(pair) == 2 and pair <= by_name.keys()}
    if len(pairs) < PAIRS:
        return
    for first, second in sorted(map(sorted, pairs)):
        one, other = by_name[first], by_name[second]
        difference = _moments_difference(one, other)
        if abs(one.mass - other.mass) > OFF * max(one.mass, other.mass):
            message = f"{label(other.link)}: {other.mass:g} kg, {first} {one.mass:g} kg"
            cure = "write the same mass, if they are alike"
        elif difference > TENSORS:
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
        word = match[0]
        other = SIDES.get(word.lower(), word)
        return other.upper() if word.isupper() else other.title() if word.istitle() else other

    return LETTERS.sub(swapped, WORDS.sub(swapped, name))
