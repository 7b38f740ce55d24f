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
from roboaccord.contract import AccordError, Array, check_known, read_bytes
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
        from scipy.interpolate import CubicHermiteSpline

        names, times, q, qd = read_trajectory_file(Path(file))
        for name in names:
            check_known(f"{file}: unknown joint ", name, setup.joints)
        # Joints that the file does not name rest at their goals.
        columns = [setup.joints.index(name) for name in names]
        positions = np.tile(self._goal, (len(times), 1))
        velocities = np.zeros_like(positions)
        positions[:, columns], velocities[:, columns] = q, qd
        self._motion = CubicHermiteSpline(times, positions, velocities)

    def goal(self, time: float) -> tuple[Array, Array]:
        """Return positions and velocities (n,) at a time [s]; at rest before and after the file."""
        first, last = self._motion.x[[0, -1]]
        within = min(max(time, first), last)
        return self._motion(within), self._motion(within, 1) * (first <= time < last)


def read_trajectory_file(path: Path) -> tuple[list[str], Array, Array, Array]:
    """Return names of n joints, times (k,) [s], positions and velocities (k, n) from a file.

    Raises:
        AccordError: if the file cannot be read, or its times do not increase.
    """
    prefix = f"trajectory {path}"  # of messages
    text = read_bytes(path, LARGEST).decode("utf-8-sig", "replace")
    qd: Array | None = None
    try:
        if path.suffix in (".yaml", ".yml"):
            data = parse_yaml(text)
            names, points = [str(name) for name in data["joint_names"]], data["points"]
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
        raise AccordError(f"{prefix} is neither a JointTrajectory nor a table: {reason}") from None
    if q.shape != (len(times), len(names)) or (qd is not None and qd.shape != q.shape):
        raise AccordError(f"{prefix}: {q.shape[-1]} columns for {len(names)} joints")
    if len(times) < 2 or not (np.diff(times) > 0.0).all() or not np.isfinite(q).all():
        raise AccordError(f"{prefix}: two points at least, whose times rise, and finite numbers")
    if qd is None:  # Catmull and Rom's, at rest at both ends
        qd = np.zeros_like(q)
        qd[1:-1] = (q[2:] - q[:-2]) / (times[2:] - times[:-2])[:, None]
    return names, times, q, qd


def _seconds(value: Any) -> float:
    """Return a duration in seconds, from a number or from ROS's `sec` and `nanosec`."""
    if isinstance(value, Mapping):
        return float(value.get("sec", 0)) + 1e-9 * float(value.get("nanosec", 0))
    return float(value)
