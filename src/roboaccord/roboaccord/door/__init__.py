"""What a command does, as a function: from a robot or a recorded run to a result with its type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.door.arguments import Options as Options
    from roboaccord.door.arguments import Recording as Recording
    from roboaccord.door.arguments import Settings as Settings
    from roboaccord.door.arguments import Subject as Subject
    from roboaccord.door.arguments import bag_of as bag_of
    from roboaccord.door.arguments import setup_of as setup_of
    from roboaccord.door.arguments import subject_mode as subject_mode
    from roboaccord.door.checks import crosscheck as crosscheck
    from roboaccord.door.reading import parity as parity
    from roboaccord.door.runs import compare as compare
    from roboaccord.door.runs import read_bag as read_bag
    from roboaccord.door.runs import run as run
    from roboaccord.door.runs import sweep as sweep

__getattr__, __dir__, __all__ = lazy_names(__name__)
