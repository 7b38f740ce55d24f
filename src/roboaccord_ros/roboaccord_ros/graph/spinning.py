"""Spinning of nodes (calling their callbacks) until the run is over, and how signals end it.

A `Run` collects the outcomes of the nodes in a process: the spinning ends when the last one is
done, or with the first error. A signal never interrupts a callback (test_shell). POLL may be tuned.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, ParamSpec, TypeVar

import rclpy
from rclpy.context import Context
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from roboaccord.contract import AccordError
from roboaccord.scenario import users_code

P = ParamSpec("P")  # arguments of a callback
T = TypeVar("T")  # its result
# s: timeout of a call that spins. Without one rclpy's EventsExecutor never blocks, and starves its
# timers. An hour costs nothing: the call is repeated until the run is done.
SPIN_TIMEOUT = 3600.0
# s: time between checks of peers, signals and timeouts: a twentieth of a second is no delay for a
# person, and 20 checks a second are no load.
POLL = 0.05


class Run:
    """Outcome of the nodes of one process.

    Args:
        expected: number of nodes that must report `done`.

    Attributes:
        future: done when the spinning is to end.
        error: the first error; None if there was none.
        interrupt: called when a signal asks to end.
        nodes: nodes of this process, which are spun.
    """

    def __init__(self, expected: int = 1) -> None:
        self.future = Future()
        self.error: AccordError | None = None
        self.interrupt: Callable[[], None] = self.stop
        self.nodes: list[Node] = []
        self._expected = expected
        self._is_over = False

    def expect(self) -> None:
        """Wait for one more node."""
        self._expected += 1

    def done(self) -> None:
        """Count one node as finished; the last one ends the spinning."""
        self._expected -= 1
        if self._expected <= 0:
            self.stop()

    def fail(self, error: AccordError) -> None:
        """End the spinning with an error; the first one counts."""
        self.error = self.error or error
        self.stop()

    def stop(self) -> None:
        """End the spinning."""
        self._is_over = True
        if not self.future.done():
            self.future.set_result(None)

    def guard(self, callback: Callable[P, T]) -> Callable[P, T | None]:
        """Return a callback whose errors end the run, and that does nothing after the end."""

        def guarded(*arguments: P.args, **named: P.kwargs) -> T | None:
            """Call the callback, and end the run with an error of it."""
            if self._is_over:
                return None
            try:
                return callback(*arguments, **named)
            except Exception:  # noqa: BLE001 - raised again, except those of users' code
                try:
                    with users_code():  # turns errors of users' code into AccordError
                        raise
                except AccordError as error:
                    self.fail(error)
            return None

        return guarded


def make_executor(context: Context) -> Executor:
    """Make the executor of events, which is fast, or a plain one where rclpy has none."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        from rclpy.executors import SingleThreadedExecutor

        return SingleThreadedExecutor(context=context)
    # It enables faulthandler, which needs a real file even if a test has replaced stderr.
    with contextlib.redirect_stderr(sys.__stderr__):
        return EventsExecutor(context=context)


@contextlib.contextmanager
def session(
    context: Context, *, args: Sequence[str] = (), domain_id: int | None = None
) -> Iterator[list[Node]]:
    """Start ROS in a context; at the end destroy the nodes put into the list, and shut down.

    Args:
        context: of the nodes.
        args: command line of a node. If rclpy had none, it would take that of the process, in which
            an argument NAME:=VALUE of a xacro file is to ROS a rule that renames topics.
        domain_id: ROS domain; that of the environment where None.
    """
    handlers = SignalHandlerOptions.NO
    rclpy.init(args=[*args], context=context, domain_id=domain_id, signal_handler_options=handlers)
    nodes: list[Node] = []
    try:
        yield nodes
    finally:
        for node in nodes:
            node.destroy_node()
        context.try_shutdown()


def quiet_node(name: str, context: Context, **extra: Any) -> Node:
    """Make a node without parameter services and log topic."""
    return Node(name, context=context, enable_rosout=False, start_parameter_services=False, **extra)


def spin(context: Context, nodes: Sequence[Node], run: Run) -> None:
    """Spin nodes until the run is over, whatever ends it."""
    executor = make_executor(context)
    try:
        for node in nodes:
            executor.add_node(node)
        while not run.future.done():
            executor.spin_until_future_complete(run.future, timeout_sec=SPIN_TIMEOUT)
    finally:
        for node in nodes:
            executor.remove_node(node)
        executor.shutdown()


@contextlib.contextmanager
def ends_between_callbacks(run: Run) -> Iterator[None]:
    """Let a signal end the spinning between callbacks, and call its old handler after that.

    An exception in a callback would be reported by the executor in many lines. The second signal
    acts at once.
    """
    received: list[int] = []
    old_handlers: dict[signal.Signals, Callable[[int, FrameType | None], None]] = {}

    def end(number: int, frame: FrameType | None) -> None:
        """End the spinning at the first signal; let the old handler act at the second."""
        received.append(number)
        run.stop()
        if len(received) > 1:
            old_handlers[signal.Signals(number)](number, frame)

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            if callable(handler):
                old_handlers[number] = handler
                signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in old_handlers.items():
            signal.signal(number, handler)
    if received:
        old_handlers[signal.Signals(received[0])](received[0], None)
