"""Examine many robots in all engines, each file in a separate process with limits of time.

An engine may crash or hang on a broken file. Then each engine is asked again alone, so that the
others still answer. An engine that exceeds TIMEOUT or WAITING has no verdict, and is not wrong.
Functions of answers.py run in the other processes; their arguments must be picklable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing import current_process
from pathlib import Path
from typing import TypeVar, TypeVarTuple

from roboaccord.description.urdf_file import UrdfFile
from roboaccord.numerics.isolation import Crash, isolated
from roboaccord.numerics.jit import is_disabled
from roboaccord.run.pieces import cluster, on_workers

from roboaccord_files.parity.answers import answered, examine_file, examine_one, unread
from roboaccord_files.parity.bench import Bench, ReadingOptions
from roboaccord_files.parity.files import Source
from roboaccord_files.parity.levels import LEVELS
from roboaccord_files.parity.result import Done, RobotParity

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

TIMEOUT = 60.0  # s of processor time, of one robot in one engine
WAITING = 20.0  # times that by the clock, for that time on a busy machine

HINGED = """<robot name="hinged"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="c" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""


def examine_all(
    files: Sequence[Source],
    engines: Mapping[str, str],
    options: ReadingOptions,
    done: Done = lambda robot: None,
) -> list[RobotParity]:
    """Return what each engine makes of each file.

    A file is examined in a process of its own, by all engines; if that crashes, or comes to its
    limit of processor time, each engine is asked alone again.

    Args:
        files: of the robots.
        engines: versions by name.
        options: how they are asked.
        done: called with each robot, as it is done.
    """
    _compile()
    robots = dict[int, RobotParity]()
    whole = [(file, engines, options) for file in files]
    for i, result in run_isolated(examine_file, whole, TIMEOUT * len(engines)):
        if isinstance(result, RobotParity):
            robots[i] = result
            done(result)
    for i in range(len(files)):
        if i not in robots:
            robots[i] = _one_by_one(files[i], engines, options)
            done(robots[i])
    return [robots[i] for i in range(len(files))]


def _one_by_one(source: Source, engines: Mapping[str, str], options: ReadingOptions) -> RobotParity:
    """Return what engines make of a file, each in a process of its own."""
    ((_, robot),) = run_isolated(examine_file, [(source, {}, options)], TIMEOUT)
    if isinstance(robot, Crash):
        return unread(source, robot.reason, engines, options, judged=not robot.late)
    if robot.unread:
        return unread(source, robot.unread, engines, options)
    jobs = [(source, engine, level, options) for engine in engines for level in LEVELS]
    asked = run_isolated(examine_one, jobs, TIMEOUT)
    checks = {(jobs[i][1], jobs[i][2].name): check for i, check in asked}
    return answered(replace(robot, versions=engines), checks)


def run_isolated(
    function: Callable[[*Ts], T], calls: Sequence[tuple[*Ts]], cpu: float
) -> Iterator[tuple[int, T | Crash]]:
    """Yield number and result of pieces as they are done, each in a process that may crash.

    No file keeps them.

    Args:
        function, calls: as of `isolated`.
        cpu: of a process [s]; by the clock, WAITING times that.
    """
    if client := cluster.get():
        alone: Callable[..., T | Crash] = partial(_isolate, function, cpu)
        yield from on_workers(client, alone, dict(enumerate(calls)), False)  # type: ignore[arg-type]
    else:
        yield from isolated(function, calls, timeout=WAITING * cpu, cpu=cpu)


def _isolate(function: Callable[[*Ts], T], cpu: float, *call: *Ts) -> T | Crash:
    """Do a piece in a process of its own, which Dask's workers by default must not have."""
    current_process().daemon = False
    found: T | Crash
    ((_, found),) = isolated(function, [call], timeout=WAITING * cpu, cpu=cpu, workers=1)
    return found


def _compile() -> None:
    """Compile the reference's kernels here, once, and not in every process and its time limit."""
    if not is_disabled():
        bench = Bench(UrdfFile(Path(), "hinged", HINGED))
        bench.reference(bench.text, False).allowed(0)
