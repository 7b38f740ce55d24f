"""Decides on the windows of a launch (Gazebo's, RViz, Foxglove or another display).

plan.py calls `Windows.of` with the arguments of the launch and the simulator that was chosen.
Without a screen, or with `headless:=true`, no window is shown. Another display, such as the browser
view, is started if neither Gazebo's window nor RViz is shown. `places` names them for the line that
users read.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from importlib.util import find_spec

from roboaccord.contract import AccordError, plugins

from roboaccord_ros.gazebo.prepare import is_installed
from roboaccord_ros.plan.request import Request, displays_of_launches
from roboaccord_ros.plan.simulator import GAZEBO

# Name of the display of `view:=true`, and how messages call it.
BROWSER, PAGE = "browser", "the browser view"


@dataclass(frozen=True)
class Windows:
    """The windows of a launch.

    Args:
        gazebo, rviz, foxglove: whether each is shown.
        has_screen: whether windows can be shown at all.
        view: module of another display's node, or "".
        view_stays: whether that display stays after the run.
        missing_display: why there is no other display although there should be one, or "".
    """

    gazebo: bool
    rviz: bool
    foxglove: bool
    has_screen: bool = False
    view: str = ""
    view_stays: bool = False
    missing_display: str = ""

    @classmethod
    def of(cls, request: Request, sim: str) -> Windows:
        """Return the windows by the arguments, the display and the packages that are installed.

        Raises:
            AccordError: for a window that is asked for and cannot be shown.
        """
        has_display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
        has_screen = has_display and not request.is_on("headless")
        # The second argument of `is_on` is what the value "auto" stands for.
        gazebo = sim == GAZEBO and has_screen
        has_rviz = is_installed("rviz2")
        rviz = request.is_on("rviz", has_screen and has_rviz and not gazebo)
        if rviz and not (has_rviz and has_display):
            need = "a display: DISPLAY is not set" if has_rviz else "the package rviz2"
            raise AccordError(f"rviz:=true needs {need}")
        foxglove = request.is_on("foxglove")
        if foxglove and not is_installed("foxglove_bridge"):
            raise AccordError("foxglove:=true needs the package foxglove_bridge")
        windows = cls(gazebo, rviz, foxglove, has_screen)
        if request.is_on("view", not (request.is_on("headless") or gazebo or rviz)):
            return windows._with_view(request["view"])
        return windows

    def _with_view(self, view: str) -> Windows:
        """Return these windows with another display, by the value of the argument `view`.

        Raises:
            AccordError: for a display that is asked for and not installed.
        """
        is_asked = view != "auto"
        displays = displays_of_launches()
        name = view if view in displays else BROWSER  # for "auto" and "true"
        # Why the display cannot be started: its package, or a library of it, is not installed.
        missing = plugins.lacking("displays", f"{name}.node", PAGE)
        if name == BROWSER and not find_spec("viser"):
            missing = missing or f"{PAGE} needs viser; run: pip install viser"
        if missing and is_asked:
            raise AccordError(missing)
        if missing or name not in displays:
            return replace(self, missing_display=missing)
        return replace(self, view=displays[name], view_stays=self.has_screen or is_asked)

    def places(self, bag: str) -> str:
        """Return where the run can be seen, in words."""
        shown = {
            "Gazebo's window": self.gazebo,
            "RViz": self.rviz,
            "the browser, at the address below": bool(self.view),
            "Foxglove at ws://localhost:8765": self.foxglove,
            f"accord view {bag}": bool(bag),
        }
        return ", ".join(window for window, is_shown in shown.items() if is_shown)
