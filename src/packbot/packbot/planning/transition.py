"""Dynamic transition of the arm, whose elbow 2 is loose, from one equilibrium to another.

At the start, link 3 leans on something; at the end, it hangs on the other side of its unstable
equilibrium. A first guess moves the active joints to angles at which the loose joint tips over, and
back. It is improved in the plane of the arm (planar.py) by iterative LQR, that is differential
dynamic programming with the Gauss-Newton Hessian of the cost [Li and Todorov 2004]; the penalties
of the limits are raised in stages. The result has the gains of a time-varying linear-quadratic
regulator. The arrays X, U, A, R, K and d are explained in planar.py.

The constants may be tuned, but with other WEIGHTS, END and STAGES the scenario `transition` may
have no plan (test_packbot_transition).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from roboaccord.contract import AccordError, Array
from roboaccord.scenario import Setup

from packbot.model.parameters import JOINTS, PackbotParameters, check_limits
from packbot.planning.failed_arm import FALL, GAP, FailedArm
from packbot.planning.planar import GRAVITY, RATE, SPRING_END, Model, linearise, rollout, step
from packbot.planning.trajectories import RESERVE

PLANE = (1, 2, 3)  # indices of the joints of the plane: shoulder, elbow1, elbow2
# m; smallest height of elbow 2 and of the finger tips: 0.18 of the tracks, 0.05 of casing or palm,
# and 0.02 to spare
FLOOR = 0.25
# rad; distance of the joints from their limits, which is left to the regulator: 15 times CLOSE.
# With 0.3 a plan is found as well, with 1.9 times the accelerations.
NEAR = 0.15
# Control periods at the goal, 4 s, long enough for the regulator to become constant: seven of its
# time constants (STIFF)
STILL = 400
STEP = 2  # control periods in a step of the plan, 20 ms: as long as the spring (planar.py) allows
# Measured in the scenario `transition`, whose plan takes 170 rounds and root mean squares of 4.2
# rad/s^2:
# 1/s; gains of the first guess on angles, and on rates; 2 and 3 take 244 rounds.
SERVO, TURN = 3.0, 5.0
# rad/s^2; largest acceleration of the first guess: with 2 a plan takes 301 rounds, with 8 none is
# found.
HASTE = 4.0
# rad; once the loose joint is this far past its unstable equilibrium, it has tipped; with 0.2 a
# plan is found as well.
TIPPED = 0.05
# Weights of residuals, in planar.py's order: 1 rad/s^2 costs as much as an excess over its limit of
# 3 mrad/s, 2 mrad, 0.7 N m or 1 mm, so that limits are kept to about that. Half as large, or with
# 0.4 on accelerations, they lead to plans with root mean squares of 2.7 and 2.5 rad/s^2.
WEIGHTS = np.array([0.2, 60.0, 100.0, 0.3, 200.0])
# Weights of angles and rates at the end; 0.3 times as large, they end it 5e-4 from the goal instead
# of 1.4e-4.
END = np.array([1e3, 1e3, 1e3, 1e2, 1e2, 1e2])
# Factors on weights of the end and of the limits; the last one alone finds a plan with a root mean
# square of 6.0 rad/s^2.
STAGES = ((0.1, 1.0), (0.3, 2.0), (1.0, 5.0))
# Iterations of a stage at most; it ends at a smaller relative gain. 1e-3 takes 39 rounds, and ends
# 1.6e-3 from the goal instead of 1.4e-4.
ROUNDS, GAIN = 100, 1e-5
# rad, rad/s; largest distance of the end of a plan from the goal, which the regulator removes; the
# scenario's plan ends 1.4e-4 from it.
CLOSE = 0.01
# Number of halvings of a change of the inputs, until it lowers the cost: to 1/2048 of it; then the
# regularisation is raised, which shortens the change as well
HALVINGS = 12
# First and smallest weight of the regularisation: beside the 0.04 of accelerations (0.2^2 in
# WEIGHTS) they shorten the first changes a little, and later ones not at all.
FIRST_WEIGHT, LEAST_WEIGHT = 1e-3, 1e-9
# Weights of the regulator on angles and rates; inputs have 1. They give a joint of unit inertia the
# frequency 10^(1/4) = 1.8 rad/s, below the 4.3 rad/s of the hanging link 3.
STIFF = np.array([10.0, 10.0, 10.0, 1.0, 1.0, 1.0])


@dataclass(frozen=True)
class Transition:
    """Trajectory of shoulder and elbows, and gains of its regulator, for each control period.

    Args:
        states: angles and rates (n + 1, 6) [rad, rad/s].
        inputs: accelerations of the active joints (n, 2) [rad/s^2].
        gains: gains of the regulator (n + 1, 2, 6), the last one at the goal.
    """

    states: Array
    inputs: Array
    gains: Array

    def at(self, k: int) -> tuple[Array, Array, Array]:
        """Return state (6,), inputs (2,) and gain (2, 6) at a control period; at the end after."""
        if k >= len(self.inputs):
            return self.states[-1], np.zeros(2), self.gains[-1]
        return self.states[k], self.inputs[k], self.gains[k]


class PlanarArm:
    """Planner of transitions of an arm whose elbow 2 is loose, and whose link 3 leans on something.

    Args:
        setup: robot and scenario.
        arm: the arm with its failures: elbow 2 is loose, and nothing else has failed.
        start: angles (7,) [rad], at rest; turret, camera and wrist stay there.
        speed: fraction of the speed limits that is used.

    Attributes:
        start: angles (7,) [rad] with the loose joint at rest on what it leans on.
        goal: the same with the loose joint at its stable zero beyond the unstable one.
        plane, active: joints of the plane (3,), and those of them that are not loose (2,).
        loose: index of the loose joint among those of the plane.
        model: of the plane, as planar.py has it.

    Raises:
        AccordError: with other failures, or where the joint does not lean or may not go there.
    """

    def __init__(self, setup: Setup, arm: FailedArm, start: Array, speed: float) -> None:
        if arm.loose.tolist() != [PLANE[-1]] or len(arm.frozen):
            raise AccordError("a transition takes a loose elbow2, and no other fault")
        (joint,) = arm.loose.tolist()
        leaning, p = arm.rest(start), setup.parameters
        if leaning is None or not len(arm.propping(leaning)):
            raise AccordError("a transition starts where the loose joint leans on something")
        past, _ = arm.swing(leaning, joint)
        self.arm, self.start, self.goal = arm, leaning, leaning.copy()
        self.goal[joint] += 2.0 * np.pi * np.sign(past) - past
        check_limits(p, self.goal, "the other equilibrium: ")
        self.plane = np.array(PLANE)
        self.active = self.plane[self.plane != joint]
        self.loose, self.period = joint - PLANE[0], setup.scenario.control_period
        self.model = _model(arm.kinematics.arm.model, leaning, p, (leaning[joint], np.sign(past)))
        self._sizes = np.array([p.base_z + p.turret_d, FLOOR, p.wrist_x + p.gripper_length])
        limits = [arm.lower, arm.upper, speed * p.of_joints("speed_limit"), RESERVE * arm.efforts]
        self._weights = np.concatenate([WEIGHTS, self._sizes])
        self._bounds = np.array(limits)[:, self.plane]
        self._bounds[:2] += np.array([[NEAR], [-NEAR]])
        self._bounds[RATE, self.loose] = np.inf
        self._bounds[int(past > 0.0), self.loose] = self._free(joint, float(np.sign(past)))

    def _free(self, joint: int, side: float) -> float:
        """Return the angle up to which the loose joint may swing past its goal [rad]."""
        q = self.goal.copy()
        while self.arm.lower[joint] < q[joint] < self.arm.upper[joint]:
            if self.arm.clearance.touches(q, GAP):
                break
            q[joint] += side * FALL
        return float(q[joint] - side * NEAR)

    def plan(self, via: Array, duration: float) -> Transition:
        """Return a transition.

        Args:
            via: angles of the active joints of the plane (2,) [rad] at which the loose one tips
                over: the first guess goes there until it does.
            duration: [s].

        Raises:
            AccordError: if none is found within the limits and without contact.
        """
        # First guess, improved in stages.
        period = STEP * self.period
        X, U = self._guess(via, round(duration / period))
        for end, limit in STAGES:
            self._weights = np.concatenate([WEIGHTS * [1.0, limit, limit, 1.0, limit], self._sizes])
            X, U = self._improve(X, U, end * END)
        # States at every control period: STEP = 2, so that one is inserted between each two.
        between = (step(self.model, self.loose, self.period, x, u) for x, u in zip(X, U))
        Y = np.array([x for pair in zip(X, between) for x in pair] + [X[-1]])
        V = np.repeat(U, STEP, axis=0)
        self._check(Y)
        return Transition(Y, V, self._regulate(Y, V))

    def _check(self, X: Array) -> None:
        """Refuse states (n, 6) that end off the goal, or touch what the start does not."""
        if np.abs(X[-1] - self._ends[1]).max() > CLOSE:
            raise AccordError("no transition was found: try another length, speed or via")
        arm, q = self.arm, self.start.copy()
        props = {arm.clearance.pair_links(i) for i in arm.propping(q).tolist()}
        props |= {(a, b) for a, _ in props for b in ("link3_link", "gripper_link")}
        for x in X:
            q[self.plane] = x[:3]
            touching = {arm.clearance.pair_links(i) for i in arm.clearance.near(q, GAP).tolist()}
            if touching - props:
                first, second = min(touching - props)
                raise AccordError(f"the transition that was found has {first} touch {second}")

    @property
    def _ends(self) -> tuple[Array, Array]:
        """Start and goal as states (6,)."""
        rest = np.zeros(3)
        return np.append(self.start[self.plane], rest), np.append(self.goal[self.plane], rest)

    def _guess(self, via: Array, steps: int) -> tuple[Array, Array]:
        """Return states and inputs that tip the loose joint over, and lead back."""
        active, period = self.active - PLANE[0], STEP * self.period
        start, goal = self._ends
        X, U, tipped = np.empty((steps + 1, 6)), np.empty((steps, 2)), False
        X[0] = start
        for k, x in enumerate(X[:-1]):
            tipped = tipped or self._over(x)
            aim = goal[active] if tipped else via
            fast = self._bounds[RATE, active]
            rate = np.clip(SERVO * (aim - x[active]), -fast, fast)
            U[k] = np.clip(TURN * (rate - x[3:][active]), -HASTE, HASTE)
            X[k + 1] = step(self.model, self.loose, period, x, U[k])
        return X, U

    def _over(self, x: Array) -> bool:
        """Return whether the loose joint is past its unstable zero."""
        q = self.start.copy()
        q[self.plane] = x[:3]
        past, _ = self.arm.swing(q, self.arm.loose[0])
        return past * self.model[SPRING_END][1] < 0.0 and np.pi - abs(past) > TIPPED

    def _improve(self, X: Array, U: Array, end: Array) -> tuple[Array, Array]:
        """Return better states and inputs, by the weights (6,) of the end."""
        goal, period = self._ends[1], STEP * self.period
        problem = self.model, self._bounds, self._weights, self.loose, period

        def follow(K: Array, d: Array) -> tuple[float, Array, Array]:
            Y, V = np.empty_like(X), np.empty_like(U)
            Y[0] = X[0]
            cost = rollout(*problem, X, U, K, d, Y, V)
            return cost + 0.5 * float(end @ (Y[-1] - goal) ** 2), Y, V

        n, weight = len(U), FIRST_WEIGHT
        cost, X, U = follow(np.zeros((n, 2, 6)), np.zeros((n, 2)))
        A, R = np.empty((n, 6, 8)), np.empty((n, 15, 9))
        linearise(*problem, X, U, A, R)
        for _ in range(ROUNDS):
            K, d = riccati(A, R, np.diag(end), end * (X[-1] - goal), period, weight)
            attempts = (follow(K, 0.5**i * d) for i in range(HALVINGS))
            # The largest change that lowers the cost; without one, the regularisation is raised.
            better = next((attempt for attempt in attempts if attempt[0] < cost), None)
            if better is None:
                weight *= 10.0
                continue
            gain = cost - better[0]
            cost, X, U = better
            if gain < GAIN * cost:
                break
            weight = max(0.3 * weight, LEAST_WEIGHT)
            linearise(*problem, X, U, A, R)
        return X, U

    def _regulate(self, X: Array, U: Array) -> Array:
        """Return the gains of the regulator (n + 1, 2, 6), the last one at the goal.

        The trajectory is continued by STILL periods at the goal, and the model has no spring.
        """
        free = *self.model[:SPRING_END], np.zeros(2), self.model[GRAVITY]
        end = np.concatenate([X[:-1], np.tile(self._ends[1], (STILL, 1))])
        u = np.concatenate([U, np.zeros((STILL, 2))])
        A, R = np.empty((len(u), 6, 8)), np.zeros((len(u), 8, 9))
        S = np.empty((len(u), 15, 9))
        linearise(free, self._bounds, self._weights, self.loose, self.period, end, u, A, S)
        R[:, :, :8] = np.diag(np.sqrt([*STIFF, 1.0, 1.0]))
        K, _ = riccati(A, R, np.diag(STIFF), np.zeros(6), self.period, 0.0)
        return K[: len(U) + 1]


def riccati(
    A: Array, R: Array, V: Array, v: Array, period: float, weight: float
) -> tuple[Array, Array]:
    """Return the gains (n, 2, 6) and changes of inputs (n, 2) that minimise the quadratic cost.

    The Riccati recursion from the end back, with Hessian V and gradient v of the cost to go. In
    each step, H and g are Hessian and gradient by state (first 6) and input (last 2).

    Args:
        A: Jacobians of steps by state and input (n, 6, 8).
        R: Jacobians of r residuals, and the residuals in the last column (n, r, 9).
        V, v: Hessian (6, 6) and gradient (6,) of the cost of the end.
        period: duration of a step [s].
        weight: weight of the regularisation.
    """
    K, d = np.empty((len(A), 2, 6)), np.empty((len(A), 2))
    squares = period * np.swapaxes(R[:, :, :8], 1, 2) @ R
    squares[:, [6, 7], [6, 7]] += weight * period
    for k in range(len(A) - 1, -1, -1):
        H, g = squares[k, :, :8] + A[k].T @ V @ A[k], squares[k, :, 8] + A[k].T @ v
        solution = np.linalg.solve(H[6:, 6:], np.column_stack([H[6:, :6], g[6:]]))
        K[k], d[k] = -solution[:, :6], -solution[:, 6]
        V, v = H[:6, :6] + H[:6, 6:] @ K[k], g[:6] + K[k].T @ g[6:]
        V = 0.5 * (V + V.T)
    return K, d


def _model(model: pin.Model, q: Array, p: PackbotParameters, stop: tuple[float, float]) -> Model:
    """Return the model of the arm in its plane, as explained in planar.py.

    Args:
        model: pinocchio's model of the whole arm.
        q: angles (7,) at which the joints outside the plane are held.
        p: with its friction.
        stop: angle at which the loose joint leans on something, and the sign of the free side.
    """
    outside = [i + 1 for i in range(len(JOINTS)) if i not in PLANE]
    plane = pin.buildReducedModel(model, outside, q)
    bodies = plane.inertias.tolist()[1:]
    masses = np.array([body.mass for body in bodies])
    centres = np.array([complex(body.lever[0], body.lever[2]) for body in bodies])
    lengths = np.array([plane.jointPlacements[k].translation[0] for k in (2, 3)] + [0.0])
    inertias = np.array([body.inertia[1, 1] for body in bodies]) + masses * np.abs(centres) ** 2
    viscous, armature = (p.of_joints(k)[list(PLANE)] for k in ("viscous", "reflected_inertia"))
    return (
        lengths, masses, masses * centres, inertias, viscous, armature, np.array(stop),
        float(p.gravity),
    )  # fmt: skip
