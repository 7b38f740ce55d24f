"""Names of engines with their profile: `mujoco`, `mujoco (expert)` or `mujoco (default)`.

A profile is the set of settings with which an engine runs: the project's default ones, or those
that an expert for the engine would choose. A name without suffix is that of an engine with its
default settings; in scenarios it stands for all profiles, and `(default)` for those settings alone.
The suffixes stay, because they are in scenarios and in the JSON of a check. Import no other module
here, because the command line needs the names of engines quickly (test_profiles).
"""

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")
EXPERT = " (expert)"  # suffix to the name of an engine that runs with its expert settings
# Suffix to a name in a scenario, for an entry that does not apply to expert settings.
DEFAULT = " (default)"


def without_profile(engine: str) -> str:
    """Return the name of an engine without the suffix of its profile."""
    return engine.removesuffix(EXPERT).removesuffix(DEFAULT)


def entry_of(by_engine: Mapping[str, T], engine: str) -> T | None:
    """Return a scenario's entry for an engine: that of its profile, or else that of all profiles.

    None if there is neither.
    """
    profile = engine if engine.endswith(EXPERT) else engine + DEFAULT
    return by_engine.get(profile, by_engine.get(without_profile(engine)))
