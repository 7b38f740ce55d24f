"""The ROS node that shows a running robot on a web page.

The page's subscriptions belong to a second node that no executor spins: their messages wait in the
middleware, where new ones replace old ones, so the run never waits for the page. Every PERIOD,
`BrowserShell.draw_newest` takes the newest state from there. With a cross-check running,
`SecondDisplay` draws the reference, the second simulation of the comparison, as a translucent
robot.

A shell (`Shell`) is a node of the run with what it does, here to show the run. A look is the
colours of the second robot, and a line about how well both agree.

`ros2 launch` finds the node by the entry point `browser.node` of `roboaccord.displays` and passes
the parameters that `build` declares; a new parameter must be passed by roboaccord_ros, too.
"""

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

# s of wall time; between two pictures: 20 a second look smooth, as in Gazebo's window
# (camera.PERIOD).
PERIOD = 0.05


class SecondDisplay:
    """The reference as a second robot on the page, from its first state on.

    Args:
        node: node of the subscriptions; nobody spins it, messages are taken by hand.
        setup: robot and scenario.
        stage: scene of the page, with the run's robot on it.
    """

    def __init__(self, node: Node, setup: Setup, stage: Stage) -> None:
        self._setup, self._stage = setup, stage
        self._latest = LatestState(node, setup, f"{REFERENCE}/")
        self._statuses = node.create_subscription(
            DiagnosticArray, graph.DIAGNOSTICS, _never_called, graph.LIVE, raw=True
        )
        decode = partial(decode_looks, robot=setup.robot.name)
        # Decodes a message to the looks of this robot; None if the message cannot be read.
        self._read_looks = readable(graph.DIAGNOSTICS, decode, itself)
        self._agreement_line = stage.server.gui.add_markdown("")  # text on how well both agree
        self._drawn_look = Look()  # colours and text that the page shows now
        self.figure: Figure | None = None  # the drawn robot; None until a state has come

    def show(self) -> None:
        """Draw the newest state, in the colours of the newest status message."""
        state, look = self._latest.take(), self._drawn_look
        for data in taken(self._statuses):
            looks = self._read_looks(data)  # of this robot: one, or none
            look = looks[0] if looks else look
        if state is self._setup.initial:  # no state of the reference has come
            return
        if self.figure is None:
            self.figure = self._stage.add_robot(look.paint(self._setup.urdf()), "second")
        elif look.colours != self._drawn_look.colours:
            self.figure.paint(look.paint(self._setup.urdf()))
            self._agreement_line.content = look.line
        self._drawn_look = look
        with self._stage.server.atomic():
            self.figure.pose(pose_of(self._setup, state))


def _never_called(message: object) -> None:
    """Stand for the callback of a subscription whose node is not spun."""


class BrowserShell(Shell):
    """Draws the newest state of a run on a web page; the run never waits for it.

    While no browser shows the page nothing is drawn, but the path of the centre of mass is
    recorded.

    Args:
        node, run: node of this shell, and the run that it belongs to.
        setup: robot and scenario.

    Attributes:
        stage: scene of the page, which it serves.
    """

    name = "browser"

    def __init__(self, node: Node, setup: Setup, run: Run) -> None:
        super().__init__(node, setup.robot.name, run)
        # This node is not spun; a name with an underscore is hidden in listings.
        options = {"context": node.context, "namespace": node.get_namespace()}
        self._source = Node("_browser", **options, start_parameter_services=False)
        self._setup = setup
        self._last_state = setup.initial  # newest state at the last call of `draw_newest`
        # Subscribed before the page's libraries load, which takes a while.
        self._latest = LatestState(self._source, setup)
        self._contacts = watch(self._source, setup.robot.name, graph.CONTACTS)
        self._read_contacts = readable(self._contacts.topic_name, self._set_arrows, itself)
        # Start and end of each contact force's arrow (k, 2, 3) [m].
        self._arrows = np.empty((0, 2, 3))
        self._was_open = False  # whether a browser showed the page at that call
        self.stage = open_stage(setup)
        clock = self.stage.server.gui.add_text("at", "", disabled=True)
        self._second = SecondDisplay(self._source, setup, self.stage)
        self._display = StateDisplay(setup, self.stage, clock)
        self.every(PERIOD, self.draw_newest)

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

    def draw_newest(self) -> None:
        """Draw the newest state, if a browser shows the page."""
        state = self._latest.take()
        is_new = state is not self._last_state
        is_open = bool(self.stage.server.get_clients())
        is_opened = is_open and not self._was_open  # since the last call
        if is_new:
            self._display.add_to_path(state)
        if is_opened:
            self.stage.aim(pose_of(self._setup, state))
        if is_opened or (is_new and is_open):
            if contacts := newest(self._contacts):
                self._read_contacts(contacts)
            self._display.show(state, self._arrows)
            self._second.show()
        self._last_state, self._was_open = state, is_open

    def _set_arrows(self, contacts: bytes) -> None:
        """Set the arrows from the bytes of a message of contacts."""
        _, arrows = read_arrows([contacts])  # times, and arrows at each
        self._arrows = arrows[-1]

    def close(self) -> None:
        """Stop serving."""
        self.stage.close()
        self._source.destroy_node()


def open_in_desktop(url: str) -> None:
    """Open an address in the desktop's browser, if there is one.

    The browser has no terminal, so that a text browser ends at once instead of taking over this
    one.
    """
    command = python("-m", "webbrowser", url)
    null = subprocess.DEVNULL
    subprocess.Popen(command, stdin=null, stdout=null, stderr=null, start_new_session=True)


main = BrowserShell.main

if __name__ == "__main__":
    main()
