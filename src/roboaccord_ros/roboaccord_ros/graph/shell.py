"""Base class of the nodes: topics, timers, and the start in a process of its own.

A node is a class derived from `Shell`, with `name` and `build`, and `close` and `report` if it
needs them. `Shell.main` makes the node, spins it until its run is over (spinning.py), closes it and
ends the process with its exit status (process.py).
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, NoReturn, Self, TypeVar

from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from roboaccord.contract import AccordError, guard
from roboaccord.numerics import report_compiling
from roboaccord.scenario import explain

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph import process
from roboaccord_ros.graph.reading import itself, readable
from roboaccord_ros.graph.spinning import POLL, Run, session, spin

T = TypeVar("T")  # content of a message


class Shell:
    """Wraps an object of the core as a ROS node, in a process of its own or with others.

    Args:
        node: node of its topics and timers.
        robot: name of the robot, with which its topics begin.
        run: the run, which ends with the errors of its callbacks.

    Attributes:
        node, robot, run: the arguments.
        name: name of the node.
        status: exit status of its process if there was no error.
    """

    name: ClassVar[str]
    status = 0

    def __init__(self, node: Node, robot: str, run: Run) -> None:
        self.node, self.robot, self.run = node, robot, run

    @classmethod
    def build(cls, node: Node, run: Run) -> Self:
        """Make the shell that the parameters of a node specify."""
        raise NotImplementedError

    def close(self) -> None:
        """End properly, while the node can still publish."""

    def report(self) -> None:
        """Write a report to stdout after success."""

    def every(self, period: float, callback: Callable[[], None]) -> None:
        """Call a function every `period` seconds of the steady clock; its errors end the run."""
        graph.every(self.node, period, self.run.guard(callback))

    def subscribe(
        self,
        name: str,
        decode: Callable[[bytes], T],
        take: Callable[[T], object] = itself,
        qos: QoSProfile = graph.RELIABLE,
        **options: Callable[[], bool],
    ) -> Subscription:
        """Subscribe to a topic of the robot; a message that cannot be read is ignored.

        Args:
            name: of the topic, without the robot's prefix.
            decode: returns the content of a message from its bytes.
            take: called with the content.
            qos: quality of service, unless the topic is latched.
            **options: `is_fatal` of `readable`.
        """
        read = readable(f"/{self.robot}/{name}", decode, take, **options)
        return graph.subscribe(self.node, self.robot, name, self.run.guard(read), qos=qos)

    def advertise(self, name: str) -> graph.Sender:
        """Make the publisher of bytes on a topic of the robot."""
        return graph.advertise(self.node, self.robot, name)

    @classmethod
    def main(cls, args: Sequence[str] | None = None) -> NoReturn:
        """Run the node in its own process, whose exit status is `status` if all is well.

        Args:
            args: command line without the program; that of the process where None.
        """
        guard()  # escapes control characters in what this process prints
        process.exit_process(_run_node(cls, list(sys.argv[1:] if args is None else args)))


def _run_node(kind: type[Shell], args: list[str]) -> int:
    """Run a node until its run is over, report an error in a line, and return the exit status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # or DDS leaves shared memory
    try:
        return _spin_node(kind, args)
    except KeyboardInterrupt:
        return process.STATUS_INTERRUPTED
    except Exception as error:
        line = str(error) if isinstance(error, AccordError) else explain(error)
        if not line and isinstance(error, process.ROS_ERRORS):
            line = f"{kind.name}: {str(error).splitlines()[0]}"
        if not line:
            raise
        return process.report_error(line, error)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):  # a signal may come as Python ends
            signal.signal(number, signal.SIG_IGN)


def _spin_node(kind: type[Shell], args: list[str]) -> int:
    """Make a node, spin it until its run is over, close it, and return the exit status."""
    run, context = Run(), Context()
    with session(context, args=args) as nodes:
        node = Node(kind.name, context=context)
        nodes.append(node)
        run.nodes = nodes
        graph.every(node, POLL, partial(process.end_with_runner, os.getppid(), run))
        arguments = kind.name, threading.Event()
        threading.Thread(target=report_compiling, args=arguments, daemon=True).start()
        shell = kind.build(node, run)  # while it loads and compiles a signal ends it at once
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: run.interrupt())
        gc.freeze()  # objects that are loaded by now stay: garbage collection skips them
        try:
            spin(context, nodes, run)
        finally:
            shell.close()
        status = process.report_outcome(run, shell.report) or shell.status
        process.end_soon(failed=status != 0)
    return status
