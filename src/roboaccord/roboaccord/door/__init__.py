"""What a command does, as a function: from a robot or a recorded run to a result with its type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.door.arguments import Options as Options
    from roboaccord.door.arguments import Recording as Recording
    from roboaccord.door.arguments import Subject as Subject
    from roboaccord.door.checks import crosscheck as crosscheck
    from roboaccord.door.runs import compare as compare
    from roboaccord.door.runs import read_bag as read_bag
    from roboaccord.door.runs import run as run
    from roboaccord.door.runs import sweep as sweep
    from roboaccord.door.views import view as view

__getattr__, __dir__, __all__ = lazy_names(__name__)
