"""Results of a parity check: what each engine makes of each robot, and why.

Names of fields, their order and the words of both enumerations are the JSON of `accord parity`: a
field may be added, those there stay, and `to_json` keeps what once was flat. Verdict and exit
status are `verdict` and `ok` of Parity. A quantity with a unit carries it in its type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from roboaccord.contract.outcome import Verdict
from roboaccord.contract.results import (
    Drawn,
    Json,
    Kilograms,
    Metres,
    Quantity,
    by_fields,
    to_json,
)
from roboaccord.crosscheck.differences import Difference

from roboaccord_files.repair.trap import Flaw
from roboaccord_files.rules.findings import RuleFinding


class ReadingStatus(StrEnum):
    """What an engine makes of a robot, against the reference."""

    SAME = "same"
    DIFFER = "differ"
    REFUSED = "refused"
    UNDECIDED = "undecided"  # it did not answer: the robot is not to blame


class Loading(StrEnum):
    """What an engine makes of a file with its meshes."""

    LOADED = "loaded"
    REFUSED = "refused"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class DifferenceCause:
    """Hold why an engine differs.

    Args:
        cause: name of a trap, or of the property that is off.
        where: links or joints.
        before: with this cause alone; None where the engine refuses.
        after: without it.
        fix: what to write in the file.
    """

    cause: str
    where: tuple[str, ...]
    before: Annotated[float | None, Quantity("1", "largest error with it")]
    after: Annotated[float | None, Quantity("1", "largest error without")]
    fix: str

    @property
    def places(self) -> tuple[str, ...]:
        """Links or joints; "" where it has none."""
        return self.where or ("",)


@dataclass(frozen=True)
class Apart:
    """Hold what is never mixed into the comparison, where an engine has it otherwise.

    Args:
        joints: by quantity and joint, the value in the file and in the engine.
        refused: why the engine does not read the text with mimic and transmissions.
    """

    joints: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    refused: str = ""

    def to_json(self) -> Mapping[str, Json]:
        """Return quantities beside the refusal, if there is one."""
        return {"refused": self.refused} if self.refused else self.joints


@dataclass(frozen=True, kw_only=True)
class Examined:
    """Hold what an engine makes of a robot without geometry.

    Args:
        status: of the robot whose joints mimic none.
        settings: the engine's own, or ours.
        version: of the engine.
        mass: None where the engine refuses the robot, as is `order`, of its joints.
        worst: difference.
        causes: of differences.
        apart: what no status depends on.
        accord: the status with our settings.
        acceleration: error; None where there is none or it is not finite.
        refusal: why the engine refuses the robot.
    """

    status: ReadingStatus
    settings: str
    version: str
    mass: Annotated[float | None, Quantity("kg", "mass")] = None
    order: tuple[str, ...] | None = None
    worst: Difference | None = None
    causes: tuple[DifferenceCause, ...]
    apart: Apart = Apart()
    accord: ReadingStatus
    acceleration: Annotated[float | None, Quantity("1", "largest error of accelerations")] = None
    refusal: str = ""

    def to_json(self) -> Mapping[str, Json]:
        """Return a cause for each link or joint."""
        rows = [by_fields(c) | {"where": place} for c in self.causes for place in c.places]
        data = by_fields(self) | {"causes": rows, "said": self.refusal}
        del data["refusal"]
        return data


@dataclass(frozen=True)
class Shipped:
    """Hold whether an engine loads a file with its meshes.

    Args:
        status: whether it does.
        refusal: why it does not.
        geometry: numbers of collision shapes by kind in the file and in the engine, where they
            differ.
    """

    status: Loading
    refusal: str = ""
    geometry: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def to_json(self) -> Mapping[str, Json]:
        """Return it without the geometry, which is listed among what no status depends on."""
        causes = {Loading.LOADED: "", Loading.REFUSED: "mesh", Loading.UNDECIDED: "no answer"}
        return {"status": self.status, "cause": causes[self.status], "said": self.refusal}


@dataclass(frozen=True)
class EngineParity:
    """Hold what an engine makes of a robot, without geometry and as shipped.

    Args:
        examined, shipped: both.
        messages: lines that it printed meanwhile.
    """

    examined: Examined
    shipped: Shipped
    messages: tuple[str, ...] = ()

    @property
    def status(self) -> ReadingStatus:
        """The status without geometry."""
        return self.examined.status

    def to_json(self) -> Mapping[str, object]:
        """Return both as one, the geometry with what is kept apart."""
        geometry = self.shipped.geometry
        apart = {**self.examined.apart.to_json(), **({"geometry": geometry} if geometry else {})}
        found = {**self.examined.to_json(), "apart": apart, "shipped": self.shipped}
        return {**found, "messages": self.messages}


@dataclass(frozen=True)
class Body:
    """Hold what a robot is as a whole, at q = 0.

    Args:
        mass: of all links.
        moments: principal moments of inertia about the centre of mass.
        reach: length of the longest chain of joint origins from the root.
    """

    mass: Kilograms
    moments: Annotated[tuple[float, ...], Quantity("kg m^2")]
    reach: Metres


@dataclass(frozen=True)
class Repair:
    """Hold what was repaired in a file, and what the engines make of it then.

    Args:
        repairs: what was done.
        repaired: the status of each engine.
        left: causes that are still there.
        diff: of the text, unified, with the reason for each hunk.
        needs: numbers that no repair may invent, a line each.
        before, after: the robot as shipped, and repaired.
    """

    repairs: tuple[Flaw, ...]
    repaired: Mapping[str, ReadingStatus]
    left: tuple[str, ...]
    diff: str
    needs: tuple[str, ...]
    before: Body
    after: Body

    def to_json(self) -> dict[str, Json]:
        """Return the first three beside `repair`, which has the rest."""
        data = by_fields(self)
        beside = {key: data.pop(key) for key in ("repairs", "repaired", "left")}
        return {**beside, "repair": data}


@dataclass(frozen=True)
class RobotParity:
    """Hold what the engines make of a robot.

    Args:
        name, file: of the robot.
        base: `fixed` or `free`.
        joints: number of those that move.
        mass: of all links.
        traps: of the file.
        engines: by name.
        findings: of the rules.
        repair: None where none was asked for.
        unread: why the file cannot be read, or is not a tree; "" where it can.
    """

    name: str
    file: str
    base: str
    joints: int
    mass: Annotated[float, Quantity("kg", "mass")]
    traps: tuple[Flaw, ...]
    engines: Mapping[str, EngineParity]
    findings: tuple[RuleFinding, ...] = ()
    repair: Repair | None = None
    unread: str = ""

    @property
    def alike(self) -> bool:
        """Whether all engines read it as the reference does."""
        return all(engine.status is ReadingStatus.SAME for engine in self.engines.values())

    def to_json(self) -> Mapping[str, Json]:
        """Return the repair's fields beside those of the robot."""
        found = by_fields(self)
        del found["repair"]
        return found | (self.repair.to_json() if self.repair else {})


Done = Callable[[RobotParity], None]
"""Called with each robot when it is examined."""


def errors_of(robot: RobotParity) -> list[RuleFinding]:
    """Return what the rules find wrong in a robot's file."""
    return [each for each in robot.findings if each.severity == "error"]


@dataclass(frozen=True)
class Counts:
    """Hold how many robots have each status in an engine, and each cause."""

    statuses: Mapping[str, int]
    causes: Mapping[str, int]

    def to_json(self) -> Mapping[str, int]:
        """Return both side by side."""
        return {**self.statuses, **self.causes}


@dataclass(frozen=True)
class Parity(Drawn):
    """Hold what the engines make of all robots.

    Args:
        robots: all of them.
        versions: of the engines, by name.
        date: of the check.
        command: by which it is done again.
    """

    robots: tuple[RobotParity, ...]
    versions: Mapping[str, str]
    date: str
    command: str

    @property
    def alike(self) -> int:
        """How many robots all engines read as the reference does."""
        return sum(robot.alike for robot in self.robots)

    @property
    def verdict(self) -> Verdict:
        """Whether all engines read all robots as the reference does, and no rule finds an error.

        As far as the engines answered, of robots that can be read.
        """
        read = [robot for robot in self.robots if not robot.unread]
        found = {engine.status for robot in read for engine in robot.engines.values()}
        found |= set() if read else {ReadingStatus.UNDECIDED}
        if found & {ReadingStatus.DIFFER, ReadingStatus.REFUSED} or any(
            errors_of(r) for r in self.robots
        ):
            return "fail"
        return "undecided" if ReadingStatus.UNDECIDED in found else "pass"

    @property
    def ok(self) -> bool:
        """Whether the verdict is a pass and no repair lacks a number."""
        lacking = any(robot.repair and robot.repair.needs for robot in self.robots)
        return self.verdict == "pass" and not lacking

    @property
    def counts(self) -> Mapping[str, Counts]:
        """The counts of each engine."""
        found = {}
        for name in self.versions:
            seen = [robot.engines[name].examined for robot in self.robots]
            statuses = Counter(each.status for each in seen)
            causes = Counter(
                c for each in seen for c in dict.fromkeys(k.cause for k in each.causes)
            )
            found[name] = Counts({status: statuses[status] for status in ReadingStatus}, causes)
        return found

    def to_json(self) -> Mapping[str, Json]:
        """Return verdict and counts too."""
        data = by_fields(self)
        judged = {"verdict": self.verdict, "counts": to_json(self.counts)}
        return {"robots": data.pop("robots"), **judged, **data}
