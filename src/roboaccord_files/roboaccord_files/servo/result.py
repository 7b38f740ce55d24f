"""The result of `accord servo`: rows of joints in engines, and gains by which engines agree.

The fields of `Answer` and `Match` are keys of `--json`, and stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from roboaccord.contract import Array

EXACT = "exact"  # in place of an engine's name: the closed form


@dataclass(frozen=True)
class Answer:
    """How a joint answers in an engine.

    Args:
        name: of the joint.
        engine: its name, or EXACT.
        mode: of the servo.
        gains: kp and kd.
        delay: control ticks.
        armature: added inertia.
        overshoot: relative to the step; None of a servo that is unstable.
        settling: time until it stays within 2 % of the step [s].
        steady_error: what its weight leaves between target and position.
        damping_ratio: of its slowest poles.
        unstable_above: stiffness at which it becomes unstable with the same damping ratio.
    """

    name: str
    engine: str
    mode: str
    gains: Mapping[str, float]
    delay: int
    armature: float
    overshoot: float | None = None
    settling: float | None = None
    steady_error: float | None = None
    damping_ratio: float | None = None
    unstable_above: float | None = None


@dataclass(frozen=True)
class Match:
    """Gains by which an engine answers as another.

    Args:
        origin: engine and mode whose responses are matched; `from` in JSON.
        to: engine and mode that get other gains.
        gains: by joint, kp and kd, and armature and delay where they differ.
        error_before, error_after: rms of the difference of the responses, over the step.
    """

    origin: str
    to: str
    gains: Mapping[str, Mapping[str, float]]
    error_before: float
    error_after: float

    def to_json(self) -> dict[str, Any]:
        """Return the fields, `origin` as `from`."""
        values = dict(vars(self))
        return {"from": values.pop("origin"), **values}


@dataclass(frozen=True)
class Shown:
    """What a response shows of one joint: ramp, error, and what differs from the intended servo.

    Args:
        name, engine, mode: as of `Answer`.
        ramp_error: by which the joint stays behind a ramp at its end.
        error: rms of the difference from the exact response, over the step; None if unstable.
        differences: by name, with their sizes.
    """

    name: str
    engine: str
    mode: str
    ramp_error: float | None
    error: float | None
    differences: Mapping[str, float | str]


@dataclass
class Servos:
    """The servos of a robot in engines.

    Args:
        file: of the robot.
        rate: control rate [Hz].
        step: physics step [s].
        versions: of the engines.
        joints: rows of all joints.
        shown: what the responses show, a row for each of an engine.
        match: gains by which engines answer as the first.
        refused: reasons of engines and modes that are not in the table.
        curves: responses by joint and by engine and mode: of step, ramp and hold, with the control
            period [s].
    """

    file: str
    rate: float
    step: float
    versions: dict[str, str] = field(default_factory=dict)
    joints: list[Answer] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    match: list[Match] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    files: Sequence[str] = ()
    curves: dict[str, dict[str, Mapping[str, Array]]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return all but the curves."""
        data = {key: value for key, value in vars(self).items() if key != "curves"}
        for key in ("joints", "shown"):
            data[key] = [dict(vars(row)) for row in data[key]]
        return data | {"match": [match.to_json() for match in self.match]}
