"""The level `reading`: how an engine reads a robot without shapes, and why it differs.

A level is a question to an engine about a robot's file (levels.py). `ReadingLevel.measure` lets the
engine read the text and compares the reading with that of the reference, the analytical model; this
comparison alone decides the outcome. The causes of a difference are then searched in this order:
traps (ablation.py), properties of links and joints (properties.py), and mistakes of the file
itself. Changes by <gazebo> and <mimic> elements are listed as causes, too. Terms:

    case     a file in one engine: `text` is what is compared, `with_mimic` the same with mimic
    bench    reads texts of the file in engines; a format is `is_own` to an engine that reads it
             without a conversion to URDF (bench.py)
    outcome  the engine's reading of a text, or its refusal, and its differences (compare.py)
    trap     a passage that readers interpret differently, with its repair
    flaw     a cause or a remark that is reported, with its proof and advice
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Finding, Outcome, because
from roboaccord.crosscheck.level import Entry, Rows
from roboaccord.description.urdf_file import strip

from roboaccord_files.parity.ablation import ablate, jointly
from roboaccord_files.parity.bench import Bench, FileCase, FileLevel, reader, without_mimic
from roboaccord_files.parity.compare import TOLERANCE, ReadingOutcome, finding_of
from roboaccord_files.parity.properties import by_property
from roboaccord_files.parity.result import ReadingCheck
from roboaccord_files.parity.uncompared import read_uncompared
from roboaccord_files.parity.words import FAILURE_CAUSES, OF_CONVERTED, ParityCode, cure, status_of
from roboaccord_files.repair.find import find_traps, repaired
from roboaccord_files.repair.joints import MIMIC
from roboaccord_files.repair.meshes import large_meshes
from roboaccord_files.repair.trap import Flaw, Trap, causes_at
from roboaccord_files.rules.extensions import EFFECTS

# Names of causes, as in words.py.
MISREAD_BY_ALL = ("limit in degrees",)  # traps that every reader takes alike, and wrongly
GAZEBO_REFUSED = "gazebo refused"
NOT_EXPLAINED = "not explained"


class ReadingLevel(FileLevel[ReadingCheck]):
    """Compare an engine's reading of a robot without mimic joints with that of the reference.

    What mimic changes is a cause by itself, and changes no outcome.
    """

    name = "reading"

    def measure(self, case: FileCase) -> ReadingCheck:
        """Return the engine's reading, and the causes why it differs from the reference.

        Raises:
            AccordError: if the engine is not installed.
        """
        # The comparison, and the causes of its differences.
        outcome = case.ask(case.text)
        accelerations = (d.finite for d in outcome.differences if d.quantity == "acceleration")
        check = ReadingCheck(
            outcome.failure,
            tuple(_causes_and_remarks(case, outcome)),
            worst=outcome.worst,
            acceleration=next(accelerations, None),
            refusal=outcome.refusal,
        )
        # A refusal of a text that this project has converted is not about the user's file.
        is_converted = bool(case.bench.file.form) and not case.bench.is_own(case.engine)
        check = _about_conversion(check, outcome) if is_converted else _with_gazebo(check, case)
        # What is listed besides, and changes no outcome.
        reading = outcome.reading
        if reading:
            uncompared = read_uncompared(case, reading)
            check = replace(check, mass=reading.mass, order=reading.joints, uncompared=uncompared)
        return replace(check, accord=_with_our_settings(case, is_converted=is_converted))

    def judge(self, check: ReadingCheck, tolerances: object = None) -> Finding:
        """Return whether the engine reads the robot as the reference does, but for round-off."""
        last_advice = "".join(cause.fix for cause in check.causes[-1:])
        finding = finding_of(check.worst, check.failure, check.refusal or last_advice)
        if finding.outcome is Outcome.WITHIN and check.gazebo:
            cause = check.causes[-1].causes[0]
            differs = because(ParityCode.DIFFERS)
            finding = Finding.outside(differs, quantity=cause.quantity, where=cause.where)
        return finding

    def rows(self, check: ReadingCheck) -> Rows:
        """Return the outcome with our settings, the mass, and the worst difference."""
        worst = check.worst
        return {
            "with ours": Entry(status_of(check.accord or self.judge(check))),
            "mass": Entry(check.mass, "kg", ".6g"),
            "worst": Entry(f"{worst.quantity} {worst.where}" if worst else None),
            "error": Entry(worst.finite if worst else None, "1", ".0e"),
        }

    def absent(self, failure: ParityCode, reason: str) -> ReadingCheck:
        """Return the check of an engine that gave no answer."""
        return ReadingCheck(failure, (Flaw(causes_at(FAILURE_CAUSES[failure]), fix=reason),))


def _with_our_settings(case: FileCase, *, is_converted: bool) -> Finding | None:
    """Return the outcome under the workspace's settings; None for an engine that has none."""
    if not reader(case.engine).has_settings:
        return None
    outcome = case.bench.ask(case.engine, "accord", case.text)
    failure = ParityCode.CONVERTED if is_converted and outcome.is_incomplete else outcome.failure
    return finding_of(outcome.worst, failure, outcome.refusal)


def _about_conversion(check: ReadingCheck, outcome: ReadingOutcome) -> ReadingCheck:
    """Return the check of a converted text, with refusal and causes in words about that text.

    There is no verdict if an engine refuses the text, or reads not all of its links and joints.
    """
    if outcome.is_incomplete:
        reason = outcome.refusal.partition("refuses it: ")[2] or outcome.refusal
        refusal = f"{OF_CONVERTED}: {reason or 'it has not all of its links and joints'}"
        return replace(check, failure=ParityCode.CONVERTED, refusal=refusal, causes=())
    causes = [replace(flaw, fix=f"{OF_CONVERTED}: {flaw.fix}") for flaw in check.causes]
    return replace(check, causes=tuple(causes))


def _with_gazebo(check: ReadingCheck, case: FileCase) -> ReadingCheck:
    """Return the check with the flaws that an engine has by <gazebo> elements."""
    flaws = [*_gazebo_flaws(case)]
    is_refused = any(flaw.quantity == GAZEBO_REFUSED for flaw in flaws)
    if check.failure:  # its refusal has causes of its own
        flaws = [flaw for flaw in flaws if flaw.quantity != GAZEBO_REFUSED]
    failure = ParityCode.REFUSED if is_refused else check.failure
    return replace(check, failure=failure, causes=(*check.causes, *flaws), gazebo=bool(flaws))


def _causes_and_remarks(case: FileCase, outcome: ReadingOutcome) -> list[Flaw]:
    """Return the proven causes of differences, then the remarks on what they do not name."""
    traps = find_traps(case.with_mimic)
    causes = [] if case.bench.file.form and outcome.agrees else _proven_causes(case, traps)
    named = {cause.quantity for cause in causes}
    remarks = _remarks(case.bench, outcome, traps)
    return causes + [flaw for flaw in remarks if flaw.quantity not in named]


def _proven_causes(case: FileCase, traps: list[Trap]) -> list[Flaw]:
    """Return the proven causes why an engine differs or refuses a text, and the effect of mimic."""
    outcome = case.ask(case.text)
    if case.bench.is_own(case.engine):  # traps are of URDF texts
        return by_property(outcome, traps)
    if outcome.agrees:  # the compared text has no mimic, which may be read differently even so
        return ablate(case.with_mimic, [trap for trap in traps if trap.cause == MIMIC], case.ask)
    # 1. Traps that make a difference one by one.
    causes = ablate(case.with_mimic, traps, case.ask)
    other_traps = [trap for trap in traps if trap.cause != MIMIC]
    # 2. Properties of links and joints that differ even without these traps.
    properties = by_property(_outcome_without(case, _traps_of(causes, other_traps)), traps)
    # 3. If 1 and 2 do not explain all: traps that make a difference only together.
    if not _outcome_without(case, _traps_of([*causes, *properties], other_traps)).agrees:
        properties = _combined_causes(case, other_traps, causes) or properties
    named = {cause.causes for cause in causes}
    causes += [cause for cause in properties if cause.causes not in named]
    # 4. Else the cause is unknown.
    if all(cause.quantity == MIMIC for cause in causes):
        where = (outcome.worst.where,) if outcome.worst else ()
        fix = outcome.refusal or cure(NOT_EXPLAINED)
        causes.append(Flaw(causes_at(NOT_EXPLAINED, where), outcome.error, fix=fix))
    return causes


def _traps_of(causes: list[Flaw], traps: list[Trap]) -> list[Trap]:
    """Return the traps, of the given ones, that are among the causes."""
    quantities = {cause.quantity for cause in causes}
    return [trap for trap in traps if trap.cause in quantities]


def _outcome_without(case: FileCase, traps: list[Trap]) -> ReadingOutcome:
    """Return the engine's reading of the text with some traps repaired."""
    return case.ask(repaired(case.text, traps) if traps else case.text)


def _combined_causes(case: FileCase, traps: list[Trap], causes: list[Flaw]) -> list[Flaw]:
    """Return causes that hide each other: only the repair of several at once has an effect.

    Args:
        case: the file and the engine.
        traps: traps of the text, without mimic.
        causes: those that are proven already.
    """
    combined = list[Flaw]()
    while True:
        proven = _traps_of([*causes, *combined], traps)
        if _outcome_without(case, proven).agrees:
            return combined
        together = jointly(case.text, traps, proven, case.ask)
        if not together:
            return combined
        combined += together


def _remarks(bench: Bench, outcome: ReadingOutcome, traps: list[Trap]) -> Iterator[Flaw]:
    """Yield flaws that change no accelerations, but mislead users.

    In the engine these are the order of joints and a welded root, in the file traps that all
    readers fall into, and meshes in millimetres.
    """
    reading = outcome.reading
    if reading and not bench.file.form:  # not of a converted text
        names = [joint.get("name") for joint in ET.fromstring(bench.text).findall("joint")]
        in_file = [name for name in names if name in reading.joints]
        if list(reading.joints) != in_file and len(in_file) == len(reading.joints):
            pairs = zip(reading.joints, in_file, strict=True)
            moved = [in_engine for in_engine, name in pairs if in_engine != name]
            yield _remark("joint order", moved[0])
        root = bench.tree.links[0]
        smallest_equal = sum(link.mass for link in bench.tree.links) * (1.0 - TOLERANCE)
        root_is_lost = root.name not in reading.links and reading.mass < smallest_equal
        if root_is_lost and bench.question.base == "fixed" and not reading.keeps_root:
            yield _remark("welded root", root.name)
    for trap in traps:
        if trap.cause in MISREAD_BY_ALL:
            yield trap.flaw
    if large := large_meshes(bench.file):
        yield _remark("mesh scale", *large)


def _remark(cause: str, *where: str, **figures: Any) -> Flaw:
    """Return a flaw without proof at some links or joints, with the cure of words.py."""
    return Flaw(causes_at(cause, where), fix=cure(cause, **figures))


def _gazebo_flaws(case: FileCase) -> Iterator[Flaw]:
    """Yield the flaws that an engine has by <gazebo> elements, which the compared text lacks."""
    bench, engine = case.bench, case.engine
    text = bench.file.origin  # in the file's own format
    if not bench.is_own(engine):
        # Of the URDF, or of the text that a test has planted in its place.
        text = without_mimic(strip(bench.planted.get(engine, bench.file.text), ("material",)))
        if "<gazebo" not in text:
            return
    try:
        places_by_cause = reader(engine).beside(text)  # where something acts in Gazebo only
    except AccordError as error:
        yield _remark(GAZEBO_REFUSED, error=error)
        return
    for cause, places in places_by_cause.items():
        effect, advice = EFFECTS[cause.replace(" ", "-")]
        yield Flaw(causes_at(cause, [*places]), fix=cure("gazebo", does=effect, cure=advice))
