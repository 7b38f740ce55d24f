"""Real-time factors of the last runs in Gazebo on this machine, in the user's cache folder.

A launch uses them to refuse Gazebo where it is too slow to drive in (SLOW in plan/simulator.py). A
run at a pace has at most that factor, so it shows by how much the machine falls short. A quantity
on which speed depends is added to `_key`. The form of the file may be changed: one that is older or
damaged counts as none.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path

from roboaccord.contract import AccordError, Json
from roboaccord.gazebo import cache, contact_shapes
from roboaccord.run import make_folder, write_text
from roboaccord.scenario import Setup

NO_CACHE = (AccordError, OSError, ValueError, RuntimeError)  # no file, not ours, no home


def last_factor(setup: Setup, *, contacts: str, lockstep: bool) -> float | None:
    """Return simulated over wall time of the last such run, None if unknown."""
    factor = _read().get(_key(setup, contacts, lockstep))
    return factor if isinstance(factor, float) and 0.0 < factor < math.inf else None


def keep_factor(setup: Setup, factor: float, *, contacts: str, lockstep: bool) -> None:
    """Store the factor of a run, if the cache folder can be written."""
    factors = {**_read(), _key(setup, contacts, lockstep): float(factor)}
    with suppress(*NO_CACHE):
        file = _file()
        make_folder(file.parent)
        write_text(file, json.dumps(factors, indent=1))


def _key(setup: Setup, contacts: str, lockstep: bool) -> str:
    """Return the name of runs that are as fast as each other."""
    shapes = contact_shapes(setup, contacts).values()
    mode = "lockstep" if lockstep else "free"
    return " ".join([setup.robot.name, setup.scenario.name, *shapes, mode])


def _file() -> Path:
    """Return the file of the factors."""
    return cache("gazebo") / "real_time_factors.json"


def _read() -> dict[str, Json]:
    """Return the factors by their keys, none if the file cannot be read."""
    with suppress(*NO_CACHE):
        data = json.loads(_file().read_text(encoding="utf-8"))
        return data if isinstance(data, dict) else {}
    return {}
