"""Controllers of any robot: scaled by the inertia that each joint moves where it starts.

Controllers may be added: a class here and an entry of `controllers` in file.py; its arguments
become keys of scenarios, with their docstrings as help. Defaults (2 Hz, critical damping, ...) may
be changed, which changes runs that leave them out. The order of draws in `Random` is fixed, or a
seed gives another run (test_any_robot). LARGEST, which bounds a file, may be raised; forms of
trajectories are read in `read_trajectory_file`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from yaml import YAMLError

from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.files import read_bytes
from roboaccord.contract.state import Array, Command, RobotState, Target
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.yaml_files import parse_yaml
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.scenario.servo import Servo
from roboaccord.scenario.setup import Setup

LARGEST = 50_000_000  # bytes of a trajectory's file


def inertias(setup: Setup) -> Array:
    """Return what each joint moves where the robot starts, the others held (n,) [kg m^2]."""
    start, n = setup.initial, len(setup.joints)
    tree = TreeDynamics(setup.tree, setup.joints, "fixed", setup.parameters.gravity)
    rotation = quaternion_matrix(start.orientation)
    return np.diag(tree.mass_matrix(start.q, start.position, rotation)).reshape(n)


class Posture(Servo):
    """Hold a posture by proportional and derivative efforts.

    Attributes:
        gains: stiffness and damping of each joint (2, n) [N m/rad, N m s/rad].

    Args:
        posture: angles by joint [rad]; the others as they start.
        frequency: of the joint's own oscillation, the others held [Hz].
        damping: ratio of that; 1 is critical.
    """

    def __init__(
        self,
        setup: Setup,
        posture: Mapping[str, float] | None = None,
        frequency: float = 2.0,
        damping: float = 1.0,
    ) -> None:
        self._goal = np.array(setup.initial.q)
        for name, angle in (posture or {}).items():
            check_known("unknown key controller.posture.", name, setup.joints)
            self._goal[setup.joints.index(name)] = angle
        omega = 2.0 * np.pi * frequency
        stiffness = inertias(setup) * omega**2
        self.gains = np.array([stiffness, inertias(setup) * 2.0 * damping * omega])

    def reset(self, seed: int) -> None:
        """Do nothing: there is nothing to forget."""

    def goal(self, time: float) -> tuple[Array, Array]:
        """Return the positions and velocities to be followed (n,)."""
        return self._goal, np.zeros_like(self._goal)

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts towards the goal of the state's time."""
        (q, qd), (stiffness, damping) = self.goal(state.time), self.gains
        return Command(stiffness * (q - state.q) + damping * (qd - state.qd))


class Sine(Posture):
    """Move every joint to and fro about where it starts, each later than the one before.

    Args:
        amplitude: of every joint [rad].
        rate: of the motion [Hz].
        phase: from a joint to the next [rad].
        frequency: of the joint's own oscillation, the others held [Hz].
        damping: ratio of that; 1 is critical.
    """

    def __init__(
        self,
        setup: Setup,
        amplitude: float = 0.3,
        rate: float = 0.5,
        phase: float = 1.0,
        frequency: float = 2.0,
        damping: float = 1.0,
    ) -> None:
        super().__init__(setup, None, frequency, damping)
        self._amplitude, self._omega = amplitude, 2.0 * np.pi * rate
        self._phases = phase * np.arange(len(self._goal))

    def goal(self, time: float) -> tuple[Array, Array]:
        turn = self._omega * time - self._phases
        start = np.sin(-self._phases)
        away = self._amplitude * (np.sin(turn) - start)
        return self._goal + away, self._amplitude * self._omega * np.cos(turn)


class Random:
    """Move every joint by efforts drawn from the seed: sums of sines, smooth, or held steps.

    Args:
        acceleration: root mean square of what the efforts are to give to a joint [rad/s^2].
        bandwidth: highest frequency of the sines [Hz], or the rate of the steps.
        smooth: whether they are sums of sines, and not steps.
    """

    SINES = 8

    def __init__(
        self, setup: Setup, acceleration: float = 5.0, bandwidth: float = 2.0, smooth: bool = True
    ) -> None:
        self._size = acceleration * inertias(setup)
        self._bandwidth, self._smooth = bandwidth, smooth
        self.reset(setup.scenario.seed)

    def reset(self, seed: int) -> None:
        """Draw amplitudes, rates and phases anew."""
        rng, shape = np.random.default_rng(seed), (len(self._size), self.SINES)
        self._seed = seed
        self._rates = 2.0 * np.pi * rng.uniform(0.0, self._bandwidth, shape)
        self._phases = rng.uniform(0.0, 2.0 * np.pi, shape)

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts of the state's time."""
        if self._smooth:
            waves = np.sin(self._rates * state.time + self._phases)
            noise = waves.sum(axis=1) * np.sqrt(2.0 / self.SINES)
        else:
            step = int(state.time * self._bandwidth + 1e-6)
            noise = np.random.default_rng([self._seed, step]).normal(size=len(self._size))
        return Command(self._size * noise)


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
