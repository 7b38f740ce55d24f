"""One robot in one engine: its status, and the causes of what differs.

Which causes are sought, and in which order, may change here: traps (ablation.py), properties
(properties.py), remarks, and what the file itself has wrong. The status is that of the comparison
alone. A trap that every reader falls for alike goes into FOR_ALL.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from roboaccord.contract.errors import AccordError
from roboaccord.description.urdf_file import strip

from roboaccord_files.parity.ablation import Ask, Outcome, ablate, jointly
from roboaccord_files.parity.apart import read_apart
from roboaccord_files.parity.bench import Bench, reader, version_of, without_mimic
from roboaccord_files.parity.compare import SAME
from roboaccord_files.parity.properties import by_property
from roboaccord_files.parity.result import Apart, DifferenceCause, Examined, ReadingStatus
from roboaccord_files.repair.find import find_traps, repaired
from roboaccord_files.repair.joints import MIMIC
from roboaccord_files.repair.meshes import MILLIMETRES
from roboaccord_files.repair.trap import Trap
from roboaccord_files.rules.extensions import EFFECTS

FOR_ALL = ("limit in degrees",)  # traps that no reader sees
GAZEBO_REFUSED = "gazebo refused"


def examine(bench: Bench, engine: str, settings: str = "default") -> Examined:
    """Return what an engine makes of a robot.

    The status is that of the robot whose joints mimic none; what mimic changes is a cause of its
    own, which changes no status.

    Raises:
        AccordError: if the engine is not installed.
    """
    given = bench.planted.get(engine, bench.file.stripped())
    urdf = without_mimic(given)
    asked = dict[str, Outcome]()

    def ask(text: str) -> Outcome:
        if text not in asked:
            asked[text] = bench.ask(engine, settings, text)
        return asked[text]

    version = version_of(engine)
    outcome, traps = ask(urdf), find_traps(given)
    causes = _causes(given, urdf, traps, ask)
    names = {cause.cause for cause in causes}
    remarks = [*_remarks(bench, outcome), *_of_the_file(bench, traps)]
    causes += [cause for cause in remarks if cause.cause not in names]
    status, beside = outcome.status, list(_beside(bench, engine))
    if outcome.reading is None:  # which has its own causes
        beside = [cause for cause in beside if cause.cause != GAZEBO_REFUSED]
    causes += beside
    if any(cause.cause == GAZEBO_REFUSED for cause in beside):
        status = ReadingStatus.REFUSED
    elif status is ReadingStatus.SAME and beside:
        status = ReadingStatus.DIFFER
    reading = outcome.reading
    ours = outcome if not reader(engine).has_settings else bench.ask(engine, "accord", urdf)
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


def _remarks(bench: Bench, outcome: Outcome) -> Iterator[DifferenceCause]:
    """Yield what changes no dynamics and misleads all the same: joint order, a welded root."""
    reading = outcome.reading
    if reading is None:
        return
    order = [n.get("name") for n in ET.fromstring(bench.text).findall("joint")]
    wanted = [name for name in order if name in reading.joints]
    if list(reading.joints) != wanted and len(wanted) == len(reading.joints):
        first = next(a for a, b in zip(reading.joints, wanted, strict=True) if a != b)
        yield DifferenceCause(
            "joint order", (first,), None, None, "map joints by name, never by index"
        )
    root, total = bench.tree.links[0], sum(link.mass for link in bench.tree.links)
    lost = root.name not in reading.links and reading.mass < total * (1.0 - SAME)
    if lost and bench.question.base == "fixed" and not reading.keeps_root:
        fix = "compare total masses with a free base: what is welded to the world is left out"
        yield DifferenceCause("welded root", (root.name,), None, None, fix)


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


def _of_the_file(bench: Bench, traps: list[Trap]) -> Iterator[DifferenceCause]:
    """Yield what is wrong in the file, and alike for every engine."""
    for trap in traps:
        if trap.cause in FOR_ALL:
            yield DifferenceCause(trap.cause, trap.where, None, None, trap.fix)
    if bench.large:
        yield DifferenceCause("mesh scale", bench.large, None, None, MILLIMETRES)
