"""Rules by which engines make the coefficient of a pair from those of its two surfaces."""

from collections.abc import Callable, Mapping
from itertools import permutations
from math import sqrt
from typing import Any

RULES: Mapping[str, Callable[[float, float], float]] = {
    "max": max,
    "mean": lambda a, b: 0.5 * (a + b),
    "geometric mean": lambda a, b: sqrt(a * b),
    "harmonic mean": lambda a, b: 2.0 * a * b / (a + b),
    "product": lambda a, b: a * b,
    "min": min,
}


def named_ratios(a: float, b: float) -> dict[str, float]:
    """Return what the rules give over the mean; those that give the same have one name."""
    names = dict[float, list[str]]()
    for name, rule in RULES.items():
        names.setdefault(round(rule(a, b), 9), []).append(name)
    return {", ".join(rules): pair / RULES["mean"](a, b) for pair, rules in names.items()}


def equal_surfaces(rule: str, pair: float) -> float:
    """Return the coefficient of two equal surfaces whose pair has one that is given."""
    return sqrt(pair) if rule == "product" else pair


def tries(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what should make engines equal whose rules differ, from the results of one case.

    Of an engine's settings the last counts whose rule is found beyond doubt.

    Returns:
        rows, each with `engine` and `setting`, the engine that it should be `like`, whose
        coefficient is `wanted`, the coefficient that it needs of each `surface` for that, and the
        relative error `before`, with the surfaces of the case.
    """
    rows, exact, surfaces = [], entry["exact"], entry["case"].values()
    results = {each["engine"]: each for each in entry["results"] if each["law"] in RULES}
    for like, other in permutations(results.values(), 2):
        if like["law"] != other["law"]:
            wanted, found = (exact * (1.0 + each["error"][-1]) for each in (like, other))
            surface = equal_surfaces(other["law"], RULES[like["law"]](*surfaces))
            row = {"engine": other["engine"], "setting": other["setting"], "like": like["engine"]}
            row |= {"wanted": wanted, "surface": surface, "before": found / wanted - 1.0}
            rows.append(row)
    return rows
