"""Reference simulator of the ball on the ground and the carrier that dribbles it.

- The ball rolls on the ground without slip and does not leave it; it spins on it freely. - Each
roller is pressed along its slide by a constant force and touches the ball as a sphere does, so
  the contact moves with the ball. Its load is that force with the roller's weight and inertia.
  Friction is the scenario's, dry friction smoothed.
- Carrier, rollers and ball act on each other in full: M y' = Q in dynamics.py.

Positions take half a step, rates a whole one, positions the other half, which is of the second
order (test_roller_dribble). Once the ball is out of reach of a roller it is lost: both rollers let
go of it for good, their slides at the stops, and it rolls on.

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

from roller_sphere.dribbling.dynamics import RATES, advance, mass_matrix
from roller_sphere.model.contact import Friction
from roller_sphere.model.hold import geometry, holds, offsets
from roller_sphere.model.parameters import RollerSphereParameters

STAGE_MASS = 0.01  # kg, of the links between the carrier's joints in the URDF
HOLDER_INERTIA = 1e-5  # kg m^2, of the rollers' holders in the URDF
UP = np.array([0.0, 0.0, 1.0])


class DribbleReference(Reference):
    """The ball on the ground and the carrier that dribbles it.

    Args:
        setup: robot and scenario.
        friction: of rollers pressed by `press_force`; dry friction grows with the load.
    """

    version = f"roboaccord-roller-sphere {roboaccord.__version__}"
    order = 2
    bases = ("free",)

    def __init__(self, setup: Setup, friction: Friction) -> None:
        super().__init__(setup)
        p: RollerSphereParameters = setup.parameters
        # Arguments of the kernels, dynamics.py.
        self._row, self._along = geometry(p)
        self._forces = (p.press_force, p.roller_mass + p.holder_mass, p.gravity, p.roller_inertia)
        self._fixed = fixed_masses(p)
        self._friction = (friction.viscous, friction.dry / p.press_force, friction.slip_speed)
        self._turns = np.zeros((1, 5))  # of ball and rollers in each step of a period [rad]
        self._warm_up(setup.initial)

    def _start(self, state: RobotState) -> None:
        """Begin at a state; the ball's velocity follows from its spin."""
        p = self.parameters
        self._rates = rates_of(state)
        middle = state.q[2:4] - np.array([p.ball_ahead, 0.0])
        self._positions = np.array([*state.position[:2], *middle, state.q[4]])
        self._holds = bool(holds(p, offsets(p, state.q, state.position)))
        self._now = self._complete(state, state.orientation, state.q[:2])

    def _place(self, state: RobotState) -> None:
        self._now, self._rates = state, rates_of(state)

    def _advance(self, command: Command, duration: float) -> None:
        if len(self._turns) != self._steps:
            self._turns = np.zeros((self._steps, 5))
        lost = advance(
            self._row, self._along, self._forces, self._fixed, self._friction,
            np.concatenate([np.zeros(3), self._effort]), self._positions, self._rates, self._holds,
            self.physics_step, self._turns,
        )  # fmt: skip
        before, orientation = self._now, self._now.orientation
        if lost >= 0:
            self._holds = False
            time = round(before.time + lost * self.physics_step, 9)
            self._events.append(Event(time, "ball_lost", "base_link"))
        for turn in self._turns:
            orientation = quaternion_product(turn_quaternion(turn[:3]), orientation)
        rollers = before.q[:2] + self._turns[:, 3:].sum(axis=0)
        after = replace(before, effort=self._effort)
        self._now = self._complete(after, orientation, rollers)

    def lock(self, joint: int, locked: bool) -> None:
        place = 3 + joint, 3 + joint
        self._fixed[place] = LOCK_INERTIA if locked else fixed_masses(self.parameters)[place]

    def _response(self, state: RobotState, joint: int) -> Acceleration:
        """Return the change of velocities by a unit impulse on a joint, while the ball rolls."""
        M = mass_matrix(
            self._row,
            self._along,
            self._forces,
            self._fixed,
            self._positions,
            self._rates,
            self._holds,
        )
        change = np.linalg.solve(M, np.eye(RATES)[3 + joint])
        rolling = self.parameters.radius * np.array([change[1], -change[0], 0.0])
        return Acceleration(np.concatenate([rolling, change[:3]]), change[3:])

    def _complete(self, state: RobotState, orientation: Array, rollers: Array) -> RobotState:
        """Return a state with the present rates and positions, and those of ball and rollers."""
        p, y, place = self.parameters, self._rates, self._positions
        rotation = quaternion_matrix(orientation)
        velocity = p.radius * np.array([y[1], -y[0], 0.0])
        middle = place[2:4] + np.array([p.ball_ahead, 0.0])
        return replace(
            state,
            time=self._time,
            q=np.array([*rollers, *middle, place[4]]),
            qd=y[3:].copy(),
            position=np.array([*place[:2], p.radius]),
            orientation=orientation,
            twist=np.concatenate([velocity @ rotation, y[:3] @ rotation]),
        )

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        base = np.concatenate([-self.parameters.gravity * UP, np.zeros(3)])
        return Acceleration(base, untouched(self.parameters, self._fixed, state, effort))

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        stages = {f"stage_{axis}_link": STAGE_MASS for axis in "xy"}
        masses: Mapping[str, float] = self.parameters.masses
        return {**masses, **stages}


def rates_of(state: RobotState) -> Array:
    """Return the rates y (8,) of a state: the ball's angular velocity in the world, the joints."""
    return np.concatenate([quaternion_matrix(state.orientation) @ state.twist[3:], state.qd])


def fixed_masses(parameters: RollerSphereParameters) -> Array:
    """Return the part of M (8, 8) that does not depend on the configuration."""
    p = parameters
    rolling = p.ball_inertia + p.ball_mass * p.radius**2
    carrier = [p.carrier_mass + 2.0 * STAGE_MASS, p.carrier_mass + STAGE_MASS]
    yaw = p.carrier_inertia + 2.0 * (p.roller_inertia + HOLDER_INERTIA)
    return np.diag([rolling, rolling, p.ball_inertia, *[p.roller_inertia] * 2, *carrier, yaw])


def untouched(
    parameters: RollerSphereParameters, fixed: Array, state: RobotState, effort: Array
) -> Array:
    """Return the accelerations of the joints (5,) without contact, with free slides.

    `fixed` is the constant part of M. The slides are at their middles and at rest, and nothing
    presses them, as in the comparison with engines.
    """
    p, mass = parameters, parameters.roller_mass + parameters.holder_mass
    turn, rate = yaw_matrix(state.q[4]), float(state.qd[4])
    normals, axes = p.rig.normals @ turn.T, -p.rig.axes @ turn.T
    centres = (p.radius + p.roller_radius) * normals + turn @ np.array([p.ball_ahead, 0.0, 0.0])
    # Rates: rollers 0 and 1, carrier x, y and yaw, slides 5 and 6.
    yaw = 4
    M = np.zeros((7, 7))
    M[:5, :5] = fixed[RATES - 5 :, RATES - 5 :]
    forces = np.concatenate([effort, np.zeros(2)])
    for i, (n, a, rho) in enumerate(zip(normals, axes, centres)):
        J = np.zeros((3, 7))
        J[:2, 2:4] = np.eye(2)
        J[:, yaw], J[:, 5 + i] = np.cross(UP, rho), -n
        M += mass * J.T @ J
        M[i, yaw] += p.roller_inertia * a[2]
        M[yaw, i] += p.roller_inertia * a[2]
        swing = rate * rate * np.cross(UP, np.cross(UP, rho))
        forces -= mass * J.T @ (swing + p.gravity * UP)
    return np.asarray(np.linalg.solve(M, forces)[:5])
