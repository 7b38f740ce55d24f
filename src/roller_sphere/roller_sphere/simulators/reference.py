"""Reference simulator of the ball in its bearing.

The rates x (5,) are the angular velocity of the ball in the world frame and the speeds of both
rollers. The slip zeta_i = omega x P_i - nu_i e_i at contact i is the velocity of the ball's surface
at the contact point P_i less that of the roller's surface, which moves with its peripheral speed
nu_i along e_i (model/rig.py). The slips are zeta = G x. B tau (5,) are the torques tau of the
rollers, and 0 for the ball. With the inertias I of the ball and J of a roller, M = diag(I, I, I, J,
J), this gives

    M x' = B tau + G' f(G x),

where f is the friction of each contact. A step of the exponential Rosenbrock method is exact for
viscous friction, of second order for dry friction, and stable however stiff either is. Friction
comes from model/contact.py, masses from config/parameters.yaml.

The scheme is fixed: test_roller_driving compares a step with the matrix exponential, and steady
slips with the paper's.
"""

import math
from collections.abc import Mapping

import numpy as np
import roboaccord
from roboaccord.contract import Acceleration, Array, Command, RobotState
from roboaccord.numerics import kernel, quaternion_matrix, quaternion_product, turn_quaternion
from roboaccord.scenario import Setup
from roboaccord.simulators import LOCK_INERTIA, Reference

from roller_sphere.model.contact import Friction, fill_friction
from roller_sphere.model.odometry import RollingOdometry
from roller_sphere.model.parameters import RollerSphereParameters

# |z| below which the series of phi_1(z) and phi_2(z) replace the quotients: their first neglected
# term is 1e-12 / 24, while phi_2 by the quotient is wrong by 2e-16 / z
NEAR_ZERO = 1e-4


def slip_matrix(parameters: RollerSphereParameters) -> Array:
    """Return G (6, 5): the slips of both contacts by the rates, zeta_i = omega x P_i - nu_i e_i."""
    rig = parameters.rig
    matrix = np.zeros((6, 5))
    for i, (contact, direction) in enumerate(zip(rig.contacts, rig.directions, strict=True)):
        matrix[3 * i : 3 * i + 3, :3] = np.cross(np.eye(3), contact).T
        matrix[3 * i : 3 * i + 3, 3 + i] = -parameters.roller_radius * direction
    return matrix


@kernel
def advance_in_bearing(G, mass, friction, x, drive, step, turns):
    """Advance the rates by as many steps as `turns` has rows.

    A step is x += h phi_1(h A) x' with the Jacobian A of x', phi_1(z) = (exp(z) - 1) / z. The
    integral of x over it is h x + h^2 phi_2(h A) x', phi_2(z) = (phi_1(z) - 1) / z. A itself is not
    symmetric, but M^(1/2) A M^(-1/2) is, so its eigenvectors are orthogonal, and the functions are
    applied to its eigenvalues.

    Args:
        G: matrix of the slips zeta = G x (6, 5).
        mass: mass or inertia of each rate (5,).
        friction: viscous coefficient [N s/m], dry friction [N] and slip speed [m/s] of a contact.
        x: rates (5,) [rad/s], changed.
        drive: efforts (5,) [N m], 0 for the ball.
        step: time step h [s].
        turns: filled with the integrals of the rates in each step (count, 5) [rad].
    """
    root_mass = np.sqrt(mass)
    force = np.empty(6)
    slope = np.zeros((6, 6))
    phi1, phi2 = np.empty(5), np.empty(5)
    for k in range(len(turns)):
        slip = G @ x
        # Friction at both contacts and its slope, then M^(1/2) x' and M^(1/2) A M^(-1/2).
        for i in (0, 3):
            fill_friction(
                friction, 1.0, slip[i : i + 3], force[i : i + 3], slope[i : i + 3, i : i + 3]
            )
        pull = (drive + G.T @ force) / root_mass
        jacobian = (G.T @ slope @ G) / root_mass / root_mass.reshape(5, 1)
        values, vectors = np.linalg.eigh(jacobian)
        for i in range(5):
            z = step * values[i]
            if abs(z) < NEAR_ZERO:
                phi1[i] = 1.0 + z / 2.0 + z * z / 6.0
                phi2[i] = 0.5 + z / 6.0 + z * z / 24.0
            else:
                phi1[i] = math.expm1(z) / z
                phi2[i] = (phi1[i] - 1.0) / z
        along = vectors.T @ pull  # components along the eigenvectors
        turns[k] = step * x + step * step * (vectors @ (phi2 * along)) / root_mass
        x += step * (vectors @ (phi1 * along)) / root_mass


class RollerSphereReference(Reference):
    """The ball in its bearing and the rollers on it.

    Args:
        setup: robot and scenario.
        friction: of each contact.

    Raises:
        AccordError: for a ball that is not in its bearing, or has no friction with the rollers.
    """

    version = f"roboaccord-roller-sphere {roboaccord.__version__}"
    order = 2
    bases = ("ball",)

    def __init__(self, setup: Setup, friction: Friction) -> None:
        super().__init__(setup)
        p: RollerSphereParameters = setup.parameters
        self._friction = friction.row  # viscous and dry friction, slip speed
        self._slip_matrix = slip_matrix(p)  # G (6, 5)
        self._mass = np.array([p.ball_inertia] * 3 + [p.roller_inertia] * 2)
        self._odometry = RollingOdometry(p.radius)
        self._rates = np.zeros(5)  # of ball (3) and rollers (2) [rad/s]
        # Turns of the ball (3) and the rollers (2) in each physics step of a control period [rad].
        self._turns = np.zeros((1, 5))
        self._warm_up(setup.initial)

    def _start(self, state: RobotState) -> None:
        """Begin at a state, and its odometry with it."""
        self._place(self._odometry.reset(state))

    def lock(self, joint: int, locked: bool) -> None:
        """Lock a roller by a large inertia, or release it."""
        self._mass[3 + joint] = LOCK_INERTIA if locked else self.parameters.roller_inertia

    def _place(self, state: RobotState) -> None:
        """Set the state and the rates that follow from it."""
        super()._place(state)
        spin = quaternion_matrix(state.orientation) @ state.twist[3:]
        self._rates = np.concatenate([spin, state.qd])

    def _advance(self, command: Command, duration: float) -> None:
        """Advance by a control period, and add up the turns of its physics steps."""
        if len(self._turns) != self._steps:
            self._turns = np.zeros((self._steps, 5))
        G, friction, step, turns = self._slip_matrix, self._friction, self.physics_step, self._turns
        drive = np.concatenate([np.zeros(3), self._effort])
        advance_in_bearing(G, self._mass, friction, self._rates, drive, step, turns)
        before = self._now
        orientation = before.orientation
        for turn in turns:
            orientation = quaternion_product(turn_quaternion(turn[:3]), orientation)
        q, qd = before.q + turns[:, 3:].sum(axis=0), self._rates[3:].copy()
        spin = self._rates[:3] @ quaternion_matrix(orientation)  # in the ball's axes
        twist = np.concatenate([np.zeros(3), spin])
        after = RobotState(self._time, q, qd, self._effort, before.position, orientation, twist)
        self._now = self._odometry.follow(after)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations without contact: each roller turns by itself."""
        return Acceleration(np.zeros(6), effort / self._mass[3:])

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg], with those of the carrier, which stands still."""
        return dict(self.parameters.masses)
