"""The arm's equations of motion with closed gaps, for the integrator."""

from __future__ import annotations

import numpy as np
from roboaccord.contract.errors import DivergedError
from roboaccord.contract.state import Array
from roboaccord.engines.model import JointFriction
from roboaccord.numerics.complementarity import SOLVED

from packbot.contact.gaps import Closed, Touch
from packbot.contact.impacts import GIVE, SOFT, accelerate
from packbot.contact.sliding import Sliding
from packbot.model.arm import Arm

STILL = 1e-7  # m/s, rad/s: a gap that opens or closes slower does neither


class JammedError(DivergedError):
    """No forces, or none that are finite, hold the contacts together with their friction."""


class Motion:
    """Give the slope of a state x = (q, v) while gaps are closed.

    Args:
        arm: dynamics.
        friction: of the joints.
        touch: measures the gaps.
        sliding: friction where hulls touch.

    Attributes:
        closed: gaps that may press.
        forces: of the closed gaps at the last slope (m,) [N, N m].
        efforts: held by the joints (n,) [N m].
    """

    def __init__(self, arm: Arm, friction: JointFriction, touch: Touch, sliding: Sliding) -> None:
        self.arm, self.friction, self.touch, self.sliding = arm, friction, touch, sliding
        self.efforts = np.zeros(arm.model.nv)
        self.closed = Closed()
        self.forces = np.zeros(0)

    def slope(self, x: Array) -> Array:
        """Return (v, a) of a state (2n,)."""
        n = len(x) // 2
        q, v = x[:n], x[n:]
        total = self.efforts + self.friction.efforts(v)
        out = np.empty(2 * n)
        out[:n] = v
        closed = self.closed
        if not len(closed.features):
            self.forces = np.zeros(0)
            out[n:] = self.arm.acceleration(q, v, total)
            return out
        _, rows, spots, bias = self.touch.measure_turning(closed.features, q, v)
        sliding = self.sliding
        ways = sliding.ways(closed.features, q, v, rows, spots) if sliding.any else rows
        total = total - self.arm.bias(q, v)
        self.forces = np.empty(len(rows))
        answer = accelerate(
            self.arm.mass_matrix(q), total, rows, ways, bias, GIVE, closed.active, self.forces,
            out[n:],
        )  # fmt: skip
        if answer != SOLVED:
            raise JammedError("no contact forces were found: the contacts contradict each other")
        return out

    def sliding_power(self, x: Array) -> float:
        """Return the power that friction of contacts takes in the state of the last slope [W]."""
        features = self.closed.features
        if not len(features):
            return 0.0
        n = len(x) // 2
        q, v = x[:n], x[n:]
        _, rows, spots = self.touch.measure(features, q)
        across = self.sliding.ways(features, q, v, rows, spots) - rows
        return -float(self.forces @ (across @ v))

    def stop(self, x: Array) -> Array:
        """Return a state whose closed gaps neither slip nor close."""
        n = len(x) // 2
        q, v = x[:n], x[n:]
        features, mass = self.closed.features, self.arm.mass_matrix(q)
        _, rows, spots = self.touch.measure(features, q)
        return np.concatenate([q, self.sliding.stop(mass, features, q, v, spots, rows)])

    def project(self, x: Array, tolerance: float) -> Array:
        """Return a state whose pressing gaps are 0, and stay so.

        Angles go along M^-1 J^T to where the gaps are 0 if one is off by half a tolerance. The
        velocities lose what changes the gaps, orthogonally in the metric of M: that never adds
        kinetic energy. Where it would close another closed gap, that is held as well.
        """
        hold = self.forces > 0.0
        if not hold.any():
            return x
        n = len(x) // 2
        q, v = x[:n], x[n:]
        features = self.closed.features
        gaps, rows, _ = self.touch.measure(features, q)
        if np.abs(gaps[hold]).max() > 0.5 * tolerance:
            q = q + self._least(q, rows[hold], -gaps[hold])
            _, rows, _ = self.touch.measure(features, q)
        while True:
            held = v + self._least(q, rows[hold], -(rows[hold] @ v))
            closing = ~hold & (rows @ held < -STILL)
            if not closing.any():
                return np.concatenate([q, held])
            hold |= closing

    def _least(self, q: Array, rows: Array, wanted: Array) -> Array:
        """Return the change (n,), least in the metric of M, that changes the gaps as wanted."""
        moves = np.linalg.solve(self.arm.mass_matrix(q), rows.T)
        w = rows @ moves
        w[np.diag_indices_from(w)] *= 1.0 + SOFT
        return np.asarray(moves @ np.linalg.solve(w, wanted))
