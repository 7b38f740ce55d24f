"""Faults of joints in Gazebo, imitated by efforts: none at a loose joint, a servo at a frozen one.

Gazebo cannot lock a joint while it runs. A lock is imitated by a discrete servo about the angle q0
at which the joint froze. The reference, which knows the robot's dynamics, gives the acceleration a
that the joint would have without the lock, and the inertia I = (J M^-1 J')^-1 with which it
resists. The effort in each control period T is then

    effort = -I (a + k_p (q - q0) / T^2 + k_d q' / T)

so that the joint becomes the sampled double integrator q'' = u with
u = -(k_p (q - q0) / T^2 + k_d q' / T), whose poles are the roots of
z^2 - (2 - k_d - k_p / 2) z + 1 - k_d + k_p / 2. K_P and K_D put both poles at POLE. Forces that the
reference does not know, contact and friction, add an acceleration a, by which the joint creeps by
a T^2 / k_p.

A brake that slips stops its joint within a period, as far as its friction can. How drives and
encoders change efforts and angles is in `JointFaults` of the core.

POLE may be tuned between 0, a stiff lock, and 1, a soft one. test_ros_faults computes both poles.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import HOLDING, Array, Command, Event, RobotState, clip_efforts
from roboaccord.run import make_simulator
from roboaccord.scenario import Setup
from roboaccord.simulators import JointFaults, Simulator, hold

POLE = 0.5  # both poles of the lock in the z plane: errors about halve in each period
# Gains of angle and rate, with which the polynomial above has a double root at POLE.
K_P = (1.0 - POLE) ** 2
K_D = 0.5 * (3.0 + POLE) * (1.0 - POLE)


class GazeboFaults(JointFaults):
    """Bring faults into force at control ticks, and compute the efforts that imitate them.

    Args:
        setup: robot and scenario, with the faults of the scenario.
    """

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup.faults, setup.joints, setup.tree.hinges)
        self._setup, self._period = setup, setup.scenario.control_period
        self._frozen: dict[int, float] = {}  # angle of each frozen joint [rad], by its index
        self._state = setup.initial  # state at the present control tick
        # Reference simulator without faults; made when the first joint freezes or brakes.
        self._reference: Simulator | None = None

    def bring_into_force(self, state: RobotState) -> list[Event]:
        """Bring the faults into force that are due at a state; return their events."""
        events = []
        for joint, fault in self.begin_due(state):
            self._frozen.pop(joint, None)
            if fault.kind == "frozen":
                self._frozen[joint] = float(state.q[joint]) if fault.angle is None else fault.angle
            if fault.kind in HOLDING:
                self._reference = self._reference or make_simulator(self._setup.failing([]))
            events.append(Event(state.time, f"joint_{fault.kind}", fault.joint, size=fault.size))
        self._state = state
        return events

    def drive_efforts(self, command: Command) -> Array:
        """Return the efforts of a command (n,) [N m]: clipped, and as the drives transmit them."""
        effort = clip_efforts(command.effort, self._setup.effort_limits)
        return self.transmitted(command, effort, self._state)

    def efforts_with_locks(self, state: RobotState, effort: Array) -> Array:
        """Return the efforts to apply in Gazebo (n,) [N m]: given ones, with locks and brakes.

        Frozen joints come first among the k joints that are locked or braked.
        """
        brakes, frozen = self.slipping, list(self._frozen)
        joints = [*frozen, *brakes]
        if not joints:
            return effort
        total = np.array(effort)
        total[frozen] = 0.0
        # Accelerations (n,) without locks and brakes, and how much a unit effort at each of their
        # k joints changes them (k, n).
        free = self._accelerations(state, total)
        units = np.eye(len(effort))[joints]
        responses = np.array([self._accelerations(state, total + unit) for unit in units]) - free
        # Compliance (k, k), the inverse of I above, and the accelerations to be taken away (k,).
        compliance = responses[:, joints].T
        excess = free[joints] - self._target_accelerations(state, joints)
        if brakes:
            limits = np.array([*np.full(len(frozen), np.inf), *brakes.values()])
            total[joints] += hold(compliance, excess, limits)
        else:
            total[frozen] = np.linalg.solve(compliance, -excess)
        return total

    def _target_accelerations(self, state: RobotState, joints: list[int]) -> Array:
        """Return the accelerations (k,) that joints must have: u of the servo, or a stop in T."""
        period, frozen = self._period, list(self._frozen)
        target = -state.qd[joints] / period
        error = state.q[frozen] - np.array(list(self._frozen.values()))
        target[: len(frozen)] = -K_P * error / period**2 - K_D * state.qd[frozen] / period
        return target

    def _accelerations(self, state: RobotState, effort: Array) -> Array:
        """Return the reference's accelerations of the joints (n,) at efforts (n,)."""
        assert self._reference is not None
        acceleration = self._reference.acceleration(state, effort)
        assert acceleration is not None  # a robot with hinges is dynamic
        return acceleration.joints
