"""What shows results: functions that stand above them, which the top sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Display:
    """Hold what prints a result as text and in HTML, and what draws it."""

    text: Callable[[Any], str] = repr
    html: Callable[[Any], str] = repr
    plot: Callable[..., Any] = repr


display = Display()
"""Set by `roboaccord` as it is imported."""
