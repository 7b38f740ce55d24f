"""The functions that print and draw results, which `roboaccord` sets when it is imported.

A result can print and draw itself (contract/results.py), but the functions for that are in the
packages `cli` and `report`, which `contract` must not import (test_layout). Results therefore call
the functions of `display`, to which __init__.py of the core assigns those of `cli` and `report`. A
new way to show results is a field here and a line there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Display:
    """Functions that show a result.

    `words` returns the sentence of a reason or finding, `text` and `html` the printed result,
    `plot` draws it, and `arrays` returns what is drawn.
    """

    words: Callable[[Any], str] = repr
    text: Callable[[Any], str] = repr
    html: Callable[[Any], str] = repr
    plot: Callable[..., Any] = repr
    arrays: Callable[..., Any] = repr


# The functions in use; `roboaccord` sets them when it is imported.
display = Display()
