"""Reference simulator of the ball on the ground and the carrier that dribbles it.

Three assumptions make the model. The ball rolls on the ground without slip, never leaves it, and
spins freely about the vertical. Each roller is pressed along its slide by a constant force and
touches the ball as a sphere does, so the contact point moves with the ball; the roller's load is
that force plus the roller's weight and inertia, and its friction is the scenario's, with dry
friction smoothed. Carrier, rollers and ball act on each other in both directions: dynamics.py
solves M y' = Q for the rates y.

A physics step advances the positions by half a step, the rates by a whole one, and the positions by
the other half (midpoint rule, of second order; test_roller_dribble). Once a roller cannot reach the
ball any more, the ball is lost: both rollers release it for good, their slides rest at the stops,
and the ball rolls on.

Forces and events may be added in `_advance`, masses in `fixed_masses` and `masses`. STAGE_MASS and
HOLDER_INERTIA equal numbers of urdf/roller_sphere.urdf.xacro (test_conformance).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import roboaccord
from roboaccord.contract import Acceleration, Array, Command, Event, RobotState
from roboaccord.numerics import quaternion_matrix, quaternion_product, turn_quaternion, yaw_matrix
from roboaccord.scenario import Setup
from roboaccord.simulators import LOCK_INERTIA, Reference

from roller_sphere.dribbling.dynamics import RATES, Bodies, advance, mass_matrix
from roller_sphere.model.contact import Friction
from roller_sphere.model.hold import ball_offsets, geometry_of, is_held
from roller_sphere.model.parameters import RollerSphereParameters

# kg; mass of each link between the carrier's joints, as in the URDF: physics engines need one that
# is not 0, and this is less than a thousandth of the carrier's.
STAGE_MASS = 0.01
# kg m^2; moment of inertia of a roller's holder, as in the URDF: 0.05 kg at 14 mm from its axis
HOLDER_INERTIA = 1e-5
BALL_RATES = 3  # rates of the ball, which come before those of the joints in y
UP = np.array([0.0, 0.0, 1.0])  # unit vector of the z axis, world frame


class DribbleReference(Reference):
    """Simulator of the ball on the ground and the carrier that dribbles it.

    The rates y (8,) are the ball's angular velocity in the world frame (3,), the speeds of both
    rollers (2,), and the carrier's velocity in x, y and yaw (3,) [rad/s, m/s]. The positions (5,)
    are the ball's x and y, the carrier's x and y, and its yaw [m, rad].

    Args:
        setup: robot and scenario.
        friction: friction of a roller pressed by `press_force`; dry friction grows with the load.
    """

    version = f"roboaccord-roller-sphere {roboaccord.__version__}"
    order = 2
    bases = ("free",)

    def __init__(self, setup: Setup, friction: Friction) -> None:
        super().__init__(setup)
        p: RollerSphereParameters = setup.parameters
        self._geometry = geometry_of(p)
        mass, fixed = p.roller_mass + p.holder_mass, fixed_masses(p)
        law = friction.viscous, friction.dry / p.press_force, friction.slip_speed
        self._bodies = Bodies(p.press_force, mass, p.roller_inertia, p.gravity, fixed, law)
        self._rates, self._positions, self._is_held = np.zeros(RATES), np.zeros(5), True
        # Turns of the ball (3) and the rollers (2) in each physics step of a control period [rad].
        self._turns = np.zeros((1, 5))
        self._warm_up(setup.initial)

    def _start(self, state: RobotState) -> None:
        """Begin at a state; the ball's velocity follows from its spin."""
        p = self.parameters
        self._rates = rates_of(state)
        # The joints are measured from the start; the carrier's middle starts `ball_ahead` behind.
        carrier = state.q[2:4] - np.array([p.ball_ahead, 0.0])
        self._positions = np.array([*state.position[:2], *carrier, state.q[4]])
        self._is_held = bool(is_held(p, ball_offsets(p, state.q, state.position)))
        self._now = self._complete(state, state.orientation, state.q[:2])

    def _place(self, state: RobotState) -> None:
        self._now, self._rates = state, rates_of(state)

    def _advance(self, command: Command, duration: float) -> None:
        if len(self._turns) != self._steps:
            self._turns = np.zeros((self._steps, 5))
        geometry, bodies = self._geometry, self._bodies
        # The effort acts on rollers and carrier, not the ball. Positions and rates change in place.
        drive = np.concatenate([np.zeros(BALL_RATES), self._effort])
        positions, rates, turns = self._positions, self._rates, self._turns
        lost_step = advance(
            geometry, bodies, drive, positions, rates, self._is_held, self.physics_step, turns
        )
        before, orientation = self._now, self._now.orientation
        if lost_step >= 0:
            self._is_held = False
            time = round(before.time + lost_step * self.physics_step, 9)
            self._events.append(Event(time, "ball_lost", "base_link"))
        # Compose the ball's small turns; the rollers' angles add up.
        for turn in self._turns:
            orientation = quaternion_product(turn_quaternion(turn[:3]), orientation)
        rollers = before.q[:2] + self._turns[:, 3:].sum(axis=0)
        self._now = self._complete(replace(before, effort=self._effort), orientation, rollers)

    def lock(self, joint: int, locked: bool) -> None:
        diagonal = BALL_RATES + joint, BALL_RATES + joint  # entry of the joint in M
        unlocked = fixed_masses(self.parameters)[diagonal]
        self._bodies.fixed[diagonal] = LOCK_INERTIA if locked else unlocked

    def _response(self, state: RobotState, joint: int) -> Acceleration:
        """Return the change of velocities by a unit impulse on a joint, while the ball rolls.

        The impulse on joint j changes the rates by column 3 + j of the inverse of M.
        """
        M = mass_matrix(self._geometry, self._bodies, self._positions, self._rates, self._is_held)
        change = np.linalg.solve(M, np.eye(RATES)[BALL_RATES + joint])
        rolling = self.parameters.radius * np.array([change[1], -change[0], 0.0])
        return Acceleration(np.concatenate([rolling, change[:3]]), change[3:])

    def _complete(self, state: RobotState, orientation: Array, rollers: Array) -> RobotState:
        """Return a state with the present rates and positions.

        Args:
            state: gives the fields that stay, such as the effort.
            orientation: quaternion x y z w of the ball (4,).
            rollers: angles of both rollers (2,) [rad].
        """
        p, y, positions = self.parameters, self._rates, self._positions
        rotation = quaternion_matrix(orientation)
        velocity = p.radius * np.array([y[1], -y[0], 0.0])  # v = r omega x z
        carrier = positions[2:4] + np.array([p.ball_ahead, 0.0])
        return replace(
            state,
            time=self._time,
            q=np.array([*rollers, *carrier, positions[4]]),
            qd=y[BALL_RATES:].copy(),
            position=np.array([*positions[:2], p.radius]),
            orientation=orientation,
            twist=np.concatenate([velocity @ rotation, y[:BALL_RATES] @ rotation]),
        )

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        p, fixed = self.parameters, self._bodies.fixed
        joints = accelerations_without_contact(p, fixed, state, effort)
        return Acceleration(np.concatenate([-p.gravity * UP, np.zeros(3)]), joints)

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        stages = {f"stage_{axis}_link": STAGE_MASS for axis in "xy"}
        return {**self.parameters.masses, **stages}


def rates_of(state: RobotState) -> Array:
    """Return the rates y (8,) of a state: the ball's angular velocity in the world, the joints."""
    return np.concatenate([quaternion_matrix(state.orientation) @ state.twist[3:], state.qd])


def fixed_masses(parameters: RollerSphereParameters) -> Array:
    """Return the diagonal part of M (8, 8) that does not depend on the configuration.

    The rows are those of y: the ball's angular velocity, both rollers, the carrier's x, y and yaw.
    """
    p = parameters
    # Inertia of the ball about its contact point with the ground (parallel axes).
    rolling = p.ball_inertia + p.ball_mass * p.radius**2
    carrier = [p.carrier_mass + 2.0 * STAGE_MASS, p.carrier_mass + STAGE_MASS]
    yaw = p.carrier_inertia + 2.0 * (p.roller_inertia + HOLDER_INERTIA)
    return np.diag([rolling, rolling, p.ball_inertia, *[p.roller_inertia] * 2, *carrier, yaw])


def accelerations_without_contact(
    parameters: RollerSphereParameters, fixed: Array, state: RobotState, effort: Array
) -> Array:
    """Return the accelerations of the joints (5,) when the rollers do not touch the ball.

    The slides are free, in their middle positions and at rest, and no force presses them: the same
    conditions as in the comparison with other engines.

    Args:
        parameters: of the robot.
        fixed: part of M that does not depend on the configuration (8, 8).
        state: gives the carrier's yaw and its rate.
        effort: torques of the rollers and forces and torque of the carrier (5,).
    """
    p, mass = parameters, parameters.roller_mass + parameters.holder_mass
    rotation, yaw_rate = yaw_matrix(state.q[4]), float(state.qd[4])
    # Slide directions, roller axes and roller centres, in the world frame from the carrier.
    normals, axes = p.rig.normals @ rotation.T, -p.rig.axes @ rotation.T
    centres = (p.radius + p.roller_radius) * normals + rotation @ np.array([p.ball_ahead, 0.0, 0.0])
    # Rows: rollers 0 and 1, carrier x 2, y 3 and yaw 4, slides 5 and 6.
    yaw = 4
    M = np.zeros((7, 7))
    M[:5, :5] = fixed[RATES - 5 :, RATES - 5 :]
    forces = np.concatenate([effort, np.zeros(2)])
    for i, (n, a, rho) in enumerate(zip(normals, axes, centres)):
        # Jacobian of the roller's centre: the carrier moves and turns it, the slide lets it out.
        J = np.zeros((3, 7))
        J[:2, 2:4] = np.eye(2)
        J[:, yaw], J[:, 5 + i] = np.cross(UP, rho), -n
        M += mass * J.T @ J
        # The carrier's yaw turns the roller about its own axis, too.
        M[i, yaw] += p.roller_inertia * a[2]
        M[yaw, i] += p.roller_inertia * a[2]
        # Centripetal acceleration psi'^2 z x (z x rho), and weight.
        centripetal = yaw_rate * yaw_rate * np.cross(UP, np.cross(UP, rho))
        forces -= mass * J.T @ (centripetal + p.gravity * UP)
    return np.asarray(np.linalg.solve(M, forces)[:5])
