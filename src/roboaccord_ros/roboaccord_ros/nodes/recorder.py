"""The recorder node: it writes a run's messages, as bytes, into a bag, and notices each loss.

It opens the bag when the scenario is announced, and writes each message that can be read, with its
time. A ledger counts whether each state has come. A simulator takes its first step only when the
first state is on disk, which the recorder shows by subscribing to the result (test_recording).
After the result the recorder ends when all messages have come, or after PATIENCE, with what is
missing stated in the bag's metadata.

nodes/topics.py lists the topics. CROSSCHECK_PATIENCE and PATIENCE may be tuned.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

from rclpy.node import Node
from rclpy.subscription import Subscription
from roboaccord import bag as bags
from roboaccord.cdr import decode_events, read_body
from roboaccord.contract import NANOSECONDS, AccordError
from roboaccord.scenario import Setup

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.inlet import taken
from roboaccord_ros.graph.ledger import IN_STEP, Ledger
from roboaccord_ros.graph.parameters import declare
from roboaccord_ros.graph.peers import refuse_mixed
from roboaccord_ros.graph.reading import UNREADABLE, decoders, read_result, read_scenario, readable
from roboaccord_ros.graph.shell import Shell
from roboaccord_ros.graph.spinning import POLL, Run
from roboaccord_ros.nodes import topics
from roboaccord_ros.nodes.frames import FrameLog

# s: longest wait for a live cross-check to finish. It takes up to 30 to find a cause
# (live.SEARCH_TIME), and half as long again on a busy machine.
CROSSCHECK_PATIENCE = 45.0
# s: longest wait for the last messages after the result, or after a signal to end, as that of a
# cross-check (crosscheck.PATIENCE).
PATIENCE = 6.0
_log = logging.getLogger(__name__)


class RecorderShell(Shell):
    """Writes each message of a robot into a bag, from the announced scenario to the result.

    Args:
        node, run: node and run of this shell.
        robot: name of the robot.
        path: folder of the bag, which must not exist.
        changes: `KEY=VALUE` changes to the scenario; they may name files, which messages must not.
    """

    name = "recorder"
    # Known once the scenario is announced.
    _facts: dict[str, Any]
    _write: Callable[[str, int, bytes], None]  # writes topic, time [ns] and bytes into the bag
    _decoders: dict[str, Callable[[bytes], object]]  # by the last word of a topic's name
    _transforms: dict[str, Callable[[int, bytes], None]]  # make transforms from these topics

    def __init__(
        self, node: Node, robot: str, path: Path, run: Run, changes: Sequence[str] = ()
    ) -> None:
        super().__init__(node, robot, run)
        if path.exists():
            raise AccordError(f"{path} exists already; choose another name for the bag")
        self._path, self._stack = path, contextlib.ExitStack()
        self._ledger = Ledger(0)  # another one once the control period is known
        self._bag: bags.BagWriter | None = None
        self._subscriptions: dict[str, Subscription] = {}  # of `stamped_topics`
        self._other_subscriptions: dict[str, Subscription] = {}
        self._end = -1  # time of the last state, once the result states it [ns]
        self._events_received, self._events_sent = 0, 0  # the latter is known by the result
        self._has_start = False  # whether the first state is on disk
        self._is_over = False  # whether the whole run has come, or the rest is given up
        self._is_done = False  # whether `run.done` was called
        self._is_interrupted = False  # whether a signal has asked to end
        self._checks = 0  # calls of `_on_timer` since it began to wait for the last messages
        self._count, self._last_count = 0, -1  # messages so far, and at the last `_on_timer`
        run.interrupt = self._interrupt
        self.subscribe(graph.SCENARIO, partial(read_scenario, robot, changes), self._on_scenario)
        self.every(POLL, self._on_timer)

    @classmethod
    def build(cls, node: Node, run: Run) -> Self:
        """Make the recorder that the parameters of a node specify."""
        values = declare(node, "robot", "bag", "set", needs=["robot", "bag"])
        return cls(node, values["robot"], Path(values["bag"]), run, values["set"])

    def close(self) -> None:
        """Close the bag, which is valid whatever was recorded, with messages before a failure.

        Lost messages are the error of a run that has no other.
        """
        until = time.monotonic() + PATIENCE
        subscriptions = {} if self._is_over else self._subscriptions
        for name, subscription in subscriptions.items():
            for data in taken(subscription):
                if time.monotonic() > until:  # a publisher may never stop
                    break
                with contextlib.suppress(*UNREADABLE):  # errors of the bag come again at its end
                    self._write_stamped(self._checked(name, data))
        if summary := self._ledger.summary():
            line = f"messages in transit to {self._path.name}: {summary}"
            if self._ledger.lost and not self.run.error:
                self.run.fail(AccordError(line))
            else:
                _log.warning(line)
        self._stack.close()

    def _on_scenario(self, announced: tuple[dict[str, Any], Setup]) -> None:
        """Act on the first announcement: open the bag, and subscribe to all topics."""
        if self._bag is not None:
            return
        self._facts, setup = announced
        self._bag = self._open_bag(setup)
        self._write = self._bag.write_raw
        period = round(setup.scenario.control_period * NANOSECONDS)
        self._ledger = Ledger(period, setup.body_names)
        self._decoders = decoders(setup.joints)
        self._transforms = {}
        for prefix in ("", f"{bags.REFERENCE}/"):
            self._transforms |= FrameLog(setup, self._write, prefix).takers
        for name in setup.initial.switches:
            topic = bags.switch_topic(self.robot, name).name
            self.subscribe(name + graph.SWITCH, partial(self._write_unstamped, topic))
        for other in topics.other_topics(setup):
            self._record_other(other)
        for name in topics.stamped_topics(setup):
            check = partial(self._checked, name)
            self._subscriptions[name] = self.subscribe(name, check, self._write_stamped)

    def _open_bag(self, setup: Setup) -> bags.BagWriter:
        """Return the bag, with the topics on which there may be no message."""
        keys = ("engine", "engine_version", "transport", "controller")
        facts = (str(self._facts.get(key, "")) for key in keys)
        bag = self._stack.enter_context(bags.BagWriter(self._path, setup, *facts))
        for topic in topics.topics_to_add(setup):
            bag.add_topic(topic)
        return bag

    def _record_other(self, other: topics.OtherTopic) -> None:
        """Subscribe to a topic that is recorded if somebody publishes it."""
        name, kind, stamped, qos = other
        topic = bags.Topic(f"/{name}", kind, qos is graph.LATCHED)
        make_transforms = self._transforms.get(name.removeprefix(f"{self.robot}/"))

        def write(message: tuple[str, int, bytes]) -> None:
            assert self._bag is not None
            self._bag.add_topic(topic)
            _, now, data = message
            self._write(topic.name, now, data)
            if make_transforms:
                make_transforms(now, data)

        check = partial(self._checked, name, stamped=stamped)
        callback = self.run.guard(readable(topic.name, check, write))
        self._other_subscriptions[name] = self.node.create_subscription(
            graph.message_class(kind), name, callback, qos, raw=True
        )

    def _checked(self, name: str, data: bytes, *, stamped: bool = True) -> tuple[str, int, bytes]:
        """Return topic, time [ns] and bytes of a message, which is decoded to check it."""
        self._decoders.get(name.rpartition("/")[2], len)(data)
        return name, topics.time_of(name, data) if stamped else self._ledger.now, data

    def _write_stamped(self, message: tuple[str, int, bytes]) -> None:
        """Write a message that was checked; act if it completes the first state or the run."""
        name, now, data = message
        self._count += 1
        # Without lockstep not each state is answered.
        is_free = graph.FREE in self._facts["transport"]
        is_counted = name in IN_STEP and not (is_free and name == graph.EFFORTS)
        counted = f"{name}/{read_body(data)[2]}" if name == graph.BODIES else name
        if is_counted and not self._ledger.add(counted, now) and name != graph.EFFORTS:
            refuse_mixed(self._subscriptions[name], self._path.name)
            return
        self._write(f"/{self.robot}/{name}", now, data)
        if name == graph.EVENTS:
            self._events_received += len(decode_events(data))
            self._end_if_complete()
        if name not in IN_STEP:
            return
        if name in self._transforms:
            self._transforms[name](now, data)
        if not self._has_start and self._ledger.has_states_until(0):
            self._let_run_step()
        if now == self._end:
            self._end_if_complete()

    def _write_unstamped(self, topic: str, data: bytes) -> None:
        """Write a message without a stamp, at the time of the last state."""
        self._write(topic, self._ledger.now, data)

    def _let_run_step(self) -> None:
        """Write the first state to disk, and show this by subscribing to the result."""
        self._has_start = True
        if self._bag is not None:
            self._bag.flush()
        self.subscribe(graph.RESULT, self._read_result, self._on_result)

    def _end_if_complete(self) -> None:
        """End when the last state and all events have come."""
        if self._is_over or self._end < 0 or not self._ledger.has_states_until(self._end):
            return
        self._is_over = self._events_received >= self._events_sent
        self._finish()

    def _finish(self, *, is_late: bool = False) -> None:
        """End, once, when a live cross-check has finished or is late."""
        # A live cross-check publishes errors until it has finished.
        errors = self._other_subscriptions[f"{self.robot}/{graph.ERROR}"]
        may_end = is_late or not errors.get_publisher_count()
        if self._is_over and not self._is_done and may_end:
            self._is_done = True
            self.run.done()

    def _read_result(self, data: bytes) -> tuple[dict[str, Any], bytes]:
        """Return a result with its bytes."""
        return read_result(self._facts, data), data

    def _on_result(self, message: tuple[dict[str, Any], bytes]) -> None:
        """Write the result, and end if nothing else is to come."""
        result, data = message
        self._write_unstamped(f"/{self.robot}/{graph.RESULT}", data)
        if self._bag is not None and result["trajectory_sha256"]:
            self._bag.finish(result["trajectory_sha256"])
        self._end, self._events_sent = result["steps"] * self._ledger.period, result["events"]
        self._end_if_complete()  # else a message of a slower topic ends it

    def _interrupt(self) -> None:
        """Record the messages that have been sent, and end; PATIENCE is the limit."""
        self._is_interrupted = True

    def _on_timer(self) -> None:
        """End the recording, or give it up, when no more messages come; called every POLL."""
        is_quiet = self._count == self._last_count  # no message has come since the last call
        self._last_count = self._count
        has_result, has_gone = self._end >= 0, self._has_simulator_gone()
        # Count the time for which it has waited for the last messages.
        is_waiting = self._is_interrupted or has_result or has_gone
        self._checks = self._checks + 1 if is_waiting else 0
        is_late = self._checks * POLL > PATIENCE
        result_follows = self._has_start and not has_result and not has_gone
        if self._is_interrupted and ((is_quiet and not result_follows) or is_late):
            self.run.stop()
        elif self._is_over:
            self._finish(is_late=self._checks * POLL > CROSSCHECK_PATIENCE)
        elif is_late and has_result:
            self._end_incomplete()
        elif is_late:
            _log.warning("the simulator ended without a result; %s ends there", self._path.name)
            self.run.stop()

    def _has_simulator_gone(self) -> bool:
        """Return whether nobody publishes joint states any more."""
        return self._has_start and not self._subscriptions[graph.STATES].get_publisher_count()

    def _end_incomplete(self) -> None:
        """End without the messages that have not come.

        Raises:
            AccordError: if events are missing, which no gap in the bag would show.
        """
        missing = self._events_sent - self._events_received
        if self._bag is not None and missing > 0:
            self._bag.note_loss(missing)
            lost = f"{missing} of {self._events_sent} events were lost before {self._path}"
            raise AccordError(lost)
        self._is_over = True
        self._ledger.lost += 1
        self._finish(is_late=True)


main = RecorderShell.main

if __name__ == "__main__":
    main()
