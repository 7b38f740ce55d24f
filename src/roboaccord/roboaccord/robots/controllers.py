"""Controllers of any robot: scaled by the inertia that each joint moves where it starts.

Controllers may be added: a class here and an entry of `controllers` in file.py; its arguments
become keys of scenarios, with their docstrings as help. Defaults (2 Hz, critical damping, ...) may
be changed, which changes runs that leave them out. The order of draws in `Random` is fixed, or a
seed gives another run (test_any_robot). Packages add controllers of such robots by entry points
`roboaccord.controllers`, as `roboaccord.NAME`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from roboaccord.contract.errors import check_known
from roboaccord.contract.state import Array, Command, RobotState, Target
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.scenario.servo import Servo
from roboaccord.scenario.setup import Setup


def inertias(setup: Setup) -> Array:
    """Return the inertia that each joint moves at the start, the others held (n,) [kg m^2]."""
    start, n = setup.initial, len(setup.joints)
    tree = TreeDynamics(setup.tree, setup.joints, "fixed", setup.parameters.gravity)
    rotation = quaternion_matrix(start.orientation)
    return np.diag(tree.mass_matrix(start.q, start.position, rotation)).reshape(n)


class Posture(Servo):
    """A posture that proportional and derivative efforts keep.

    Attributes:
        gains: stiffness and damping of each joint (2, n) [N m/rad, N m s/rad].

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
        omega = 2.0 * np.pi * frequency
        stiffness = inertias(setup) * omega**2
        self.gains = np.array([stiffness, inertias(setup) * 2.0 * damping * omega])

    def reset(self, seed: int) -> None:
        """Do nothing: there is nothing to forget."""

    def goal(self, time: float) -> tuple[Array, Array]:
        """Return the positions and velocities to be followed (n,)."""
        return self._goal, np.zeros_like(self._goal)

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts towards the goal of the state's time."""
        (q, qd), (stiffness, damping) = self.goal(state.time), self.gains
        return Command(stiffness * (q - state.q) + damping * (qd - state.qd))


class Sine(Posture):
    """Sines of all joints about where they start, each later than the one before.

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
        turn = self._omega * time - self._phases
        start = np.sin(-self._phases)
        away = self._amplitude * (np.sin(turn) - start)
        return self._goal + away, self._amplitude * self._omega * np.cos(turn)


class Random:
    """Efforts on all joints drawn from the seed: smooth sums of sines, or held steps.

    Args:
        acceleration: root mean square of what the efforts give to a joint [rad/s^2].
        bandwidth: highest frequency of the sines [Hz], or the rate of the steps.
        smooth: whether they are sums of sines, or else steps.
    """

    SINES = 8  # in a sum: enough for an almost normal distribution

    def __init__(
        self, setup: Setup, acceleration: float = 5.0, bandwidth: float = 2.0, smooth: bool = True
    ) -> None:
        self._size = acceleration * inertias(setup)
        self._bandwidth, self._smooth = bandwidth, smooth
        self.reset(setup.scenario.seed)

    def reset(self, seed: int) -> None:
        """Draw amplitudes, rates and phases anew."""
        rng, shape = np.random.default_rng(seed), (len(self._size), self.SINES)
        self._seed = seed
        self._rates = 2.0 * np.pi * rng.uniform(0.0, self._bandwidth, shape)
        self._phases = rng.uniform(0.0, 2.0 * np.pi, shape)

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts of the state's time."""
        if self._smooth:
            waves = np.sin(self._rates * state.time + self._phases)
            noise = waves.sum(axis=1) * np.sqrt(2.0 / self.SINES)
        else:
            step = int(state.time * self._bandwidth + 1e-6)
            noise = np.random.default_rng([self._seed, step]).normal(size=len(self._size))
        return Command(self._size * noise)
