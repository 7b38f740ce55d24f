"""Rules by which engines make the coefficient of a pair from those of its two surfaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt

RULES: Mapping[str, Callable[[float, float], float]] = {
    "max": max,
    "mean": lambda a, b: 0.5 * (a + b),
    "geometric mean": lambda a, b: sqrt(a * b),
    "harmonic mean": lambda a, b: 2.0 * a * b / (a + b),
    "product": lambda a, b: a * b,
    "min": min,
}


def equal_surfaces(rule: str, pair: float) -> float:
    """Return the coefficient of two equal surfaces whose pair has one that is given."""
    return sqrt(pair) if rule == "product" else pair
