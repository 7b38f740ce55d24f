"""Reference velocities and turn rates of a dribbling carrier over time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from roboaccord.contract.state import Array

# Time [s] to forward and sideways velocity [m/s] and turn rate [rad/s] (3,).
CarrierProgram = Callable[[float], Array]


def slalom(speed: float, turn_rate: float, straight: float, alternate: float) -> CarrierProgram:
    """Return a program: straight ahead, then one turn, or turns to the left and right.

    Args:
        speed: forward [m/s].
        turn_rate: of the turns, the first to the left [rad/s].
        straight: time before the first [s].
        alternate: time of each [s], the first of half that length so that the way goes on in its
            direction; 0 for one that goes on.
    """
    if not all(math.isfinite(value) for value in (speed, turn_rate)):
        raise ValueError("speed and turn_rate must be numbers")
    if not (0 <= straight < math.inf and 0 <= alternate < math.inf):
        raise ValueError("straight and alternate must not be negative")

    def velocity(time: float) -> Array:
        since = time - straight
        if since < 0.0:
            return np.array([speed, 0.0, 0.0])
        turns = math.floor(since / alternate + 0.5) if alternate else 0
        return np.array([speed, 0.0, turn_rate if turns % 2 == 0 else -turn_rate])

    return velocity
