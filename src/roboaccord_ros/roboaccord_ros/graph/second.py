"""The reference as a second robot beside a running one: it follows the run, and is published.

The reference is the simulation with which a run is compared. `Companion` of the core advances it
with the inputs of the run, and sets it back to the run's state when both have drifted apart. Its
look (its colours and opacity) shows this: it fades with the distance, and a suspected link is red.
`CauseFinder` names the likely cause if the run is outside its tolerance. The run never waits for
any of it, and a reference that cannot follow is given up with a log line.

INTERRUPTED_SEARCH_TIME and FADE_PERIOD may be tuned; neither changes a verdict. When the reference
is set back, and how it fades, is in crosscheck/cause.py of the core.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from roboaccord.bag import REFERENCE, Look
from roboaccord.cdr import BodiesCodec, JointStateCodec, OdometryCodec, encode_string
from roboaccord.contract import AccordError, Event, RobotState, fault_of
from roboaccord.crosscheck import CauseFinder, Companion, StepCheck, Suspect
from roboaccord.run import HeardInputs
from roboaccord.scenario import Setup

from roboaccord_ros.gazebo.engine import SPEC
from roboaccord_ros.gazebo.markers import WindowMarkers
from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.live import MAX_WAITING, SEARCH_TIME, LiveStep
from roboaccord_ros.graph.outlet import TransformOutlet
from roboaccord_ros.graph.peers import unreached_topic
from roboaccord_ros.graph.shell import Shell

# s of wall time: longest search for the cause of a run that is interrupted: a third of what a
# process has to end after Ctrl-C (run/processes.GRACE).
INTERRUPTED_SEARCH_TIME = 0.5
# s of simulated time between changes of opacity, for which RViz reloads the robot. A fade of a
# second is then five steps.
FADE_PERIOD = 0.2
_log = logging.getLogger(__name__)


class SecondRobot:
    """Lets the reference follow the states of a run when there is time, and publishes it.

    `begin_run` must be called before any other method, and again after each reset.

    Args:
        shell: node of the cross-check.
        senders: publishers of the topics `SECOND`: description, odometry and joint states.
        statuses: publisher of diagnostics.
        setup: robot and scenario.
        facts: facts of the run that the simulator has announced.
        controller: `package.module:Class` instead of the scenario's controller.

    Attributes:
        companion: the reference; None before the start, and after it could not follow.
        finder: finds the cause if the run is outside its tolerance.
        publishers: publishers whose subscribers must be connected before the first message.
    """

    finder: CauseFinder
    _check: StepCheck  # judges the periods of the run
    _newest: RobotState  # newest state of the run, which need not be judged yet

    def __init__(
        self,
        shell: Shell,
        senders: Sequence[graph.Sender],
        statuses: graph.Sender,
        setup: Setup,
        facts: Mapping[str, Any],
        controller: str,
    ) -> None:
        self._shell, self._setup, self._controller = shell, setup, controller
        self._engine, self._transport = facts["engine"], facts["transport"]
        self._inputs = HeardInputs(setup.joints)
        self._unfollowed = deque[RobotState]()  # states of the run to follow, the oldest first
        self.companion: Companion | None = None
        # Last state of the reference, and the run's state at the same time; None before the first.
        self._pair: tuple[RobotState, RobotState] | None = None
        self._look: Look | None = None  # as last published; None before the first message
        self._encode_state = JointStateCodec(setup.joints).encode
        self._encode_base = OdometryCodec(child_frame_id=f"{REFERENCE}/base_link").encode
        self._encode_bodies = BodiesCodec(setup.body_names, f"{REFERENCE}/").encode
        body_topics = [f"{REFERENCE}/{graph.BODIES}"] if setup.bodies else []
        self._body_senders = [shell.advertise(topic) for topic in body_topics]
        self._description_sender, self._base_sender, self._state_sender = senders
        self._status_sender = statuses
        self.publishers = [*senders, *self._body_senders, statuses]
        self._transforms = TransformOutlet(shell.node, setup, f"{REFERENCE}/")
        self._window = WindowMarkers(setup) if self._engine == SPEC.name else None
        for name in (graph.TARGET_TWIST, graph.TARGET_JOINTS):
            shell.subscribe(name, partial(self._inputs.note, name), qos=graph.DEEP)

    def begin_run(self, check: StepCheck) -> None:
        """Put the reference at the start of a run whose periods a check judges."""
        self._unfollowed.clear()
        self._inputs.failed.clear()
        self._check = check
        self.finder = CauseFinder(self._setup, self._engine, self._transport, check)
        self.companion = Companion(self._setup, check.setup, self._inputs, self._controller)
        self._pair = self._look = None

    def add_events(self, events: Sequence[Event]) -> None:
        """Add events of the run, among them faults of joints."""
        self.finder.store_events(events)
        self._inputs.failed += filter(None, map(fault_of, events))

    def add_state(self, state: RobotState) -> None:
        """Add the newest state of the run, which is not judged yet."""
        self._newest = state

    def add_step(self, step: LiveStep) -> None:
        """Add a control period that was judged, which the reference will follow."""
        self.finder.store_period(step.before, step.after, driven=step.has_vectors)
        self._unfollowed.append(step.after)
        if len(self._unfollowed) > MAX_WAITING:
            self._give_up("it falls too far behind")

    def follow(self, until: float) -> None:
        """Follow the states that wait, until a time of the steady clock [s].

        The first one waits until all subscribers are connected.
        """
        if self._look or not unreached_topic(self._shell.node, self.publishers):
            self._follow_until(until)
        self._report(self.finder.take_new_cause())
        self._draw_in_window()

    def repeat_look(self) -> None:
        """Send the look again, for late subscribers."""
        if self._look and self.companion:
            look = replace(self._look, time=self.companion.state.time)
            self._status_sender.send(look.encode(self._shell.robot))

    def close(self, until: float, *, is_interrupted: bool) -> None:
        """Follow the states that remain, and report the cause of a run that is outside.

        Args:
            until: time of the steady clock at which to stop [s].
            is_interrupted: whether the run was interrupted; then there is less time for a cause.
        """
        self.finder.search_at_end()
        self._follow_until(until)
        search_time = INTERRUPTED_SEARCH_TIME if is_interrupted else SEARCH_TIME
        self._report(self.finder.wait_for_cause(max(until - time.monotonic(), search_time)))
        self._draw_in_window()
        if self._window and is_interrupted:  # else it stays visible, as the window stays open
            self._window.remove()

    def _follow_until(self, until: float) -> None:
        """Follow the states that wait, until a time of the steady clock [s]."""
        while self._unfollowed and self.companion and time.monotonic() < until:
            self._advance(self.companion, self._unfollowed.popleft())

    def _advance(self, companion: Companion, state: RobotState) -> None:
        """Let the reference follow a state of the run, and publish it."""
        if self._look is None:  # all subscribers are connected now
            self._publish_state(companion.state)
            self._publish_look(Look(opacity=companion.opacity))
        companion.simulated = self._check.setup
        if self._setup.scenario.driven:
            self._inputs.asked = state.switches
        try:
            companion.advance(state)
        except AccordError as error:
            self._give_up(str(error))
            return
        self._pair = companion.state, state
        self._publish_state(companion.state)
        self._update_look()

    def _give_up(self, reason: str) -> None:
        """Give up the reference, and log the reason."""
        if self.companion:
            _log.warning("%s: the reference is shown no longer: %s", self._shell.robot, reason)
            if self._window:
                self._window.remove()
        self.companion = self._pair = None
        self._unfollowed.clear()

    def _publish_state(self, state: RobotState) -> None:
        """Publish a state of the reference."""
        self._base_sender.send(self._encode_base(state))
        for sender in self._body_senders:
            for data in self._encode_bodies(state):
                sender.send(data)
        self._state_sender.send(self._encode_state(state))
        self._transforms.publish(state)

    def _update_look(self) -> None:
        """Publish another look: at once for a new cause or start, else every FADE_PERIOD."""
        old = self._look or Look()
        new = replace(old, link="", since=0.0, line="")
        if companion := self.companion:
            now, opacity, reset_count = companion.state.time, companion.opacity, companion.anew
            new = replace(new, time=now, opacity=opacity, reset_count=reset_count)
        if cause := self.finder.cause:
            new = replace(new, link=cause.link, since=cause.since, line=cause.line())
        is_urgent = (new.reset_count, new.line) != (old.reset_count, old.line)
        is_faded = new.opacity != old.opacity and new.time >= old.time + FADE_PERIOD
        if is_urgent or is_faded:
            self._publish_look(new)

    def _publish_look(self, look: Look) -> None:
        """Publish the description and diagnostics of a look."""
        self._look = look
        self._description_sender.send(encode_string(look.paint(self._setup.urdf())))
        self._status_sender.send(look.encode(self._shell.robot))

    def _report(self, cause: Suspect | None) -> None:
        """Log a cause, and show it by the look; None is no new cause."""
        if cause is None:
            return
        _log.warning("%s: %s", self._shell.robot, cause.line())
        self._update_look()

    def _draw_in_window(self) -> None:
        """Draw the reference into Gazebo's window, with a suspected link in red."""
        if self._window and self._pair and self._look:
            suspect = self.finder.suspect
            look = replace(self._look, link=suspect.link if suspect else "")
            self._window.show(*self._pair, self._newest, look)
