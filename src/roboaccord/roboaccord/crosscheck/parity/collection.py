"""Parity of many robots: every file in every engine, side by side, and the files repaired."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import writing
from roboaccord.crosscheck.parity.result import (
    Cause,
    EngineParity,
    Examined,
    Loading,
    Repair,
    RobotParity,
    Shipped,
    Status,
    errors_of,
)
from roboaccord.crosscheck.parity.robot import Bench, body_of, examine, load_shipped, repair
from roboaccord.description.rules import findings, rule_of
from roboaccord.description.traps import MIMIC, find_traps
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.description.xacro_file import NO_ARGUMENTS
from roboaccord.engines.formats import read_robot
from roboaccord.engines.reading import Base
from roboaccord.numerics.isolation import Crash
from roboaccord.numerics.jit import is_disabled
from roboaccord.run.output import make_folder
from roboaccord.run.pieces import run_isolated

TIMEOUT = 60.0  # s, of one robot in one engine
PATTERNS = ("*.urdf", "*.urdf.xacro")

Done = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """Hold how readers are asked: settings, base (as the root asks for if None), and seed."""

    settings: str = "default"
    base: Base | None = None
    seed: int = 0


def find_files(
    folder: Path,
    packages: Mapping[str, Path],
    base: Base | None,
    refused: Callable[[str], None],
    arguments: Mapping[str, str] = NO_ARGUMENTS,
) -> list[UrdfFile]:
    """Return the robots in a folder that can be read.

    Args:
        folder: searched with all below it.
        packages: folders of ROS packages by name.
        base: as of `Options`.
        refused: called with the line that says why a file is left out.
        arguments: of xacro files.

    Raises:
        AccordError: if there is none.
    """
    found = []
    for path in sorted({path for pattern in PATTERNS for path in folder.rglob(pattern)}):
        try:
            file = read_robot(path, packages, arguments)
            Bench(file, base).question  # noqa: B018 - refuses what is no tree
            found.append(file)
        except AccordError as error:
            refused(str(error))
    if not found:
        raise AccordError(f"no URDF of a robot in {folder}")
    return found


def examine_all(
    files: Sequence[UrdfFile],
    engines: Mapping[str, str],
    options: Options,
    done: Done = lambda name: None,
) -> list[RobotParity]:
    """Return what each engine makes of each file.

    Args:
        files: of the robots.
        engines: versions by name.
        options: how they are asked.
        done: called with the name of a robot, for each engine.

    Raises:
        AccordError: if a file's links and joints form no tree.
    """
    robots = [_robot(file, options) for file in files]
    jobs = [
        (i, name, whole) for i in range(len(files)) for name in engines for whole in (False, True)
    ]
    _compile(files[0], options)
    examined, shipped = dict[tuple[int, str], Examined](), dict[tuple[int, str], Shipped]()
    pieces = [(files[i], name, options, whole) for i, name, whole in jobs]
    for job, result in run_isolated(examine_one, pieces, timeout=TIMEOUT):
        i, name, whole = jobs[job]
        if isinstance(result, Shipped):
            shipped[i, name] = result
        elif isinstance(result, Examined):
            examined[i, name] = result
        elif whole:
            shipped[i, name] = _not_loaded(result)
        else:
            examined[i, name] = _not_examined(result, engines[name], options)
        done(robots[i].name)
    return [
        replace(robot, engines={n: EngineParity(examined[i, n], shipped[i, n]) for n in engines})
        for i, robot in enumerate(robots)
    ]


def examine_one(
    file: UrdfFile, engine: str, options: Options, shipped: bool
) -> Examined | Shipped | Crash:
    """Return what one engine makes of a file, stripped or as shipped; for another process."""
    ask = load_shipped if shipped else examine
    try:
        return ask(Bench(file, options.base, options.seed), engine, options.settings)
    except AccordError as error:
        return Crash(str(error))
    except subprocess.TimeoutExpired as error:
        return Crash(f"no answer of {engine} in {error.timeout:g} s", late=True)


def _compile(file: UrdfFile, options: Options) -> None:
    """Compile the reference's kernels here, once, and not in every process and its time limit."""
    if is_disabled():
        return
    bench = Bench(file, options.base, options.seed)
    with contextlib.suppress(AccordError):
        bench.reference(bench.text, False).allowed(bench.question.states[0])


def _robot(file: UrdfFile, options: Options) -> RobotParity:
    """Return a robot that no engine has been asked for."""
    bench = Bench(file, options.base, options.seed)
    tree = bench.tree
    return RobotParity(
        name=file.name,
        file=str(file.path),
        base=bench.question.base,
        joints=len(tree.moving),
        mass=sum(link.mass for link in tree.links),
        traps=tuple(find_traps(file.stripped())),
        engines={},
        findings=tuple(findings(file)),
    )


def _not_examined(crash: Crash, version: str, options: Options) -> Examined:
    """Return what stands for an engine that crashes, or does not answer in time."""
    cause, status = ("no answer", Status.UNDECIDED) if crash.late else ("crash", Status.REFUSED)
    return Examined(
        status=status,
        settings=options.settings,
        version=version,
        causes=(Cause(cause, (), None, None, crash.reason),),
        accord=status,
    )


def _not_loaded(crash: Crash) -> Shipped:
    return Shipped(Loading.UNDECIDED if crash.late else Loading.REFUSED, crash.reason)


def write_repaired(
    files: Sequence[UrdfFile],
    robots: Sequence[RobotParity],
    targets: Sequence[Path],
    engines: Mapping[str, str],
    options: Options,
    done: Done,
) -> list[RobotParity]:
    """Write each file with the certain repairs of its causes and errors, and examine it again.

    A repair that gives another engine a cause is followed by that one's.

    Args:
        files: of the robots.
        robots: what was found of them.
        targets: files to write.
        engines, options, done: as of `examine_all`.

    Returns:
        The robots with their repair.
    """
    repaired, wanted = list(robots), [flaws_of(robot) for robot in robots]
    left = list(range(len(files)))
    while left:
        texts = [repair(files[i], wanted[i]) for i in left]
        again = [files[i].changed(text.data) for i, text in zip(left, texts, strict=True)]
        found, more = examine_all(again, engines, options, done), list[int]()
        for i, robot, text, file in zip(left, found, texts, again, strict=True):
            make_folder(targets[i].parent)
            with writing(targets[i], ".urdf") as draft:
                draft.write_bytes(text.data)
            bodies = (body_of(Bench(each, options.base).tree) for each in (files[i], file))
            causes = causes_of(robot)
            statuses = {name: engine.status for name, engine in robot.engines.items()}
            result = Repair(
                text.done, statuses, tuple(sorted(causes)), text.diff, text.needs, *bodies
            )
            repaired[i] = replace(robots[i], repair=result)
            if causes - wanted[i]:
                more.append(i)
            wanted[i] |= causes
        left = more
    return repaired


def flaws_of(robot: RobotParity) -> set[str]:
    """Return what is to be repaired: causes, errors by the rules, and what any reader is spared."""
    errors = {finding.rule for finding in errors_of(robot)}
    wrong = {trap.cause for trap in robot.traps if rule_of(trap.cause) in errors}
    return causes_of(robot) | wrong | {"number blanks", "axis length"}


def causes_of(robot: RobotParity) -> set[str]:
    """Return the causes that make an engine differ from the reference, or refuse the robot."""
    return {
        cause.cause
        for engine in robot.engines.values()
        if engine.status in (Status.DIFFER, Status.REFUSED)
        for cause in engine.examined.causes
        if cause.cause != MIMIC
    }
