"""The analytical simulator of the snake: planar dynamics, ellipse friction, inelastic stops.

Engines are judged by this, so method and accuracy must stay: steps are Runge-Kutta 4 (test_dynamics
tests the order), impacts are located inside them (test_stops). MAX_IMPACTS may be tuned, and bounds
the time of a step. Equations are not here but in model/. Joint faults and events may be added in
`lock` and `_note`, in SnakeReference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import roboaccord
from roboaccord.contract import Acceleration, Array, Command, Event, Index, RobotState, Trajectory
from roboaccord.numerics import kernel, rk4_stage
from roboaccord.scenario import Setup
from roboaccord.simulators import DAMPING, IMPACTS, STOPS, Ends, Reference, StopWatch

from snake.model import tracking
from snake.model.coordinates import PlanarSnake, friction_of
from snake.model.dynamics import accelerations
from snake.model.parameters import SnakeParameters
from snake.model.stops import (
    FROZEN,
    STILL,
    TOUCH,
    excess,
    first_violation,
    hold,
    impact,
    taken,
    update_sides,
)
from snake.simulators import sticking


@kernel
def free_derivative(body, y, tau, friction, points, work, dy):
    """Fill dy of y = [p, th, v, w], (2N + 4,), stops apart; `work` is that of `accelerations`."""
    n = tau.shape[0] + 1
    for i in range(n + 2):
        dy[i] = y[n + 2 + i]
    accelerations(
        body, y[2 : n + 2], y[0], y[n + 2], y[n + 3], y[n + 4 :], tau, friction, points, work,
        dy[n + 2 :],
    )  # fmt: skip


@kernel
def widest(y):
    """Return the largest angle of any joint [rad]."""
    n, most = y.shape[0] // 2 - 2, 0.0
    for j in range(n - 1):
        most = max(most, abs(y[2 + j] - y[3 + j]))
    return most


@kernel
def glide(body, rows, tau, h, counts, friction, points, limit, sides, logs, ends, done):
    """Advance k rows of y while no joint is at its stop, which needs no kernel of impacts.

    Args:
        rows, tau, counts, sides, logs, ends: as of `advance_rows`.
        done: filled with how many steps were made (k,).

    Returns:
        how many steps are left in all.
    """
    size, left = rows.shape[1], 0
    slope, stage, end = np.empty(size), np.empty(size), np.empty(size)
    work = np.empty((12, tau.shape[1] + 1))
    for i in range(rows.shape[0]):
        y, done[i] = rows[i], 0
        ends[i, 0], ends[i, 1] = widest(y), 0.0
        for j in range(tau.shape[1]):
            logs[i, j, 0], logs[i, j, 1] = 0.0, 0.0
            if sides[i, j] != 0:
                ends[i, 0] = np.inf
        while done[i] < counts[i] and ends[i, 0] < limit - TOUCH:
            for d in range(size):
                stage[d] = end[d] = y[d]
            for k in range(4):
                free_derivative(body, stage, tau[i], friction, points, work, slope)
                rk4_stage(k, h, y, slope, stage, end)
            ends[i, 0] = widest(end)
            if ends[i, 0] < limit - TOUCH:
                done[i] += 1
                for d in range(size):
                    y[d] = end[d]
        left += counts[i] - done[i]
    return left


@kernel
def derivative(body, y, tau, friction, points, side, work, dy):
    """Fill dy of y = [p, th, v, w], (2N + 4,); `work` is that of `accelerations`."""
    n = tau.shape[0] + 1
    free_derivative(body, y, tau, friction, points, work, dy)
    for j in range(n - 1):
        if side[j] != 0:
            hold(body, work[0], work[1], dy[n + 4 :], side)
            break


@kernel
def rk4(body, y, tau, h, friction, points, side):
    """Return y after h [s]."""
    slope, work = np.empty(y.shape[0]), np.empty((12, side.shape[0] + 1))
    stage, end = y.copy(), y.copy()
    for k in range(4):
        derivative(body, stage, tau, friction, points, side, work, slope)
        rk4_stage(k, h, y, slope, stage, end)
    return end


MAX_IMPACTS = 6  # located in one step; more cost time and change no figure of a gait


@kernel
def keep_inside(body, y, tau, h, friction, points, limit, side):
    """Return y after h [s], with impulses at its start by which all joints end inside their stops.

    The energy that they take [J] is returned beside it.

    It is for steps with more impacts than are worth locating. An impact then comes up to h too
    early: an error of first order, with both momenta kept. Newton's method finds the impulses,
    since the motion is linear in them to first order; what four rounds leave is moved inside.
    """
    n = side.shape[0] + 1
    c = np.cos(y[2 : n + 2])
    s = np.sin(y[2 : n + 2])
    sides = side.copy()
    beyond = np.empty(n)
    start = y.copy()
    held = side.copy()
    push = np.zeros(n - 1)
    after = y
    for turn in range(5):
        after = rk4(body, start, tau, h, friction, points, held)
        if excess(after, limit, sides, beyond) <= TOUCH:
            break
        before = beyond.copy()
        force = hold(body, c, s, beyond, sides)
        if turn == 4:
            after[2 : n + 2] += beyond - before
            break
        start[n + 4 :] += (beyond - before) / h
        for j in range(n - 1):
            push[j] += force[j] * sides[j] / h
            if held[j] * (start[n + 4 + j] - start[n + 5 + j]) < -STILL:
                held[j] = 0
    return after, taken(push, y[n + 4 :], start[n + 4 :])


@kernel
def locate(body, y, after, tau, left, joint, sign, fraction, friction, points, limit, side):
    """Return the state in which the first joint has just come to its stop, and the time to it.

    Starts from the cubic's estimate, and goes on by secant steps on the true motion; another
    joint that turns out to be earlier takes the place of the first.
    """
    n = side.shape[0] + 1
    part = fraction * left
    for _ in range(12):
        after = rk4(body, y, tau, part, friction, points, side)
        other, other_sign, other_fraction = first_violation(y, after, part, limit, side)
        if other >= 0 and other != joint:
            joint, sign = other, other_sign
            part *= other_fraction
            continue
        gap = limit - sign * (after[2 + joint] - after[3 + joint])
        rate = sign * (after[n + 4 + joint] - after[n + 5 + joint])
        if abs(gap) < 0.1 * TOUCH or rate <= STILL:
            break
        part = min(max(part + gap / rate, 0.0), left)
    return after, part


@kernel
def advance(body, y, tau, h, first, steps, friction, points, limit, side, log):
    """Advance y and side in place by steps of h [s], from the one numbered `first` to `steps`.

    Args:
        log: filled with a row for each joint (n, 2): the time of its first impact since the start
            [s], and the sum of the impulses of all of its impacts, 0 where there was none [N m s].

    Returns:
        the largest angle of any joint at the end [rad], and the energy that the stops took [J].
    """
    n = side.shape[0] + 1
    log[:] = 0.0
    lost = 0.0
    for step in range(first, steps):
        left = h
        attempts = 0
        while True:
            # Neighbours can hit in turn ever faster, without end: then nearly there is there.
            touch = TOUCH * 10.0 ** min(attempts // 8, 4)
            # An impact can drive another joint at its stop outwards, which then takes part.
            for _ in range(n):
                if not update_sides(y, limit, side, touch):
                    break
                before = y[n + 4 :].copy()
                impulse = impact(body, y, side)
                lost += taken(impulse * side, before, y[n + 4 :])
                for j in range(n - 1):
                    if impulse[j] > 0.0:
                        if log[j, 1] == 0.0:
                            log[j, 0] = step * h + (h - left)
                        log[j, 1] += impulse[j]
            if left <= 0.0:
                break
            after = rk4(body, y, tau, left, friction, points, side)
            joint, sign, fraction = first_violation(y, after, left, limit, side)
            attempts += 1
            if joint < 0 or attempts > MAX_IMPACTS:
                if joint >= 0:
                    after, more = keep_inside(body, y, tau, left, friction, points, limit, side)
                    lost += more
                y[:] = after
                left = 0.0
                continue
            after, part = locate(
                body, y, after, tau, left, joint, sign, fraction, friction, points, limit, side
            )
            y[:] = after
            left -= part
            if left < 1e-15:
                left = 0.0
    return widest(y), lost


@kernel
def advance_rows(body, rows, tau, h, counts, friction, points, limit, sides, logs, ends, done):
    """Advance k rows of y by `advance`, each by a number of steps of its own.

    Args:
        rows, tau, counts, sides, logs: of each row (k, ...).
        ends: filled with what `advance` returns (k, 2).
        done: how many steps of each were made before, by `glide` (k,).
    """
    for i in range(rows.shape[0]):
        if done[i] < counts[i]:
            ends[i, 0], ends[i, 1] = advance(
                body, rows[i], tau[i], h, done[i], counts[i], friction, points, limit, sides[i],
                logs[i],
            )  # fmt: skip


class SnakeReference(Reference):
    """Simulate the snake analytically."""

    version = f"roboaccord-snake {roboaccord.__version__}"
    bases = ("planar",)
    parameters: SnakeParameters
    channels = (DAMPING, STOPS, IMPACTS)  # of which it has stops alone

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._chain = PlanarSnake(self.parameters)
        self._friction, self._points = friction_of(setup)
        sticks = self._points.size > 0 and self._friction[3] == 0.0
        self.order = 1 if sticks else 4
        limits = np.full(len(self.joints), self.parameters.joint_limit)
        self._stops = StopWatch(self.joints, -limits, limits)
        self._scratch = self._sides, self._logs, self._found, _ = self._make_scratch(1)
        self._warm_up(setup.initial)

    def _start(self, state: RobotState) -> None:
        self._place(state)
        self._sides[:] = 0
        self._stops.reset(self._read().q)

    def _place(self, state: RobotState) -> None:
        self._rows = self._chain.pack(state)[None]

    def _read(self) -> RobotState:
        return self._chain.unpack(self._rows[0], self._time, self._effort)

    def _make_scratch(self, k: int) -> tuple[Array, Array, Array, Array]:
        """Return sides, logs, ends and steps done of k rows."""
        n = len(self.joints)
        logs, ends = np.zeros((k, n, 2)), np.empty((k, 2))
        return np.zeros((k, n), np.int8), logs, ends, np.zeros(k, np.int64)

    def _ends(
        self, starts: Trajectory, efforts: Sequence[Array], counts: Sequence[Index]
    ) -> Ends | None:
        if self.order == 1:
            return None
        rows, scratch = self._chain.pack_motion(starts), self._make_scratch(len(starts))
        for effort, count in zip(efforts, counts, strict=True):
            self._go(rows, effort, count, *scratch)
        return Ends(*self._chain.unpack_motion(rows), np.zeros(len(starts), bool))

    def _go(self, rows: Array, effort: Array, counts: Index, *scratch: Array) -> None:
        """Advance rows of y under efforts (k, n) by numbers of steps (k,)."""
        given = (
            self._chain.body, rows, effort, self.physics_step, counts, self._friction,
            self._points, self.parameters.joint_limit, *scratch,
        )  # fmt: skip
        if glide(*given):
            advance_rows(*given)

    def compile_all(self) -> None:
        rows, efforts, scratch = self._rows.copy(), self._effort[None], self._make_scratch(1)
        scratch[0][:] = FROZEN  # for impacts, which are compiled by no steps
        self._go(rows, efforts, np.array([1]), *scratch)

    def _advance(self, command: Command, duration: float) -> None:
        """Move on, with impacts on the stops located inside each step."""
        if self.order == 1:
            self._largest, lost = sticking.advance(
                self._chain.body, self._rows[0], self._effort, self.physics_step, self._steps,
                self._friction, self._points, self.parameters.joint_limit, self._sides[0],
            )  # fmt: skip
        else:
            self._go(self._rows, self._effort[None], np.array([self._steps]), *self._scratch)
            self._largest, lost = self._found[0].tolist()
        self._losses.add(STOPS, lost)

    def _note(self, before: RobotState, after: RobotState) -> None:
        if self._largest >= self._stops.nearest or self._stops.any:  # else it is not worth a look
            for joint in self._stops.see(after.q):
                self._events.append(self._stop(joint, before.time))

    def lock(self, joint: int, locked: bool) -> None:
        self._sides[0, joint] = FROZEN if locked else 0

    def _stop(self, joint: int, begin: float) -> Event:
        """Return the event of a joint that came to its stop in the period from `begin` [s].

        Its time is that of the joint's first impact in the period, its impulse the sum of all; a
        joint that came to rest just there had none.
        """
        offset, impulse = self._logs[0, joint].tolist()
        time = begin + offset if impulse else self._time
        return self._stops.event(joint, time, impulse)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        n = self.parameters.links
        y = self._chain.pack(state)
        acc, work, (ax, ay) = np.empty(n + 2), np.empty((12, n)), np.empty((2, n))
        c, s = work[:2]
        w = y[n + 4 :]
        accelerations(
            self._chain.body, y[2 : n + 2], y[0], y[n + 2], y[n + 3], w, np.array(effort),
            np.zeros(7), np.zeros((0, 2)), work, acc,
        )  # fmt: skip
        if (held := np.where(self._sides[0] == FROZEN, self._sides[0], 0)).any():
            hold(self._chain.body, c, s, acc[2:], held)
        tracking.centre_accelerations(self._chain.body, c, s, w, acc[2:], ax, ay)
        base = np.array([acc[0] + ax[-1], acc[1] + ay[-1], 0.0, 0.0, 0.0, acc[-1]])
        return Acceleration(base, acc[2:-1] - acc[3:])

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        return dict.fromkeys(self.parameters.link_names, self.parameters.link_mass)
