"""Kalman filters of the arm, healthy and with each failure, side by side.

All share one linearisation about the likeliest one. A loose joint is a healthy one without its
effort; a frozen one bears an unknown effort besides, and does not turn.

States are q, qd, the error of the payload and the relative ones of friction (22,).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.state import Array
from roboaccord.numerics.jit import kernel
from roboaccord.scenario.setup import Setup

from packbot.model.arm import Arm
from packbot.simulators.engines import joint_friction

FAST = 0.02  # rad/s: what changes by more in a tick is linearised in its middle
STILL = 1e-9  # rad/s: where friction per rate is taken of a joint that does not turn
LOOSE, FROZEN = 1, 2
DOUBLINGS = 4  # the exponential is that of a tick's 2^-4, to the fourth order, squared
BENT = 0.05  # part of a tick's change of rate by which the linearised arm may be off
LOCK = 3.0  # rad/s: what a lock may take of a joint's rate in a tick
CREEP = 1e-3  # rad/s: of a frozen joint
SLACK = 1e-4  # rad: by which a frozen joint may move in a tick beside


@kernel
def transition(inverse, stiffness, damping, qd, change, period):
    """Return what q and qd become over a period, by q and qd, efforts, and 1 (14, 22).

    Args:
        inverse: of the mass matrix (7, 7).
        stiffness, damping: change of the effort that the motion takes with q, qd (7, 7).
        qd, change: rates and accelerations (7,).
        period: [s].
    """
    n = len(qd)
    slope = np.zeros((2 * n, 3 * n + 1))
    slope[:n, n : 2 * n] = np.eye(n)
    slope[:n, -1], slope[n:, -1] = qd, change
    slope[n:, :n] = -inverse @ stiffness
    slope[n:, n : 2 * n] = -inverse @ damping
    slope[n:, 2 * n : -1] = inverse
    small = period / 2**DOUBLINGS
    square = np.ascontiguousarray(slope[:, : 2 * n])
    term = slope * small
    total = term.copy()
    for k in range(2, 5):
        term = square @ term * (small / k)
        total += term
    for _ in range(DOUBLINGS):  # total is the transition less the identity
        total = 2.0 * total + np.ascontiguousarray(total[:, : 2 * n]) @ total
    total[:, : 2 * n] += np.eye(2 * n)
    return total


@kernel
def correct(state, spread, which, seen, variance):
    """Update a filter by one measurement of a state; return the error squared and its variance."""
    n = len(state)
    total = spread[which, which] + variance
    gain = np.empty(n)
    for i in range(n):
        gain[i] = spread[i, which] / total
    error = seen - state[which]
    for i in range(n):
        state[i] += gain[i] * error
        for j in range(n):
            spread[i, j] -= gain[i] * gain[j] * total
    return error * error, total


@kernel
def advance(
    motion, pushed, change, lead, faults, effort, forces, jolts, drift, seen, variances,
    states, spreads, fits,
):  # fmt: skip
    """Predict each filter over a tick and correct it by what is seen.

    Args:
        motion, pushed, change: q and qd after the tick, by the states of a filter (14, 22) and by
            efforts (14, 7), and their change from there under the filter's efforts (14,).
        lead: that filter.
        faults: kind of each joint's failure, 0 for none, by filter (k, 7).
        effort: commanded (7,) [N m].
        forces: covariance of unknown efforts (7, 7) [(N m)^2].
        jolts: variances that impacts within the tick add to q and qd (14,).
        drift: variance that the errors gain in a tick (8,).
        seen: q and qd as measured (14,).
        variances: of q and qd as measured (2,).
        states, spreads: of the filters (k, 22), (k, 22, 22), updated.
        fits: filled with chi^2 and the logarithm of its normalisation (k, 2).
    """
    n = len(effort)
    centre = states[lead].copy()
    unknown = pushed @ forces @ pushed.T + np.diag(jolts)
    for f in range(len(states)):
        state, spread = states[f], spreads[f]
        ahead = centre[: 2 * n] + change + motion @ (state - centre)
        rows = motion @ spread
        block = rows @ motion.T + unknown
        for j in range(n):
            less = int(faults[f, j] == LOOSE) - int(faults[lead, j] == LOOSE)
            ahead -= less * effort[j] * pushed[:, j]
        for j in range(n):
            bent = BENT * (ahead[n + j] - state[n + j])
            block[n + j, n + j] += bent**2
            block[j, j] += (bent * motion[j, n + j]) ** 2
        for j in range(n):
            if faults[f, j] == FROZEN:
                block += np.outer(pushed[:, j], pushed[:, j]) * (LOCK / pushed[n + j, j]) ** 2
                block[j, j] += (motion[j, n + j] * state[n + j]) ** 2 + SLACK**2
                for i in range(2 * n):  # it comes at once, not all over the tick
                    block[i, i] += (0.5 * state[n + j] * pushed[i, j] / pushed[n + j, j]) ** 2
        state[: 2 * n] = ahead
        spread[: 2 * n, : 2 * n] = 0.5 * (block + block.T)  # rounding would grow
        spread[: 2 * n, 2 * n :] = rows[:, 2 * n :]
        spread[2 * n :, : 2 * n] = rows[:, 2 * n :].T
        spread[2 * n :, 2 * n :] += np.diag(drift)
        for j in range(n):
            if faults[f, j] == FROZEN:
                correct(state, spread, n + j, 0.0, CREEP**2)
        fits[f] = 0.0
        for i in range(2 * n):
            error, total = correct(state, spread, i, seen[i], variances[i // n])
            fits[f, 0] += error / total
            fits[f, 1] += np.log(total)


class Prediction:
    """Predict the arm over a tick, linearised; its payload and viscous friction may be off.

    Args:
        setup: robot and scenario.
        payload: at the finger tips, as known [kg].

    Attributes:
        viscous: friction as known (7,) [N m s/rad].
        breakaway: dry friction below which a joint may stick (7,) [N m].
    """

    def __init__(self, setup: Setup, payload: float) -> None:
        self._arm, self._heavier = Arm.of(setup), Arm.of(setup)
        reach = setup.parameters.gripper_length
        self._arm.carry(payload, reach)
        self._heavier.carry(payload + 1.0, reach)
        self._friction = joint_friction(setup.parameters)
        self.viscous = self._friction.viscous
        stiction = self._friction.stiction
        self.breakaway = self._friction.constant if stiction is None else stiction

    def over(
        self,
        estimate: Array,
        effort: Array,
        period: float,
        held: NDArray[np.int64],
        met: Array | None = None,
    ) -> tuple[Array, Array, Array]:
        """Return motion, pushed and change of `advance` over a period [s].

        Args:
            estimate: q, qd, error of the payload [kg] and relative ones of friction (22,).
            effort: held (7,) [N m].
            period: [s].
            held: frozen joints, whose locks shape the motion to linearise about, but not `change`.
            met: q and qd measured at its end (14,), to linearise about where contacts shape it.
        """
        point = estimate[:14] if met is None else 0.5 * (estimate[:14] + met)
        for _ in range(2):
            step, weight = self._about(point, estimate, effort, period)
            pushed = np.ascontiguousarray(step[:, 14:21])
            rates = estimate[7 + held] + step[7 + held, -1]
            locks = np.linalg.solve(pushed[np.ix_(7 + held, held)], rates)
            locked = step[:, -1] - pushed[:, held] @ locks
            rate = locked[:7] / period if met is None else point[7:]
            if met is not None:
                break
            point = np.concatenate([estimate[:7] + 0.5 * locked[:7], rate])
            if np.abs(locked[7:]).max() < FAST:
                break
        felt = np.column_stack([weight, np.diag(self.viscous * rate)])
        return np.column_stack([step[:, :14], -pushed @ felt]), pushed, step[:, -1]

    def _about(
        self, point: Array, estimate: Array, effort: Array, period: float
    ) -> tuple[Array, Array]:
        """Return the transition by slopes at q and qd of a point (14,), and effort per payload."""
        q, qd, load, wear = point[:7], point[7:], estimate[14], estimate[15:]
        turning = np.where(np.abs(qd) < STILL, STILL, qd)
        drag = self.viscous * wear - self._friction.efforts(turning) / turning
        mass, more = (arm.mass_matrix(q) for arm in (self._arm, self._heavier))
        inverse = np.linalg.inv(mass + load * (more - mass))
        bias, heavier = (arm.bias(q, qd) for arm in (self._arm, self._heavier))
        change = inverse @ (effort - drag * qd - bias - load * (heavier - bias))
        slopes = [arm.effort_slopes(q, qd, change) for arm in (self._arm, self._heavier)]
        stiffness, damping = ((1.0 - load) * a + load * b for a, b in zip(*slopes, strict=True))
        damping = damping + np.diag(drag)
        weight = (more - mass) @ change + heavier - bias
        off = estimate[:14] - point
        change = change - inverse @ (stiffness @ off[:7] + damping @ off[7:])
        step = transition(inverse, stiffness, damping, estimate[7:14], change, period)
        return np.asarray(step), weight
