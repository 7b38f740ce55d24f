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

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import roboaccord
from roboaccord.contract import Acceleration, Array, Command, Event, RobotState
from roboaccord.numerics import quaternion_matrix, quaternion_product, turn_quaternion, yaw_matrix
from roboaccord.scenario import Setup
from roboaccord.simulators import LOCK_INERTIA, Reference

from roller_sphere.dribbling.dynamics import RATES, TURNS, Bodies, advance, mass_matrix
from roller_sphere.model.contact import Friction
from roller_sphere.model.hold import CARRIER, ROLLERS, YAW, ball_offsets, geometry_of, is_held
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
        self._bodies = Bodies(
            press_force=p.press_force,
            mass=p.roller_mass + p.holder_mass,
            roller_inertia=p.roller_inertia,
            gravity=p.gravity,
            fixed=fixed_masses(p),
            friction=(friction.viscous, friction.dry / p.press_force, friction.slip_speed),
        )
        self._rates, self._positions = np.zeros(RATES), np.zeros(5)
        self._is_held = True
        # Turns of the ball (3) and the rollers (2) in each physics step of a control period [rad].
        self._turns = np.zeros((1, TURNS))
        self._warm_up(setup.initial)

    def _start(self, state: RobotState) -> None:
        """Begin at a state; the ball's velocity follows from its spin."""
        p = self.parameters
        self._rates = rates_of(state)
        # The joints are measured from the start; the carrier's middle starts `ball_ahead` behind.
        carrier = state.q[CARRIER] - np.array([p.ball_ahead, 0.0])
        self._positions = np.array([*state.position[:2], *carrier, state.q[YAW]])
        self._is_held = bool(is_held(p, ball_offsets(p, state.q, state.position)))
        self._now = self._complete(state, state.orientation, state.q[ROLLERS])

    def _place(self, state: RobotState) -> None:
        """Begin at a state whose positions do not matter."""
        self._now, self._rates = state, rates_of(state)

    def _advance(self, command: Command, duration: float) -> None:
        """Advance by a control period; an event is noted when the ball is lost."""
        if len(self._turns) != self._steps:
            self._turns = np.zeros((self._steps, TURNS))
        # The effort acts on rollers and carrier, not the ball. Positions and rates change in place.
        drive = np.concatenate([np.zeros(BALL_RATES), self._effort])
        positions, rates, step = self._positions, self._rates, self.physics_step
        lost_step = advance(
            self._geometry, self._bodies, drive, positions, rates, self._is_held, step, self._turns
        )
        before = self._now
        if lost_step >= 0:
            self._is_held = False
            time = round(before.time + lost_step * self.physics_step, 9)
            self._events.append(Event(time, "ball_lost", "base_link"))
        # Compose the ball's small turns; the rollers' angles add up.
        orientation = before.orientation
        for turn in self._turns:
            orientation = quaternion_product(turn_quaternion(turn[:BALL_RATES]), orientation)
        rollers = before.q[ROLLERS] + self._turns[:, BALL_RATES:].sum(axis=0)
        self._now = self._complete(replace(before, effort=self._effort), orientation, rollers)

    def lock(self, joint: int, locked: bool) -> None:
        """Lock a joint by a large inertia in M, or release it."""
        diagonal = BALL_RATES + joint, BALL_RATES + joint  # entry of the joint in M
        unlocked = fixed_masses(self.parameters)[diagonal]
        self._bodies.fixed[diagonal] = LOCK_INERTIA if locked else unlocked

    def _response(self, state: RobotState, joint: int) -> Acceleration:
        """Return the change of velocities by a unit impulse on a joint, while the ball rolls.

        The impulse on joint j changes the rates by column 3 + j of the inverse of M.
        """
        M = mass_matrix(self._geometry, self._bodies, self._positions, self._rates, self._is_held)
        change = np.linalg.solve(M, np.eye(RATES)[BALL_RATES + joint])
        spin = change[:BALL_RATES]
        return Acceleration(np.concatenate([self._rolling(spin), spin]), change[BALL_RATES:])

    def _rolling(self, spin: Array) -> Array:
        """Return the velocity r omega x z (3,) of a rolling ball, by its angular velocity (3,)."""
        return np.array([spin[1], -spin[0], 0.0]) * float(self.parameters.radius)

    def _complete(self, state: RobotState, orientation: Array, rollers: Array) -> RobotState:
        """Return a state with the present rates and positions.

        Args:
            state: gives the fields that stay, such as the effort.
            orientation: quaternion x y z w of the ball (4,).
            rollers: angles of both rollers (2,) [rad].
        """
        p, rotation = self.parameters, quaternion_matrix(orientation)
        spin = self._rates[:BALL_RATES]
        ball_x, ball_y, carrier_x, carrier_y, yaw = self._positions
        return replace(
            state,
            time=self._time,
            q=np.array([*rollers, carrier_x + p.ball_ahead, carrier_y, yaw]),
            qd=self._rates[BALL_RATES:].copy(),
            position=np.array([ball_x, ball_y, p.radius]),
            orientation=orientation,
            twist=np.concatenate([self._rolling(spin) @ rotation, spin @ rotation]),
        )

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations without contact: the ball falls freely."""
        p, fixed = self.parameters, self._bodies.fixed
        joints = accelerations_without_contact(p, fixed, state, effort)
        return Acceleration(np.concatenate([-p.gravity * UP, np.zeros(3)]), joints)

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        return {**self.parameters.masses, "stage_x_link": STAGE_MASS, "stage_y_link": STAGE_MASS}


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
    rollers = [p.roller_inertia, p.roller_inertia]
    carrier = [p.carrier_mass + 2.0 * STAGE_MASS, p.carrier_mass + STAGE_MASS]
    yaw = p.carrier_inertia + 2.0 * (p.roller_inertia + HOLDER_INERTIA)
    return np.diag([rolling, rolling, p.ball_inertia, *rollers, *carrier, yaw])


def accelerations_without_contact(
    parameters: RollerSphereParameters, fixed: Array, state: RobotState, effort: Array
) -> Array:
    """Return the accelerations of the joints (5,) when the rollers do not touch the ball.

    The slides are free, in their middle positions and at rest, and no force presses them: the same
    conditions as in the comparison with other engines. M is the mass matrix and J the Jacobian of a
    roller's centre, at `centre` from the carrier's middle; n is the direction of its slide.

    Args:
        parameters: of the robot.
        fixed: part of M that does not depend on the configuration (8, 8).
        state: gives the carrier's yaw and its rate.
        effort: torques of the rollers and forces and torque of the carrier (5,).
    """
    p, mass = parameters, parameters.roller_mass + parameters.holder_mass
    rotation, yaw_rate = yaw_matrix(state.q[YAW]), float(state.qd[YAW])
    # Slide directions, roller axes and roller centres, in the world frame from the carrier.
    normals, axes = p.rig.normals @ rotation.T, -p.rig.axes @ rotation.T
    centres = (p.radius + p.roller_radius) * normals + rotation @ np.array([p.ball_ahead, 0.0, 0.0])
    # Rows: the five joints, of which i is roller i's, then both slides.
    joints = len(effort)
    M = np.zeros((joints + 2, joints + 2))
    M[:joints, :joints] = fixed[BALL_RATES:, BALL_RATES:]
    forces = np.concatenate([effort, np.zeros(2)])
    for i, (n, axis, centre) in enumerate(zip(normals, axes, centres)):
        # Jacobian of the roller's centre: the carrier moves and turns it, the slide lets it out.
        J = np.zeros((3, len(M)))
        J[:2, CARRIER] = np.eye(2)
        J[:, YAW] = np.cross(UP, centre)
        J[:, joints + i] = -n
        M += mass * J.T @ J
        # The carrier's yaw turns the roller about its own axis, too.
        M[i, YAW] += p.roller_inertia * axis[2]
        M[YAW, i] += p.roller_inertia * axis[2]
        # Centripetal acceleration of the carrier's turn, and weight.
        centripetal = yaw_rate * yaw_rate * np.cross(UP, np.cross(UP, centre))
        forces -= mass * J.T @ (centripetal + p.gravity * UP)
    return np.asarray(np.linalg.solve(M, forces)[:joints])
