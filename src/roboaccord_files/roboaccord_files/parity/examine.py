"""One robot in engines: its status in each, and the causes of what differs.

Which causes are sought, and in which order, may be changed here: traps (texts that are read
differently, ablation.py), properties (properties.py), remarks, and what the file itself has wrong.
The status must stay that of the comparison alone. A trap that every reader falls for alike goes
into FOR_ALL.
"""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, replace

from roboaccord.contract.errors import AccordError
from roboaccord.description.urdf_file import strip
from roboaccord.numerics.isolation import Crash, hearing

from roboaccord_files.parity.ablation import Ask, Outcome, ablate, jointly
from roboaccord_files.parity.answers import Answer, engine_parity, unread
from roboaccord_files.parity.apart import load_shipped, read_apart
from roboaccord_files.parity.bench import Bench, ReadingOptions, reader, version_of, without_mimic
from roboaccord_files.parity.compare import SAME
from roboaccord_files.parity.files import Source, Unread
from roboaccord_files.parity.properties import by_property
from roboaccord_files.parity.result import (
    Apart,
    DifferenceCause,
    EngineParity,
    Examined,
    ReadingStatus,
    RobotParity,
)
from roboaccord_files.repair.find import find_traps, repaired
from roboaccord_files.repair.joints import MIMIC
from roboaccord_files.repair.meshes import MILLIMETRES
from roboaccord_files.repair.trap import Flaw, Trap
from roboaccord_files.rules.extensions import EFFECTS
from roboaccord_files.rules.find import findings

FOR_ALL = ("limit in degrees",)  # traps that no reader sees
GAZEBO_REFUSED = "gazebo refused"


@dataclass(frozen=True)
class Part:
    """Hold what an engine made of a file, stripped or as shipped, and what it printed."""

    answer: Answer
    words: tuple[str, ...]


def examine_file(source: Source, engines: tuple[str, ...], options: ReadingOptions) -> RobotParity:
    """Return what engines make of a file; for another process."""
    try:
        bench = _bench(source, options)
        robot = RobotParity(
            name=bench.file.name,
            file=str(bench.file.path),
            base=bench.question.base,
            joints=len(bench.tree.moving),
            mass=sum(link.mass for link in bench.tree.links),
            traps=tuple(Flaw(t.cause, t.where, t.fix) for t in find_traps(bench.stripped)),
            engines={},
            findings=tuple(findings(bench.file)),
        )
    except AccordError as error:
        return unread(source, str(error), engines, options)
    found = dict[str, EngineParity]()
    for engine in engines:
        with hearing() as words:
            parts = _asked(bench, engine, options, False), _asked(bench, engine, options, True)
        found[engine] = engine_parity(engine, *parts, tuple(words), options)
    return replace(robot, engines=found)


def examine_one(source: Source, engine: str, options: ReadingOptions, shipped: bool) -> Part:
    """Return what one engine makes of a file; for another process."""
    bench = _bench(source, options)
    with hearing() as words:
        found = _asked(bench, engine, options, shipped)
    return Part(found, tuple(words))


def _bench(source: Source, options: ReadingOptions) -> Bench:
    file = source.read() if isinstance(source, Unread) else source
    return Bench(file, options.base, options.seed)


def _asked(bench: Bench, engine: str, options: ReadingOptions, shipped: bool) -> Answer:
    try:
        return (load_shipped if shipped else examine)(bench, engine, options.settings)
    except AccordError as error:
        return Crash(str(error))
    except subprocess.TimeoutExpired as error:
        return Crash(f"no answer of {engine} in {error.timeout:g} s", late=True)
    except Exception as error:  # noqa: BLE001 - libraries raise what they like
        return Crash(f"{type(error).__name__}: {error}".splitlines()[0])


def examine(bench: Bench, engine: str, settings: str = "default") -> Examined:
    """Return what an engine makes of a robot.

    The status is that of the robot whose joints mimic none; what mimic changes is a cause of its
    own, which changes no status.

    Raises:
        AccordError: if the engine is not installed.
    """
    given = bench.planted.get(engine, bench.stripped)
    urdf = without_mimic(given)
    asked = dict[str, Outcome]()

    def ask(text: str) -> Outcome:
        if text not in asked:
            asked[text] = bench.ask(engine, settings, text)
        return asked[text]

    version = version_of(engine)
    outcome, traps = ask(urdf), find_traps(given)
    ours = outcome if not reader(engine).has_settings else bench.ask(engine, "accord", urdf)
    causes, beside = _causes(given, urdf, traps, ask), list(_beside(bench, engine))
    names = {cause.cause for cause in causes}
    causes += [each for each in _remarks(bench, outcome, traps) if each.cause not in names]
    status, reading = outcome.status, outcome.reading
    if reading is None:  # which has its own causes
        beside = [cause for cause in beside if cause.cause != GAZEBO_REFUSED]
    causes += beside
    if any(cause.cause == GAZEBO_REFUSED for cause in beside):
        status = ReadingStatus.REFUSED
    elif status is ReadingStatus.SAME and beside:
        status = ReadingStatus.DIFFER
    errors = [d.finite for d in outcome.differences if d.quantity == "acceleration"]
    return Examined(
        status=status,
        settings=settings,
        version=version,
        mass=reading.mass if reading else None,
        order=reading.joints if reading else None,
        worst=outcome.differences[0] if outcome.differences else None,
        causes=tuple(causes),
        apart=read_apart(bench, engine, settings, urdf, reading) if reading else Apart(),
        accord=status if ours is outcome else ours.status,
        acceleration=errors[0] if errors else None,
        refusal=outcome.refusal,
    )


def _causes(given: str, urdf: str, traps: list[Trap], ask: Ask) -> list[DifferenceCause]:
    """Return what is proven to make an engine differ or refuse a text, and what mimic does.

    Args:
        given: the text as the engine is given it.
        urdf: without mimic.
        traps: of the former.
        ask: the engine.
    """
    outcome = ask(urdf)
    if outcome.status is ReadingStatus.SAME:
        return ablate(given, [trap for trap in traps if trap.cause == MIMIC], ask)
    causes = ablate(given, traps, ask)
    mine = [trap for trap in traps if trap.cause != MIMIC]

    def without(causes: list[DifferenceCause]) -> tuple[list[Trap], Outcome]:
        known = [trap for trap in mine if trap.cause in {cause.cause for cause in causes}]
        return known, ask(repaired(urdf, known) if known else urdf)

    found = by_property(without(causes)[1], traps)
    if without([*causes, *found])[1].status is not ReadingStatus.SAME:
        hidden, more = list[DifferenceCause](), True
        while more:
            known, left = without([*causes, *hidden])
            again = jointly(urdf, mine, known, ask) if left.status is not ReadingStatus.SAME else []
            hidden, more = [*hidden, *again], bool(again)
        found = hidden or found
    named = {(cause.cause, cause.where) for cause in causes}
    causes += [cause for cause in found if (cause.cause, cause.where) not in named]
    if all(cause.cause == MIMIC for cause in causes):
        causes.append(_unexplained(outcome))
    return causes


def _unexplained(outcome: Outcome) -> DifferenceCause:
    worst = outcome.differences[0] if outcome.differences else None
    where = (worst.where,) if worst else ()
    fix = outcome.refusal or "compare the text with what the engine expects there"
    return DifferenceCause("not explained", where, outcome.error, None, fix)


def _remarks(bench: Bench, outcome: Outcome, traps: list[Trap]) -> Iterator[DifferenceCause]:
    """Yield what changes no dynamics and misleads all the same.

    Joint order and a welded root are the engine's; what no reader sees is the file's.
    """
    if reading := outcome.reading:
        order = [n.get("name") for n in ET.fromstring(bench.text).findall("joint")]
        wanted = [name for name in order if name in reading.joints]
        if list(reading.joints) != wanted and len(wanted) == len(reading.joints):
            first = next(a for a, b in zip(reading.joints, wanted, strict=True) if a != b)
            fix = "map joints by name, never by index"
            yield DifferenceCause("joint order", (first,), None, None, fix)
        root, total = bench.tree.links[0], sum(link.mass for link in bench.tree.links)
        lost = root.name not in reading.links and reading.mass < total * (1.0 - SAME)
        if lost and bench.question.base == "fixed" and not reading.keeps_root:
            fix = "compare total masses with a free base: what is welded to the world is left out"
            yield DifferenceCause("welded root", (root.name,), None, None, fix)
    for trap in traps:
        if trap.cause in FOR_ALL:
            yield DifferenceCause(trap.cause, trap.where, None, None, trap.fix)
    if bench.large:
        yield DifferenceCause("mesh scale", bench.large, None, None, MILLIMETRES)


def _beside(bench: Bench, engine: str) -> Iterator[DifferenceCause]:
    """Yield what an engine makes of `<gazebo>`, which is taken out of what is compared."""
    text = without_mimic(strip(bench.planted.get(engine, bench.file.text), ("material",)))
    if "<gazebo" not in text:
        return
    try:
        found = reader(engine).beside(text)
    except AccordError as error:
        yield DifferenceCause(GAZEBO_REFUSED, (), None, None, f"with <gazebo>, {error}")
        return
    for cause, places in found.items():
        does, cure = EFFECTS[cause.replace(" ", "-")]
        yield DifferenceCause(cause, tuple(places), None, None, f"Gazebo alone {does}: {cure}")
