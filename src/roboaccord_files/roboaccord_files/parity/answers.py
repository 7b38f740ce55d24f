"""Ask engines how they read one robot's file, and judge their answers.

In this package,

    level    is a question to an engine about a file, such as how it reads the robot (levels.py)
    check    is what a level measures in one engine, a ReadingCheck or a ShippedCheck
    answer   of an engine to a level: the check, or the `Crash` that stands in its place
    finding  is the outcome of a check, by the level's `judge`

collection.py calls these functions. An engine may crash or hang on a broken file, so
`examine_file`, which asks all engines and judges, runs in another process. If that ends without a
result, `ask_one` asks one engine one level, each time in a process of its own, and `judge_answers`
judges all answers in the main process. A `Bench` (bench.py) has what an engine needs to be asked:
the texts of the file, and the reference's readings of them.

A crash counts against the engine; an answer that is late is not judged. Neither is a crash on a
text that was converted from the user's file, since that text is ours. test_parity.py and
test_native_files.py test both.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Finding, Levels
from roboaccord.crosscheck.level import Rows
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.numerics.isolation import Crash, recording_output

from roboaccord_files.parity.bench import Bench, FileCase, FileLevel, ReadingOptions, reader
from roboaccord_files.parity.files import Source, read_source
from roboaccord_files.parity.levels import LEVELS
from roboaccord_files.parity.result import ReadingCheck, RobotParity, ShippedCheck
from roboaccord_files.parity.words import OF_CONVERTED, ParityCode
from roboaccord_files.repair.find import find_traps
from roboaccord_files.rules.find import findings, unreadable
from roboaccord_files.rules.findings import RuleFinding

# Rules that find text where a number must be, or too few numbers.
NUMBER_RULES = ("number-invalid", "number-count")

Check = ReadingCheck | ShippedCheck
# A `Crash` has its reason, whether it is a timeout, and the lines that were printed until then.
Answer = Check | Crash
Answers = Mapping[tuple[str, str], Answer]  # by engine and level
Versions = Mapping[str, str]  # of the engines that are asked, by name


def examine_file(file: Source, versions: Versions, options: ReadingOptions) -> RobotParity:
    """Return how all engines of `versions` read a file; called in another process."""
    try:
        bench = _bench(file, options)
        robot = replace(
            bench.summary(),
            traps=tuple(trap.flaw for trap in find_traps(bench.stripped)),
            findings=tuple(findings(bench.file)),
            form=bench.file.form,
        )
    except AccordError as error:
        return unread_robot(file, str(error), versions, options)
    answers = {
        (engine, level.name): _ask(bench, engine, level, options)
        for engine in versions
        for level in LEVELS
    }
    return judge_answers(robot, answers, versions, options)


def ask_one(file: Source, engine: str, level: FileLevel[Check], options: ReadingOptions) -> Answer:
    """Return the answer of one engine to one level; called in another process."""
    return _ask(_bench(file, options), engine, level, options)


def _bench(source: Source, options: ReadingOptions) -> Bench:
    """Return the bench of a file; raise AccordError if meshes that determine masses are missing."""
    file = read_source(source)
    if file.unweighed:
        where = f"{Path(file.missing[0]).parent}: put them there, or write <inertial>"
        links = ", ".join(file.unweighed)
        raise AccordError(f"masses of {links} come from meshes that are missing in {where}")
    return Bench(file, options.base, options.seed)


def _ask(bench: Bench, engine: str, level: FileLevel[Check], options: ReadingOptions) -> Answer:
    """Return the answer of an engine to a level, with the engine's messages."""
    with recording_output() as lines:
        try:
            answer: Answer = level.measure(FileCase(bench, engine, options.settings))
        except AccordError as error:
            answer = Crash(str(error))
        except subprocess.TimeoutExpired as error:
            answer = Crash(f"no answer of {engine} in {error.timeout:g} s", late=True)
        except Exception as error:  # noqa: BLE001 - libraries raise what they like
            answer = Crash(f"{type(error).__name__}: {error}".splitlines()[0])
    return replace(answer, words=tuple(lines))


def judge_answers(
    robot: RobotParity, answers: Answers, versions: Versions, options: ReadingOptions
) -> RobotParity:
    """Return a robot with the checks, findings and figures of all levels and engines.

    Args:
        robot: properties of the robot, without engines.
        answers: of each engine to each level.
        versions: versions of the engines, by name.
        options: settings of the readers.
    """
    robot = replace(robot, versions=versions, settings=options.settings)
    checks, rows = dict[str, Mapping[str, Check]](), dict[str, Mapping[str, Rows]]()
    found = list[Finding]()
    for level in LEVELS:
        by_engine = dict[str, Check]()
        for engine in versions:
            check = _check_of(answers[engine, level.name], level, robot, engine)
            by_engine[engine] = check
            found.append(replace(level.judge(check), level=level.name, engine=engine))
        checks[level.name] = by_engine
        rows[level.name] = {engine: level.rows(check) for engine, check in by_engine.items()}
    return replace(robot, levels=Levels.of(found), checks=checks, rows=rows)


def _check_of(answer: Answer, level: FileLevel[Check], robot: RobotParity, engine: str) -> Check:
    """Return the check that an engine answers, or that stands for its crash or for no answer.

    No engine was asked about a file that could not be read. A crash on a text that was converted
    from the file for the engine is not the file's fault.
    """
    if not isinstance(answer, Crash):
        return answer
    code, reason = ParityCode.CRASH, answer.reason
    if robot.unread:
        code = ParityCode.NOT_READ
    elif answer.late:
        code = ParityCode.NO_ANSWER
    elif robot.form and reader(engine).form != robot.form:
        code, reason = ParityCode.CONVERTED, f"{OF_CONVERTED}: crash: {reason}"
    return replace(level.absent(code, reason), words=answer.words)


def unread_robot(
    file: Source, reason: str, versions: Versions, options: ReadingOptions, *, judged: bool = True
) -> RobotParity:
    """Return the result for a file that cannot be read, with what the rules find in its text.

    Args:
        file: that cannot be read.
        reason: why it cannot be read.
        versions: versions of the engines, by name.
        options: settings of the readers.
        judged: whether the rules are applied; they never are to a xacro file, which may need
            arguments.
    """
    found_by_rules = list[RuleFinding]()
    if judged and (isinstance(file, UrdfFile) or file.path.suffix != ".xacro"):
        with contextlib.suppress(AccordError):
            found_by_rules = findings(read_source(file))
        if not any(finding.severity == "error" for finding in found_by_rules):
            found_by_rules.append(unreadable(file.path, reason))
    numbers = [finding.message for finding in found_by_rules if finding.rule in NUMBER_RULES]
    if numbers:  # the reader's own message would name no link
        reason = f"broken description {file.path.name}: {numbers[0]}"
    name = file.path.name.partition(".")[0]
    robot = RobotParity(name, str(file.path), findings=tuple(found_by_rules), unread=reason)
    answers = {(engine, level.name): Crash(reason) for engine in versions for level in LEVELS}
    return judge_answers(robot, answers, versions, options)
