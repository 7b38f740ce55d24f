"""The reference as a second robot: what the cross-check publishes of it.

LONGEST, NAMING, UNHURRIED and FADE_PERIOD may be tuned; none changes a verdict. When the reference
is set anew, and how it fades, is changed in crosscheck/companion.py of the core. Fixed: the run
never waits for this, and what cannot follow is given up with a line.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from roboaccord.bag import REFERENCE, Look
from roboaccord.cdr import JointStateCodec, OdometryCodec, encode_string
from roboaccord.contract import AccordError, Event, RobotState, fault_of
from roboaccord.crosscheck import CauseFinder, Companion, StepCheck, Suspect
from roboaccord.run import HeardInputs
from roboaccord.scenario import Setup

from roboaccord_ros.gazebo.engine import SPEC
from roboaccord_ros.gazebo.markers import WindowMarkers
from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.live import LiveStep
from roboaccord_ros.graph.outlet import TransformOutlet
from roboaccord_ros.graph.shell import Shell

LONGEST = 50_000  # states that may wait
NAMING = 0.5  # s of wall time that is left for the cause where a run is interrupted
UNHURRIED = 30.0  # s at the end of a run, for which a launch waits
FADE_PERIOD = 0.2  # s of simulated time between changes of opacity: RViz reloads the robot
_log = logging.getLogger(__name__)


class SecondRobot:
    """Let the reference follow the states of a run in its own time, and publish it.

    Args:
        shell: that hosts it.
        outs: publish the topics `SECOND`.
        statuses: publishes diagnostics.
        setup: robot and scenario.
        engine, transport: of the run.
        controller: `package.module:Class` in place of the scenario's.

    Attributes:
        companion: the reference; None before the start, and where it could not go on.
        finder: of the cause of a run that is outside.
        publishers: whose messages must arrive.
    """

    def __init__(
        self,
        shell: Shell,
        outs: Sequence[graph.Sender],
        statuses: graph.Sender,
        setup: Setup,
        engine: str,
        transport: str,
        controller: str,
    ) -> None:
        self._shell, self._setup, self._controller = shell, setup, controller
        self._run = engine, transport
        self._inputs = HeardInputs(setup.joints)
        self._waiting = deque[RobotState]()
        self.companion: Companion | None = None
        self._states = JointStateCodec(setup.joints)
        self._odometry = OdometryCodec(child_frame_id=f"{REFERENCE}/base_link")
        self._send_description, self._send_odometry, self._send_states = (s.send for s in outs)
        self._send_status = statuses.send
        self.publishers = [*outs, statuses]
        self._transforms = TransformOutlet(shell.node, setup, f"{REFERENCE}/")
        self._window = WindowMarkers(setup) if engine == SPEC.name else None
        for name in (graph.TARGET_TWIST, graph.TARGET_JOINTS):
            shell.subscribe(name, partial(self._inputs.note, name), qos=graph.DEEP)

    def begin(self, check: StepCheck) -> None:
        """Begin at the start of a run, whose control periods are judged."""
        self._waiting.clear()
        self._inputs.failed.clear()
        self._check = check
        self.finder = CauseFinder(self._setup, *self._run, check)
        self.companion = Companion(self._setup, check.setup, self._inputs, self._controller)
        self._followed: tuple[RobotState, RobotState] | None = None  # of it, and what it follows
        self._look: Look | None = None

    def note(self, events: Sequence[Event]) -> None:
        """Take events of the run."""
        self.finder.note(events)
        self._inputs.failed += filter(None, map(fault_of, events))

    def keep(self, state: RobotState) -> None:
        """Take the newest state of the run, which is not judged yet."""
        self._newest = state

    def take(self, step: LiveStep) -> None:
        """Take a control period that was judged."""
        self.finder.take(step.before, step.after, driven=step.driven)
        self._waiting.append(step.after)
        if len(self._waiting) > LONGEST:
            self._stop("it falls too far behind")

    def follow(self, until: float) -> None:
        """Follow the states that wait, while there is time [s of the steady clock].

        The first one waits until every subscriber is connected.
        """
        if self._look or not graph.unreached(self._shell.node, self.publishers):
            self._catch_up(until)
        self._report(self.finder.look())
        self._draw()

    def repeat(self) -> None:
        """Send its look again, for late subscribers."""
        if self._look and self.companion:
            look = replace(self._look, time=self.companion.state.time)
            self._send_status(look.encode(self._shell.robot))

    def close(self, until: float, *, hurried: bool) -> None:
        """Follow what is left, and give the cause of a run that is outside.

        Args:
            until: while there is time [s of the steady clock].
            hurried: whether the run was interrupted.
        """
        self.finder.conclude()
        self._catch_up(until)
        naming = NAMING if hurried else UNHURRIED
        self._report(self.finder.settle(max(until - time.monotonic(), naming)))
        self._draw()
        if self._window and hurried:  # else it stays, as the window does
            self._window.remove()

    def _draw(self) -> None:
        """Draw it into Gazebo's window, where a suspect is red, too."""
        if self._window and self._followed and self._look:
            suspect = self.finder.suspect
            look = replace(self._look, link=suspect.link if suspect else "")
            self._window.show(*self._followed, self._newest, look)

    def _catch_up(self, until: float) -> None:
        while self._waiting and self.companion and time.monotonic() < until:
            self._advance(self.companion, self._waiting.popleft())

    def _advance(self, companion: Companion, state: RobotState) -> None:
        if self._look is None:  # now a recorder listens
            self._publish(companion.state)
            self._show(Look(opacity=companion.opacity))
        companion.simulated = self._check.setup
        if self._setup.scenario.driven:
            self._inputs.asked = state.switches
        try:
            companion.advance(state)
        except AccordError as error:
            self._stop(str(error))
            return
        self._followed = companion.state, state
        self._publish(companion.state)
        self._look_again()

    def _stop(self, why: str) -> None:
        if self.companion:
            _log.warning("%s: the reference is shown no longer: %s", self._shell.robot, why)
            if self._window:
                self._window.remove()
        self.companion = self._followed = None
        self._waiting.clear()

    def _look_again(self) -> None:
        """Show it with another look if that has changed; its fading can wait."""
        companion, cause, old = self.companion, self.finder.cause, self._look or Look()
        now, opacity, anew = old.time, old.opacity, old.anew
        if companion:
            now, opacity, anew = companion.state.time, companion.opacity, companion.anew
        line = cause.line() if cause else ""
        at_once = (anew, line) != (old.anew, old.line)
        faded = opacity != old.opacity and now >= old.time + FADE_PERIOD
        if at_once or faded:
            link, since = (cause.link, cause.since) if cause else ("", 0.0)
            self._show(Look(now, opacity, anew, link, since, line))

    def _publish(self, state: RobotState) -> None:
        self._send_odometry(self._odometry.encode(state))
        self._send_states(self._states.encode(state))
        self._transforms.publish(state)

    def _show(self, look: Look) -> None:
        self._look = look
        self._send_description(encode_string(look.paint(self._setup.urdf())))
        self._send_status(look.encode(self._shell.robot))

    def _report(self, cause: Suspect | None) -> None:
        """Report a cause that was found."""
        if cause is None:
            return
        _log.warning("%s: %s", self._shell.robot, cause.line())
        self._look_again()
