"""Controllers for any robot: a fixed posture, sines, and random efforts.

A scenario selects one for a robot that is a file. They depend only on the robot's joints. So that
the defaults suit a finger as well as a crane, gains and efforts are scaled by the inertia that each
joint moves in the initial state (`inertias`). Parameters of the classes are keys of scenarios, and
their lines under `Args:` are the help for users. A new controller is a class here and an entry of
`controllers` in file.py. The order of draws in `Random` stays, because a seed would otherwise mean
another run (test_any_robot).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from roboaccord.contract import Array, Command, RobotState, Target, check_known
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.scenario.servo import Servo
from roboaccord.scenario.setup import Setup


def inertias(setup: Setup) -> Array:
    """Return the inertia that each joint moves, alone, in the initial state (n,) [kg m^2].

    It is the diagonal of the mass matrix with a fixed base.
    """
    start, n = setup.initial, len(setup.joints)
    tree = TreeDynamics(setup.tree, setup.joints, "fixed", setup.parameters.gravity)
    rotation = quaternion_matrix(start.orientation)
    return np.diag(tree.mass_matrix(start.q, rotation)).reshape(n)


class Posture(Servo):
    """Proportional and derivative efforts that keep a posture.

    Attributes:
        gains: stiffness k and damping d of each joint (2, n) [N m/rad, N m s/rad], those of a mass
            M on a spring: k = M omega^2 and d = 2 zeta M omega.

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
        mass, omega = inertias(setup), 2.0 * np.pi * frequency
        self.gains = np.array([mass * omega**2, mass * 2.0 * damping * omega])

    def reset(self, seed: int) -> None:
        """Do nothing: there is nothing to forget."""

    def goal(self, time: float) -> tuple[Array, Array]:
        """Return positions (n,) [rad] and velocities (n,) [rad/s] to follow at a time [s]."""
        return self._goal, np.zeros_like(self._goal)

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts towards the goal at the time of the state."""
        q, qd = self.goal(state.time)
        stiffness, damping = self.gains
        return Command(stiffness * (q - state.q) + damping * (qd - state.qd))


class Sine(Posture):
    """Sines of all joints about their initial positions, each later than the previous one.

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
        """Return positions (n,) [rad] and velocities (n,) [rad/s] of the sines at a time [s]."""
        # The goal starts at the initial position: the sine is shifted by its value at time 0.
        phase = self._omega * time - self._phases
        initial_sine = np.sin(-self._phases)
        displacement = self._amplitude * (np.sin(phase) - initial_sine)
        return self._goal + displacement, self._amplitude * self._omega * np.cos(phase)


class Random:
    """Efforts on all joints drawn from the seed: smooth sums of sines, or held steps.

    Args:
        acceleration: root mean square of what the efforts give to a joint [rad/s^2].
        bandwidth: highest frequency of the sines [Hz], or the rate of the steps.
        smooth: whether they are sums of sines, or else steps.
    """

    SINES = 8  # sines in a sum: enough for an almost normal distribution

    def __init__(
        self, setup: Setup, acceleration: float = 5.0, bandwidth: float = 2.0, smooth: bool = True
    ) -> None:
        self._effort_scale = acceleration * inertias(setup)
        self._bandwidth, self._smooth = bandwidth, smooth
        self.reset(setup.scenario.seed)

    def reset(self, seed: int) -> None:
        """Draw the rates [rad/s] and phases [rad] of the sines of each joint anew (n, SINES)."""
        self._seed = seed
        rng = np.random.default_rng(seed)
        shape = len(self._effort_scale), self.SINES
        self._rates = 2.0 * np.pi * rng.uniform(0.0, self._bandwidth, shape)
        self._phases = rng.uniform(0.0, 2.0 * np.pi, shape)

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts at the time of the state."""
        if self._smooth:
            # A sine has the mean square 1/2, and the sum is scaled to 1.
            waves = np.sin(self._rates * state.time + self._phases)
            unit_efforts = waves.sum(axis=1) * np.sqrt(2.0 / self.SINES)
        else:
            step = int(state.time * self._bandwidth + 1e-6)  # round-off must not delay a step
            rng = np.random.default_rng([self._seed, step])
            unit_efforts = rng.normal(size=len(self._effort_scale))
        return Command(self._effort_scale * unit_efforts)
