"""Base parameters of the arm: the inertial ones that a motion can show, and random states.

Efforts tau = Y(q, qd, qdd) pi of rigid bodies [Atkeson et al. 1986] leave some combinations of pi
(70,) open. Going from the base to the tips, a parameter is a base parameter where its column of Y
does not depend on those before it; the others are added to these [Gautier 1991],

    beta = B pi,   Y = Y_b B,

Y_b being the columns of the base parameters. B depends on the lengths of the arm.

STATES and CHANGES may be raised. LINKS, MOMENTS and UNITS make the names of the parameters in the
JSON output, in pinocchio's order, and stay. test_identification checks the efforts of arms with
other lengths.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS, PackbotParameters
from roboaccord.contract import Array

STATES, SEED = 60, 0  # random states of the regressor
CHANGES = 2.0  # rad/s^2: standard deviation of the accelerations there
ROUND_OFF = 1e-8  # relative size of a column below which it depends on others but for rounding
LINKS = ("turret", "link1", "link2", "link3", "tilt", "pan", "gripper")
MOMENTS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")  # as pinocchio has them
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
        yield State(q, qd, CHANGES * rng.standard_normal(n))


class BaseParameters:
    """The base parameters of an arm.

    Args:
        arm: as it is known.
        parameters: with its limits.

    Attributes:
        kept: indices of the base parameters among all (b,).
        names, units: of the base parameters: link and moment.
    """

    def __init__(self, arm: Arm, parameters: PackbotParameters) -> None:
        self._states = [*random_states(parameters)]
        rows = self._rows(arm)
        size = np.linalg.norm(rows, axis=0)
        some = np.flatnonzero(size > ROUND_OFF * size.max())
        diagonal = np.diag(np.linalg.qr(rows[:, some] / size[some], mode="r"))
        self.kept: NDArray[np.int64] = some[np.abs(diagonal) > ROUND_OFF]
        self.names = [f"{MOMENTS[k % 10]}_{LINKS[k // 10]}" for k in self.kept.tolist()]
        self.units = [UNITS[k % 10] for k in self.kept.tolist()]

    def matrix(self, arm: Arm) -> Array:
        """Return B (b, 70) of an arm with lengths of its own."""
        rows = self._rows(arm)
        return np.asarray(np.linalg.lstsq(rows[:, self.kept], rows, rcond=None)[0])

    def _rows(self, arm: Arm) -> Array:
        return np.vstack([arm.regressor(*state) for state in self._states])
