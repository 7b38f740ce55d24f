"""What shows a run while it goes on: the objects that entry points of the group `displays` name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec


@dataclass(frozen=True, kw_only=True)
class Display:
    """Hold how a display is started.

    Args:
        node: module that runs as a ROS node by `python -m`: what `view:=NAME` of a launch starts.
        library: that it needs.
        install: the line for where that is missing.
    """

    node: str
    library: str
    install: str

    @property
    def missing(self) -> str:
        """What to install first, in one line; "" where nothing is."""
        return "" if find_spec(self.library) else self.install
