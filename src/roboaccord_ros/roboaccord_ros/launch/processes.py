"""The processes of a run under `ros2 launch`, and what the end of each means for the launch.

LaunchedRun makes the processes, and `ended` acts when one ends. Each process also ends with
`ros2 launch`, however that ends (run/with_parent.py). The word `ends` of a process states what its
own end means:

    ends         the run is over
    part         it ends by itself after the run
    helper       it must last as long as the run
    window       it may be closed; after the run the launch waits for that
    window_ends  the same, but closing it ends the run
    view         it may end early, and ends with the launch
    last         it starts when the run and its parts have ended well, and the launch waits for it

A process is added in launch/simulate.launch.py, a word here with its case in `ended` and `_go_on`.
However a launch ends, no process may be left (test_bringup, test_launch). ENDING and GRACE may be
tuned.
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

# Arguments of Python to run a module (run/module.py); -P: do not import from the current folder.
MODULE = ("-P", "-m", "roboaccord_ros.run.module")
# Environment of all processes: servers and windows of Gazebo meet in one partition.
GAZEBO = {"GZ_PARTITION": LaunchConfiguration("gz_partition", default="")}
# s: time in which recorder, controller and cross-check must end after the run: twice the longest
# wait of a recorder (nodes/recorder.CROSSCHECK_PATIENCE).
ENDING = 90.0
GRACE = 5.0  # s between SIGTERM and SIGKILL of other processes, ROS's own default for a launch
# Why a launch fails if this process ends with status 1.
OUTSIDE = {
    "crosscheck": "the live cross-check is outside its tolerance",
    "judge": "the cross-check is outside its tolerance",
}
DONE = (0, -signal.SIGALRM)  # statuses of good ends: SIGALRM if ROS hung when the work was done
# Statuses of processes that Ctrl-C has ended; 255 if asyncio has lost the status. 130 is 128 +
# SIGINT, as shells have it.
INTERRUPTED = (130, 255, -signal.SIGINT, -signal.SIGTERM)


class Tied(ExecuteProcess):  # type: ignore[misc]
    """A process of a run, which is tied to `ros2 launch`: it ends when that ends.

    Args:
        run: the run to which it belongs.
        label: name of the process.
        ends: what its end means, a word of the module's docstring.
        number: signal that it gets when `ros2 launch` ends.
        **options: options of the launch action.
    """

    def __init__(
        self, run: LaunchedRun, label: str, ends: SomeSubstitutionsType, *,
        number: int = signal.SIGKILL, **options: Any,
    ) -> None:  # fmt: skip
        self.label, self._run = label, run
        self._ends = normalize_to_list_of_substitutions(ends)
        with_parent = LaunchConfiguration("with_parent")
        super().__init__(
            prefix=[with_parent, f" {int(number)} {os.getpid()} "], on_exit=self._on_exit,
            sigkill_timeout=str(ENDING if ends == "part" else GRACE), cached_output=True,
            additional_env=GAZEBO, **options,
        )  # fmt: skip

    def execute(self, context: LaunchContext) -> list[Action]:
        """Start the process, and note it in the run; a last one waits for the run first."""
        ends = perform_substitutions(context, self._ends)
        if ends == "last" and not self._run.over:
            configurations = context.launch_configurations.items()
            texts = {name: value for name, value in configurations if isinstance(value, str)}
            self._run.wait_with(GroupAction([self], launch_configurations=texts))
            return []
        if not context.is_shutdown:
            self._run.running[self] = ends
        return super().execute(context) or []

    def reason(self, code: int) -> str:
        """Return why the process ended badly: its line of error, or its status."""
        lines = self.get_stderr().splitlines()
        if errors := [line for line in lines if line.startswith("error: ")]:
            return f"{self.label}: {errors[-1].removeprefix('error: ')}"
        return f"{self.label} ended early, with status {code}"

    def _on_exit(self, event: ProcessExited, context: LaunchContext) -> list[Action]:
        return self._run.ended(self, event.returncode, ending=context.is_shutdown)


class TiedNode(Tied, Node):  # type: ignore[misc]
    """A node of ROS that is a process of a run."""


class LaunchedRun:
    """The processes of a run, and the end of the launch when it is over.

    Attributes:
        running: what the end of each running process means.
        over: whether the run is over.
    """

    def __init__(self) -> None:
        self.running: dict[Tied, str] = {}
        self.over = False
        self._last = list[Action]()  # starts the last process
        self._difference = ""  # verdict of a cross-check that is outside
        self._has_failed = False
        # The last line: how the launch ended, and what it adds if the bag is not judged.
        self._outcome = "the launch was interrupted"
        self._not_judged = ""

    def process(self, label: str, ends: str, command: Iterable[Any], **options: Any) -> Tied:
        """Make a process that is no node; `label` and `ends` as for `Tied`."""
        return Tied(self, label, ends, cmd=command, name=label, **options)

    def tool(self, label: str, ends: str, **options: Any) -> Tied:
        """Make a node of a package of ROS; `label` and `ends` as for `Tied`."""
        return self._node(label, ends, name=label, output="log", **options)

    def node(self, label: str, ends: Any, module: SomeSubstitutionsType, **options: Any) -> Tied:
        """Make a node of the workspace, which runs in its Python; `label`, `ends` as for `Tied`."""
        return self._node(
            label, ends, executable=LaunchConfiguration("python"), arguments=[*MODULE, module],
            output="screen", number=signal.SIGTERM, **options,  # by which it ends its bag
        )  # fmt: skip

    def _node(self, label: str, ends: Any, **options: Any) -> Tied:
        namespace = LaunchConfiguration("namespace", default="")
        return TiedNode(self, label, ends, exec_name=label, namespace=namespace, **options)

    def wait_with(self, judge: Action) -> None:
        """Start a judge when the run is over, and its parts have ended well."""
        self._last = [judge]
        self._not_judged = "; its bag is not judged"

    def ended(self, process: Tied, code: int, *, ending: bool) -> list[Action]:
        """Go on after the end of a process; after the last one report how the launch ended.

        Args:
            process: the process.
            code: its status.
            ending: whether the launch is shutting down.

        Raises:
            RuntimeError: if it ended badly; then the launch shuts down, and fails.
        """
        ends = self.running.pop(process)
        has_verdict = ends == "last" and bool(process.get_stdout())
        if process.label in OUTSIDE and code == 1 and (has_verdict or ends != "last"):
            self._difference = OUTSIDE[process.label]
        elif not self._is_good_end(ends, code, ending=ending):
            self._fail(process.reason(code))
        if has_verdict:
            self._not_judged = ""
        if ending:
            self._check_verdict()
            return [] if self.running else [LogInfo(msg=self._outcome + self._not_judged)]
        if ends == "window_ends" and not self.over:
            return self._finish(f"{process.label} was closed")
        return self._go_on(begin=ends == "ends")

    def _is_good_end(self, ends: str, code: int, *, ending: bool) -> bool:
        """Return whether a process ended well, by what its end means and its status."""
        if ending and (self._has_failed or code in INTERRUPTED or ends not in ("ends", "part")):
            return True
        return self.over if ends == "helper" else code in DONE or ends in ("window", "view")

    def _fail(self, reason: str) -> None:
        """Let the launch fail.

        Raises:
            RuntimeError: with the reason; it shuts the launch down.
        """
        self._has_failed = True
        self._outcome, self._not_judged = f"the launch failed: {reason}", ""
        raise RuntimeError(reason)

    def _labels(self, *ends: str) -> list[str]:
        """Return the names of running processes whose end has one of these meanings."""
        return [process.label for process, end in self.running.items() if end in ends]

    def _go_on(self, *, begin: bool) -> list[Action]:
        """End the launch when the run is over, its nodes have ended and windows are closed."""
        self.over = self.over or begin
        if not self.over:
            return []
        if self._labels("part", "last"):
            late = OpaqueFunction(function=self._refuse_late)
            return [Timer(period=ENDING, actions=[late])] if begin else []
        if self._last:  # its verdict counts, not that of the live node
            judge, self._last, self._difference = self._last, [], ""
            return judge
        self._outcome = "the run is over"
        if windows := self._labels("window", "window_ends"):
            close = f"close {' and '.join(windows)}, or press Ctrl-C, to end"
            advice = "Ctrl-C ends the view in the browser" if "view" in windows else close
            return [LogInfo(msg=f"the run is over; {advice}")]
        return self._finish("the run is over")

    def _finish(self, reason: str) -> list[Action]:
        """Return the end of the launch.

        Raises:
            RuntimeError: if a cross-check fails; it ends the launch as well.
        """
        self._check_verdict()
        self._outcome = reason
        line = [] if self.running else [LogInfo(msg=reason + self._not_judged)]
        return [*line, EmitEvent(event=Shutdown(reason=reason))]

    def _check_verdict(self) -> None:
        """Let the launch fail if a cross-check is outside."""
        difference, self._difference = self._difference, ""
        if difference:
            self._fail(difference)

    def _refuse_late(self, _: LaunchContext) -> None:
        """Let the launch fail if a part of the run has not ended within ENDING."""
        if late := ", ".join(self._labels("part")):  # windows and the judge take their time
            self._fail(f"{late} did not end within {ENDING:g} s after the run")


def in_namespace(
    topics: str, make: Callable[..., Tied], *words: str, condition: Condition, **options: Any
) -> OpaqueFunction:
    """Make a node whose topics, which its own files name from the root, are in the namespace.

    Args:
        topics: launch configuration with the names of the topics.
        make: makes the node, from `words` and `options`.
        condition: under which it is started.
    """

    def start(context: LaunchContext) -> list[Action]:
        names = LaunchConfiguration(topics).perform(context).split()
        return [make(*words, remappings=[(f"/{name}", name) for name in names], **options)]

    return OpaqueFunction(function=start, condition=condition)
