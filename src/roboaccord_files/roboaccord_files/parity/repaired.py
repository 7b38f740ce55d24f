"""Repair robots' files: write the certain repairs, and examine the repaired files in all engines.

A repair is certain if it follows from the file, without a number that only the user knows. Each
trap, a passage that readers interpret differently (roboaccord_files.repair), states whether its
repair is certain. `write_repaired` does this for `accord parity --repair`; `flaws_of` selects what
is repaired, some of it even if no engine reads it wrongly. Bytes that no repair changes stay as
they are (test_repair.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from roboaccord.contract.files import read_bytes, writing
from roboaccord.contract.outcome import Outcome
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import LARGEST, UrdfFile, decode_xml, plain_xml
from roboaccord.run.output import make_folder

from roboaccord_files.parity.bench import Bench, ReadingOptions
from roboaccord_files.parity.collection import examine_all
from roboaccord_files.parity.compare import reaches
from roboaccord_files.parity.files import Source, read_source, unchanged_path
from roboaccord_files.parity.lumps import lump
from roboaccord_files.parity.result import Done, Repair, RobotParity, RobotProperties, errors_of
from roboaccord_files.repair.edits import applied, unified
from roboaccord_files.repair.find import changes_for, find_traps
from roboaccord_files.repair.joints import MIMIC
from roboaccord_files.repair.trap import Trap
from roboaccord_files.rules.find import rule_of

# Traps that are repaired even if no engine reads them wrongly.
ALWAYS_REPAIRED = {"number blanks", "axis length"}


@dataclass(frozen=True)
class Repaired:
    """The text of a file after its certain repairs, as bytes.

    Args:
        data: the text.
        diff: unified diff from the file as shipped, with the reason for each hunk.
        done: traps that were repaired.
        needs: lines that name the numbers which only the maker of the robot knows.
    """

    data: bytes
    diff: str
    done: tuple[Trap, ...]
    needs: tuple[str, ...]


def repair(file: UrdfFile, causes: Collection[str]) -> Repaired:
    """Return a file with the certain repairs of the named causes."""
    traps = [trap for trap in find_traps(file.text) if trap.cause in causes]
    done = tuple(trap for trap in traps if trap.certain)
    open_traps = [trap for trap in traps if trap.needs]
    needs = (f"needs your number: {t.needs} of {name}" for t in open_traps for name in t.where)
    # The bytes of the file; for another format or standard input, those of its URDF text.
    is_unchanged = not file.form and unchanged_path(file)
    data = read_bytes(file.path, LARGEST).lstrip() if is_unchanged else file.text.encode()
    changes = changes_for(data, done)
    diff = unified(data, changes, file.path.name)
    return Repaired(applied(data, changes), diff, done, tuple(dict.fromkeys(needs)))


def with_text(file: UrdfFile, data: bytes) -> UrdfFile:
    """Return a robot's file with another text."""
    return replace(file, text=plain_xml(decode_xml(data)), form="", origin="")


def robot_properties(tree: Tree) -> RobotProperties:
    """Return mass, principal moments of inertia and reach of a robot at q = 0."""
    whole = lump(tree, tree.links[0].name, [link.name for link in tree.links])
    moments = np.linalg.eigvalsh(whole.inertia)
    return RobotProperties(whole.mass, tuple(map(float, moments)), max(reaches(tree).values()))


def write_repaired(
    sources: Sequence[Source],
    robots: Sequence[RobotParity],
    targets: Sequence[Path],
    engines: Mapping[str, str],
    options: ReadingOptions,
    done: Done,
) -> list[RobotParity]:
    """Write each file with the certain repairs of its causes and errors, and examine it again.

    A cause that shows only after a repair is repaired, too, until none is new.

    Args:
        sources: files of the robots.
        robots: their results before the repair.
        targets: files to write.
        engines, options, done: as for `examine_all`.

    Returns:
        The robots with their repair.
    """
    # For each robot, by its index: its result, and the causes that are repaired in the next round.
    repaired = list(robots)
    causes = [flaws_of(robot) for robot in robots]
    unfinished = [i for i, robot in enumerate(robots) if not robot.unread]
    files = {i: read_source(sources[i]) for i in unfinished}
    while unfinished:
        texts = [repair(files[i], causes[i]) for i in unfinished]
        edited = [with_text(files[i], text.data) for i, text in zip(unfinished, texts, strict=True)]
        examined = examine_all(edited, engines, options, done)
        next_round = list[int]()
        for i, robot, text, file in zip(unfinished, examined, texts, edited, strict=True):
            make_folder(targets[i].parent)
            with writing(targets[i], ".urdf") as draft:
                draft.write_bytes(text.data)
            remaining = causes_of(robot)
            result = Repair(
                repairs=tuple(trap.flaw for trap in text.done),
                repaired=robot.status,
                left=tuple(sorted(remaining)),
                diff=text.diff,
                needs=text.needs,
                before=robot_properties(Bench(files[i], options.base).tree),
                after=robot_properties(Bench(file, options.base).tree),
            )
            repaired[i] = replace(robots[i], repair=result)
            if remaining - causes[i]:
                next_round.append(i)
            causes[i] |= remaining
        unfinished = next_round
    return repaired


def flaws_of(robot: RobotParity) -> set[str]:
    """Return the names of the traps to repair.

    These are causes of differences, errors of the rules, and those of ALWAYS_REPAIRED.
    """
    errors = {finding.rule for finding in errors_of(robot)}
    erroneous = {trap.quantity for trap in robot.traps if rule_of(trap.quantity) in errors}
    return causes_of(robot) | erroneous | ALWAYS_REPAIRED


def causes_of(robot: RobotParity) -> set[str]:
    """Return the names of the causes why engines differ from the reference, or refuse the robot."""
    differing = [name for name, f in robot.reading.items() if f.outcome is Outcome.OUTSIDE]
    causes = [cause for name in differing for cause in robot.checks["reading"][name].causes]
    return {cause.quantity for cause in causes} - {MIMIC}
