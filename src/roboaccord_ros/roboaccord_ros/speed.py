"""Real-time factors (simulated over wall time) of past runs in Gazebo on this machine.

They are stored in the user's cache folder. A launch reads them, and refuses Gazebo for a robot that
a person drives if it was too slow (SLOW in plan/simulator.py). A run at a given pace has at most
that factor, so its factor shows by how much the machine falls short. A quantity on which speed
depends is added to `_key`. The form of the file may be changed: an old or damaged file counts as
empty.
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

# Errors without a usable file of factors: there is none, it has another form, or no home folder.
NO_CACHE = (AccordError, OSError, ValueError, RuntimeError)


def last_factor(setup: Setup, *, contacts: str, lockstep: bool) -> float | None:
    """Return the real-time factor of the last such run, or None if there was none."""
    factor = _read().get(_key(setup, contacts, lockstep))
    return factor if isinstance(factor, float) and 0.0 < factor < math.inf else None


def store_factor(setup: Setup, factor: float, *, contacts: str, lockstep: bool) -> None:
    """Store the factor of a run, if the cache folder can be written."""
    factors = {**_read(), _key(setup, contacts, lockstep): float(factor)}
    with suppress(*NO_CACHE):
        file = _file()
        make_folder(file.parent)
        write_text(file, json.dumps(factors, indent=1))


def _key(setup: Setup, contacts: str, lockstep: bool) -> str:
    """Return the key of a run; runs with the same key should be equally fast."""
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
