"""Generalised momentum balance of the arm, from measured states and commanded efforts."""

from __future__ import annotations

import numpy as np
from roboaccord.contract.checks import clip_efforts
from roboaccord.contract.state import Array
from roboaccord.scenario.setup import Setup

from packbot.model.arm import Arm
from packbot.simulators.engines import joint_friction

SIGMAS = 3.0  # of the noise of rates: slower joints may stick


class MomentumBalance:
    """Accumulate the momentum balance of a healthy arm, and what errors would add to it.

    Args:
        setup: robot and scenario.
        payload: at the finger tips [kg].
        noise: standard deviations of q and qd [rad, rad/s].
        model: part of efforts and gravity by which the model may be off.

    Attributes:
        mass: mass matrix in the last state (7, 7) [kg m^2].
        unrest: covariance that noise of the angles added by gravity (7, 7) [(N m s)^2].
        viscous: friction of the joints (7,) [N m s/rad].
    """

    def __init__(
        self, setup: Setup, payload: float, noise: tuple[float, float], model: float
    ) -> None:
        self._arm, self._heavier = Arm.of(setup), Arm.of(setup)
        reach = setup.parameters.gripper_length
        self._arm.carry(payload, reach)
        self._heavier.carry(payload + 1.0, reach)
        self._friction = joint_friction(setup.parameters)
        self.viscous = self._friction.viscous
        stiction = self._friction.stiction
        self._breakaway = self._friction.constant if stiction is None else stiction
        self._limits, self._slow = setup.effort_limits, SIGMAS * noise[1]
        self._noise, self._model = noise[0], model
        self.reset()

    def reset(self) -> None:
        """Begin anew with the next state."""
        self._time: float | None = None
        self._sums = np.zeros((5, len(self._limits)))

    def add(self, time: float, q: Array, qd: Array, effort: Array) -> Array:
        """Take a state and the effort commanded up to it; return the series of `evidence` (7, 7).

        Viscous friction is integrated exactly, by the angles: a light joint stops within a tick.
        """
        self.mass = self._arm.mass_matrix(q)
        momentum, drive = self.mass @ qd, self._arm.momentum_forces(q, qd)
        load, weight = self._heavier.mass_matrix(q) @ qd - momentum, np.abs(drive)
        dry = -self._friction.efforts(qd) - self.viscous * qd
        stuck = (np.abs(qd) < self._slow) * self._breakaway
        rates = np.array([drive, self._heavier.momentum_forces(q, qd) - drive, dry, weight, stuck])
        if self._time is None:
            self._rates = rates
            effort = np.zeros_like(q)
            self._efforts, self.unrest = np.zeros((2, len(q))), np.zeros((len(q), len(q)))
        else:
            period = time - self._time
            self._sums += 0.5 * period * (rates + self._rates)
            tau = clip_efforts(effort, self._limits)
            self._efforts += period * np.array([tau, np.abs(tau)])
            felt = period * self._noise * self._arm.stiffness(q)
            self.unrest = felt @ felt.T
        self._time, self._rates = time, rates
        driven, carried, rubbed, weighed, held = self._sums
        given, strain = self._efforts
        friction = self.viscous * q + rubbed
        balance = momentum + friction - given - driven
        slack = self._model * (strain + weighed) + held
        return np.array([balance, carried - load, -friction, given, q, qd, slack]).T
