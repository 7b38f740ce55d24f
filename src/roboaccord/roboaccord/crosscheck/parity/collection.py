"""Parity of many robots: every file in every engine, side by side, and the files repaired."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import read_bytes, writing
from roboaccord.crosscheck.parity.result import (
    DifferenceCause,
    EngineParity,
    Examined,
    Loading,
    ReadingStatus,
    Repair,
    RobotParity,
    Shipped,
    errors_of,
)
from roboaccord.crosscheck.parity.robot import (
    Bench,
    body_of,
    examine,
    load_shipped,
    repair,
    version_of,
)
from roboaccord.description.findings import Flaw, RuleFinding
from roboaccord.description.rules import findings, rule_of, unreadable
from roboaccord.description.traps import MIMIC, find_traps
from roboaccord.description.urdf_file import LARGEST, UrdfFile
from roboaccord.description.xacro_file import NO_ARGUMENTS
from roboaccord.engines.formats import holds_robot, read_robot
from roboaccord.engines.reading import Base
from roboaccord.numerics.isolation import Crash, hearing
from roboaccord.numerics.jit import is_disabled
from roboaccord.run.output import make_folder
from roboaccord.run.pieces import run_isolated

TIMEOUT = 60.0  # s of processor time, of one robot in one engine
WAITING = 20.0  # times that by the clock, for that time on a busy machine
MOST_WORDS = 40  # lines that are kept of an engine
PATTERNS = ("*.urdf", "*.urdf.xacro")
NUMBERS = ("number-invalid", "number-count")  # rules of what no reader gets past
FOREIGN = ("*.sdf", "*.xml")
HINGED = """<robot name="hinged"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="c" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""


@dataclass(frozen=True)
class ReadingOptions:
    """Hold how readers are asked: settings, base (as the root asks for if None), and seed."""

    settings: str = "default"
    base: Base | None = None
    seed: int = 0


@dataclass(frozen=True)
class Unread:
    """Hold a file that is still to be read.

    Args:
        path: of it.
        digest: of its bytes.
        packages: folders of ROS packages by name.
        arguments: of a xacro file.
    """

    path: Path
    digest: str
    packages: Mapping[str, Path]
    arguments: Mapping[str, str]

    def read(self) -> UrdfFile:
        """Return the file.

        Raises:
            AccordError: if it cannot be read.
        """
        return read_robot(self.path, self.packages, self.arguments)


Source = UrdfFile | Unread
Answer = Examined | Shipped | Crash


@dataclass(frozen=True)
class Part:
    """Hold what an engine made of a file, stripped or as shipped, and what it printed."""

    answer: Answer
    words: tuple[str, ...]


Done = Callable[[RobotParity], None]


def find_files(
    folder: Path, packages: Mapping[str, Path], arguments: Mapping[str, str] = NO_ARGUMENTS
) -> list[Unread]:
    """Return the robots in a folder, and in those below it: URDF, and what engines read besides.

    Args:
        folder: that is searched.
        packages: folders of ROS packages by name.
        arguments: of xacro files.

    Raises:
        AccordError: if there is none.
    """
    found = {path for pattern in PATTERNS for path in folder.rglob(pattern)}
    others = (path for pattern in FOREIGN for path in folder.rglob(pattern))
    paths = sorted(found | {path for path in others if path.is_file() and holds_robot(path)})
    if not paths:
        raise AccordError(f"no URDF, SDF or MJCF of a robot in {folder}")
    return [
        Unread(path, sha256(read_bytes(path, LARGEST)).hexdigest(), dict(packages), dict(arguments))
        for path in paths
        if path.is_file()
    ]


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
    names, found = tuple(engines), dict[int, RobotParity]()
    limits = {"cpu": TIMEOUT * len(engines), "timeout": WAITING * TIMEOUT * len(engines)}
    whole = [(file, names, options) for file in files]
    for i, result in run_isolated(examine_file, whole, **limits):
        if isinstance(result, RobotParity):
            found[i] = result
            done(result)
    for i in range(len(files)):
        if i not in found:
            found[i] = _one_by_one(files[i], engines, options)
            done(found[i])
    return [found[i] for i in range(len(files))]


def examine_file(source: Source, engines: tuple[str, ...], options: ReadingOptions) -> RobotParity:
    """Return what engines make of a file; for another process."""
    try:
        file = source.read() if isinstance(source, Unread) else source
        robot, bench = _robot(file, options), Bench(file, options.base, options.seed)
    except AccordError as error:
        return unread(source, str(error), engines, options)
    found = dict[str, EngineParity]()
    for engine in engines:
        with hearing() as words:
            parts = _asked(bench, engine, options, False), _asked(bench, engine, options, True)
        found[engine] = _engine(engine, *parts, tuple(words), options)
    return replace(robot, engines=found)


def examine_one(source: Source, engine: str, options: ReadingOptions, shipped: bool) -> Part:
    """Return what one engine makes of a file; for another process."""
    file = source.read() if isinstance(source, Unread) else source
    with hearing() as words:
        found = _asked(Bench(file, options.base, options.seed), engine, options, shipped)
    return Part(found, tuple(words))


def _asked(bench: Bench, engine: str, options: ReadingOptions, shipped: bool) -> Answer:
    try:
        return (load_shipped if shipped else examine)(bench, engine, options.settings)
    except AccordError as error:
        return Crash(str(error))
    except subprocess.TimeoutExpired as error:
        return Crash(f"no answer of {engine} in {error.timeout:g} s", late=True)
    except Exception as error:  # noqa: BLE001 - libraries raise what they like
        return Crash(f"{type(error).__name__}: {error}".splitlines()[0])


def _one_by_one(source: Source, engines: Mapping[str, str], options: ReadingOptions) -> RobotParity:
    """Return what engines make of a file, each in a process of its own."""
    limits = {"cpu": TIMEOUT, "timeout": WAITING * TIMEOUT}
    ((_, robot),) = run_isolated(examine_file, [(source, (), options)], **limits)
    if isinstance(robot, Crash):
        return unread(source, robot.reason, tuple(engines), options, judged=not robot.late)
    if robot.unread:
        return unread(source, robot.unread, tuple(engines), options)
    jobs = [(source, name, options, whole) for name in engines for whole in (False, True)]
    parts = dict[int, Part]()
    for i, result in run_isolated(examine_one, jobs, **limits):
        parts[i] = Part(result, result.words) if isinstance(result, Crash) else result
    found = dict[str, EngineParity]()
    for i, name in enumerate(engines):
        bare, whole = parts[2 * i], parts[2 * i + 1]
        words = (*bare.words, *whole.words)
        found[name] = _engine(name, bare.answer, whole.answer, words, options)
    return replace(robot, engines=found)


def _compile() -> None:
    """Compile the reference's kernels here, once, and not in every process and its time limit."""
    if not is_disabled():
        bench = Bench(UrdfFile(Path(), "hinged", HINGED))
        bench.reference(bench.text, False).allowed(bench.question.states[0])


def _robot(file: UrdfFile, options: ReadingOptions) -> RobotParity:
    """Return a robot that no engine has been asked for."""
    bench = Bench(file, options.base, options.seed)
    tree = bench.tree
    return RobotParity(
        name=file.name,
        file=str(file.path),
        base=bench.question.base,
        joints=len(tree.moving),
        mass=sum(link.mass for link in tree.links),
        traps=tuple(Flaw(t.cause, t.where, t.fix) for t in find_traps(file.stripped())),
        engines={},
        findings=tuple(findings(file)),
    )


def unread(
    source: Source,
    reason: str,
    engines: Sequence[str],
    options: ReadingOptions,
    *,
    judged: bool = True,
) -> RobotParity:
    """Return the row of a file that cannot be read, with what the rules find in its text.

    Of a xacro file, which may want arguments, and where nothing is judged, they find nothing.
    """
    found = list[RuleFinding]()
    if judged and (isinstance(source, UrdfFile) or source.path.suffix != ".xacro"):
        with contextlib.suppress(AccordError):
            found = findings(source if isinstance(source, UrdfFile) else source.read())
        if not any(each.severity == "error" for each in found):
            found.append(unreadable(source.path, reason))
    numbers = [each.message for each in found if each.rule in NUMBERS]
    if numbers:  # whose words name no link
        reason = f"broken description {source.path.name}: {numbers[0]}"
    cause, shipped = DifferenceCause("not read", (), None, None, reason), Crash(reason, late=True)
    return RobotParity(
        name=source.path.name.partition(".")[0],
        file=str(source.path),
        base="",
        joints=0,
        mass=0.0,
        traps=(),
        engines={
            name: _engine(name, _no_status(name, cause, options), shipped, (), options)
            for name in engines
        },
        findings=tuple(found),
        unread=reason,
    )


def _no_status(
    engine: str, cause: DifferenceCause, options: ReadingOptions, *, refused: bool = False
) -> Examined:
    """Return what stands for an engine that did not answer, or ended by a crash."""
    status = ReadingStatus.REFUSED if refused else ReadingStatus.UNDECIDED
    return Examined(
        status=status,
        settings=options.settings,
        version=version_of(engine),
        causes=(cause,),
        accord=status,
    )


def _engine(
    engine: str,
    examined: Answer,
    shipped: Answer,
    words: Sequence[str],
    options: ReadingOptions,
) -> EngineParity:
    """Return what an engine makes of a robot, with what stands for a crash or no answer."""
    if isinstance(examined, Crash):
        late = examined.late
        cause = DifferenceCause("no verdict" if late else "crash", (), None, None, examined.reason)
        examined = _no_status(engine, cause, options, refused=not late)
    if isinstance(shipped, Crash):
        status_shipped = Loading.UNDECIDED if shipped.late else Loading.REFUSED
        shipped = Shipped(status_shipped, shipped.reason)
    assert isinstance(examined, Examined)
    assert isinstance(shipped, Shipped)
    lines = dict.fromkeys(filter(None, (examined.refusal, *words)))
    return EngineParity(examined, shipped, tuple(lines)[:MOST_WORDS])


def write_repaired(
    sources: Sequence[Source],
    robots: Sequence[RobotParity],
    targets: Sequence[Path],
    engines: Mapping[str, str],
    options: ReadingOptions,
    done: Done,
) -> list[RobotParity]:
    """Write each file with the certain repairs of its causes and errors, and examine it again.

    A repair that gives another engine a cause is followed by that one's.

    Args:
        sources: files of the robots.
        robots: what was found of them.
        targets: files to write.
        engines, options, done: as of `examine_all`.

    Returns:
        The robots with their repair.
    """
    repaired, wanted = list(robots), [flaws_of(robot) for robot in robots]
    left = [i for i, robot in enumerate(robots) if not robot.unread]
    files = {
        i: each.read() if isinstance(each, Unread) else each
        for i, each in enumerate(sources)
        if i in left
    }
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
        if engine.status in (ReadingStatus.DIFFER, ReadingStatus.REFUSED)
        for cause in engine.examined.causes
        if cause.cause != MIMIC
    }
