"""The controller `follow` of robots that are files: along a trajectory from a file.

LARGEST, which bounds a file, may be raised; forms of trajectories may be added in
`read_trajectory_file`. The name `follow` and the arguments stay: scenarios of users have them.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.files import read_bytes
from roboaccord.contract.state import Array
from roboaccord.description.yaml_files import parse_yaml
from roboaccord.robots.controllers import Posture
from roboaccord.scenario.setup import Setup
from yaml import YAMLError

LARGEST = 50_000_000  # bytes of a trajectory's file


class Follow(Posture):
    """Follow a trajectory from a file by proportional and derivative efforts.

    Args:
        file: JointTrajectory in YAML (`joint_names`, and `points` with `positions`, perhaps
            `velocities`, and `time_from_start`), or CSV with a head `time` and names of joints [s,
            rad or m]. Between points it is cubic, by the velocities given or those of a natural
            guess (Catmull and Rom's); before the first and behind the last it is constant.
        frequency: of the joint's own oscillation, the others held [Hz].
        damping: ratio of that; 1 is critical.

    Raises:
        AccordError: for a file that cannot be read, or joints that the robot does not have.
    """

    def __init__(
        self, setup: Setup, file: str, frequency: float = 2.0, damping: float = 1.0
    ) -> None:
        super().__init__(setup, None, frequency, damping)
        names, self._times, q, qd = read_trajectory_file(Path(file))
        for name in names:
            check_known(f"{file}: unknown joint ", name, setup.joints)
        columns = [setup.joints.index(name) for name in names]
        self._q = np.tile(self._goal, (len(self._times), 1))
        self._qd = np.zeros_like(self._q)
        self._q[:, columns], self._qd[:, columns] = q, qd

    def goal(self, time: float) -> tuple[Array, Array]:
        times = self._times
        i = int(np.searchsorted(times, time, side="right")) - 1
        if i < 0 or i >= len(times) - 1:
            at = self._q[0 if i < 0 else -1]
            return at, np.zeros_like(at)
        h = float(times[i + 1] - times[i])
        s = (time - float(times[i])) / h
        away, start, end = self._q[i + 1] - self._q[i], h * self._qd[i], h * self._qd[i + 1]
        two, three = 3.0 * away - 2.0 * start - end, start + end - 2.0 * away
        q = self._q[i] + s * (start + s * (two + s * three))
        return q, (start + s * (2.0 * two + 3.0 * s * three)) / h


def read_trajectory_file(path: Path) -> tuple[list[str], Array, Array, Array]:
    """Return names of n joints, times (k,) [s], positions and velocities (k, n) of a file.

    Raises:
        AccordError: if it cannot be read, or its times do not rise.
    """
    broken = f"trajectory {path}"
    text = read_bytes(path, LARGEST).decode("utf-8-sig", "replace")
    qd: Array | None = None
    try:
        if path.suffix in (".yaml", ".yml"):
            data = parse_yaml(text)
            names, points = [*map(str, data["joint_names"])], data["points"]
            times = np.array([_seconds(each["time_from_start"]) for each in points])
            q = np.array([each["positions"] for each in points], dtype=float)
            if all(each.get("velocities") for each in points):
                qd = np.array([each["velocities"] for each in points], dtype=float)
        else:
            head, *lines = [row for row in csv.reader(text.splitlines()) if row]
            names = [name.strip() for name in head[1:]]
            rows = np.array(lines, dtype=float)
            times, q = rows[:, 0], rows[:, 1:]
    except (LookupError, TypeError, ValueError, YAMLError, csv.Error) as error:
        reason = str(error).partition("\n")[0]
        raise AccordError(f"{broken} is neither a JointTrajectory nor a table: {reason}") from None
    if q.shape != (len(times), len(names)) or (qd is not None and qd.shape != q.shape):
        raise AccordError(f"{broken}: {q.shape[-1]} columns for {len(names)} joints")
    if len(times) < 2 or not (np.diff(times) > 0.0).all() or not np.isfinite(q).all():
        raise AccordError(f"{broken}: two points at least, whose times rise, and finite numbers")
    if qd is None:
        qd = np.zeros_like(q)
        qd[1:-1] = (q[2:] - q[:-2]) / (times[2:] - times[:-2])[:, None]
    return names, times, q, qd


def _seconds(value: Any) -> float:
    """Return a duration: a number [s], or the message of ROS."""
    if isinstance(value, Mapping):
        return float(value.get("sec", 0)) + 1e-9 * float(value.get("nanosec", 0))
    return float(value)
