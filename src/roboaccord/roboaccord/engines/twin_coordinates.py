"""Coordinates of a twin: the axes in which a scheme steps the base, and the steps themselves.

A twin (twin.py) is our equations of motion under an engine's integration method, its `Scheme`
(spec.py). Engines differ in the axes of a free base's velocities, and in how they step its
orientation. `SteppedAxes` converts a motion to the `Coordinates` and rates that the scheme steps,
and takes steps of them. In the Runge-Kutta method, rotations are stepped by the version of
Munthe-Kaas [1999]: the unknown is the rotation vector since the start of the step. In some engines
it is the quaternion, whose components are then stepped like positions.

Arrays may have leading dimensions, one of samples for instance, which are written as `...`. A
scheme may be added by a value of `Scheme` and a branch here; it must be exact to round-off
(test_scheme).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from roboaccord.contract import Array, RobotState, Trajectory
from roboaccord.description.base_kinds import FixedBase
from roboaccord.engines.spec import Scheme
from roboaccord.numerics import rotations

# The classical Runge-Kutta method of order 4: weights of its four stages, and times of the last
# three as fractions of the step.
STAGE_WEIGHTS = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
STAGE_FRACTIONS = (0.5, 0.5, 1.0)
# [rad] Angle below which `inverse_differential` replaces its factor by the first term of the
# series, 1 / 12. The next term, angle^2 / 720, times the squared angle is less than a rounding of 1
# there, and the formula itself would lose as much by cancellation.
SMALL_ANGLE = 1e-4
# [rad] Angle below which DART expands the exponential of a rotation to second order only
# (dart/math/Geometry.cpp).
DART_SMALL_ANGLE = 1e-3


class Coordinates(NamedTuple):
    """Coordinates of a tree of n joints, or their derivative by time.

    Attributes:
        q: positions of the joints (..., n) [rad or m].
        position: origin of the base in the world (..., 3) [m].
        orientation: quaternion x y z w of any length (..., 4). In a derivative: that of the
            rotation vector since the start of the step (3,), or that of the quaternion (4,).
    """

    q: Array
    position: Array
    orientation: Array

    @property
    def rotation(self) -> Array:
        """Rotation matrix of the base (..., 3, 3)."""
        return rotations.quaternion_matrix(unit(self.orientation))


# q, qd, position, orientation, and twist in the base's own axes: the order of a `Trajectory`, whose
# shapes they have, too.
Motion = tuple[Array, Array, Array, Array, Array]


def unit(vectors: Array) -> Array:
    """Return vectors (..., m) divided by their lengths."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def rotate(rotation: Array, vector: Array) -> Array:
    """Return vectors (..., 3) rotated by matrices (..., 3, 3)."""
    return np.asarray((rotation @ vector[..., None])[..., 0])


def rotate_back(rotation: Array, vector: Array) -> Array:
    """Return vectors (..., 3) rotated by the inverses of matrices (..., 3, 3)."""
    return np.asarray((vector[..., None, :] @ rotation)[..., 0, :])


def inverse_differential(since: Array, rate: Array) -> Array:
    """Return the derivative of a rotation vector (3,) at an angular velocity w (3,).

    With the rotation vector r, of length a, and w in the turned axes:
    r' = w + r x w / 2 + (1 - (a / 2) / tan(a / 2)) / a^2 r x (r x w).

    Args:
        since: rotation vector r [rad].
        rate: angular velocity w [rad/s].
    """
    angle = float(np.linalg.norm(since))
    product = np.cross(since, rate)
    half = 0.5 * angle
    factor = (1.0 - half / np.tan(half)) / angle**2 if angle > SMALL_ANGLE else 1.0 / 12.0
    return np.asarray(rate + 0.5 * product + factor * np.cross(since, product))


def cut_exponential(rotation_vector: Array, exact: Array | None = None) -> Array:
    """Return the quaternion x y z w (4,) that DART makes of a rotation vector (3,) [rad].

    Below DART_SMALL_ANGLE it is that of 1 + K + K K / 2, with the cross product matrix K, else the
    exact one, which may be given.
    """
    if np.linalg.norm(rotation_vector) < DART_SMALL_ANGLE:
        cross_matrix = np.cross(np.eye(3), rotation_vector)
        exponential = np.eye(3) + cross_matrix + 0.5 * cross_matrix @ cross_matrix
        return rotations.matrix_quaternion(exponential)
    return rotations.turn_quaternion(rotation_vector) if exact is None else exact


class SteppedAxes:
    """Convert between motions and the coordinates and rates that a scheme steps.

    Rates (..., 6 + n) are linear and angular velocity of the base, in the world's axes or its own
    as the scheme has them, and the joints' rates. The linear one is that of the scheme's point.

    Args:
        scheme: integration method of the engine.
        base: how the base moves.
    """

    def __init__(self, scheme: Scheme, base: FixedBase) -> None:
        self.linear_own = scheme.linear == "own" and base.tilts  # velocity in the base's own axes
        self._angular_own = scheme.angular == "own"
        self._point = np.array(scheme.point) if base.tilts and any(scheme.point) else None
        self._tilts = base.tilts
        self._turning = scheme.turning if base.tilts else "rotation vector"

    def coordinates_of(self, motion: RobotState | Trajectory) -> tuple[Coordinates, Array]:
        """Return coordinates and rates of a state, or of all samples of a trajectory."""
        rotation, twist = rotations.quaternion_matrix(motion.orientation), motion.twist
        linear, angular = rotate(rotation, twist[..., :3]), rotate(rotation, twist[..., 3:])
        rates = np.concatenate([*self.from_world(rotation, linear, angular), motion.qd], axis=-1)
        q, position, orientation = motion.q, motion.position, motion.orientation
        return Coordinates(q.copy(), position.copy(), orientation.copy()), rates

    def motion_of(self, x: Coordinates, v: Array) -> Motion:
        """Return the motion at coordinates and rates."""
        rotation = x.rotation
        own_axes = [rotate_back(rotation, vector) for vector in self.in_world(rotation, v)]
        twist = np.concatenate(own_axes, axis=-1)
        return x.q, v[..., 6:].copy(), x.position, unit(x.orientation), twist

    def from_world(self, rotation: Array, linear: Array, angular: Array) -> tuple[Array, Array]:
        """Return a linear and an angular vector (..., 3) of the world in the axes of the rates."""
        linear = linear + self._of_point(rotation, angular)
        linear = rotate_back(rotation, linear) if self.linear_own else linear
        angular = rotate_back(rotation, angular) if self._angular_own else angular
        return linear, angular

    def in_world(self, rotation: Array, v: Array) -> tuple[Array, Array]:
        """Return the base's linear and angular velocity (..., 3) in the world from the rates."""
        linear, angular = v[..., :3], v[..., 3:6]
        linear = rotate(rotation, linear) if self.linear_own else linear
        angular = rotate(rotation, angular) if self._angular_own else angular
        return linear - self._of_point(rotation, angular), angular

    def _of_point(self, rotation: Array, angular: Array) -> Array | float:
        """Return the velocity (..., 3) of the scheme's point by an angular one of the world."""
        return 0.0 if self._point is None else np.cross(angular, rotate(rotation, self._point))

    def base_slope(self, rotation: Array, twist: Array, acceleration: Array) -> tuple[Array, Array]:
        """Return the derivative of the base's rates, at its twist and acceleration (6,)."""
        a, spin = acceleration[:3], twist[3:]
        if self.linear_own:
            # In turning axes the components of v change by R' (dv/dt - w x v).
            a = a - np.cross(spin, twist[:3])
        if self._point is not None:
            a = a + np.cross(spin, self._of_point(rotation, spin))
        return self.from_world(rotation, a, acceleration[3:])

    def derivative(self, x: Coordinates, v: Array, since: Array) -> Coordinates:
        """Return the derivative of coordinates by time.

        Args:
            x: coordinates.
            v: rates (6 + n,).
            since: rotation vector since the start of the step, in the base's own axes (3,).
        """
        rotation = x.rotation
        linear, angular = self.in_world(rotation, v)
        linear = linear + self._of_point(rotation, angular)
        if self._turning == "quaternion":
            # dq/dt = w q / 2, with the angular velocity w in the world as a quaternion.
            omega = np.array([*angular, 0.0])
            orientation_rate = 0.5 * rotations.quaternion_product(omega, x.orientation)
        else:
            in_base = angular @ rotation
            orientation_rate = inverse_differential(since, in_base) if self._tilts else in_base
        return Coordinates(v[6:], linear, orientation_rate)

    def advance(self, x: Coordinates, derivative: Coordinates, h: float) -> Coordinates:
        """Return coordinates after h [s] at a constant derivative; its position is the point's."""
        position, turn = x.position + h * derivative.position, h * derivative.orientation
        if self._turning == "quaternion":
            orientation = x.orientation + turn
        elif self._turning == "cut off":
            # DART keeps the rotation vector of the whole orientation, too, and expands it again.
            end = rotations.quaternion_product(x.orientation, cut_exponential(turn))
            orientation = cut_exponential(rotations.quaternion_vector(end), end)
        else:
            orientation = rotations.quaternion_product(
                x.orientation, rotations.turn_quaternion(turn)
            )
        after = Coordinates(x.q + h * derivative.q, position, orientation)
        if self._point is None:
            return after
        return after._replace(position=position + (x.rotation - after.rotation) @ self._point)

    def runge_kutta(
        self, slope: Callable[[Coordinates, Array], Array], x: Coordinates, v: Array, h: float
    ) -> tuple[Coordinates, Array]:
        """Return coordinates and rates after a step of h [s] of the classical Runge-Kutta method.

        Args:
            slope: returns the derivative of the rates (6 + n,) at coordinates and rates.
            x, v: coordinates and rates at the start of the step.
            h: step [s].
        """
        derivatives, slopes = [self.derivative(x, v, np.zeros(3))], [slope(x, v)]
        for fraction in STAGE_FRACTIONS:
            step, last = fraction * h, derivatives[-1]
            stage_x, stage_v = self.advance(x, last, step), v + step * slopes[-1]
            derivatives.append(self.derivative(stage_x, stage_v, step * last.orientation[:3]))
            slopes.append(slope(stage_x, stage_v))
        # Weighted means over the four stages, of each field of `Coordinates` and of the rates.
        mean = Coordinates(*(STAGE_WEIGHTS @ np.array(stages) for stages in zip(*derivatives)))
        return self.advance(x, mean, h), v + h * (STAGE_WEIGHTS @ np.array(slopes))


def implicit_slope(
    free_slope: Callable[[Array], Array], slope: Array, v: Array, moving: list[int], h: float
) -> Array:
    """Return the derivative a of the rates (6 + n,) with Coriolis forces at the end of the step.

    Linearised about the rates at the start, where the derivative is a0: a = a0 + D (h a), so
    (1 - h D) a = a0. The forces are quadratic in the rates, so their derivative D by the rates is
    exact by central differences of any length.

    Args:
        free_slope: returns the derivative of the rates without loads, at rates (6 + n,).
        slope: derivative a0 of the rates at the start of the step, with loads.
        v: rates there.
        moving: indices of the rates that can change.
        h: step [s].
    """
    derivative = np.zeros((len(v), len(v)))
    for i in moving:
        unit_rate = np.zeros(len(v))
        unit_rate[i] = 1.0
        ends = (free_slope(v + half_step * unit_rate) for half_step in (0.5, -0.5))
        derivative[:, i] = np.subtract(*ends)
    return np.asarray(np.linalg.solve(np.eye(len(v)) - h * derivative, slope))
