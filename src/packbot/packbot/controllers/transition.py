"""Controller `transition`, which swings a loose joint over its unstable equilibrium.

A loose joint has no drive: only the motion of the other (active) joints moves it. These follow an
optimised trajectory under a time-varying linear-quadratic regulator. Its accelerations are turned
into efforts by partial feedback linearisation [Spong 1994]. The trajectory is planned once in a
process, because that takes long.

The arguments are keys of a scenario; their defaults may be tuned (test_packbot_transition).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.contract import AccordError, Array, Command, RobotState, Target, clip_efforts
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from packbot.controllers.torque import FailedTorque
from packbot.model import compiled

if TYPE_CHECKING:
    from packbot.planning.transition import Transition

_plans: dict[tuple[object, ...], Transition] = {}  # by all that a plan depends on


class TransitionController:
    """Take a loose joint over its unstable equilibrium to the stable one beyond (Controller).

    The arm starts at rest, the loose joint leaning on something. At the end the other joints are
    where they were, and link 3 hangs. The scenario states that elbow 2 is loose.

    Args:
        setup: robot and scenario; its initial state is the first equilibrium.
        via: angles of shoulder and elbow 1 at which link 3 tips over by itself; the optimisation
            starts from a motion to these angles.
        length: duration of the transition.
        speed: factor on the speed limits, which are estimates: with 1 no transition avoids
            contact.
        bandwidth: bandwidth with which turret, camera and wrist are held.

    Attributes:
        planner: planner of the transition.
        motion: the transition, planned by `reset`.

    Raises:
        AccordError: unless `via` is two numbers and elbow 2 is loose.
    """

    def __init__(
        self,
        setup: Setup,
        via: Sequence[si.Radians],
        length: si.Seconds = 9.0,
        speed: float = 1.3,
        bandwidth: si.RadiansPerSecond = 10.0,
    ) -> None:
        with compiled("the controller transition"):
            from packbot.planning.failed_arm import FailedArm
            from packbot.planning.transition import TransitionPlanner
        self._via, self._length = np.array(via, dtype=float), length
        if self._via.shape != (2,) or not np.isfinite([*self._via, length]).all() or length <= 0.0:
            raise AccordError("via takes two angles, and length is a positive time")
        arm = FailedArm(setup, setup.faults, q=setup.initial.q)
        self.planner = TransitionPlanner(setup, arm, setup.initial.q, speed)
        self._control = FailedTorque(setup, arm, bandwidth)
        self._limits, self._bandwidth = setup.effort_limits, bandwidth
        self._period = setup.scenario.control_period
        numbers = (*self._via, length, speed, self._period, *setup.initial.q)
        self._key = (numbers, setup.faults, repr(setup.parameters))

    def reset(self, seed: int) -> None:
        """Plan the transition, once in a process for equal arguments; it does not use `seed`."""
        if self._key not in _plans:
            _plans[self._key] = self.planner.plan(self._via, self._length)
        self.motion = _plans[self._key]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that follow the transition, and hold the arm at its end."""
        efforts = self._control.efforts(state.q, state.qd, self.accelerations(state))
        return Command(clip_efforts(efforts, self._limits))

    def accelerations(self, state: RobotState) -> Array:
        """Return the desired accelerations of the active joints (7,) [rad/s^2]."""
        plane, w = self.planner.plane, self._bandwidth
        # Joints outside the plane are held at the start.
        accelerations = w * w * (self.planner.start - state.q) - 2.0 * w * state.qd
        desired_state, inputs, gain = self.motion.at(round(state.time / self._period))
        error = np.concatenate([state.q[plane], state.qd[plane]]) - desired_state
        accelerations[self.planner.active] = inputs + gain @ error
        return accelerations
