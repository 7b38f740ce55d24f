"""The result of a parity check: what each engine reads from each robot's file, and why.

A parity check gives the file of a robot to several physics engines and compares what their readers
make of it (joints, masses, accelerations) with a reference, the analytical model of this project.
`Parity`, which `ra.parity` returns and `accord parity` prints, has one `RobotParity` for each
robot. Both have in common with the report of a cross-check:

    level    a question to an engine: `reading` (what it reads, without shapes), `shipped` (whether
             it loads the file with its meshes)
    check    what a level has measured in one engine: ReadingCheck, ShippedCheck
    finding  the outcome of a check; rows are its figures

`Parity.verdict` and `ok` decide the exit status. Names and order of fields are those of the JSON of
`accord parity`, on which users' scripts rely; where the JSON differs, `to_json` says so.
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

from roboaccord_files.parity.words import LOADING_CAUSES, STATUSES, ParityCode, status_of
from roboaccord_files.repair.trap import Flaw
from roboaccord_files.rules.findings import RuleFinding

# Lines of an engine's messages that are kept, and shown on a page: as many as a screen has.
MAX_MESSAGE_LINES = 40


@dataclass(frozen=True)
class Uncompared:
    """What an engine reads differently, in quantities that are not compared (uncompared.py).

    Args:
        joints: value in the file and value in the engine, by quantity and joint.
        refused: why the engine refuses the text with mimic and transmissions; "" if it does not.
        lost: what the URDF lacks that was converted from the file for this engine.
    """

    joints: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    refused: str = ""
    lost: tuple[str, ...] = ()

    def to_json(self) -> Mapping[str, Json]:
        """Return what the URDF lacks, or the refusal, or the quantities by joint."""
        if self.lost:
            return {"left out": list(self.lost)}
        return {"refused": self.refused} if self.refused else self.joints


@dataclass(frozen=True)
class ReadingCheck:
    """What an engine reads from a robot's file without shapes.

    Args:
        failure: why there is no reading; None if there is one.
        causes: causes of the differences.
        mass: mass of all links; None if the engine refuses the robot.
        order: names of the joints in the engine's order; None likewise.
        worst: the difference with the largest error, relative to the error allowed.
        uncompared: differences that change no outcome.
        gazebo: whether <gazebo> elements make another robot of it in Gazebo.
        accord: the outcome with this project's settings; None if the engine has no settings.
        acceleration: largest error of accelerations; None if there is none, or it is not finite.
        refusal: why the engine refuses the robot, in its words.
        words: lines that the engine printed.
    """

    failure: ParityCode | None = None
    causes: tuple[Flaw, ...] = ()
    mass: Annotated[float | None, Quantity("kg", "mass")] = None
    order: tuple[str, ...] | None = None
    worst: Difference | None = None
    uncompared: Uncompared = Uncompared()
    gazebo: bool = False
    accord: Finding | None = None
    acceleration: Annotated[float | None, Quantity("1", "largest error of accelerations")] = None
    refusal: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShippedCheck:
    """Whether an engine loads a file with its meshes.

    Args:
        failure: why it does not; None if it does.
        refusal: the engine's own words.
        geometry: numbers of collision shapes in the file and in the engine, by kind of shape, where
            they differ.
        words: lines that it printed meanwhile.
    """

    failure: ParityCode | None = None
    refusal: str = ""
    geometry: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class RobotProperties:
    """Properties of a robot as a whole, with all joints at q = 0.

    Args:
        mass: mass of all links.
        moments: principal moments of inertia about the common centre of mass.
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
        left: causes that remain, by name.
        diff: unified diff of the text, with the reason for each hunk.
        needs: numbers that the user must supply, a line each.
        before, after: the robot as shipped, and repaired.
    """

    repairs: tuple[Flaw, ...]
    repaired: Mapping[str, str]
    left: tuple[str, ...]
    diff: str
    needs: tuple[str, ...]
    before: RobotProperties
    after: RobotProperties

    def to_json(self) -> dict[str, Json]:
        """Return the first three fields as keys of the robot, the others in its key `repair`."""
        data = by_fields(self)
        of_robot = {key: data.pop(key) for key in ("repairs", "repaired", "left")}
        return {**of_robot, "repair": data}


@dataclass(frozen=True)
class RobotParity:
    """What the engines read from the file of one robot.

    Args:
        name: name of the robot.
        file: path of its file.
        base: `fixed` or `free`.
        joints: number of joints that move.
        mass: mass of all links.
        traps: passages of the file that readers interpret differently, or refuse.
        findings: what the rules of `accord check` find in the file.
        repair: None where none was asked for.
        unread: why the file cannot be read, or is not a tree; "" where it can.
        settings: settings of the engines: `default` for their own, `accord` for this project's.
        levels: the finding of each level and engine.
        checks: what each level measured, by level and engine.
        rows: the figures of each level, by level and engine.
        versions: versions of the engines, by name.
        form: name of the first element of a file that is not URDF, such as "sdf"; "" for URDF.
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
        """The finding of the level `reading` in each engine, on which the verdict depends."""
        return self.levels.get("reading", {})

    @property
    def verdict(self) -> Verdict | None:
        """Whether all engines read the robot as the reference does; None without engines."""
        return verdict_of([*self.reading.values()])

    @property
    def status(self) -> Mapping[str, str]:
        """The status of each engine, such as "same" or "refused"."""
        return {engine: status_of(finding) for engine, finding in self.reading.items()}

    def messages(self, engine: str) -> list[str]:
        """Return the first lines that an engine printed, each once."""
        reading, shipped = self.checks["reading"][engine], self.checks["shipped"][engine]
        lines = [reading.refusal, *reading.words, *shipped.words]
        return [line for line in dict.fromkeys(lines) if line][:MAX_MESSAGE_LINES]

    def to_json(self) -> Mapping[str, Json]:
        """Return the fields, with levels and checks by engine, and with those of the repair."""
        names = "name file base joints mass traps engines findings unread".split()
        engines = {engine: self._engine(engine) for engine in self.engines}
        data = {name: to_json(getattr(self, name)) for name in names} | {"engines": engines}
        return data | (self.repair.to_json() if self.repair else {})

    def _engine(self, engine: str) -> Mapping[str, Json]:
        """Return the robot's entry of one engine in the JSON."""
        check: ReadingCheck = self.checks["reading"][engine]
        shipped: ShippedCheck = self.checks["shipped"][engine]
        causes = [
            {"cause": cause.quantity, "where": cause.where, **by_fields(flaw)}
            for flaw in check.causes
            for cause in flaw.causes
        ]
        geometry = {"geometry": shipped.geometry} if shipped.geometry else {}
        mesh_cause = LOADING_CAUSES.get(shipped.failure, "no answer") if shipped.failure else ""
        loading = status_of(self.levels.shipped[engine])
        data = {
            "status": self.status[engine],
            "settings": self.settings,
            "version": self.versions[engine],
            "mass": check.mass,
            "order": check.order,
            "worst": check.worst,
            "causes": causes,
            "apart": {**check.uncompared.to_json(), **geometry},
            "accord": status_of(check.accord or self.reading[engine]),
            "acceleration": check.acceleration,
            "said": check.refusal,
            "shipped": {"status": loading, "cause": mesh_cause, "said": shipped.refusal},
            "messages": self.messages(engine),
        }
        return {key: to_json(value) for key, value in data.items()}


# Function that is called with each robot when its examination is finished.
Done = Callable[[RobotParity], None]


def errors_of(robot: RobotParity) -> list[RuleFinding]:
    """Return the findings of the rules in a robot's file that are errors."""
    return [finding for finding in robot.findings if finding.severity == "error"]


@dataclass(frozen=True)
class Parity(Drawn):
    """What the engines read from the files of all robots.

    Args:
        robots: all robots, in the order of their files.
        versions: versions of the engines, by name.
        date: date of the check.
        command: command line that repeats the check.
    """

    robots: tuple[RobotParity, ...]
    versions: Mapping[str, str]
    date: str
    command: str

    @property
    def agreeing_count(self) -> int:
        """Number of robots that all engines read as the reference does."""
        return sum(robot.verdict in ("pass", None) for robot in self.robots)

    @property
    def verdict(self) -> Verdict:
        """`pass` if all engines read all robots as the reference does, without errors of the rules.

        Robots that cannot be read do not count, and neither do engines that gave no answer.
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
        """Numbers of robots with each status, and with each cause, by engine."""
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
        """Return the fields, with verdict and counts after the robots."""
        data = by_fields(self)
        judged = {"verdict": self.verdict, "counts": self.counts}
        return {"robots": data.pop("robots"), **judged, **data}
