"""The processes of a run under `ros2 launch`, and what the end of each means for the launch.

To add a process, see launch/simulate.launch.py; a new word for `ends` needs its case in `ended` and
`_go_on`. ENDING and GRACE may be tuned: how long nodes may take after the run. DONE and INTERRUPTED
are statuses of good ends and of Ctrl-C. However a launch ends, no process may be left:
test_bringup, test_launch.

Each ends with `ros2 launch`, however that ends. `ends` is one of

    ends         the run is over
    part         it ends by itself after the run
    helper       it must last as long as the run
    window       it may be closed, and the launch waits for that after the run
    window_ends  and closing it ends the run
    view         it may end early, and ends with the launch
    last         it starts when the run and its parts have ended well, and the launch waits for it
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable
from typing import Any

from launch import Action, Condition, LaunchContext
from launch.actions import EmitEvent, ExecuteProcess, GroupAction, LogInfo, OpaqueFunction
from launch.actions import TimerAction as Timer
from launch.events import Shutdown
from launch.events.process import ProcessExited
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitutions import LaunchConfiguration
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
from launch_ros.actions import Node

MODULE = ("-P", "-m", "roboaccord_ros.run.module")
"""Runs a module that Ctrl-C ends as libraries load; -P: it imports nothing from this folder."""
GAZEBO = {"GZ_PARTITION": LaunchConfiguration("gz_partition", default="")}
ENDING = 90.0  # s that recorder, controller and cross-check may take after the run
GRACE = 5.0  # s between SIGTERM and SIGKILL of the others
OUTSIDE = {
    "crosscheck": "the live cross-check is outside its tolerance",
    "judge": "the cross-check is outside its tolerance",
}  # by the process whose status is then 1
DONE = (0, -signal.SIGALRM)  # the latter of a node that was done, and hung as ROS ended
INTERRUPTED = (130, 255, -signal.SIGINT, -signal.SIGTERM)  # 255: asyncio lost the status


class Tied(ExecuteProcess):  # type: ignore[misc]
    """Process of a run.

    Args:
        run: that it is of.
        label: its name.
        ends: what its end means.
        number: signal that it gets when `ros2 launch` ends.
        **options: of the action.
    """

    def __init__(
        self,
        run: LaunchedRun,
        label: str,
        ends: SomeSubstitutionsType,
        *,
        number: int = signal.SIGKILL,
        **options: Any,
    ) -> None:
        self.label, self._run = label, run
        self._ends = normalize_to_list_of_substitutions(ends)
        with_parent = LaunchConfiguration("with_parent")
        super().__init__(
            prefix=[with_parent, f" {int(number)} {os.getpid()} "], on_exit=self._on_exit,
            sigkill_timeout=str(ENDING if ends == "part" else GRACE), cached_output=True,
            additional_env=GAZEBO, **options,
        )  # fmt: skip

    def execute(self, context: LaunchContext) -> list[Action]:
        """Start it, and keep an eye on it; the last one first waits for the run."""
        ends = perform_substitutions(context, self._ends)
        if ends == "last" and not self._run.over:
            now = {n: v for n, v in context.launch_configurations.items() if isinstance(v, str)}
            self._run.wait_with(GroupAction([self], launch_configurations=now))
            return []
        if not context.is_shutdown:
            self._run.left[self] = ends
        return super().execute(context) or []

    def reason(self, code: int) -> str:
        """Return why it ended badly: what it wrote about it, or its status."""
        lines = self.get_stderr().splitlines()
        if errors := [line for line in lines if line.startswith("error: ")]:
            return f"{self.label}: {errors[-1].removeprefix('error: ')}"
        return f"{self.label} ended early, with status {code}"

    def _on_exit(self, event: ProcessExited, context: LaunchContext) -> list[Action]:
        return self._run.ended(self, event.returncode, ending=context.is_shutdown)


class TiedNode(Tied, Node):  # type: ignore[misc]
    """Node of a run."""


class LaunchedRun:
    """Make the processes of a run, and end the launch when it is over.

    Attributes:
        left: processes that run, and what their end means.
        over: whether the run is over.
    """

    def __init__(self) -> None:
        self.left: dict[Tied, str] = {}
        self.over, self._last = False, list[Action]()
        self._differs, self._lacks, self._failed = "", "", False
        self._outcome = "the launch was interrupted"

    def process(self, label: str, ends: str, command: Iterable[Any], **options: Any) -> Tied:
        """Make a program that is no node; see `Tied`."""
        return Tied(self, label, ends, cmd=command, name=label, **options)

    def tool(self, label: str, ends: str, **options: Any) -> Tied:
        """Make a node of a package of ROS; see `Tied`."""
        return self._node(label, ends, name=label, output="log", **options)

    def node(self, label: str, ends: Any, module: SomeSubstitutionsType, **options: Any) -> Tied:
        """Make a node of the workspace, which runs in its Python; see `Tied`."""
        return self._node(
            label, ends, executable=LaunchConfiguration("python"), arguments=[*MODULE, module],
            output="screen", number=signal.SIGTERM, **options,  # by which it ends its bag
        )  # fmt: skip

    def _node(self, label: str, ends: Any, **options: Any) -> Tied:
        namespace = LaunchConfiguration("namespace", default="")
        return TiedNode(self, label, ends, exec_name=label, namespace=namespace, **options)

    def wait_with(self, judge: Action) -> None:
        """Start this when the run is over, and its parts have ended well."""
        self._last, self._lacks = [judge], "; its bag is not judged"

    def ended(self, process: Tied, code: int, *, ending: bool) -> list[Action]:
        """Go on after the end of a process; after the last one report how the launch ended.

        Args:
            process: that has ended.
            code: its status.
            ending: whether the launch shuts down.

        Raises:
            RuntimeError: if it ended badly; then the launch shuts down, and fails.
        """
        ends = self.left.pop(process)
        good = code in DONE or ends in ("window", "view") or (ending and self._failed)
        judged = ends == "last" and bool(process.get_stdout())
        if process.label in OUTSIDE and code == 1 and (judged or ends != "last"):
            good, self._differs = True, OUTSIDE[process.label]
        if ending and (code in INTERRUPTED or ends not in ("ends", "part")):
            good = True
        if ends == "helper" and not ending:
            good = self.over
        if not good:
            self._fail(process.reason(code))
        if ends == "last":
            self._lacks = "" if judged else self._lacks
        if ending:
            self._check_verdict()
            return [] if self.left else [LogInfo(msg=self._outcome + self._lacks)]
        if ends == "window_ends" and not self.over:
            return self._finish(f"{process.label} was closed")
        return self._go_on(begin=ends == "ends")

    def _fail(self, reason: str) -> None:
        self._failed, self._outcome, self._lacks = True, f"the launch failed: {reason}", ""
        raise RuntimeError(reason)

    def _labels(self, *ends: str) -> list[str]:
        return [process.label for process, each in self.left.items() if each in ends]

    def _go_on(self, *, begin: bool) -> list[Action]:
        """End the launch when the run is over, its nodes have ended and windows are closed."""
        self.over = self.over or begin
        if not self.over:
            return []
        if self._labels("part", "last"):
            late = OpaqueFunction(function=self._refuse_late)
            return [Timer(period=ENDING, actions=[late])] if begin else []
        if self._last:  # its verdict counts, not that of the live node
            last, self._last, self._differs = self._last, [], ""
            return last
        self._outcome = "the run is over"
        if windows := self._labels("window", "window_ends"):
            close = f"close {' and '.join(windows)}, or press Ctrl-C, to end"
            how = "Ctrl-C ends the view in the browser" if "view" in windows else close
            return [LogInfo(msg=f"the run is over; {how}")]
        return self._finish("the run is over")

    def _finish(self, reason: str) -> list[Action]:
        """Return the end of the launch.

        Raises:
            RuntimeError: if a cross-check fails; it ends the launch as well.
        """
        self._check_verdict()
        self._outcome = reason
        line = [] if self.left else [LogInfo(msg=reason + self._lacks)]
        return [*line, EmitEvent(event=Shutdown(reason=reason))]

    def _check_verdict(self) -> None:
        differs, self._differs = self._differs, ""
        if differs:
            self._fail(differs)

    def _refuse_late(self, _: LaunchContext) -> None:
        if late := ", ".join(self._labels("part")):  # windows and the judge take their time
            self._fail(f"{late} did not end within {ENDING:g} s after the run")


def in_namespace(
    topics: str, make: Callable[..., Tied], *words: str, condition: Condition, **options: Any
) -> OpaqueFunction:
    """Make a node whose topics, which files of its own name from the root, are of the namespace.

    Args:
        topics: launch configuration with their names.
        make: makes it; with
        words, options: what it takes.
        condition: under which it is started.
    """

    def start(context: LaunchContext) -> list[Action]:
        names = LaunchConfiguration(topics).perform(context).split()
        return [make(*words, remappings=[(f"/{name}", name) for name in names], **options)]

    return OpaqueFunction(function=start, condition=condition)
