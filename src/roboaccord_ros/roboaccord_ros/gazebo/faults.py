"""Faults of joints in Gazebo, by efforts: none at a loose joint, a stiff hold at a frozen one.

Gazebo locks no joint while it runs. The hold is a discrete servo about the angle q0 at which the
joint froze, on what the reference makes of the state: with the accelerations a of the joints
without the hold, and the inertia I = (J M^-1 J')^-1 that the joints resist it with,

    effort = -I (a + k_p (q - q0) / T^2 + k_d q' / T)

at each control period T. k_p and k_d put both poles of the sampled double integrator at `POLE`.
Forces that the reference does not know here, contact and friction, make it creep by a T^2 / k_p.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract.checks import clip_efforts
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault, check_joint
from roboaccord.contract.state import Array, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.run.factory import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

POLE = 0.5
K_P = (1.0 - POLE) ** 2
K_D = 0.5 * (3.0 + POLE) * (1.0 - POLE)
_ROUND_OFF = 1e-9  # s


def refuse_hold(fault: Fault, *, lockstep: bool) -> None:
    """Refuse to freeze a joint in a world that runs free, where no state comes in time.

    Raises:
        AccordError: naming the fault.
    """
    if fault.kind == "frozen" and not lockstep:
        raise AccordError(f"fault {fault}: a joint is held in Gazebo with lockstep:=true only")


class GazeboFaults:
    """Bring faults into force at control ticks, and compute the efforts that stand for them.

    Args:
        setup: robot and scenario, with the faults of the scenario.
        lockstep: whether each state is answered before Gazebo steps, which a hold needs.
    """

    def __init__(self, setup: Setup, *, lockstep: bool) -> None:
        self._setup, self._lockstep = setup, lockstep
        self._joints, self._period = setup.joints, setup.scenario.control_period
        self._waiting: list[Fault] = []
        for fault in setup.faults:
            self.fail(fault)
        self._frozen: dict[int, float] = {}
        self._loose: set[int] = set()
        self._reference: Simulator | None = None

    def fail(self, fault: Fault) -> None:
        """Let a joint fail at its time, or at the next control tick.

        Raises:
            AccordError: for anything but a hinge, or a joint to freeze in a world that runs free.
        """
        check_joint(fault, self._joints, self._setup.tree.hinges)
        refuse_hold(fault, lockstep=self._lockstep)
        self._waiting.append(fault)

    def act(self, state: RobotState) -> list[Event]:
        """Bring into force what is due at the tick of a state; return its events."""
        due = {f.joint: f for f in self._waiting if f.time <= state.time + _ROUND_OFF}
        self._waiting = [f for f in self._waiting if f.time > state.time + _ROUND_OFF]
        events = []
        for fault in due.values():
            joint = self._joints.index(fault.joint)
            if joint in (self._frozen if fault.kind == "frozen" else self._loose):
                continue
            self._frozen.pop(joint, None)
            self._loose.discard(joint)
            if fault.kind == "frozen":
                angle = float(state.q[joint]) if fault.angle is None else fault.angle
                self._frozen[joint] = angle
                self._reference = self._reference or make_simulator(self._setup.failing([]))
            else:
                self._loose.add(joint)
            events.append(Event(state.time, f"joint_{fault.kind}", fault.joint))
        return events

    def commanded(self, effort: Array) -> Array:
        """Return the efforts in force (n,) [N m]: clipped, and 0 at loose joints."""
        effort = clip_efforts(effort, self._setup.effort_limits)
        effort[list(self._loose)] = 0.0
        return effort

    def held(self, state: RobotState, effort: Array) -> Array:
        """Return the efforts for Gazebo (n,) [N m], with those that hold frozen joints."""
        if not self._frozen or self._reference is None:
            return effort
        frozen, period = list(self._frozen), self._period
        total = np.array(effort)
        total[frozen] = 0.0
        free = self._accelerations(state, total)
        units = np.eye(len(effort))[frozen]
        responses = np.array([self._accelerations(state, total + unit) for unit in units]) - free
        away = state.q[frozen] - np.array(list(self._frozen.values()))
        wanted = -K_P * away / period**2 - K_D * state.qd[frozen] / period
        total[frozen] = np.linalg.solve(responses[:, frozen].T, wanted - free[frozen])
        return total

    def _accelerations(self, state: RobotState, effort: Array) -> Array:
        assert self._reference is not None
        found = self._reference.acceleration(state, effort)
        assert found is not None  # a robot with hinges is dynamic
        return found.joints
