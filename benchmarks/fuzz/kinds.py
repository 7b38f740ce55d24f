"""Kinds of cases, and how often each is drawn."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from random import Random

import files
import messages
import modes
import surroundings
from cases import MAKERS as FILES_AND_OPTIONS
from cases import WEIGHTS as OF_FILES_AND_OPTIONS
from cases import Case

MAKERS = FILES_AND_OPTIONS | {
    "mjcf": files.mjcf,
    "log": files.log,
    "named": surroundings.named,
    "current": surroundings.current,
    "mode": modes.mode,
}
if find_spec("rclpy"):
    MAKERS["messages"] = messages.messages
# The same weight for each kind, about that of usual files.
WEIGHTS = OF_FILES_AND_OPTIONS | {
    "mjcf": 5, "log": 5, "named": 5, "current": 5, "mode": 5, "messages": 5,
}  # fmt: skip


def make_case(seed: str, seeds: Path) -> Case:
    """Make a case and its files in the present folder; the same seed gives the same case."""
    rng = Random(seed)
    names = list(MAKERS)
    return MAKERS[rng.choices(names, [WEIGHTS.get(name, 1) for name in names])[0]](rng, seeds)
