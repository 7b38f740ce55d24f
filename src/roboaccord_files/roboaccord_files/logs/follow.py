"""The controller `follow`, which moves a robot that is a file along a trajectory from a file.

The trajectory is read from YAML or CSV, interpolated by cubic polynomials, and followed by
proportional and derivative efforts (`Posture`). The name `follow` and its arguments are used in
scenarios of users.
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

# Bytes; a larger file is refused. 10 minutes at 1 kHz of 7 joints have 600,000 rows of 80 bytes.
LARGEST = 50_000_000


class Follow(Posture):
    """Follow a trajectory from a file by proportional and derivative efforts.

    Args:
        file: JointTrajectory in YAML (`joint_names`, and `points` with `positions`, perhaps
            `velocities`, and `time_from_start`), or CSV with the columns `time` and names of joints
            [s, rad or m]. Between points it is a cubic Hermite polynomial, with the velocities of
            the file or else those of Catmull and Rom: the slope between the two neighbours. Before
            the first point and after the last it is constant.
        frequency: natural frequency of a joint under this control, the other joints locked [Hz].
        damping: damping ratio; 1 is critical.

    Raises:
        AccordError: if the file cannot be read, or has joints that the robot does not have.
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
            end_point = self._q[0 if i < 0 else -1]
            return end_point, np.zeros_like(end_point)
        # q(s) = q0 + c1 s + c2 s^2 + c3 s^3 on the interval h, s from 0 to 1, with the positions
        # and velocities of both ends.
        h = float(times[i + 1] - times[i])
        s = (time - float(times[i])) / h
        step, c1, end_slope = self._q[i + 1] - self._q[i], h * self._qd[i], h * self._qd[i + 1]
        c2, c3 = 3.0 * step - 2.0 * c1 - end_slope, c1 + end_slope - 2.0 * step
        q = self._q[i] + s * (c1 + s * (c2 + s * c3))
        return q, (c1 + s * (2.0 * c2 + 3.0 * s * c3)) / h


def read_trajectory_file(path: Path) -> tuple[list[str], Array, Array, Array]:
    """Return names of n joints, times (k,) [s], positions and velocities (k, n) from a file.

    Raises:
        AccordError: if the file cannot be read, or its times do not increase.
    """
    broken = f"trajectory {path}"
    text = read_bytes(path, LARGEST).decode("utf-8-sig", "replace")
    qd: Array | None = None
    try:
        if path.suffix in (".yaml", ".yml"):
            data = parse_yaml(text)
            names, points = [*map(str, data["joint_names"])], data["points"]
            times = np.array([_seconds(point["time_from_start"]) for point in points])
            q = np.array([point["positions"] for point in points], dtype=float)
            if all(point.get("velocities") for point in points):
                qd = np.array([point["velocities"] for point in points], dtype=float)
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
    if qd is None:  # Catmull and Rom's, at rest at both ends
        qd = np.zeros_like(q)
        qd[1:-1] = (q[2:] - q[:-2]) / (times[2:] - times[:-2])[:, None]
    return names, times, q, qd


def _seconds(value: Any) -> float:
    """Return a duration in seconds, from a number or from ROS's `sec` and `nanosec`."""
    if isinstance(value, Mapping):
        return float(value.get("sec", 0)) + 1e-9 * float(value.get("nanosec", 0))
    return float(value)
