"""The level `reading`: how an engine reads a robot without geometry, and why it differs.

The engine's reading is compared with the reference's, and that alone decides the outcome. Causes
are then sought in this order: traps of the text (ablation.py), properties of links and joints
(properties.py), and what the file itself has wrong. What <gazebo> and <mimic> change is listed as
a cause, too.
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
from roboaccord_files.parity.apart import read_apart
from roboaccord_files.parity.bench import Bench, FileCase, FileLevel, reader, without_mimic
from roboaccord_files.parity.compare import SAME, Asked, finding_of
from roboaccord_files.parity.properties import by_property
from roboaccord_files.parity.result import Apart, ReadingCheck
from roboaccord_files.parity.words import ENDED, OF_OURS, ParityCode, cure, status_of
from roboaccord_files.repair.find import find_traps, repaired
from roboaccord_files.repair.joints import MIMIC
from roboaccord_files.repair.meshes import large_meshes
from roboaccord_files.repair.trap import Flaw, Trap, causes_at
from roboaccord_files.rules.extensions import EFFECTS

FOR_ALL = ("limit in degrees",)  # traps that every reader falls for alike
GAZEBO_REFUSED = "gazebo refused"
UNEXPLAINED = "not explained"


class ReadingLevel(FileLevel[ReadingCheck]):
    """Compare an engine's reading of a robot whose joints mimic none with the reference's.

    What mimic changes is a cause of its own, which changes no outcome.
    """

    name = "reading"

    def measure(self, case: FileCase) -> ReadingCheck:
        """Return what the engine reads, and why it differs.

        Raises:
            AccordError: if the engine is not installed.
        """
        bench, asked, traps = case.bench, case.ask(case.urdf), find_traps(case.given)
        reading = asked.reading
        # A text that we converted from another format: what an engine says of it is not about the
        # file.
        converted = bool(bench.file.form) and not bench.is_own(case.engine)
        causes = [] if bench.file.form and asked.same else _causes(case, traps)
        named = {cause.quantity for cause in causes}
        causes += [flaw for flaw in _remarks(bench, asked, traps) if flaw.quantity not in named]
        gazebo = [] if converted else [*_beside(case)]
        if reading is None:  # its refusal has causes of its own
            gazebo = [flaw for flaw in gazebo if flaw.quantity != GAZEBO_REFUSED]
        ended, refusal = asked.ended, asked.refusal
        if converted:
            ended, refusal, causes = _of_converted(asked, causes)
        if any(flaw.quantity == GAZEBO_REFUSED for flaw in gazebo):
            ended = ParityCode.REFUSED
        errors = [d.finite for d in asked.differences if d.quantity == "acceleration"]
        return ReadingCheck(
            ended=ended,
            causes=(*causes, *gazebo),
            mass=reading.mass if reading else None,
            order=reading.joints if reading else None,
            worst=asked.worst,
            apart=read_apart(case, reading) if reading else Apart(),
            gazebo=bool(gazebo),
            accord=_with_our_settings(case, converted=converted),
            acceleration=errors[0] if errors else None,
            refusal=refusal,
        )

    def judge(self, check: ReadingCheck, tolerances: object = None) -> Finding:
        """Return whether it reads the robot as the reference does, by the round-off of each."""
        last = "".join(cause.fix for cause in check.causes[-1:])
        finding = finding_of(check.worst, check.ended, check.refusal or last)
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

    def absent(self, ended: ParityCode, reason: str) -> ReadingCheck:
        """Return what stands for no answer."""
        return ReadingCheck(ended, (Flaw(causes_at(ENDED[ended]), fix=reason),))


def _with_our_settings(case: FileCase, *, converted: bool) -> Finding | None:
    """Return the outcome under the workspace's settings; None for an engine that has none."""
    if not reader(case.engine).has_settings:
        return None
    asked = case.bench.ask(case.engine, "accord", case.urdf)
    ended = ParityCode.CONVERTED if converted and asked.lost else asked.ended
    return finding_of(asked.worst, ended, asked.refusal)


def _of_converted(asked: Asked, causes: list[Flaw]) -> tuple[ParityCode | None, str, list[Flaw]]:
    """Return outcome, refusal and causes of a converted text, each said to be about that text.

    A text that an engine refuses, or reads without some of its links and joints, is no verdict.
    """
    if asked.lost:
        reason = asked.refusal.partition("refuses it: ")[2] or asked.refusal
        reason = reason or "it has not all of its links and joints"
        return ParityCode.CONVERTED, f"{OF_OURS}: {reason}", []
    return (
        asked.ended, asked.refusal,
        [replace(flaw, fix=f"{OF_OURS}: {flaw.fix}") for flaw in causes],
    )  # fmt: skip


def _causes(case: FileCase, traps: list[Trap]) -> list[Flaw]:
    """Return what is proven to make an engine differ or refuse a text, and what mimic does."""
    asked = case.ask(case.urdf)
    if case.bench.is_own(case.engine):
        return by_property(asked, traps)
    if asked.same:
        return ablate(case.given, [trap for trap in traps if trap.cause == MIMIC], case.ask)
    # Traps one by one, then quantities of links and joints that differ without them.
    causes = ablate(case.given, traps, case.ask)
    others = [trap for trap in traps if trap.cause != MIMIC]
    properties = by_property(_without(case, others, causes)[1], traps)
    if not _without(case, others, [*causes, *properties])[1].same:
        properties = _hidden(case, others, causes) or properties
    named = {cause.causes for cause in causes}
    causes += [cause for cause in properties if cause.causes not in named]
    if all(cause.quantity == MIMIC for cause in causes):
        where = (asked.worst.where,) if asked.worst else ()
        fix = asked.refusal or cure(UNEXPLAINED)
        causes.append(Flaw(causes_at(UNEXPLAINED, where), asked.error, fix=fix))
    return causes


def _without(case: FileCase, traps: list[Trap], causes: list[Flaw]) -> tuple[list[Trap], Asked]:
    """Return the traps that are causes, and what the engine makes of the text without them."""
    quantities = {cause.quantity for cause in causes}
    proven = [trap for trap in traps if trap.cause in quantities]
    return proven, case.ask(repaired(case.urdf, proven) if proven else case.urdf)


def _hidden(case: FileCase, traps: list[Trap], causes: list[Flaw]) -> list[Flaw]:
    """Return causes that hide each other: only the repair of several at once has an effect."""
    hidden = list[Flaw]()
    while True:
        proven, remaining = _without(case, traps, [*causes, *hidden])
        together = [] if remaining.same else jointly(case.urdf, traps, proven, case.ask)
        if not together:
            return hidden
        hidden += together


def _remarks(bench: Bench, asked: Asked, traps: list[Trap]) -> Iterator[Flaw]:
    """Yield what changes no dynamics, and misleads all the same.

    Joint order and a welded root are the engine's; traps that no reader sees are the file's.
    """
    if (reading := asked.reading) and not bench.file.form:  # of a file, not of our text
        order = [n.get("name") for n in ET.fromstring(bench.text).findall("joint")]
        wanted = [name for name in order if name in reading.joints]
        if list(reading.joints) != wanted and len(wanted) == len(reading.joints):
            first = next(a for a, b in zip(reading.joints, wanted, strict=True) if a != b)
            yield _remark("joint order", first)
        root, total = bench.tree.links[0], sum(link.mass for link in bench.tree.links)
        lost = root.name not in reading.links and reading.mass < total * (1.0 - SAME)
        if lost and bench.question.base == "fixed" and not reading.keeps_root:
            yield _remark("welded root", root.name)
    for trap in traps:
        if trap.cause in FOR_ALL:
            yield trap.flaw
    if large := large_meshes(bench.file):
        yield _remark("mesh scale", *large)


def _remark(cause: str, *where: str, **figures: Any) -> Flaw:
    return Flaw(causes_at(cause, where), fix=cure(cause, **figures))


def _beside(case: FileCase) -> Iterator[Flaw]:
    """Yield what an engine makes of `<gazebo>`, which is taken out of what is compared."""
    bench, engine = case.bench, case.engine
    text = bench.file.origin
    if not bench.is_own(engine):
        text = without_mimic(strip(bench.planted.get(engine, bench.file.text), ("material",)))
        if "<gazebo" not in text:
            return
    try:
        acting = reader(engine).beside(text)
    except AccordError as error:
        yield _remark(GAZEBO_REFUSED, error=error)
        return
    for cause, places in acting.items():
        does, instead = EFFECTS[cause.replace(" ", "-")]
        yield Flaw(causes_at(cause, [*places]), fix=cure("gazebo", does=does, cure=instead))
