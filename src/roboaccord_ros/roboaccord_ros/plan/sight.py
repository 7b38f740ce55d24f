"""Decides on the windows of a launch (Gazebo's, RViz, Foxglove or another display).

Without a screen, or with `headless:=true`, no window is shown. Another display, such as the browser
view, is started if neither Gazebo's window nor RViz is shown. The line that users read says where
to look.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from importlib.util import find_spec

from roboaccord.contract import AccordError, plugins

from roboaccord_ros.gazebo.prepare import is_installed
from roboaccord_ros.plan.request import Request, displays_of_launches
from roboaccord_ros.plan.simulator import GAZEBO

BROWSER, PAGE = "browser", "the browser view"  # name and words of the display of `view:=true`


@dataclass(frozen=True)
class Sight:
    """The windows of a launch.

    Args:
        gazebo, rviz, foxglove: whether each is shown.
        screen: whether windows can be shown at all.
        view: module of another display's node, or "".
        stays: whether that display stays after the run.
        lacks: why there is no other display although there should be one, or "".
    """

    gazebo: bool
    rviz: bool
    foxglove: bool
    screen: bool = False
    view: str = ""
    stays: bool = False
    lacks: str = ""

    @classmethod
    def of(cls, request: Request, sim: str) -> Sight:
        """Return the windows by the arguments, the display and the packages that are installed.

        Raises:
            AccordError: for a window that is asked for and cannot be shown.
        """
        display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
        screen = display and not request.on("headless")
        gazebo = sim == GAZEBO and screen
        has_rviz = is_installed("rviz2")
        rviz = request.on("rviz", screen and has_rviz and not gazebo)
        foxglove = request.on("foxglove")
        if rviz and not (has_rviz and display):
            need = "a display: DISPLAY is not set" if has_rviz else "the package rviz2"
            raise AccordError(f"rviz:=true needs {need}")
        if foxglove and not is_installed("foxglove_bridge"):
            raise AccordError("foxglove:=true needs the package foxglove_bridge")
        sight = cls(gazebo, rviz, foxglove, screen)
        if not request.on("view", not (request.on("headless") or gazebo or rviz)):
            return sight
        is_asked, displays = request["view"] != "auto", displays_of_launches()
        name = request["view"] if request["view"] in displays else BROWSER
        lacks = plugins.lacking("displays", f"{name}.node", PAGE)
        if name == BROWSER and not find_spec("viser"):
            lacks = lacks or f"{PAGE} needs viser; run: pip install viser"
        if lacks and is_asked:
            raise AccordError(lacks)
        if lacks or name not in displays:
            return replace(sight, lacks=lacks)
        return replace(sight, view=displays[name], stays=screen or is_asked)

    @property
    def anybody(self) -> bool:
        """Whether somebody can look at the run."""
        return bool(self.gazebo or self.rviz or self.foxglove or self.view)

    def where(self, bag: str) -> str:
        """Return where the run can be seen, in words."""
        shown = {
            "Gazebo's window": self.gazebo,
            "RViz": self.rviz,
            "the browser, at the address below": bool(self.view),
            "Foxglove at ws://localhost:8765": self.foxglove,
            f"accord view {bag}": bool(bag),
        }
        return ", ".join(window for window, is_shown in shown.items() if is_shown)

    def where_reference(self, bag: str) -> str:
        """Return where the reference can be seen as a second robot, in words."""
        return f"reference: {'there, too' if self.where(bag) else 'by view:=true'}"
