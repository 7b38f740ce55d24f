"""Failures of joints: which are scheduled, asked for, and in force.

A frozen joint is one whose rotor has an infinite inertia: with `LOCK_INERTIA` on its diagonal of
the mass matrix M, every solve with M, contacts' too, is that of the arm without the joint, to
round-off.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault, check_joint
from roboaccord.contract.state import Array

LOCK_INERTIA = 1e30  # kg m^2; what it leaves of an acceleration is lost in the round-off of others
_ROUND_OFF = 1e-9  # s


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

    def restart(self, time: float) -> None:
        """Forget what was asked for and is in force; the scenario's faults act anew."""
        self._since = time
        self._live.clear()
        self._asked.clear()
        self.in_force.clear()
        self.possible = bool(self._scheduled)

    def due(self, time: float) -> Iterator[tuple[int, Fault]]:
        """Yield the faults that come into force at a control tick, by joint."""
        self._live += [replace(fault, time=time) for fault in self._asked]
        self._asked.clear()
        for joint, fault in self.at(time).items():
            before = self.in_force.get(joint)
            if not before or before.kind != fault.kind:
                yield joint, fault
                self.in_force[joint] = fault

    def at(self, time: float) -> dict[int, Fault]:
        """Return the faults in force at a time [s], by joint: of each the last."""
        due = [f for f in (*self._scheduled, *self._live) if f.time <= time + _ROUND_OFF]
        return {self._joints.index(f.joint): f for f in sorted(due, key=lambda f: f.time)}

    def is_news(self, fault: Fault) -> bool:
        """Return whether a joint fails in the motion, and had not failed before its start."""
        return fault.time > self._since - _ROUND_OFF


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
