"""The analytical simulator of the MonkeyBot: hybrid, error-controlled, with plastic impacts.

It advances a `Motion` (model/motion.py) by one tick, the control period, after the other, and adds
up the energy that friction and impacts dissipate. The equations are in model/.

A scenario may set `tolerance` (engine_options.reference). Physics engines are judged by this
simulator, so it must not be tuned towards one of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import roboaccord
from roboaccord import engines
from roboaccord.contract import Acceleration, AccordError, Array, Command, RobotState
from roboaccord.scenario import Setup
from roboaccord.simulators import LOCK_INERTIA, Reference, losses

from monkeybot.model import dynamics, hybrid
from monkeybot.model.coordinates import Arm, Mode, mode_of, pack, unpack
from monkeybot.model.motion import TOLERANCE, Motion, frictionless
from monkeybot.model.parameters import MonkeyBotParameters


@dataclass(frozen=True)
class ReferenceSettings:
    """Settings of the reference.

    Raises:
        AccordError: for a tolerance that is not between 0 and 1.
    """

    tolerance: float = TOLERANCE  # of each step, relative and absolute

    def __post_init__(self) -> None:
        if not 0.0 < self.tolerance < 1.0:
            option = "engine_options.reference.tolerance"
            raise AccordError(f"{option}: {self.tolerance!r} is not between 0 and 1")


class MonkeyBotReference(Reference):
    """Simulate the MonkeyBot by its equations of motion.

    The integrator chooses its steps by the tolerance; the scenario's physics step has no effect.

    Attributes:
        tighter: options of a more exact run, with a tenth of the tolerance, from which the error of
            this simulator is estimated.
    """

    version = f"roboaccord-monkeybot {roboaccord.__version__}"
    order = 5
    parameters: MonkeyBotParameters
    channels = losses.CHANNELS  # friction of contacts and stops are 0

    def __init__(self, setup: Setup) -> None:
        options = setup.scenario.engine_options
        self._tolerance = engines.read_settings(options, "reference", ReferenceSettings).tolerance
        self.tighter = {"tolerance": 0.1 * self._tolerance}
        super().__init__(setup)
        self._rotor = 0.0  # inertia added at the elbow, large while it is locked [kg m^2]
        self._motion = Motion(self.parameters, pack(setup.initial), tolerance=self._tolerance)
        self._warm_up(setup.initial, Command(np.zeros(1), Mode.SWING_B.switches))

    def _start(self, state: RobotState) -> None:
        """Begin at a state; the velocity of a held hand is set to 0."""
        u, mode, tolerance = pack(state), mode_of(state.switches), self._tolerance
        self._motion = Motion(self.parameters, u, mode, time=state.time, tolerance=tolerance)

    def _place(self, state: RobotState) -> None:
        """Move to a state in the present mode."""
        self._motion.set_state(pack(state))

    def _read(self) -> RobotState:
        """Return the present state of the workspace."""
        motion = self._motion
        return unpack(motion.u, time=self._time, effort=self._effort, mode=motion.mode)

    def _advance(self, command: Command, duration: float) -> None:
        """Advance by a tick; the command's switches act at its start."""
        motion = self._motion
        if command.switches:
            motion.switch_to(mode_of({**motion.mode.switches, **command.switches}))
        torque = float(self._effort[0])
        power = motion.friction_power if self._metered else 0.0
        motion.advance(duration, -torque if motion.hand else torque)
        if self._metered:
            self._losses.add(losses.DAMPING, 0.5 * duration * (power + motion.friction_power))
            self._losses.add(losses.IMPACTS, motion.impact_loss)
        motion.impact_loss = 0.0
        motion.time = self._time
        self._events += motion.events
        motion.events.clear()

    def lock(self, joint: int, locked: bool) -> None:
        """Lock the elbow by a large inertia, or release it."""
        self._rotor = LOCK_INERTIA if locked else 0.0
        self._motion.lock_elbow(self._rotor)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations of link A's frame and of the elbow, without friction.

        The equations are in the frame of the held hand. If that is hand B, its link B comes first,
        and the accelerations of link A and of hand A, its origin, follow from theirs.
        """
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
            arm = Arm(p.l1, p.l2)  # from the held hand B to hand A
            ay, az = arm.jacobian(u) @ np.array([a1, a2]) + arm.centripetal(u)
            a1, a2 = a1 + a2, -a2  # of link A, and of the elbow as a joint of the URDF
        return Acceleration(np.array([0.0, ay, az, a1, 0.0, 0.0]), np.array([a2]))

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        return {"base_link": self.parameters.mass_a, "arm_b_link": self.parameters.mass_b}
