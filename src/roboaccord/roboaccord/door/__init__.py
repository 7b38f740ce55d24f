"""What a command does, as a function: from a robot or a recorded run to a result with its type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.door.arguments import Options, Recording, Subject
    from roboaccord.door.checks import crosscheck
    from roboaccord.door.reading import parity
    from roboaccord.door.recordings import compare, read_bag
    from roboaccord.door.runs import run, sweep
    from roboaccord.door.views import view

__getattr__, __dir__, _ = lazy_names(__name__, {
    "arguments": ("Options", "Recording", "Subject"),
    "checks": ("crosscheck",),
    "reading": ("parity",),
    "recordings": ("compare", "read_bag"),
    "runs": ("run", "sweep"),
    "views": ("view",),
})  # fmt: skip

__all__ = [
    "Options",
    "Recording",
    "Subject",
    "compare",
    "crosscheck",
    "parity",
    "read_bag",
    "run",
    "sweep",
    "view",
]
