"""The browser node: the running robot on a page, by the view of the core."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
from rclpy.node import Node
from roboaccord.bag.contact_markers import read_arrows
from roboaccord.cdr import decode_string
from roboaccord.contract.errors import AccordError
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup
from roboaccord.view.live import StateDisplay, open_stage, pose_of
from roboaccord.view.stage import Stage, load_viser

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.latest import LatestState, newest, watch
from roboaccord_ros.graph.parameters import declare
from roboaccord_ros.graph.shell import Run, main_of

PERIOD = 0.04  # s of wall time between pictures


class BrowserShell:
    """Show the newest state on a page that any browser opens; the run never waits for it.

    Without a page nothing is posed, but the path of the centre of mass is kept.

    Args:
        node, run: where it lives.
        robot: name; the scenario comes with `/R/scenario`.
        open_page: whether to open the page in the desktop's browser.
    """

    def __init__(self, node: Node, robot: str, run: Run, *, open_page: bool = False) -> None:
        self._robot, self._open_page = robot, open_page
        self.stage: Stage | None = None
        # Messages are taken from a node that is not spun; a name like this is not listed.
        hidden = {"enable_rosout": False, "start_parameter_services": False}
        self._source = Node(
            "_browser", context=node.context, namespace=node.get_namespace(), **hidden
        )
        graph.subscribe(node, robot, graph.SCENARIO, run.guard(self._on_scenario))
        graph.every(node, PERIOD, run.guard(self.look))

    def _on_scenario(self, data: bytes) -> None:
        if self.stage is not None:
            return
        setup = Setup.of(make_scenario(json.loads(decode_string(data))["scenario"]))
        self._setup, self._shown = setup, setup.initial
        self._latest = LatestState(self._source, setup)
        self._contacts = watch(self._source, self._robot, graph.CONTACTS)
        self._arrows, self._watched = np.empty((0, 2, 3)), False
        self.stage = open_stage(setup)
        clock = self.stage.server.gui.add_text("at", "", disabled=True)
        self._display = StateDisplay(setup, self.stage, clock)
        sys.stdout.write(f"watch at {self.stage.url}\n")
        sys.stdout.flush()
        if self._open_page:
            open_in_desktop(self.stage.url)

    def look(self) -> None:
        """Show the newest state, where somebody has opened the page."""
        if self.stage is None:
            return
        state, watched = self._latest.take(), bool(self.stage.server.get_clients())
        is_new, is_opened = state is not self._shown, watched and not self._watched
        if is_new:
            self._display.note(state)
        if is_opened:
            self.stage.aim(*pose_of(self._setup, state))
        if is_opened or (is_new and watched):
            if found := newest(self._contacts):
                self._arrows = read_arrows([found])[1][-1]
            self._display.show(state, self._arrows)
        self._shown, self._watched = state, watched

    def close(self) -> None:
        """Serve no more."""
        if self.stage is not None:
            self.stage.close()
        self._source.destroy_node()


def open_in_desktop(url: str) -> None:
    """Open an address in the desktop's browser, if there is one.

    One that needs a terminal has none, and ends.
    """
    subprocess.Popen(
        [sys.executable, "-m", "webbrowser", url],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def build(node: Node, run: Run) -> BrowserShell:
    """Make the view that the parameters of a node ask for."""
    values = declare(node, "robot", "open_page")
    if not values["robot"]:
        raise AccordError("parameter robot is missing: -p robot:=NAME")
    load_viser()
    return BrowserShell(node, values["robot"], run, open_page=values["open_page"])


def main() -> None:
    """Run the browser node."""
    main_of("browser", build)


if __name__ == "__main__":
    main()
