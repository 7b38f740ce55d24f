"""Faults of joints in Gazebo, by efforts: none at a loose joint, a stiff hold at a frozen one.

POLE may be tuned between 0 and 1, with test_ros_faults, which computes both poles; K_P and K_D
follow from it. How faults begin, and what drives transmit, is changed in `JointFaults` of the core,
for all simulators alike.

Gazebo locks no joint while it runs. The hold is a discrete servo about the angle q0 at which the
joint froze, on what the reference makes of the state: with the accelerations a of the joints
without the hold, and the inertia I = (J M^-1 J')^-1 that the joints resist it with,

    effort = -I (a + k_p (q - q0) / T^2 + k_d q' / T)

at each control period T. k_p and k_d put both poles of the sampled double integrator at `POLE`.
Forces that the reference does not know here, contact and friction, make it creep by a T^2 / k_p.
A brake that slips takes the rate of its joint within a period, as far as its friction goes. What
drives and encoders make of efforts and angles is as in every simulator (`JointFaults`).
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import HOLDING, Array, Command, Event, RobotState, clip_efforts
from roboaccord.run import make_simulator
from roboaccord.scenario import Setup
from roboaccord.simulators import JointFaults, Simulator, hold

POLE = 0.5
K_P = (1.0 - POLE) ** 2
K_D = 0.5 * (3.0 + POLE) * (1.0 - POLE)


class GazeboFaults(JointFaults):
    """Bring faults into force at control ticks, and compute the efforts that stand for them.

    Args:
        setup: robot and scenario, with the faults of the scenario.
    """

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup.faults, setup.joints, setup.tree.hinges)
        self._setup, self._period = setup, setup.scenario.control_period
        self._frozen: dict[int, float] = {}
        self._reference: Simulator | None = None

    def act(self, state: RobotState) -> list[Event]:
        """Bring into force what is due at the tick of a state; return its events."""
        events = []
        for joint, fault in self.due(state):
            self._frozen.pop(joint, None)
            if fault.kind == "frozen":
                self._frozen[joint] = float(state.q[joint]) if fault.angle is None else fault.angle
            if fault.kind in HOLDING:
                self._reference = self._reference or make_simulator(self._setup.failing([]))
            events.append(Event(state.time, f"joint_{fault.kind}", fault.joint, size=fault.size))
        self._state = state
        return events

    def commanded(self, command: Command) -> Array:
        """Return the efforts in force (n,) [N m]: clipped, and what the drives transmit of them."""
        effort = clip_efforts(command.effort, self._setup.effort_limits)
        return self.transmitted(command, effort, self._state)

    def held(self, state: RobotState, effort: Array) -> Array:
        """Return the efforts for Gazebo (n,) [N m], with those of locks and of brakes."""
        brakes, frozen, period = self.slipping, list(self._frozen), self._period
        if not (joints := [*frozen, *brakes]):
            return effort
        total = np.array(effort)
        total[frozen] = 0.0
        free = self._accelerations(state, total)
        units = np.eye(len(effort))[joints]
        responses = np.array([self._accelerations(state, total + unit) for unit in units]) - free
        wanted = -state.qd[joints] / period
        away = state.q[frozen] - np.array(list(self._frozen.values()))
        wanted[: len(frozen)] = -K_P * away / period**2 - K_D * state.qd[frozen] / period
        square, change = responses[:, joints].T, free[joints] - wanted
        if brakes:
            most = np.array([*np.full(len(frozen), np.inf), *brakes.values()])
            total[joints] += hold(square, change, most)
        else:
            total[frozen] = np.linalg.solve(square, -change)
        return total

    def _accelerations(self, state: RobotState, effort: Array) -> Array:
        assert self._reference is not None
        found = self._reference.acceleration(state, effort)
        assert found is not None  # a robot with hinges is dynamic
        return found.joints
