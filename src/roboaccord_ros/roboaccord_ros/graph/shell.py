"""Base of the nodes: start of a node's process, parameters, spinning and shutdown.

To add a node, derive a class from `Shell` with `name` and `build`, and `close` and `report` if
needed. POLL, GRACE and SAID_* may be tuned; SPIN must be finite. Exit statuses (2, 130) and the one
line on stderr stay, for launches and `accord` go by them. How a process ends is worked out against
DDS, which may hang: test_failures, test_shell.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import logging
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar, NoReturn, ParamSpec, Self, TypeVar

import rclpy
from rclpy.context import Context
from rclpy.exceptions import InvalidParameterTypeException, ParameterException
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from rclpy.task import Future
from roboaccord.contract import AccordError, guard
from roboaccord.numerics import seen_compiling
from roboaccord.scenario import explain, shows_tracebacks, users_code

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.reading import itself, readable

P = ParamSpec("P")
T = TypeVar("T")
STATUS_ERROR = 2
OF_ROS = (InvalidParameterTypeException, ParameterException, RuntimeError)
STATUS_INTERRUPTED = 130
PARENT = "ROBOACCORD_PARENT"  # environment variable with the process that a node ends with
SPIN = 3600.0  # s; without a timeout rclpy's EventsExecutor never blocks, and starves its timers
GRACE = 5  # s that ROS may take to end, once everything is reported
POLL = 0.05  # s between looks at peers, signals and timeouts
SAID_AFTER, SAID_EVERY = 2.0, 10.0  # s for which kernels compile before, and between, its lines


class Run:
    """Collect the outcomes of the nodes of one process.

    Args:
        parts: number of nodes that must report `done`.
    """

    def __init__(self, parts: int = 1) -> None:
        self.future = Future()
        self.error: AccordError | None = None
        self.interrupt: Callable[[], None] = self.stop
        """What a signal to end does."""
        self.nodes: list[Node] = []
        """The nodes of this process, which are spun."""
        self._parts, self._over = parts, False

    def expect(self) -> None:
        """Wait for one more node."""
        self._parts += 1

    def done(self) -> None:
        """Count one node as finished; the last one ends the spinning."""
        self._parts -= 1
        if self._parts <= 0:
            self.stop()

    def fail(self, error: AccordError) -> None:
        """End the spinning with an error; the first one counts."""
        self.error = self.error or error
        self.stop()

    def stop(self) -> None:
        """End the spinning."""
        self._over = True
        if not self.future.done():
            self.future.set_result(None)

    def guard(self, callback: Callable[P, T]) -> Callable[P, T | None]:
        """Return a callback whose errors end the run, and that is silent after the end."""

        def guarded(*arguments: P.args, **named: P.kwargs) -> T | None:
            if self._over:
                return None
            try:
                return callback(*arguments, **named)
            except Exception:  # noqa: BLE001 - raised again, but for a user's
                try:
                    with users_code():
                        raise
                except AccordError as error:
                    self.fail(error)
            return None

        return guarded


class Shell:
    """Wrap a core object into a node: the base of all nodes, in a process of its own or not.

    Args:
        node: that hosts it.
        robot: name, with which its topics begin.
        run: which its errors end.

    Attributes:
        node, robot, run: as given, for the parts that live in it.
        name: of the node.
        status: exit status of its process if all is well.
    """

    name: ClassVar[str]
    status = 0

    def __init__(self, node: Node, robot: str, run: Run) -> None:
        self.node, self.robot, self.run = node, robot, run

    @classmethod
    def build(cls, node: Node, run: Run) -> Self:
        """Make what the parameters of a node specify."""
        raise NotImplementedError

    def close(self) -> None:
        """End properly, while the node can still publish."""

    def report(self) -> None:
        """Write to stdout what is to be reported after success."""

    @contextlib.contextmanager
    def preparing(self) -> Iterator[None]:
        """Let the run wait while this node makes what compiles."""
        sign = graph.sign(self.node, self.robot)
        try:
            yield
        finally:
            self.node.destroy_publisher(sign)

    def every(self, period: float, call: Callable[[], None]) -> None:
        """Call again and again; see `graph.every`."""
        graph.every(self.node, period, self.run.guard(call))

    def subscribe(
        self,
        name: str,
        decode: Callable[[bytes], T],
        take: Callable[[T], object] = itself,
        qos: QoSProfile = graph.RELIABLE,
        **options: Callable[[], bool],
    ) -> Subscription:
        """Subscribe to a topic of the robot; see `graph.subscribe` and `readable`."""
        read = readable(f"/{self.robot}/{name}", decode, take, **options)
        return graph.subscribe(self.node, self.robot, name, self.run.guard(read), qos=qos)

    def advertise(self, name: str) -> graph.Sender:
        """Make what publishes bytes on a topic of the robot."""
        return graph.advertise(self.node, self.robot, name)

    @classmethod
    def main(cls, args: Sequence[str] | None = None) -> NoReturn:
        """Run the node in its own process, whose exit status is `status` if all is well.

        Args:
            args: command line without the program; that of the process where None.
        """
        guard()
        leave(_run_node(cls, list(sys.argv[1:] if args is None else args)))


def make_executor(context: Context) -> Executor:
    """Make the fastest executor there is: events where rclpy has it, else the plain one."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        from rclpy.executors import SingleThreadedExecutor

        return SingleThreadedExecutor(context=context)
    # It enables faulthandler, which wants a real file where a test has replaced stderr.
    with contextlib.redirect_stderr(sys.__stderr__):
        return EventsExecutor(context=context)


@contextlib.contextmanager
def session(
    context: Context, *, args: Sequence[str] | None = None, domain_id: int | None = None
) -> Iterator[list[Node]]:
    """Start ROS in a context; destroy the nodes put into the list, then shut down, in order."""
    handlers = SignalHandlerOptions.NO
    rclpy.init(args=args, context=context, domain_id=domain_id, signal_handler_options=handlers)
    nodes: list[Node] = []
    try:
        yield nodes
    finally:
        for node in nodes:
            node.destroy_node()
        context.try_shutdown()


def quiet_node(name: str, context: Context, **options: Any) -> Node:
    """Make a node without parameter services and log topic."""
    return Node(
        name, context=context, enable_rosout=False, start_parameter_services=False, **options
    )


def spin(context: Context, nodes: Sequence[Node], run: Run) -> None:
    """Spin nodes until the run is over, whatever ends it."""
    executor = make_executor(context)
    try:
        for node in nodes:
            executor.add_node(node)
        while not run.future.done():
            executor.spin_until_future_complete(run.future, timeout_sec=SPIN)
    finally:
        for node in nodes:
            executor.remove_node(node)
        executor.shutdown()


@contextlib.contextmanager
def ends_between_callbacks(run: Run) -> Iterator[None]:
    """Let a signal end the spinning where no callback is cut, and do what it asks after that.

    An exception in a callback would be reported by the executor in many lines. The second signal
    acts at once.
    """
    received: list[int] = []
    before: dict[signal.Signals, Callable[[int, FrameType | None], None]] = {}

    def end(number: int, frame: FrameType | None) -> None:
        received.append(number)
        run.stop()
        if len(received) > 1:
            before[signal.Signals(number)](number, frame)

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            if callable(handler):
                before[number] = handler
                signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        before[signal.Signals(received[0])](received[0], None)


def leave(status: int) -> NoReturn:
    """End this process, which has shut down ROS, without what the C library does at an exit.

    Among the destructors of static objects DDS hangs for seconds, or for ever.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _run_node(kind: type[Shell], args: list[str]) -> int:
    """Run a node until its run is over, and return the exit status."""
    run = Run()
    context = Context()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else DDS leaves shared memory
    try:
        with session(context, args=args) as nodes:
            node = Node(kind.name, context=context)
            nodes.append(node)
            run.nodes = nodes
            graph.every(node, POLL, partial(_look_around, os.getppid(), run))
            threading.Thread(target=_tell_of_compiling, args=[kind.name], daemon=True).start()
            # Until then a signal, while libraries load or compile, ends it at once.
            shell = kind.build(node, run)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: run.interrupt())
            gc.freeze()  # what is loaded by now stays: no need to look through it again and again
            try:
                spin(context, nodes, run)
            finally:
                shell.close()
            status = _conclude(run, shell.report) or shell.status
            _end_soon(failed=status != 0)
    except KeyboardInterrupt:
        return STATUS_INTERRUPTED
    except Exception as error:
        line = str(error) if isinstance(error, AccordError) else explain(error)
        if not line and isinstance(error, OF_ROS):
            line = f"{kind.name}: {str(error).splitlines()[0]}"
        if not line:
            raise
        return complain(line, error)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):  # Python's own end takes a while, too
            signal.signal(number, signal.SIG_IGN)
    return status


def complain(line: str, error: Exception) -> int:
    """Write an error in a line, below its traceback where that is asked for; return the status."""
    if shows_tracebacks():
        traceback.print_exception(error)
    sys.stderr.write(f"error: {line}\n")
    return STATUS_ERROR


def _conclude(run: Run, report: Callable[[], None]) -> int:
    """Report how a run ended while all is well, and return the exit status."""
    if run.error:
        return complain(str(run.error), run.error)
    report()
    sys.stdout.flush()
    return 0


def _end_soon(*, failed: bool) -> None:
    """End this process within `GRACE`, though DDS hangs as a node is destroyed, as it may.

    Native code that spins is ended, too. The exit status is then that of `SIGALRM`, which means
    that all work was done; or 1 after a failure.
    """
    if failed:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        faulthandler.dump_traceback_later(GRACE, exit=True, file=nowhere)
    else:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(GRACE)


def _look_around(parent: int, run: Run) -> None:
    """Let Python see signals while nothing comes, and end with the runner that asked for it."""
    runner = os.environ.get(PARENT)
    if runner and (os.getppid() != parent or not Path("/proc", runner).exists()):
        run.interrupt()


def _tell_of_compiling(name: str) -> None:
    """Say on stderr that kernels compile, from time to time; loading them is faster."""
    spent, due = 0.0, SAID_AFTER
    while True:
        time.sleep(0.1)
        spent += 0.1 * seen_compiling()
        if spent >= due:
            what = "compiling kernels, once on this machine"
            sys.stderr.write(f"{name}: {what}: {spent:.0f} s so far ...\n")
            sys.stderr.flush()
            due = spent + SAID_EVERY


def set_log_level(level: str) -> None:
    """Send log lines of at least this level to stderr.

    Raises:
        AccordError: for an unknown level.
    """
    known = logging.getLevelNamesMapping()
    if level.upper() not in known:
        raise AccordError(f"unknown log level {level}; available: debug, info, warning, error")
    logging.basicConfig(level=known[level.upper()], format="%(levelname)s %(name)s: %(message)s")
