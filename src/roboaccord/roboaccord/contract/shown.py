"""Text as it may be shown: names from files and options cannot steer a terminal."""

from __future__ import annotations

import re
import sys
from typing import IO, Any

# Control characters but for tab and newline; those that reorder text; halves of pairs.
CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    """Return text with control characters as escapes, which are those of JSON, too."""
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class Visible:
    """A stream that takes text, and writes it with control characters as escapes.

    Args:
        stream: to write to; rich, whose styles hold such characters, finds it by its name here.
    """

    def __init__(self, stream: IO[str]) -> None:
        self.rich_proxied_file = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)

    def write(self, text: str) -> int:
        """Write text."""
        self.rich_proxied_file.write(visible(text))
        return len(text)


def guard() -> None:
    """Let whatever this process prints from now on pass through `visible`."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, Visible):
            setattr(sys, name, Visible(stream))
