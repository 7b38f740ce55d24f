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
        asked, traps = case.ask(case.urdf), find_traps(case.given)
        reading, ours = asked.reading, None
        converted = case.bench.file.form and not case.bench.is_own(case.engine)
        if reader(case.engine).has_settings:
            other = case.bench.ask(case.engine, "accord", case.urdf)
            of_ours = ParityCode.CONVERTED if converted and other.lost else other.ended
            ours = finding_of(other.worst, of_ours, other.refusal)
        causes = [] if case.bench.file.form and asked.same else _causes(case, traps)
        gazebo = [] if converted else list(_beside(case))
        names = {cause.quantity for cause in causes}
        remarks = _remarks(case.bench, asked, traps)
        causes += [remark for remark in remarks if remark.quantity not in names]
        if reading is None:  # which has its own causes
            gazebo = [cause for cause in gazebo if cause.quantity != GAZEBO_REFUSED]
        refused = any(cause.quantity == GAZEBO_REFUSED for cause in gazebo)
        ended, refusal = asked.ended, asked.refusal
        if converted:
            causes = [replace(flaw, fix=f"{OF_OURS}: {flaw.fix}") for flaw in causes]
            if asked.lost:
                ended, causes = ParityCode.CONVERTED, []
                why = refusal.partition("refuses it: ")[2] or refusal
                refusal = f"{OF_OURS}: {why or 'it has not all of its links and joints'}"
        ended = ParityCode.REFUSED if refused else ended
        errors = [d.finite for d in asked.differences if d.quantity == "acceleration"]
        return ReadingCheck(
            ended=ended,
            causes=(*causes, *gazebo),
            mass=reading.mass if reading else None,
            order=reading.joints if reading else None,
            worst=asked.worst,
            apart=read_apart(case, reading) if reading else Apart(),
            gazebo=bool(gazebo),
            accord=ours,
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


def _causes(case: FileCase, traps: list[Trap]) -> list[Flaw]:
    """Return what is proven to make an engine differ or refuse a text, and what mimic does."""
    urdf, ask = case.urdf, case.ask
    asked = ask(urdf)
    if case.bench.is_own(case.engine):
        return by_property(asked, traps)
    if asked.same:
        return ablate(case.given, [trap for trap in traps if trap.cause == MIMIC], ask)
    causes = ablate(case.given, traps, ask)
    others = [trap for trap in traps if trap.cause != MIMIC]

    def without(causes: list[Flaw]) -> tuple[list[Trap], Asked]:
        """Return the traps of causes, and what the engine makes of the text without them."""
        proven = [trap for trap in others if trap.cause in {cause.quantity for cause in causes}]
        return proven, ask(repaired(urdf, proven) if proven else urdf)

    more = by_property(without(causes)[1], traps)
    if not without([*causes, *more])[1].same:  # several causes hide each other
        hidden, searching = list[Flaw](), True
        while searching:
            proven, rest = without([*causes, *hidden])
            together = [] if rest.same else jointly(urdf, others, proven, ask)
            hidden, searching = [*hidden, *together], bool(together)
        more = hidden or more
    named = {cause.causes for cause in causes}
    causes += [cause for cause in more if cause.causes not in named]
    if all(cause.quantity == MIMIC for cause in causes):
        where = (asked.worst.where,) if asked.worst else ()
        fix = asked.refusal or cure(UNEXPLAINED)
        causes.append(Flaw(causes_at(UNEXPLAINED, where), asked.error, fix=fix))
    return causes


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
