"""The analytical simulator of the MonkeyBot: hybrid, error-controlled, with plastic impacts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import roboaccord
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.timing import count_steps
from roboaccord.contract.trajectory import Event
from roboaccord.engines.joint_faults import LOCK_INERTIA, JointFaults
from roboaccord.engines.losses import CHANNELS, DAMPING, IMPACTS, LossAccount
from roboaccord.scenario.setup import Setup

from monkeybot.model import dynamics, hybrid
from monkeybot.model.coordinates import Mode, mode_of, pack, unpack
from monkeybot.model.motion import Motion, frictionless
from monkeybot.model.parameters import L1, L2, MonkeyBotParameters


class MonkeyBotReference(JointFaults):
    """Simulate the MonkeyBot analytically (Simulator).

    Its step follows from its tolerance alone; the scenario's physics step has no say.
    """

    name = "reference"
    version = f"roboaccord-monkeybot {roboaccord.__version__}"
    order = 5

    def __init__(self, setup: Setup) -> None:
        self.parameters: MonkeyBotParameters = setup.parameters
        self.joints = setup.joints
        self.effort_limits = setup.effort_limits
        self.physics_step = setup.scenario.physics_step
        self.armature, self._metered = np.zeros(len(self.joints)), False
        self._schedule(setup.faults, setup.tree)
        self._rotor = 0.0
        self.reset(setup.initial)
        # Compile the kernels here, where nobody counts the time, and not in the first tick.
        self.step(Command(np.zeros(1), Mode.SWING_B.switches), self.physics_step)
        self.reset(setup.initial)

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`; what would move a held hand is dropped."""
        self._heal(state.time)
        self._motion = Motion(
            self.parameters, pack(state), mode_of(state.switches), time=state.time
        )
        self._effort = np.array(state.effort)
        self._losses = LossAccount(*CHANNELS)  # of which it has damping and impacts alone
        return self.state()

    def state(self) -> RobotState:
        """Return the present state."""
        motion = self._motion
        return unpack(motion.u, time=motion.time, effort=self._effort, mode=motion.mode)

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance under a held command; its switches act at the start."""
        count_steps(duration, self.physics_step, "control period over physics step")
        motion = self._motion
        self._effort = self._begin(command)
        if command.switches:
            motion.hold(mode_of({**motion.mode.switches, **command.switches}))
        torque = float(self._effort[0])
        power = motion.friction_power if self._metered else 0.0
        motion.advance(duration, -torque if motion.hand else torque)
        if self._metered:
            self._losses.add(DAMPING, 0.5 * duration * (power + motion.friction_power))
            self._losses.add(IMPACTS, motion.taken)
        motion.taken = 0.0
        motion.time = round(motion.time, 9)  # as a ROS stamp has it, without the sum's round-off
        return self.state()

    def take_events(self) -> Sequence[Event]:
        """Return what the magnets did since the last call."""
        if not self._motion.events:
            return ()
        events, self._motion.events = self._motion.events, []
        return events

    def lock(self, joint: int, locked: bool) -> None:
        self._rotor = LOCK_INERTIA if locked else 0.0
        self._motion.lock_elbow(self._rotor)

    def _continue_from(self, state: RobotState) -> None:
        self._motion.jump(pack(state))

    def _tell(self, events: Sequence[Event]) -> None:
        self._motion.events += events

    def meter(self) -> None:
        """Begin to measure the losses in joint friction and grips."""
        self._metered = True

    def take_losses(self) -> Mapping[str, float]:
        """Return the losses in joint friction and grips since the last call [J]."""
        return self._losses.take()

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        mode, u = mode_of(state.switches), pack(state)
        if mode is Mode.FIXED:
            return Acceleration(np.zeros(6), np.zeros(1))
        held_b = mode is Mode.SWING_B
        smooth, slopes = frictionless(self.parameters), np.zeros((1, 8))
        p = smooth.row(int(held_b), self._rotor)
        if held_b:
            hybrid.change_frame(smooth.rows, u, 0, np.empty(8))
        torque = float(-effort[0] if held_b else effort[0])
        dynamics.derivative(p, mode is Mode.FLIGHT, torque, u, slopes, 0)
        _, _, a1, a2, _, _, ay, az = slopes[0]
        if held_b:
            ay, az = _free_hand(p, u, a1, a2)
            a1, a2 = a1 + a2, -a2
        return Acceleration(np.array([0.0, ay, az, a1, 0.0, 0.0]), np.array([a2]))

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        return {"base_link": self.parameters.mass_a, "arm_b_link": self.parameters.mass_b}


def _free_hand(p: tuple[float, ...], u: Array, a1: float, a2: float) -> tuple[float, float]:
    """Return the acceleration of the free hand, to the right and up [m/s^2]."""
    w1, w12, a12 = u[2], u[2] + u[3], a1 + a2
    s1, c1, s12, c12 = math.sin(u[0]), math.cos(u[0]), math.sin(u[0] + u[1]), math.cos(u[0] + u[1])
    right = p[L1] * (c1 * a1 - s1 * w1 * w1) + p[L2] * (c12 * a12 - s12 * w12 * w12)
    up = p[L1] * (s1 * a1 + c1 * w1 * w1) + p[L2] * (s12 * a12 + c12 * w12 * w12)
    return right, up
