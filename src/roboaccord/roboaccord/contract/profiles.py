"""Names of engines by profile: `mujoco`, `mujoco (expert)` and, in scenarios, `mujoco (default)`.

EXPERT and DEFAULT are fixed: scenarios and the JSON of a check have them behind an engine's name.
Which of two entries of a scenario counts is decided in `given` (test_profiles). No other module may
be imported here: the command line needs names of engines at once.
"""

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")
EXPERT = " (expert)"
"""Behind the name of an engine that is held to its expert settings."""
DEFAULT = " (default)"
"""Behind the name of an engine in a scenario, for what does not hold for its expert settings."""


def plain(engine: str) -> str:
    """Return the name of an engine without that of its profile."""
    return engine.removesuffix(EXPERT).removesuffix(DEFAULT)


def given(by_engine: Mapping[str, T], engine: str) -> T | None:
    """Return what a scenario has for an engine: in its profile alone, or else in all profiles."""
    profile = engine if engine.endswith(EXPERT) else engine + DEFAULT
    return by_engine.get(profile, by_engine.get(plain(engine)))
