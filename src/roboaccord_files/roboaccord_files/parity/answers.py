"""Answers of engines in other processes, and what stands for one that crashed or did not answer.

A crash is outside, and no answer in time not judged, for the robot is not to blame: that is fixed,
and test_parity.py tests both. MOST_WORDS, how much the JSON keeps of an engine's own, may be tuned.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Levels
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.numerics.isolation import hearing
from roboaccord.scenario.scenario import Tolerances

from roboaccord_files.parity.bench import Bench, ReadingOptions
from roboaccord_files.parity.case import FileCase, FileLevel
from roboaccord_files.parity.files import Source, Unread
from roboaccord_files.parity.levels import LEVELS
from roboaccord_files.parity.result import RobotParity
from roboaccord_files.parity.words import ParityCode
from roboaccord_files.repair.find import find_traps
from roboaccord_files.rules.find import findings, unreadable
from roboaccord_files.rules.findings import RuleFinding

MOST_WORDS = 40  # lines that are kept of an engine
NUMBERS = ("number-invalid", "number-count")  # rules of what no reader gets past


@dataclass(frozen=True)
class Part:
    """Hold what a level measured of a file in an engine, and what that printed."""

    check: Any
    words: tuple[str, ...] = ()


Parts = Mapping[tuple[str, str], Part]
"""By engine and level."""


def examine_file(
    source: Source, versions: Mapping[str, str], options: ReadingOptions
) -> RobotParity:
    """Return what engines make of a file; for another process."""
    try:
        bench = _bench(source, options)
        robot = RobotParity(
            name=bench.file.name,
            file=str(bench.file.path),
            base=bench.question.base,
            joints=len(bench.tree.moving),
            mass=sum(link.mass for link in bench.tree.links),
            traps=tuple(trap.flaw for trap in find_traps(bench.stripped)),
            findings=tuple(findings(bench.file)),
            settings=options.settings,
            versions=versions,
        )
    except AccordError as error:
        return unread(source, str(error), versions, options)
    asked = [(engine, level) for engine in versions for level in LEVELS]
    return answered(robot, {(e, each.name): _part(bench, e, each, options) for e, each in asked})


def examine_one(
    source: Source, engine: str, level: FileLevel[Any], options: ReadingOptions
) -> Part:
    """Return what one level measures of a file in one engine; for another process."""
    return _part(_bench(source, options), engine, level, options)


def _bench(source: Source, options: ReadingOptions) -> Bench:
    file = source.read() if isinstance(source, Unread) else source
    return Bench(file, options.base, options.seed)


def _part(bench: Bench, engine: str, level: FileLevel[Any], options: ReadingOptions) -> Part:
    with hearing() as words:
        try:
            check = level.measure(FileCase(bench, engine, options.settings))
        except AccordError as error:
            check = level.absent(ParityCode.CRASH, str(error))
        except subprocess.TimeoutExpired as error:
            late = f"no answer of {engine} in {error.timeout:g} s"
            check = level.absent(ParityCode.NO_ANSWER, late)
        except Exception as error:  # noqa: BLE001 - libraries raise what they like
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            check = level.absent(ParityCode.CRASH, reason)
    return Part(check, tuple(words))


def answered(robot: RobotParity, parts: Parts) -> RobotParity:
    """Return a robot with what its engines make of it, judged."""
    tolerances = Tolerances()
    judged = [
        replace(level.judge(parts[e, level.name].check, tolerances), level=level.name, engine=e)
        for e in robot.engines
        for level in LEVELS
    ]
    checks = {each.name: {e: parts[e, each.name].check for e in robot.engines} for each in LEVELS}
    messages = dict[str, tuple[str, ...]]()
    for e in robot.engines:
        words = (word for level in LEVELS for word in parts[e, level.name].words)
        lines = dict.fromkeys(filter(None, (checks["reading"][e].refusal, *words)))
        messages[e] = tuple(lines)[:MOST_WORDS]
    return replace(
        robot,
        levels=Levels.of(judged),
        checks=checks,
        rows={
            each.name: {e: each.rows(check) for e, check in checks[each.name].items()}
            for each in LEVELS
        },
        messages=messages,
    )


def unread(
    source: Source,
    reason: str,
    versions: Mapping[str, str],
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
    robot = RobotParity(
        name=source.path.name.partition(".")[0],
        file=str(source.path),
        findings=tuple(found),
        unread=reason,
        settings=options.settings,
        versions=versions,
    )
    absent = {level.name: Part(level.absent(ParityCode.NOT_READ, reason)) for level in LEVELS}
    return answered(robot, {(e, name): absent[name] for e in versions for name in absent})
