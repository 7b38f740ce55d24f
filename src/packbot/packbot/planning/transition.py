"""Dynamic transition of the arm, whose elbow 2 is loose, from one equilibrium to another.

At the start, link 3 leans on something; at the end, it hangs on the other side of its unstable
equilibrium. A first guess moves the active joints to angles at which the loose joint tips over, and
back. It is improved in the plane of the arm (planar.py) by iterative LQR, that is differential
dynamic programming with the Gauss-Newton Hessian of the cost [Li and Todorov 2004]; the penalties
of the limits are raised in stages. The result has the gains of a time-varying linear-quadratic
regulator.

States (n + 1, 6) are angles and rates of shoulder and both elbows; inputs (n, 2) are accelerations
of the two active joints; n is the number of steps, and k or i counts them.

The constants may be tuned, but with other PENALTIES, END_WEIGHTS and STAGE_FACTORS the scenario
`transition` may have no plan (test_packbot_transition).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from roboaccord.contract import AccordError, Array
from roboaccord.scenario import Setup

from packbot.model.parameters import JOINTS, PackbotParameters, check_limits
from packbot.planning import planar
from packbot.planning.failed_arm import CONTACT_GAP, FALL_STEP, FailedArm
from packbot.planning.trajectories import RESERVE

PLANE = (1, 2, 3)  # indices of the joints that turn in the arm's plane: shoulder, elbow1, elbow2
# m; smallest height of elbow 2 and of the finger tips: 0.18 of the tracks, 0.05 of casing or palm,
# and 0.02 to spare
MIN_HEIGHT = 0.25
# rad; distance of the joints from their limits, which is left to the regulator: 15 times
# MAX_END_ERROR.
# With 0.3 a plan is found as well, with 1.9 times the accelerations.
LIMIT_MARGIN = 0.15
# Control periods at the goal, 4 s, long enough for the regulator to become constant: seven of its
# time constants (REGULATOR_WEIGHTS)
STILL_PERIODS = 400
# Control periods in a step of the plan, 20 ms: as long as the spring (planar.py) allows
STEP_PERIODS = 2
# Measured in the scenario `transition`, whose plan takes 170 rounds and root mean squares of 4.2
# rad/s^2:
# 1/s; gains of the first guess on angles, and on rates; 2 and 3 take 244 rounds.
ANGLE_GAIN, RATE_GAIN = 3.0, 5.0
# rad/s^2; largest acceleration of the first guess: with 2 a plan takes 301 rounds, with 8 none is
# found.
MAX_GUESS_ACCELERATION = 4.0
# rad; once the loose joint is this far past its unstable equilibrium, it has tipped; with 0.2 a
# plan is found as well.
TIPPED_ANGLE = 0.05
# Weights of residuals: 1 rad/s^2 costs as much as an excess over its limit of
# 3 mrad/s, 2 mrad, 0.7 N m or 1 mm, so that limits are kept to about that. Half as large, or with
# 0.4 on accelerations, they lead to plans with root mean squares of 2.7 and 2.5 rad/s^2.
PENALTIES = planar.Penalties(acceleration=0.2, rate=60.0, angle=100.0, effort=0.3, height=200.0)
# Weights of angles and rates at the end; 0.3 times as large, they end it 5e-4 from the goal instead
# of 1.4e-4.
END_WEIGHTS = np.array([1e3, 1e3, 1e3, 1e2, 1e2, 1e2])
# Factors on weights of the end and of the limits; the last one alone finds a plan with a root mean
# square of 6.0 rad/s^2.
STAGE_FACTORS = ((0.1, 1.0), (0.3, 2.0), (1.0, 5.0))
# Iterations of a stage at most; it ends at a smaller relative gain. 1e-3 takes 39 rounds, and ends
# 1.6e-3 from the goal instead of 1.4e-4.
MAX_ROUNDS, MIN_RELATIVE_GAIN = 100, 1e-5
# rad, rad/s; largest distance of the end of a plan from the goal, which the regulator removes; the
# scenario's plan ends 1.4e-4 from it.
MAX_END_ERROR = 0.01
# Number of halvings of a change of the inputs, until it lowers the cost: to 1/2048 of it; then the
# regularisation is raised, which shortens the change as well
MAX_HALVINGS = 12
# First and smallest weight of the regularisation: beside the 0.04 of accelerations (0.2^2 in
# PENALTIES) they shorten the first changes a little, and later ones not at all.
FIRST_REGULARISATION, MIN_REGULARISATION = 1e-3, 1e-9
# Weights of the regulator on angles and rates; inputs have 1. They give a joint of unit inertia the
# frequency 10^(1/4) = 1.8 rad/s, below the 4.3 rad/s of the hanging link 3.
REGULATOR_WEIGHTS = np.array([10.0, 10.0, 10.0, 1.0, 1.0, 1.0])

Quadratic = tuple[Array, Array]  # Hessian (6, 6) and gradient (6,) of a cost by the state
# Columns of the Jacobians by state and by input.
BY_STATE, BY_INPUT = slice(planar.STATE_SIZE), slice(planar.STATE_SIZE, planar.VALUE_COLUMN)


class Trajectory(NamedTuple):
    """Cost of a trajectory, its states (n + 1, 6) and its inputs (n, 2)."""

    cost: float
    states: Array
    inputs: Array


class Transition(NamedTuple):
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


class TransitionPlanner:
    """Planner of transitions of an arm whose elbow 2 is loose, and whose link 3 leans on something.

    Args:
        setup: robot and scenario.
        arm: the arm with its failures: elbow 2 is loose, and nothing else has failed.
        start: angles (7,) [rad], at rest; turret, camera and wrist stay there.
        speed: fraction of the speed limits that is used.

    Attributes:
        start: angles (7,) [rad] with the loose joint at rest on what it leans on.
        goal: the same with the loose joint in its stable equilibrium beyond the unstable one.
        plane, active: joints of the plane (3,), and those of them that are not loose (2,).
        loose: index of the loose joint among those of the plane.
        model: of the plane, as planar.py has it.

    Raises:
        AccordError: with other failures, or where the joint does not lean or may not go there.
    """

    def __init__(self, setup: Setup, arm: FailedArm, start: Array, speed: float) -> None:
        if arm.loose.tolist() != [PLANE[-1]] or len(arm.frozen):
            raise AccordError("a transition takes a loose elbow2, and no other fault")
        joint, p = PLANE[-1], setup.parameters
        leaning = arm.resting_pose(start)
        if leaning is None or not len(arm.propping_pairs(leaning)):
            raise AccordError("a transition starts where the loose joint leans on something")
        angle_past, _ = arm.pendulum(leaning, joint)  # its stable equilibrium
        free_side = float(np.sign(angle_past))
        self.arm, self.start, self.goal = arm, leaning, leaning.copy()
        self.goal[joint] += 2.0 * np.pi * free_side - angle_past
        check_limits(p, self.goal, "the other equilibrium: ")
        self.plane = np.array(PLANE)
        self._goal_state = np.append(self.goal[self.plane], np.zeros(3))  # at rest
        self.active = self.plane[self.plane != joint]
        self.loose, self.period = joint - PLANE[0], setup.scenario.control_period
        self.model = _planar_model(arm.kinematics.arm.model, leaning, p, joint, free_side)
        last_link = p.wrist_x + p.gripper_length
        self._heights = planar.Heights(p.base_z + p.turret_d, MIN_HEIGHT, last_link)
        limits = [arm.lower, arm.upper, speed * p.of_joints("speed_limit"), RESERVE * arm.efforts]
        self._bounds = np.array(limits)[:, self.plane]
        self._bounds[planar.LOWER_ANGLE] += LIMIT_MARGIN
        self._bounds[planar.UPPER_ANGLE] -= LIMIT_MARGIN
        self._bounds[planar.MAX_RATE, self.loose] = np.inf
        bound_beyond_goal = planar.UPPER_ANGLE if angle_past > 0.0 else planar.LOWER_ANGLE
        self._bounds[bound_beyond_goal, self.loose] = self._farthest_swing(joint, free_side)

    def _farthest_swing(self, joint: int, free_side: float) -> float:
        """Return the angle up to which the loose joint may swing past its goal [rad]."""
        q = self.goal.copy()
        while self.arm.lower[joint] < q[joint] < self.arm.upper[joint]:
            if self.arm.clearance.touches(q, CONTACT_GAP):
                break
            q[joint] += free_side * FALL_STEP
        return float(q[joint] - free_side * LIMIT_MARGIN)

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
        period = STEP_PERIODS * self.period
        states, inputs = self._first_guess(via, round(duration / period))
        for end_factor, limit_factor in STAGE_FACTORS:
            problem = self._problem(limit_factor, period)
            states, inputs = self._improve(problem, states, inputs, end_factor * END_WEIGHTS)
        # States at every control period: one is inserted between each two, as STEP_PERIODS is 2.
        every_state = [states[0]]
        for x, u, end in zip(states, inputs, states[1:], strict=False):
            every_state += [planar.rk4_step(self.model, self.loose, self.period, x, u), end]
        states, inputs = np.array(every_state), np.repeat(inputs, STEP_PERIODS, axis=0)
        self._check(states)
        return Transition(states, inputs, self._regulator_gains(states, inputs, limit_factor))

    def _problem(self, limit_factor: float, period: float) -> planar.PlanarProblem:
        """Return the problem with a factor on the weights of limits, in steps of a period [s]."""
        penalties = PENALTIES._replace(
            rate=limit_factor * PENALTIES.rate,
            angle=limit_factor * PENALTIES.angle,
            height=limit_factor * PENALTIES.height,
        )
        model, bounds, heights = self.model, self._bounds, self._heights
        return planar.PlanarProblem(model, bounds, penalties, heights, self.loose, period)

    def _check(self, states: Array) -> None:
        """Refuse states (n, 6) that end off the goal, or touch what the start does not."""
        if np.abs(states[-1] - self._goal_state).max() > MAX_END_ERROR:
            raise AccordError("no transition was found: try another length, speed or via")
        clearance, q = self.arm.clearance, self.start.copy()
        props = {clearance.pair_links(i) for i in self.arm.propping_pairs(q).tolist()}
        props |= {(a, b) for a, _ in props for b in ("link3_link", "gripper_link")}
        for x in states:
            q[self.plane] = x[:3]
            touching = {clearance.pair_links(i) for i in clearance.near(q, CONTACT_GAP).tolist()}
            if touching - props:
                first, second = min(touching - props)
                raise AccordError(f"the transition that was found has {first} touch {second}")

    def _first_guess(self, via: Array, steps: int) -> tuple[Array, Array]:
        """Return states and inputs that tip the loose joint over, and lead back."""
        active, period = self.active - PLANE[0], STEP_PERIODS * self.period
        states, inputs = np.empty((steps + 1, planar.STATE_SIZE)), np.empty((steps, 2))
        states[0] = np.append(self.start[self.plane], np.zeros(3))
        has_tipped = False
        for k, x in enumerate(states[:-1]):
            has_tipped = has_tipped or self._has_tipped(x)
            aim = self._goal_state[active] if has_tipped else via
            fastest = self._bounds[planar.MAX_RATE, active]
            rate = np.clip(ANGLE_GAIN * (aim - x[active]), -fastest, fastest)
            acceleration = RATE_GAIN * (rate - x[3:][active])
            inputs[k] = np.clip(acceleration, -MAX_GUESS_ACCELERATION, MAX_GUESS_ACCELERATION)
            states[k + 1] = planar.rk4_step(self.model, self.loose, period, x, inputs[k])
        return states, inputs

    def _has_tipped(self, x: Array) -> bool:
        """Return whether the loose joint is past its unstable equilibrium in a state (6,)."""
        q = self.start.copy()
        q[self.plane] = x[:3]
        angle_past, _ = self.arm.pendulum(q, self.arm.loose[0])  # the stable equilibrium
        return angle_past * self.model.free_side < 0.0 and np.pi - abs(angle_past) > TIPPED_ANGLE

    def _improve(
        self, problem: planar.PlanarProblem, states: Array, inputs: Array, end_weights: Array
    ) -> tuple[Array, Array]:
        """Return better states and inputs, by iterative LQR.

        Args:
            problem: what the trajectory is judged by.
            states, inputs: of the trajectory so far (n + 1, 6), (n, 2).
            end_weights: weights of the distance of its end from the goal (6,).
        """
        goal, n = self._goal_state, len(inputs)

        def changed(base: Trajectory, gains: Array, changes: Array) -> Trajectory:
            """Return a trajectory with changed inputs (n, 2) and feedback on the deviation."""
            rolled = Trajectory(*planar.rollout(problem, base.states, base.inputs, gains, changes))
            off_goal = 0.5 * float(end_weights @ (rolled.states[-1] - goal) ** 2)
            return rolled._replace(cost=rolled.cost + off_goal)

        regularisation = FIRST_REGULARISATION
        best = Trajectory(np.inf, states, inputs)
        best = changed(best, np.zeros((n, 2, 6)), np.zeros((n, 2)))
        step_slopes, residuals = planar.linearise(problem, best.states, best.inputs)
        for _ in range(MAX_ROUNDS):
            end = np.diag(end_weights), end_weights * (best.states[-1] - goal)
            gains, changes = riccati(step_slopes, residuals, end, problem.period, regularisation)
            # The largest change that lowers the cost; without one, the regularisation is raised.
            attempts = (changed(best, gains, 0.5**i * changes) for i in range(MAX_HALVINGS))
            better = next((attempt for attempt in attempts if attempt.cost < best.cost), None)
            if better is None:
                regularisation *= 10.0
                continue
            gain = best.cost - better.cost
            best = better
            if gain < MIN_RELATIVE_GAIN * best.cost:
                break
            regularisation = max(0.3 * regularisation, MIN_REGULARISATION)
            step_slopes, residuals = planar.linearise(problem, best.states, best.inputs)
        return best.states, best.inputs

    def _regulator_gains(self, states: Array, inputs: Array, limit_factor: float) -> Array:
        """Return the gains of the regulator (n + 1, 2, 6), the last one at the goal.

        The trajectory is continued by STILL_PERIODS at the goal, and the model has no spring.
        """
        problem = self._problem(limit_factor, self.period)
        problem = problem._replace(model=self.model._replace(spring_angle=0.0, free_side=0.0))
        states = np.concatenate([states[:-1], np.tile(self._goal_state, (STILL_PERIODS, 1))])
        count = len(inputs)
        inputs = np.concatenate([inputs, np.zeros((STILL_PERIODS, planar.INPUT_COUNT))])
        step_slopes, _ = planar.linearise(problem, states, inputs)
        # A residual for each entry of the state and each input.
        residuals = np.zeros((len(inputs), planar.VALUE_COLUMN, planar.VALUE_COLUMN + 1))
        residuals[:, :, :-1] = np.diag(np.sqrt([*REGULATOR_WEIGHTS, 1.0, 1.0]))
        end = np.diag(REGULATOR_WEIGHTS), np.zeros(planar.STATE_SIZE)
        gains, _ = riccati(step_slopes, residuals, end, self.period, 0.0)
        return gains[: count + 1]


def riccati(
    step_slopes: Array, residuals: Array, end: Quadratic, period: float, regularisation: float
) -> tuple[Array, Array]:
    """Return the gains (n, 2, 6) and changes of inputs (n, 2) that minimise the quadratic cost.

    The Riccati recursion from the end back. In each step, H and g are Hessian and gradient of the
    cost from there on by state and input.

    Args:
        step_slopes: Jacobians of steps by state and input (n, 6, 8).
        residuals: Jacobians of r residuals, and the residuals in the last column (n, r, 9).
        end: Hessian (6, 6) and gradient (6,) of the cost of the end by the state.
        period: duration of a step [s].
        regularisation: weight that is added to the inputs.
    """
    hessian, gradient = end
    gains, changes = np.empty((len(step_slopes), 2, 6)), np.empty((len(step_slopes), 2))
    squares = period * np.swapaxes(residuals[:, :, :-1], 1, 2) @ residuals
    squares[:, BY_INPUT, BY_INPUT] += regularisation * period * np.eye(planar.INPUT_COUNT)
    for k in range(len(step_slopes) - 1, -1, -1):
        A = step_slopes[k]
        H = squares[k, :, :-1] + A.T @ hessian @ A
        g = squares[k, :, -1] + A.T @ gradient
        right_side = np.column_stack([H[BY_INPUT, BY_STATE], g[BY_INPUT]])
        solution = np.linalg.solve(H[BY_INPUT, BY_INPUT], right_side)
        gains[k] = -solution[:, :-1]
        changes[k] = -solution[:, -1]
        hessian = H[BY_STATE, BY_STATE] + H[BY_STATE, BY_INPUT] @ gains[k]
        gradient = g[BY_STATE] + gains[k].T @ g[BY_INPUT]
        hessian = 0.5 * (hessian + hessian.T)
    return gains, changes


def _planar_model(
    model: pin.Model, q: Array, p: PackbotParameters, loose: int, free_side: float
) -> planar.PlanarModel:
    """Return the model of the arm in its plane.

    Args:
        model: pinocchio's model of the whole arm.
        q: angles (7,) at which the joints outside the plane are held, and the loose joint leans.
        p: with its friction.
        loose: index of the loose joint, 0 to 6.
        free_side: sign of the side on which the loose joint is free.
    """
    outside = [i + 1 for i in range(len(JOINTS)) if i not in PLANE]
    plane = pin.buildReducedModel(model, outside, q)
    bodies = plane.inertias.tolist()[1:]
    masses = np.array([body.mass for body in bodies])
    centres = np.array([complex(body.lever[0], body.lever[2]) for body in bodies])
    lengths = np.array([plane.jointPlacements[k].translation[0] for k in (2, 3)] + [0.0])
    inertias = np.array([body.inertia[1, 1] for body in bodies]) + masses * np.abs(centres) ** 2
    viscous, armature = (p.of_joints(k)[list(PLANE)] for k in ("viscous", "reflected_inertia"))
    moments, spring_angle, gravity = masses * centres, float(q[loose]), float(p.gravity)
    return planar.PlanarModel(
        lengths, masses, moments, inertias, viscous, armature, spring_angle, free_side, gravity
    )
