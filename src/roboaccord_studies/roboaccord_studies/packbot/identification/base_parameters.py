"""Base parameters of the arm: the combinations of inertial parameters that a motion can identify.

Identification (estimate.py) finds by how much the Packbot's arm differs from its model. The efforts
of rigid bodies are tau = Y(q, qd, qdd) pi with the inertial parameters pi (70,) [Atkeson et al.
1986]. The columns of Y are linearly dependent, so that some combinations of pi have no effect. From
the base to the tips, a parameter is a base parameter if its column is independent of the columns
before it; the others are added to these [Gautier 1991]:

    beta = B pi,   Y = Y_b B,

with the base parameters beta (b,) and their columns Y_b. B depends on the lengths of the arm. The
dependence of columns is determined numerically, at random states.

LINK_NAMES, MOMENTS and UNITS are names in the JSON output and must stay. test_identification checks
the efforts of arms with other lengths.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS, PackbotParameters
from roboaccord.contract import Array

# Number of random states at which Y is evaluated, and their seed: 420 equations for 70 parameters.
STATES, SEED = 60, 0
# rad/s^2; standard deviation of the accelerations of these states: the limit that the controller
# `velocity` has by default
ACCELERATION = 2.0
# Relative size of the independent part of a column, below which it is rounding: sqrt(eps), rounded.
ROUND_OFF = 1e-8
LINK_NAMES = ("turret", "link1", "link2", "link3", "tilt", "pan", "gripper")
# Names and units of the ten inertial parameters of a link, in pinocchio's order: mass, mass times
# centre, and inertia about the link's origin.
MOMENTS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
UNITS = ("kg", *3 * ("kg m",), *6 * ("kg m^2",))


class State(NamedTuple):
    """Angles, rates and accelerations (7,) [rad, s]."""

    q: Array
    qd: Array
    qdd: Array


def random_states(parameters: PackbotParameters, count: int = STATES) -> Iterator[State]:
    """Yield states within the limits of angles and speeds."""
    rng, n = np.random.default_rng(SEED), len(JOINTS)
    speeds = parameters.of_joints("speed_limit")
    for _ in range(count):
        q = np.asarray(rng.uniform(*parameters.limits))
        qd = speeds * rng.uniform(-1.0, 1.0, n)
        yield State(q, qd, ACCELERATION * rng.standard_normal(n))


class BaseParameters:
    """The base parameters of an arm.

    Args:
        arm: the arm by its model.
        parameters: parameters of the robot, with the limits of its states.

    Attributes:
        kept: indices of the base parameters among all 70 (b,).
        names, units: names and units of the base parameters, such as mx_link1 in kg m.
    """

    def __init__(self, arm: Arm, parameters: PackbotParameters) -> None:
        self._states = [*random_states(parameters)]
        # Columns that are not 0; of these, the ones whose diagonal entry in QR is not 0.
        rows = self._rows(arm)
        norms = np.linalg.norm(rows, axis=0)
        nonzero = np.flatnonzero(norms > ROUND_OFF * norms.max())
        diagonal = np.diag(np.linalg.qr(rows[:, nonzero] / norms[nonzero], mode="r"))
        self.kept: NDArray[np.int64] = nonzero[np.abs(diagonal) > ROUND_OFF]
        self.names = [f"{MOMENTS[k % 10]}_{LINK_NAMES[k // 10]}" for k in self.kept.tolist()]
        self.units = [UNITS[k % 10] for k in self.kept.tolist()]

    def matrix(self, arm: Arm) -> Array:
        """Return B (b, 70) of an arm, whose lengths may differ from the model's."""
        rows = self._rows(arm)
        return np.asarray(np.linalg.lstsq(rows[:, self.kept], rows, rcond=None)[0])

    def _rows(self, arm: Arm) -> Array:
        """Return Y at all random states (7 STATES, 70)."""
        return np.vstack([arm.regressor(*state) for state in self._states])
