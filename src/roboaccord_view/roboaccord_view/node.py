"""The browser node: a running robot on a page, in a launch.

Messages are taken from a node that is not spun, so the run never waits for the page. `look`, called
every PERIOD, shows the newest state.

`ros2 launch` finds the node by the entry point `browser.node` of `roboaccord.displays` and passes
the parameters that `build` declares; roboaccord_ros must pass a further one.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import Self

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from roboaccord.bag import REFERENCE, Look, decode_looks, read_arrows
from roboaccord.numerics import python
from roboaccord.scenario import Setup
from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.inlet import LatestState, newest, taken, watch
from roboaccord_ros.graph.parameters import declare, setup_of
from roboaccord_ros.graph.reading import itself, readable
from roboaccord_ros.graph.shell import Shell
from roboaccord_ros.graph.spinning import Run

from roboaccord_view.figure import Figure
from roboaccord_view.live import StateDisplay, open_stage, pose_of
from roboaccord_view.stage import Stage

PERIOD = 0.05  # between pictures [s of wall time]


class SecondDisplay:
    """The reference as a second robot on a stage, once its states come.

    Args:
        node: is not spun.
        setup: robot and scenario.
        stage: with the robot.
    """

    def __init__(self, node: Node, setup: Setup, stage: Stage) -> None:
        self._setup, self._stage = setup, stage
        self._latest = LatestState(node, setup, f"{REFERENCE}/")
        self._statuses = node.create_subscription(
            DiagnosticArray, graph.DIAGNOSTICS, print, graph.LIVE, raw=True
        )
        decode = partial(decode_looks, robot=setup.robot.name)
        self._read = readable(graph.DIAGNOSTICS, decode, itself)
        self._line = stage.server.gui.add_markdown("")
        self._look = Look()
        self.figure: Figure | None = None  # once a state has come

    def show(self) -> None:
        """Show the newest state, in the newest look."""
        state, look = self._latest.take(), self._look
        for data in taken(self._statuses):
            look = next(iter(self._read(data) or ()), look)
        if state is self._setup.initial:
            return
        if self.figure is None:
            self.figure = self._stage.add_robot(look.paint(self._setup.urdf()), "second")
        elif look.colours != self._look.colours:
            self.figure.paint(look.paint(self._setup.urdf()))
            self._line.content = look.line
        self._look = look
        with self._stage.server.atomic():
            self.figure.pose(pose_of(self._setup, state))


class BrowserShell(Shell):
    """Shows the newest state on a page; the run never waits for it.

    Without an open page nothing is posed, but the path of the centre of mass is recorded.

    Args:
        node, run: of this shell.
        setup: robot and scenario.

    Attributes:
        stage: serves the page.
    """

    name = "browser"

    def __init__(self, node: Node, setup: Setup, run: Run) -> None:
        super().__init__(node, setup.robot.name, run)
        # This node is not spun; a name with an underscore is hidden in listings.
        options = {"context": node.context, "namespace": node.get_namespace()}
        self._source = Node("_browser", **options, start_parameter_services=False)
        self._setup = setup
        self._shown = setup.initial  # the last state that was noted
        self._latest = LatestState(self._source, setup)  # before the libraries of the page load
        self._contacts = watch(self._source, setup.robot.name, graph.CONTACTS)
        self._read_contacts = readable(self._contacts.topic_name, self._point, itself)
        self._arrows = np.empty((0, 2, 3))  # of the last contacts [m]
        self._watched = False  # whether a page was open at the last look
        self.stage = open_stage(setup)
        clock = self.stage.server.gui.add_text("at", "", disabled=True)
        self._second = SecondDisplay(self._source, setup, self.stage)
        self._display = StateDisplay(setup, self.stage, clock)
        self.every(PERIOD, self.look)

    @classmethod
    def build(cls, node: Node, run: Run) -> Self:
        """Make the view that the parameters of a node specify, and print its address."""
        values = declare(node, "robot", "scenario", "set", "open_page")
        shell = cls(node, setup_of({**values, "duration": 0.0}), run)
        sys.stdout.write(f"watch at {shell.stage.url}\n")
        sys.stdout.flush()
        if values["open_page"]:
            open_in_desktop(shell.stage.url)
        return shell

    def look(self) -> None:
        """Show the newest state, if a page is open."""
        state, watched = self._latest.take(), bool(self.stage.server.get_clients())
        is_new, is_opened = state is not self._shown, watched and not self._watched
        if is_new:
            self._display.note(state)
        if is_opened:
            self.stage.aim(pose_of(self._setup, state))
        if is_opened or (is_new and watched):
            if contacts := newest(self._contacts):
                self._read_contacts(contacts)
            self._display.show(state, self._arrows)
            self._second.show()
        self._shown, self._watched = state, watched

    def _point(self, contacts: bytes) -> None:
        """Take the arrows of a message of contacts."""
        self._arrows = read_arrows([contacts])[1][-1]

    def close(self) -> None:
        """Stop serving."""
        self.stage.close()
        self._source.destroy_node()


def open_in_desktop(url: str) -> None:
    """Open an address in the desktop's browser, if there is one.

    A browser that needs a terminal gets none, and ends.
    """
    command, null = python("-m", "webbrowser", url), subprocess.DEVNULL
    subprocess.Popen(command, stdin=null, stdout=null, stderr=null, start_new_session=True)


main = BrowserShell.main

if __name__ == "__main__":
    main()
