"""Answers of engines in other processes, and what stands for one that crashed or did not answer.

A crash is `refused`, and no answer in time `undecided`, for which the robot is not to blame: that
is fixed, and test_parity.py tests both. Their words may be changed; MOST_WORDS, how much the JSON
keeps of an engine's own, may be tuned.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from roboaccord.contract.errors import AccordError
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.numerics.isolation import Crash

from roboaccord_files.parity.bench import ReadingOptions, version_of
from roboaccord_files.parity.files import Source
from roboaccord_files.parity.result import (
    DifferenceCause,
    EngineParity,
    Examined,
    Loading,
    ReadingStatus,
    RobotParity,
    Shipped,
)
from roboaccord_files.rules.find import findings, unreadable
from roboaccord_files.rules.findings import RuleFinding

MOST_WORDS = 40  # lines that are kept of an engine
NUMBERS = ("number-invalid", "number-count")  # rules of what no reader gets past

Answer = Examined | Shipped | Crash


def engine_parity(
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
            name: engine_parity(name, _no_status(name, cause, options), shipped, (), options)
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
