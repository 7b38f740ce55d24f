"""Failures of joints, the same in every simulator: which are in force, and how they change efforts.

A joint can be frozen (locked), loose (no effort), weak (less effort), slipping (its brake), have
backlash, or an encoder that is stuck or drifts (contract/fault.py, where a new kind begins). Each
simulator has a `JointFaults`, which knows the faults in force, the efforts that faulty drives
transmit and the readings of faulty encoders; failing.py lets the other faults act on the motion.
test_partial_faults and test_joint_faults compare each kind with closed forms.

Frozen: LOCK_INERTIA is added to the joint's diagonal entry of the mass matrix M. Each solution of
equations with M, also for contacts, is then that of an arm without the joint, to round-off.

Slipping: Coulomb's dry friction, by time stepping [Moreau 1988]. In each physics step the effort of
the brake is the one, of all within its size, that leaves the smallest rate of the joint.

Backlash: a gap between a drive without inertia and the joint [the exact model of Nordin and Gutman
2002, here with a stiff shaft]. The drive crosses the gap at GAP_SPEED, to the side of the commanded
effort, and transmits no effort until it has reached that side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from roboaccord.contract import AccordError, Array, Command, Fault, RobotState, check_joint
from roboaccord.numerics.pivoting import solve_in_box

# [rad/s] Speed of a drive in the gap of its backlash: of the order of an arm's own speed.
GAP_SPEED = 1.0
# [kg m^2] Inertia that makes a joint immovable: the remaining accelerations are below the round-off
# of others.
LOCK_INERTIA = 1e30
_ROUND_OFF = 1e-9  # [s] error of times, which are rounded to 9 decimals


class JointFaults:
    """Faults of a simulator's joints: scheduled ones, requested ones, and those in force.

    Args:
        scheduled: faults of the scenario.
        joints: names, n of them.
        hinges: names of the joints that can fail.

    Attributes:
        in_force: faults by number of the joint.
        possible: whether any fault is scheduled or requested.
    """

    def __init__(
        self, scheduled: Sequence[Fault], joints: Sequence[str], hinges: Collection[str]
    ) -> None:
        self._joints, self._hinges = joints, hinges
        self._scheduled = tuple(scheduled)
        self._requested = list[Fault]()  # since the last tick
        self._past_requests = list[Fault]()  # with the times of their ticks
        self._start_time = 0.0  # of the motion [s]
        self.in_force = dict[int, Fault]()
        # By joint: time [s] and angle [rad] at which its fault began, and its backlash.
        self._beginnings = dict[int, tuple[float, float]]()
        self._gaps = dict[int, _Gap]()
        self.possible = bool(scheduled)

    def request(self, fault: Fault) -> None:
        """Request a fault at the next control tick.

        Raises:
            AccordError: for a joint that is no hinge, or a fault with an angle, which only a fault
                at the start can have.
        """
        if fault.angle is not None:
            raise AccordError(f"fault {fault}: an angle is for the start; it freezes where it is")
        check_joint(fault, self._joints, self._hinges)
        self._requested.append(fault)
        self.possible = True

    def schedule(self, faults: Iterable[Fault]) -> None:
        """Add faults to those of the scenario; each acts at its own time."""
        self._scheduled += tuple(faults)
        self.possible = bool(self._scheduled)

    def restart(self, time: float) -> None:
        """Forget requests and faults in force at the start of a motion; scheduled faults remain."""
        self._start_time = time
        self._past_requests.clear()
        self._requested.clear()
        for by_joint in (self.in_force, self._beginnings, self._gaps):
            by_joint.clear()
        self.possible = bool(self._scheduled)

    def begin_due(self, state: RobotState) -> Iterator[tuple[int, Fault]]:
        """Bring the faults that are due at the tick of a state into force; yield each, by joint."""
        self._past_requests += [replace(fault, time=state.time) for fault in self._requested]
        self._requested.clear()
        for joint, fault in self.acting_at(state.time).items():
            before = self.in_force.get(joint)
            if not before or (before.kind, before.size) != (fault.kind, fault.size):
                yield joint, fault
                self.in_force[joint] = fault
                self._beginnings[joint] = state.time, float(state.q[joint])
                self._gaps.pop(joint, None)

    def transmitted(self, command: Command, effort: Array, state: RobotState) -> Array:
        """Return the efforts (n,) that drives transmit to the joints at the tick of a state.

        If the efforts of the command are already those in force, only those of loose joints change.
        """
        effort = without_loose(effort, self.in_force)
        if command.in_force:
            return effort
        effort = weakened(effort, self.in_force)
        for joint, fault in self.in_force.items():
            if fault.kind == "backlash":
                gap = self._gaps.setdefault(joint, _Gap(fault.size))
                gap.move_drive(float(effort[joint]), float(state.q[joint]), state.time)
                if not gap.is_crossed:
                    effort = np.array(effort)
                    effort[joint] = 0.0
        return effort

    def with_readings(self, state: RobotState) -> RobotState:
        """Return a state with the readings of failed encoders added."""
        readings = []
        for joint, fault in self.in_force.items():
            begin_time, begin_angle = self._beginnings[joint]
            if fault.kind == "stuck":
                readings.append((joint, begin_angle, 0.0))
            elif fault.kind == "drifting":
                angle = float(state.q[joint]) + fault.size * (state.time - begin_time)
                readings.append((joint, angle, float(state.qd[joint]) + fault.size))
        return replace(state, encoders=tuple(readings)) if readings else state

    @property
    def slipping(self) -> dict[int, float]:
        """The dry friction of joints whose brakes slip [N m]."""
        return {j: fault.size for j, fault in self.in_force.items() if fault.kind == "slipping"}

    def acting_at(self, time: float) -> dict[int, Fault]:
        """Return the fault of each joint that acts at a time [s]; of several the latest."""
        due = [f for f in (*self._scheduled, *self._past_requests) if f.time <= time + _ROUND_OFF]
        return {self._joints.index(f.joint): f for f in sorted(due, key=lambda f: f.time)}

    def begins_in_motion(self, fault: Fault) -> bool:
        """Return whether a fault begins during the motion, not before its start."""
        return fault.time > self._start_time - _ROUND_OFF


class _Gap:
    """A gap between a drive and its joint (backlash), with the position of the drive in it.

    Args:
        size: width of the gap [rad].
    """

    def __init__(self, size: float) -> None:
        self._half_gap = 0.5 * size
        self._effort_sign = 0.0
        self._drive = 0.0  # position of the drive, from the gap's middle [rad]
        self._last_tick = (0.0, 0.0)  # time [s] and angle of the joint [rad]

    @property
    def is_crossed(self) -> bool:
        """Whether the drive presses on the joint."""
        return self._drive == self._effort_sign * self._half_gap

    def move_drive(self, effort: float, q: float, time: float) -> None:
        """Move the drive in the gap since the last tick, under an effort [N m].

        At first the drive is at the side to which its effort points.

        Args:
            effort: commanded [N m].
            q: angle of the joint [rad].
            time: time of the tick [s].
        """
        # Either it has not moved yet, or it crosses the gap, relative to the joint.
        if self._effort_sign == 0.0 == self._drive:
            self._drive = float(np.sign(effort)) * self._half_gap
        elif not self.is_crossed or self._effort_sign == 0.0:
            last_time, last_q = self._last_tick
            self._drive += self._effort_sign * GAP_SPEED * (time - last_time) - (q - last_q)
            self._drive = min(max(self._drive, -self._half_gap), self._half_gap)
        self._effort_sign, self._last_tick = float(np.sign(effort)), (time, q)


def hold(responses: Array, accelerations: Array, limits: Array) -> Array:
    """Return the efforts (m,) [N m] of brakes, within +-`limits`, that best cancel accelerations.

    Args:
        responses: accelerations of the braked joints by unit efforts (m, m) [rad/s^2 per N m].
        accelerations: the accelerations to cancel (m,) [rad/s^2].
        limits: largest efforts (m,) [N m].
    """
    efforts = np.zeros(len(accelerations))
    solve_in_box(responses, accelerations, -limits, limits, efforts)
    return efforts


def frozen(failed: dict[int, Fault]) -> list[int]:
    """Return the numbers of the frozen joints."""
    return [joint for joint, fault in failed.items() if fault.kind == "frozen"]


def without_loose(effort: Array, failed: dict[int, Fault]) -> Array:
    """Return efforts (n,) that are 0 at loose joints."""
    loose = [joint for joint, fault in failed.items() if fault.kind == "loose"]
    if loose:
        effort = np.array(effort)
        effort[loose] = 0.0
    return effort


def weakened(effort: Array, failed: dict[int, Fault]) -> Array:
    """Return efforts (n,) reduced at weak joints."""
    weak = {joint: fault.size for joint, fault in failed.items() if fault.kind == "weak"}
    if weak:
        effort = np.array(effort)
        effort[[*weak]] *= [*weak.values()]
    return effort
