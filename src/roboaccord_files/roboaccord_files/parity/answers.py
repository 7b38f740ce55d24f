"""Examine one robot's file: measure all levels in all engines, and judge what was measured.

A level is a question to an engine about a file, such as how it reads the robot (levels.py). The
`examine_...` functions measure levels; collection.py calls them in another process, since an engine
may crash or hang on a broken file. `answered` makes findings of the measurements: a crash of an
engine counts against it, no answer in time is not judged. Neither is a crash on a text that was
converted from the user's file, since that text is ours. test_parity.py and test_native_files.py
test both.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Finding, Levels
from roboaccord.crosscheck.level import Rows
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.numerics.isolation import Crash, recording_output

from roboaccord_files.parity.bench import Bench, FileCase, FileLevel, ReadingOptions, reader
from roboaccord_files.parity.files import Source, read_source
from roboaccord_files.parity.levels import LEVELS
from roboaccord_files.parity.result import RobotParity
from roboaccord_files.parity.words import OF_CONVERTED, ParityCode
from roboaccord_files.repair.find import find_traps
from roboaccord_files.rules.find import findings, unreadable
from roboaccord_files.rules.findings import RuleFinding

# Rules that find text where a number must be, or too few numbers.
NUMBER_RULES = ("number-invalid", "number-count")

# What was measured, or the crash or timeout that prevented it (`Crash`: reason, whether it is late,
# and the lines printed until then), by engine and level.
Checks = Mapping[tuple[str, str], Any | Crash]


def examine_file(file: Source, versions: Mapping[str, str], options: ReadingOptions) -> RobotParity:
    """Return how all engines read a file; called in another process."""
    try:
        bench = _bench(file, options)
        robot = replace(
            bench.summary(),
            traps=tuple(trap.flaw for trap in find_traps(bench.stripped)),
            findings=tuple(findings(bench.file)),
            form=bench.file.form,
        )
    except AccordError as error:
        return unread(file, str(error), versions, options)
    measured = {
        (engine, level.name): _measure(bench, engine, level, options)
        for engine in versions
        for level in LEVELS
    }
    return answered(robot, measured, versions, options)


def examine_one(source: Source, engine: str, level: FileLevel[Any], options: ReadingOptions) -> Any:
    """Return the check of one level for a file in one engine; called in another process."""
    return _measure(_bench(source, options), engine, level, options)


def _bench(source: Source, options: ReadingOptions) -> Bench:
    """Return the bench of a file; raise AccordError if meshes that determine masses are missing."""
    file = read_source(source)
    if file.unweighed:
        where = f"{Path(file.missing[0]).parent}: put them there, or write <inertial>"
        links = ", ".join(file.unweighed)
        raise AccordError(f"masses of {links} come from meshes that are missing in {where}")
    return Bench(file, options.base, options.seed)


def _measure(bench: Bench, engine: str, level: FileLevel[Any], options: ReadingOptions) -> Any:
    """Return the check of a level, or why there is none, with the engine's messages."""
    with recording_output() as lines:
        try:
            check: Any = level.measure(FileCase(bench, engine, options.settings))
        except AccordError as error:
            check = Crash(str(error))
        except subprocess.TimeoutExpired as error:
            check = Crash(f"no answer of {engine} in {error.timeout:g} s", late=True)
        except Exception as error:  # noqa: BLE001 - libraries raise what they like
            check = Crash(f"{type(error).__name__}: {error}".splitlines()[0])
    return replace(check, words=tuple(lines))


def answered(
    robot: RobotParity, measured: Checks, versions: Mapping[str, str], options: ReadingOptions
) -> RobotParity:
    """Return a robot with the checks, findings and figures of all levels and engines.

    Args:
        robot: properties of the robot, without engines.
        measured: what each level has measured in each engine.
        versions: versions of the engines, by name.
        options: settings of the readers.
    """
    robot = replace(robot, versions=versions, settings=options.settings)
    # Engines that were given a text converted from the file.
    converted = {name for name in robot.engines if robot.form and reader(name).form != robot.form}
    checks, rows = dict[str, Mapping[str, Any]](), dict[str, Mapping[str, Rows]]()
    judged = list[Finding]()
    for level in LEVELS:
        by_engine = dict[str, Any]()
        for engine in robot.engines:
            check = measured[engine, level.name]
            if isinstance(check, Crash):
                check = _check_of_crash(level, check, bool(robot.unread), engine in converted)
            by_engine[engine] = check
            judged.append(replace(level.judge(check), level=level.name, engine=engine))
        checks[level.name] = by_engine
        rows[level.name] = {engine: level.rows(check) for engine, check in by_engine.items()}
    return replace(robot, levels=Levels.of(judged), checks=checks, rows=rows)


def _check_of_crash(level: FileLevel[Any], crash: Crash, unread: bool, converted: bool) -> Any:
    """Return the check that stands for a crash or no answer.

    Args:
        level: that was measured.
        crash: why there is no measurement.
        unread: whether the file could not be read, so that no engine was asked.
        converted: whether the engine was given a text converted from the file: a crash on that
            text is not the file's fault.
    """
    code = ParityCode.NO_ANSWER if crash.late else ParityCode.CRASH
    reason = crash.reason
    if code is ParityCode.CRASH and converted:
        code, reason = ParityCode.CONVERTED, f"{OF_CONVERTED}: crash: {reason}"
    failure = ParityCode.NOT_READ if unread else code
    return replace(level.absent(failure, reason), words=crash.words)


def unread(
    source: Source,
    reason: str,
    versions: Mapping[str, str],
    options: ReadingOptions,
    *,
    judged: bool = True,
) -> RobotParity:
    """Return the result for a file that cannot be read, with what the rules find in its text.

    Args:
        source: the file.
        reason: why it cannot be read.
        versions: versions of the engines, by name.
        options: settings of the readers.
        judged: whether the rules are applied; they never are to a xacro file, which may need
            arguments.
    """
    found_by_rules = list[RuleFinding]()
    if judged and (isinstance(source, UrdfFile) or source.path.suffix != ".xacro"):
        with contextlib.suppress(AccordError):
            found_by_rules = findings(read_source(source))
        if not any(finding.severity == "error" for finding in found_by_rules):
            found_by_rules.append(unreadable(source.path, reason))
    numbers = [finding.message for finding in found_by_rules if finding.rule in NUMBER_RULES]
    if numbers:  # the reader's own message would name no link
        reason = f"broken description {source.path.name}: {numbers[0]}"
    name = source.path.name.partition(".")[0]
    robot = RobotParity(name, str(source.path), findings=tuple(found_by_rules), unread=reason)
    measured = {(engine, level.name): Crash(reason) for engine in versions for level in LEVELS}
    return answered(robot, measured, versions, options)
