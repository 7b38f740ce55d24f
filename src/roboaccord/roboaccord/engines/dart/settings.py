"""Settings of DART: the keys below `engine_options.dart`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class DartSettings:
    """Hold the direction in the world along which DART's z axis lies.

    DART's friction is a box along its own axes.
    """

    z_axis: Sequence[float] = (0.0, 0.0, 1.0)
