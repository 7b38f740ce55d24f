"""Where results find the functions that print and draw them, set by `roboaccord` at import.

`Display` is where `print(result)`, a notebook and `plot()` find their printers, and a finding its
words: __init__.py of the core sets all four, contract/results.py calls them. A way to show results
may be added: a field here and a line there. No printer must be imported here: `contract` stands
below `cli` and `report` (test_layout).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Display:
    """Functions that print a result as text and HTML, draw it, and put a finding into words."""

    words: Callable[[Any], str] = repr
    text: Callable[[Any], str] = repr
    html: Callable[[Any], str] = repr
    plot: Callable[..., Any] = repr


display = Display()
"""Set by `roboaccord` as it is imported."""
