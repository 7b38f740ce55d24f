"""Examine many robots in all engines, each file in a separate process with limits of time.

An engine may crash or hang on a broken file, and then takes the results of the other engines with
it. `examine_all` therefore asks each engine again, alone, for such a file. An engine that exceeds
TIMEOUT or WAITING has no verdict, and counts as no difference. The functions that run in the other
processes are those of answers.py; their arguments must be picklable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from multiprocessing import current_process
from pathlib import Path
from typing import TypeVar, TypeVarTuple

from roboaccord.description.urdf_file import UrdfFile
from roboaccord.numerics.isolation import Crash, isolated
from roboaccord.numerics.jit import is_disabled
from roboaccord.run.pieces import cluster, on_workers

from roboaccord_files.parity.answers import ask_one, examine_file, judge_answers, unread_robot
from roboaccord_files.parity.bench import Bench, ReadingOptions
from roboaccord_files.parity.files import Source
from roboaccord_files.parity.levels import LEVELS
from roboaccord_files.parity.result import Done, RobotParity

T = TypeVar("T")  # result of a job
Ts = TypeVarTuple("Ts")  # its arguments

# s of processor time for one robot in one engine. Usual robots take seconds; a file that makes an
# engine hang is `undecided` after this time (docs/parity.md).
TIMEOUT = 60.0
# Longest time by the clock, as a multiple of the limit of processor time: that of a process that
# shares a core with 19 others.
WAITING = 20.0

# A robot with one hinge; to read it compiles all kernels.
HINGED = """<robot name="hinged"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="c" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""


def examine_all(
    files: Sequence[Source],
    engines: Mapping[str, str],
    options: ReadingOptions,
    done: Done = lambda robot: None,
) -> list[RobotParity]:
    """Return how each engine reads each file.

    A file is examined by all engines in one process. If that crashes, or reaches its limit of
    processor time, each engine is asked again in a process of its own.

    Args:
        files: files of the robots.
        engines: versions of the engines by name.
        options: settings, base and seed of the readers.
        done: called with each robot when it is examined.
    """
    _compile()
    robots = dict[int, RobotParity]()
    jobs = [(file, engines, options) for file in files]
    for i, result in run_isolated(examine_file, jobs, TIMEOUT * len(engines)):
        if isinstance(result, RobotParity):
            robots[i] = result
            done(result)
    for i in range(len(files)):
        if i not in robots:
            robots[i] = _examine_each(files[i], engines, options)
            done(robots[i])
    return [robots[i] for i in range(len(files))]


def _examine_each(file: Source, engines: Mapping[str, str], options: ReadingOptions) -> RobotParity:
    """Return how engines read a file, each in a process of its own."""
    # The properties of the file itself, without an engine.
    ((_, robot),) = run_isolated(examine_file, [(file, {}, options)], TIMEOUT)
    if isinstance(robot, Crash):
        return unread_robot(file, robot.reason, engines, options, judged=not robot.late)
    if robot.unread:
        return unread_robot(file, robot.unread, engines, options)
    # The answers of all engines to all levels.
    jobs = [(file, engine, level, options) for engine in engines for level in LEVELS]
    answers = {}
    for i, answer in run_isolated(ask_one, jobs, TIMEOUT):
        _, engine, level, _ = jobs[i]
        answers[engine, level.name] = answer
    return judge_answers(robot, answers, engines, options)


def run_isolated(
    function: Callable[[*Ts], T], calls: Sequence[tuple[*Ts]], cpu: float
) -> Iterator[tuple[int, T | Crash]]:
    """Yield the index and the result of calls as they end, each in a process that may crash.

    Args:
        function, calls: as for `isolated`.
        cpu: limit of processor time of a process [s]; by the clock it is WAITING times as long.
    """
    if client := cluster.get():
        in_process: Callable[..., T | Crash] = partial(_isolate, function, cpu)
        yield from on_workers(client, in_process, dict(enumerate(calls)), False)  # type: ignore[arg-type]
    else:
        yield from isolated(function, calls, timeout=WAITING * cpu, cpu=cpu)


def _isolate(function: Callable[[*Ts], T], cpu: float, *call: *Ts) -> T | Crash:
    """Return the result of a call in a separate process."""
    current_process().daemon = False  # a worker of Dask is a daemon, which may start no process
    result: T | Crash
    ((_, result),) = isolated(function, [call], timeout=WAITING * cpu, cpu=cpu, workers=1)
    return result


def _compile() -> None:
    """Compile the kernels of the reference in this process; the others load them from the cache."""
    if not is_disabled():
        bench = Bench(UrdfFile(Path(), "hinged", HINGED))
        bench.reference(bench.text, False).allowed(0)
