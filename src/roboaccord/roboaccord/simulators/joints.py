"""Friction, stops and failures of joints, alike in every simulator.

STOP_MARGIN, RELEASE and GAP_SPEED may be tuned: the first two decide what counts as one event of a
stop, GAP_SPEED how long a drive crosses its backlash. LOCK_INERTIA may be any number that round-off
makes infinite. The laws are fixed by the papers named below and in `JointFriction`: test_engines
compares friction, test_partial_faults and test_joint_faults each kind of failure with closed forms.
A new kind of failure begins in contract/fault.py.

A frozen joint is one whose rotor has an infinite inertia: with LOCK_INERTIA on its diagonal of
the mass matrix M, every solve with M, contacts' too, is that of the arm without the joint, to
round-off.

A brake that slips is Coulomb's dry friction, by time stepping [Moreau 1988]: in each physics step
it takes, of the efforts within its size, those that leave its joint the least rate. Backlash is a
gap between a drive without inertia and the joint [the exact model of Nordin and Gutman 2002, whose
shaft here is stiff]: the drive crosses it at GAP_SPEED, to the side of the commanded effort, and
until it is there transmits none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault, check_joint
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.description.tree import Tree
from roboaccord.numerics.complementarity import solve_in_box
from roboaccord.numerics.jit import kernel

STOP_MARGIN = 1e-6  # rad: a joint this close to its limit is at its stop
RELEASE = 1e-4  # rad: and stays there until it is this far away; impacts elsewhere shake it
GAP_SPEED = 1.0  # rad/s: of a drive without load; a gap is looked at at the control ticks
LOCK_INERTIA = 1e30  # kg m^2; what it leaves of an acceleration is lost in the round-off of others
_ROUND_OFF = 1e-9  # s


@dataclass(frozen=True)
class JointFriction:
    """Brake each joint by an effort -(b w + k w / sqrt(w^2 + e^2)) [N m] at the rate w [rad/s].

    The dry part k falls from stiction to constant as the joint starts to move, by Stribeck's law
    k = c + (s - c) exp(-(w / w_s)^2) [Armstrong-Helouvry et al. 1994, equation 6, with an exponent
    of 2].

    Args:
        viscous: b of each joint (n,) [N m s/rad].
        constant: c, the dry friction of a joint that moves (n,) [N m].
        speed: e, below which the dry friction falls to 0 [rad/s].
        stiction: s, not below c: what breaks a joint away (n,) [N m]; c where None.
        stribeck_speed: w_s, by which a joint moves [rad/s].
        spring: stiffness [N m/rad] and slack positions of springs beside it (n,), or None.
    """

    viscous: Array
    constant: Array
    speed: float
    stiction: Array | None = None
    stribeck_speed: float = 0.01
    spring: tuple[Array, Array] | None = None

    def __post_init__(self) -> None:
        """Refuse stiction below the dry friction of a moving joint.

        Raises:
            AccordError: if it is, for one joint at least.
        """
        if self.stiction is not None and np.any(self.stiction < self.constant):
            raise AccordError("stiction of a joint is below its dry friction in motion")

    def efforts(self, qd: Array) -> Array:
        """Return the efforts (n,) [N m] at joint rates qd (n,) [rad/s]."""
        return -qd * (self.viscous + self._dry(qd) / np.sqrt(qd * qd + self.speed**2))

    def add(self, effort: Array, q: Array, qd: Array) -> Array:
        """Return efforts (n,) with those of friction, and of springs at joint positions q (n,)."""
        found = effort + self.efforts(qd)
        return found - self.spring[0] * (q - self.spring[1]) if self.spring else found

    @property
    def any_dry(self) -> bool:
        """True if any joint has dry friction."""
        return bool(np.any(self.constant if self.stiction is None else self.stiction))

    def damping(self, qd: Array) -> Array:
        """Return how the efforts fall with the rates qd (n,) [N m s/rad].

        Stribeck's fall of the dry part is left out: it alone is not damping.
        """
        return self.viscous + self._dry(qd) * self.speed**2 / (qd * qd + self.speed**2) ** 1.5

    def _dry(self, qd: Array) -> Array:
        if self.stiction is None:
            return self.constant
        more = self.stiction - self.constant
        return np.asarray(self.constant + more * np.exp(-((qd / self.stribeck_speed) ** 2)))


@kernel
def look(q, lower, upper, stopped, come):
    """Bring up to date which joints are at their stops, and fill which have come to them (n,).

    Returns:
        how many are there, and how many have come.
    """
    there, new = 0, 0
    for i in range(q.shape[0]):
        high, low = upper[i], lower[i]
        come[i] = not stopped[i] and (q[i] > high - STOP_MARGIN or q[i] < low + STOP_MARGIN)
        stopped[i] = come[i] or (stopped[i] and (q[i] > high - RELEASE or q[i] < low + RELEASE))
        there += stopped[i]
        new += come[i]
    return there, new


class StopWatch:
    """Make an event of each joint that comes to its stop.

    A joint has come when it is within `STOP_MARGIN` of a limit, or beyond it, at a control tick,
    and has left when it is `RELEASE` from both at one. So there is one event as long as it stays.

    Args:
        joints: names, n of them.
        lower, upper: limits of their positions (n,) [rad or m].

    Attributes:
        nearest: no joint is at its stop while all positions are less than this, in size.
        any: whether a joint was at its stop at the last tick.
    """

    def __init__(self, joints: Sequence[str], lower: Array, upper: Array) -> None:
        self._joints = tuple(joints)
        self._lower, self._upper = np.array(lower, float), np.array(upper, float)
        self._stopped, self._come = np.zeros((2, len(self._joints)), dtype=bool)
        self.nearest = float(np.minimum(-lower, upper).min(initial=np.inf)) - STOP_MARGIN
        self.any = False

    @classmethod
    def of(cls, tree: Tree, joints: Sequence[str]) -> StopWatch:
        """Return what watches joints of a description."""
        described = {joint.name: joint for joint in tree.moving}
        lower = np.array([described[name].lower for name in joints])
        return cls(joints, lower, np.array([described[name].upper for name in joints]))

    def reset(self, q: Array) -> None:
        """Begin at positions (n,); joints that are at their stops have not come to them."""
        self._stopped = (q > self._upper - STOP_MARGIN) | (q < self._lower + STOP_MARGIN)
        self.any = bool(self._stopped.any())

    def see(self, q: Array) -> Sequence[int]:
        """Return the numbers of the joints that have come to their stops by now, at positions q."""
        stopped, come = look(q, self._lower, self._upper, self._stopped, self._come)
        self.any = stopped > 0
        return np.flatnonzero(self._come).tolist() if come else ()

    @property
    def limits(self) -> tuple[Array, Array]:
        """Lower and upper limits of the positions (n,)."""
        return self._lower, self._upper

    def beyond(self, q: Array) -> str:
        """Return the name of a joint beyond its limits at positions q (n,); "" where none is."""
        over = np.flatnonzero((q > self._upper) | (q < self._lower))
        return self._joints[over[0]] if over.size else ""

    def event(self, joint: int, time: float, impulse: float = 0.0) -> Event:
        """Return the event of a joint, by its number, that comes to its stop at a time [s]."""
        return Event(time, "joint_stop", self._joints[joint], impulse)


class JointFaults:
    """Keep the faults of a simulator's joints.

    Args:
        scheduled: by the scenario.
        joints: names.
        hinges: those that can fail.

    Attributes:
        in_force: by joint.
        possible: False as long as no joint can have failed.
    """

    def __init__(
        self, scheduled: Sequence[Fault], joints: Sequence[str], hinges: Collection[str]
    ) -> None:
        self._scheduled, self._joints, self._hinges = tuple(scheduled), joints, hinges
        self._live, self._asked = list[Fault](), list[Fault]()
        self._since = 0.0  # time at which the motion starts [s]
        self.in_force = dict[int, Fault]()
        self._began = dict[int, tuple[float, float]]()  # time [s], angle [rad]
        self._gaps = dict[int, _Gap]()
        self.possible = bool(scheduled)

    def ask(self, fault: Fault) -> None:
        """Take a fault that is to act at the next control tick.

        Raises:
            AccordError: for anything but a hinge, or an angle, which is for the start.
        """
        if fault.angle is not None:
            raise AccordError(f"fault {fault}: an angle is for the start; it freezes where it is")
        check_joint(fault, self._joints, self._hinges)
        self._asked.append(fault)
        self.possible = True

    def foresee(self, faults: Iterable[Fault]) -> None:
        """Take faults that are to act at their own times, beside those of the scenario."""
        self._scheduled += tuple(faults)
        self.possible = bool(self._scheduled)

    def restart(self, time: float) -> None:
        """Forget what was asked for and is in force; the scenario's faults act again."""
        self._since = time
        self._live.clear()
        self._asked.clear()
        for kept in (self.in_force, self._began, self._gaps):
            kept.clear()
        self.possible = bool(self._scheduled)

    def due(self, state: RobotState) -> Iterator[tuple[int, Fault]]:
        """Yield the faults that come into force at the control tick of a state, by joint."""
        self._live += [replace(fault, time=state.time) for fault in self._asked]
        self._asked.clear()
        for joint, fault in self.at(state.time).items():
            before = self.in_force.get(joint)
            if not before or (before.kind, before.size) != (fault.kind, fault.size):
                yield joint, fault
                self.in_force[joint] = fault
                self._began[joint] = state.time, float(state.q[joint])
                self._gaps.pop(joint, None)

    def transmitted(self, command: Command, effort: Array, state: RobotState) -> Array:
        """Return what drives give of the efforts (n,) of a command at the tick of a state.

        Those that are in force already lack nothing but what loose joints do.
        """
        effort = without_loose(effort, self.in_force)
        if command.in_force:
            return effort
        effort = weakened(effort, self.in_force)
        for joint, fault in self.in_force.items():
            if fault.kind == "backlash":
                gap = self._gaps.setdefault(joint, _Gap(fault.size))
                value = float(effort[joint])
                if not gap.transmits(value, float(state.q[joint]), state.time):
                    effort = np.array(effort)
                    effort[joint] = 0.0
        return effort

    def seen(self, state: RobotState) -> RobotState:
        """Return a state with what encoders that have failed make of it."""
        found = []
        for joint, fault in self.in_force.items():
            since, angle = self._began[joint]
            if fault.kind == "stuck":
                found.append((joint, angle, 0.0))
            elif fault.kind == "drifting":
                run = fault.size * (state.time - since)
                found.append(
                    (joint, float(state.q[joint]) + run, float(state.qd[joint]) + fault.size)
                )
        return replace(state, encoders=tuple(found)) if found else state

    @property
    def slipping(self) -> dict[int, float]:
        """The dry friction of joints whose brakes slip [N m]."""
        return {j: fault.size for j, fault in self.in_force.items() if fault.kind == "slipping"}

    def at(self, time: float) -> dict[int, Fault]:
        """Return the faults in force at a time [s], by joint: of each the last."""
        due = [f for f in (*self._scheduled, *self._live) if f.time <= time + _ROUND_OFF]
        return {self._joints.index(f.joint): f for f in sorted(due, key=lambda f: f.time)}

    def is_news(self, fault: Fault) -> bool:
        """Return whether a joint fails in the motion, and had not failed before its start."""
        return fault.time > self._since - _ROUND_OFF


class _Gap:
    """Follow a drive in its gap.

    Args:
        size: of the gap [rad].
    """

    def __init__(self, size: float) -> None:
        self._half = 0.5 * size
        self._side, self._place = 0.0, 0.0  # of the effort; of the drive, from the gap's middle
        self._last = (0.0, 0.0)  # time, angle of the joint

    def transmits(self, effort: float, q: float, time: float) -> bool:
        """Return whether the drive presses on the joint, at an angle q [rad] and a time [s].

        At first it lies on the side of its effort.
        """
        if self._side == 0.0 == self._place:
            self._place = float(np.sign(effort)) * self._half
        elif self._place != self._side * self._half or self._side == 0.0:
            before, angle = self._last
            self._place += self._side * GAP_SPEED * (time - before) - (q - angle)
            self._place = min(max(self._place, -self._half), self._half)
        self._side, self._last = float(np.sign(effort)), (time, q)
        return self._place == self._side * self._half


def hold(responses: Array, change: Array, most: Array) -> Array:
    """Return the efforts (m,) [N m], within plus and minus `most` (m,), that make up for a change.

    Args:
        responses: accelerations of the joints by their efforts (m, m) [rad/s^2 by N m].
        change: accelerations that are to be taken (m,) [rad/s^2].
        most: efforts (m,) [N m].
    """
    found = np.zeros(len(change))
    solve_in_box(responses, change, -most, most, found)
    return found


def frozen(failed: dict[int, Fault]) -> list[int]:
    """Return the joints that are held."""
    return [joint for joint, fault in failed.items() if fault.kind == "frozen"]


def without_loose(effort: Array, failed: dict[int, Fault]) -> Array:
    """Return efforts that are 0 at loose joints (n,)."""
    loose = [joint for joint, fault in failed.items() if fault.kind == "loose"]
    if loose:
        effort = np.array(effort)
        effort[loose] = 0.0
    return effort


def weakened(effort: Array, failed: dict[int, Fault]) -> Array:
    """Return efforts of which weak joints have their fraction (n,)."""
    weak = {joint: fault.size for joint, fault in failed.items() if fault.kind == "weak"}
    if weak:
        effort = np.array(effort)
        effort[[*weak]] *= [*weak.values()]
    return effort
