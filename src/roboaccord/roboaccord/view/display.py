"""The view in the browser as a display of runs."""

from __future__ import annotations

from roboaccord.contract.displays import Display
from roboaccord.view.stage import INSTALL

BROWSER = Display(node="roboaccord_ros.nodes.browser", library="viser", install=INSTALL)
