"""The result of a parity check: what each engine makes of each robot, and why.

`Parity` has the robots, each a `RobotParity` with the checks of all levels by engine. As in a
cross-check's report, these are: levels (the findings), checks (what was measured), rows (figures)
and engines. The names of fields and their order are the JSON of `accord parity`; `to_json` makes
some of it flat, as users' scripts expect. `verdict` and `ok` of Parity decide the exit status.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from roboaccord.contract.outcome import Finding, Findings, Levels, Verdict, verdict_of
from roboaccord.contract.results import Drawn, Json, Kilograms, Metres, Quantity, by_fields, to_json
from roboaccord.crosscheck.level import Rows
from roboaccord.engines.differences import Difference

from roboaccord_files.parity.words import SHIPPED, STATUSES, ParityCode, status_of
from roboaccord_files.repair.trap import Flaw
from roboaccord_files.rules.findings import RuleFinding

MOST = 40  # lines of an engine's messages that are kept, and shown on a page: a screen


@dataclass(frozen=True)
class Apart:
    """What an engine reads differently, but is listed apart from the comparison (apart.py).

    Args:
        joints: by quantity and joint, the value in the file and in the engine.
        refused: why the engine refuses the text with mimic and transmissions; "" if it does not.
        left: what is left out of the URDF that was converted from the file for this engine.
    """

    joints: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    refused: str = ""
    left: tuple[str, ...] = ()

    def to_json(self) -> Mapping[str, Json]:
        """Return what the URDF lacks, or the refusal, or the quantities by joint."""
        if self.left:
            return {"left out": list(self.left)}
        return {"refused": self.refused} if self.refused else self.joints


@dataclass(frozen=True)
class ReadingCheck:
    """What an engine makes of a robot without geometry.

    Args:
        ended: why there is no reading; None if there is one.
        causes: of the differences.
        mass: of all links; None if the engine refuses the robot.
        order: names of the joints in the engine's order; None likewise.
        worst: the largest difference, relative to what is allowed.
        apart: what is listed, and changes no outcome.
        gazebo: whether <gazebo> makes another robot of it in Gazebo.
        accord: the outcome with this project's settings; None if the engine has no settings.
        acceleration: largest error of accelerations; None if there is none, or it is not finite.
        refusal: why the engine refuses the robot, in its words.
        words: lines that the engine printed.
    """

    ended: ParityCode | None = None
    causes: tuple[Flaw, ...] = ()
    mass: Annotated[float | None, Quantity("kg", "mass")] = None
    order: tuple[str, ...] | None = None
    worst: Difference | None = None
    apart: Apart = Apart()
    gazebo: bool = False
    accord: Finding | None = None
    acceleration: Annotated[float | None, Quantity("1", "largest error of accelerations")] = None
    refusal: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShippedCheck:
    """Whether an engine loads a file with its meshes.

    Args:
        ended: why it does not; None if it does.
        refusal: the engine's own words.
        geometry: numbers of collision shapes by kind in the file and in the engine, where they
            differ.
        words: lines that it printed meanwhile.
    """

    ended: ParityCode | None = None
    refusal: str = ""
    geometry: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Body:
    """A robot as a whole, at q = 0.

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
    """What was repaired in a file, and how the engines read it then.

    Args:
        repairs: the flaws that were repaired.
        repaired: the status of each engine with the repaired file, such as "same".
        left: causes that remain.
        diff: unified diff of the text, with the reason for each hunk.
        needs: numbers that the user must supply, a line each.
        before, after: the robot as shipped, and repaired.
    """

    repairs: tuple[Flaw, ...]
    repaired: Mapping[str, str]
    left: tuple[str, ...]
    diff: str
    needs: tuple[str, ...]
    before: Body
    after: Body

    def to_json(self) -> dict[str, Json]:
        """Return the first three fields as keys of the robot, and the others under `repair`."""
        data = by_fields(self)
        of_robot = {key: data.pop(key) for key in ("repairs", "repaired", "left")}
        return {**of_robot, "repair": data}


@dataclass(frozen=True)
class RobotParity:
    """What the engines make of a robot; `levels` to `versions` as in a cross-check's report.

    Args:
        name, file: of the robot.
        base: `fixed` or `free`.
        joints: number of those that move.
        mass: of all links.
        traps: of the file.
        findings: of the rules.
        repair: None where none was asked for.
        unread: why the file cannot be read, or is not a tree; "" where it can.
        settings: of the engines: their own, or ours.
        levels: the finding of each level and engine.
        checks: what each level measured, by level and engine.
        rows: the figures of each level, likewise.
        versions: of the engines, by name.
        form: first element of the file, of another format than URDF.
    """

    name: str
    file: str
    base: str = ""
    joints: int = 0
    mass: Annotated[float, Quantity("kg", "mass")] = 0.0
    traps: tuple[Flaw, ...] = ()
    findings: tuple[RuleFinding, ...] = ()
    repair: Repair | None = None
    unread: str = ""
    settings: str = "default"
    levels: Levels = field(default_factory=Levels)
    checks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rows: Mapping[str, Mapping[str, Rows]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    form: str = ""

    @property
    def engines(self) -> Sequence[str]:
        """The names of the engines."""
        return [*self.versions]

    @property
    def reading(self) -> Findings:
        """What was found of the robot without geometry, by engine: the verdict depends on this."""
        return self.levels.get("reading", {})

    @property
    def verdict(self) -> Verdict | None:
        """Whether all engines read it as the reference does; None without engines."""
        return verdict_of([*self.reading.values()])

    @property
    def status(self) -> Mapping[str, str]:
        """The status of each engine, such as "same" or "refused"."""
        return {engine: status_of(finding) for engine, finding in self.reading.items()}

    def messages(self, engine: str) -> list[str]:
        """Return the first lines that an engine printed."""
        reading, shipped = self.checks["reading"][engine], self.checks["shipped"][engine]
        lines = filter(None, (reading.refusal, *reading.words, *shipped.words))
        return [*dict.fromkeys(lines)][:MOST]

    def to_json(self) -> Mapping[str, Json]:
        """Return levels and checks by engine, and the repair's fields beside those of the robot."""
        names = "name file base joints mass traps engines findings unread".split()
        engines = {engine: self._engine(engine) for engine in self.engines}
        data = {name: to_json(getattr(self, name)) for name in names} | {"engines": engines}
        return data | (self.repair.to_json() if self.repair else {})

    def _engine(self, engine: str) -> Mapping[str, Json]:
        """Return the robot's entry of one engine in the JSON."""
        check: ReadingCheck = self.checks["reading"][engine]
        shipped: ShippedCheck = self.checks["shipped"][engine]
        geometry = {"geometry": shipped.geometry} if shipped.geometry else {}
        data = {
            "status": self.status[engine], "settings": self.settings,
            "version": self.versions[engine],
            **{name: getattr(check, name) for name in ("mass", "order", "worst")},
            "causes": [
                {"cause": cause.quantity, "where": cause.where, **by_fields(flaw)}
                for flaw in check.causes for cause in flaw.causes
            ],
            "apart": {**check.apart.to_json(), **geometry},
            "accord": status_of(check.accord or self.reading[engine]),
            "acceleration": check.acceleration,
            "said": check.refusal,
            "shipped": {
                "status": status_of(self.levels.shipped[engine]),
                "cause": SHIPPED.get(shipped.ended, "no answer") if shipped.ended else "",
                "said": shipped.refusal,
            },
            "messages": self.messages(engine),
        }  # fmt: skip
        return {key: to_json(value) for key, value in data.items()}


Done = Callable[[RobotParity], None]
"""Called with each robot when it is examined."""


def errors_of(robot: RobotParity) -> list[RuleFinding]:
    """Return the errors that the rules find in a robot's file."""
    return [finding for finding in robot.findings if finding.severity == "error"]


@dataclass(frozen=True)
class Parity(Drawn):
    """What the engines make of all robots.

    Args:
        robots: all of them.
        versions: of the engines, by name.
        date: of the check.
        command: command line that repeats the check.
    """

    robots: tuple[RobotParity, ...]
    versions: Mapping[str, str]
    date: str
    command: str

    @property
    def alike(self) -> int:
        """How many robots all engines read as the reference does."""
        return sum(robot.verdict in ("pass", None) for robot in self.robots)

    @property
    def verdict(self) -> Verdict:
        """Whether all engines read all robots as the reference does, and no rule finds an error.

        As far as the engines answered, of robots that can be read.
        """
        if any(errors_of(robot) for robot in self.robots):
            return "fail"
        findings = [f for robot in self.robots if not robot.unread for f in robot.reading.values()]
        return verdict_of(findings) or "undecided"

    @property
    def ok(self) -> bool:
        """Whether the verdict is a pass and no repair lacks a number."""
        lacking = any(robot.repair and robot.repair.needs for robot in self.robots)
        return self.verdict == "pass" and not lacking

    @property
    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """How many robots have each status in an engine, and each cause, by engine."""
        counts = {}
        for name in self.versions:
            statuses = Counter(robot.status[name] for robot in self.robots)
            causes = Counter[str]()
            for robot in self.robots:  # a cause counts once in a robot
                flaws = robot.checks["reading"][name].causes
                causes.update([*dict.fromkeys(flaw.quantity for flaw in flaws)])
            counts[name] = {status: statuses[status] for status in STATUSES} | causes
        return counts

    def to_json(self) -> Mapping[str, Json]:
        """Return verdict and counts too."""
        data = by_fields(self)
        judged = {"verdict": self.verdict, "counts": self.counts}
        return {"robots": data.pop("robots"), **judged, **data}
