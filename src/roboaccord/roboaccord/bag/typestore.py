"""Decoder of ROS messages of any type, for messages that no codec of the folder cdr/ reads."""

from __future__ import annotations

from functools import cache
from typing import Any

from rosbags.typesys import Stores, get_typestore


@cache
def typestore() -> Any:
    """Return rosbags' decoder; it is made once, for it compiles code for each type."""
    return get_typestore(Stores.ROS2_JAZZY)
