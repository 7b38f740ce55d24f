"""Forward and inverse kinematics of a ball that is driven by n rollers, with slip.

The ball turns such that the sum of the squared slips of its rollers is as small as possible. For
two rollers its angular velocity w then ends halfway between their lines (4), the lines on which w
may end for either roller, and all of the paper follows (Kimura, Ogata and Ishii, 2019), whose
equation numbers stand in docstrings. Roller i touches the ball at P_i = r p_i and turns about the
axis eta_i (rig.py). Everything is linear in the rollers' peripheral speeds
nu: w = M nu, and the slips are S = L nu.

A quantity of a rig may be added as a method of Kinematics. REFUSED_CONDITION and WARNED_CONDITION,
from which a rig counts as singular, may be tuned (test_roller_rigs). test_roller_kinematics
compares with the paper's appendix and with a search by scipy, signs and order of rollers included.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from roboaccord.contract import Array

from roller_sphere.model.rig import Rig, RigError

# Condition numbers of the map from the rollers' speeds to the ball's velocity, above which a rig is
# refused, or warned about. The singular angle of the paper's rig, rounded to 1e-4 degrees, has 2e6;
# at 100 some headings need a hundred times the roller speed of others.
REFUSED_CONDITION, WARNED_CONDITION = 1e5, 1e2
# Bounds below which values are round-off. A float's is 1e-16, and that of a slip or heading grows
# with the rig's condition number, up to 1e-11 for a rig that is not refused.
STILL = 1e-12  # speed of the ball over the rollers' speeds
SLIPLESS = 1e-9  # slip over the rollers' speeds
ANGLE = 1e-9  # rad; a heading
TURN = 2.0 * np.pi  # rad


@dataclass(frozen=True, eq=False)
class RollerMotion:
    """Roller speeds, angular velocity and slip, over any leading axes.

    Args:
        nu: peripheral speeds of the rollers (..., n) [m/s].
        omega: angular velocity w of the ball (..., 3) [rad/s].
        speed: |V| of the ball's centre, were it rolling on the x-y plane (...) [m/s].
        heading: phi of V from x, in [0, 2 pi) (...) [rad].
        rho: of w from the x-y plane up (...) [rad].
        slip: S_i, the slip along X_i (..., n) [m/s].
    """

    nu: Array
    omega: Array
    speed: Array
    heading: Array
    rho: Array
    slip: Array


class Kinematics:
    """Maps from roller speeds of a rig to motions of its ball, and back.

    Args:
        rig: geometry of ball and rollers.

    Attributes:
        turning: M of w = M nu (3, n) [rad/m]; for two rollers its columns are Y and X of (17).
        slipping: L of S = L nu (n, n).
    """

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        r, p, axes = rig.radius, rig.normals, rig.axes
        # The squared slip of roller i is |r (I - p p') (w - nu eta / r)|^2, and p is normal to eta.
        # The sum over the rollers is smallest where sum (I - p p') w = sum nu eta / r.
        normal_matrix = rig.count * np.eye(3) - p.T @ p
        self.turning: Array = np.asarray(np.linalg.solve(normal_matrix, axes.T) / r)
        # Velocities of the rollers' surfaces, and slips, by the speed of each roller (n, n, 3).
        surface = np.eye(rig.count)[..., None] * rig.directions[:, None]
        slips = r * np.cross(self.turning.T[:, None], p) - surface
        # Of zeta = self._zeta nu: roller i, component c, and the roller j whose speed causes it.
        self._zeta: Array = slips.transpose(1, 2, 0)
        self.slipping: Array = np.einsum("icj,ic->ij", self._zeta, rig.across)

    @cached_property
    def condition(self) -> float:
        """Condition number of the inverse map, infinite if some headings are out of reach."""
        return np.inf if self._only_spins() else _condition(self.turning[:2])

    @property
    def warning(self) -> str | None:
        """A line about a rig that is nearly degenerate, else None."""
        if not WARNED_CONDITION < self.condition <= REFUSED_CONDITION:
            return None
        low, high = np.degrees(self._best_headings())
        return (
            f"nearly degenerate rig: condition number {self.condition:.4g}; headings away from "
            f"{low:.1f} and {high:.1f} degrees need very fast rollers"
        )

    @cached_property
    def remaining(self) -> tuple[float, ...] | None:
        """Headings that a degenerate rig can drive [rad], two opposite ones or none; else None."""
        if self.condition <= REFUSED_CONDITION:
            return None
        return () if self._only_spins() else self._best_headings()

    @cached_property
    def driving(self) -> Array:
        """K of nu = K (w_x, w_y), the rollers' speeds for a planar motion (n, 2) [m].

        Raises:
            RigError: if the rig cannot drive the ball in every direction.
        """
        self._check_headings()
        return self._invert(self.turning[:2])

    def omega(self, nu: ArrayLike) -> Array:
        """Return the ball's angular velocity (..., 3) [rad/s] at speeds nu (..., n) [m/s]."""
        return np.asarray(np.asarray(nu, dtype=float) @ self.turning.T)

    def zeta(self, nu: ArrayLike) -> Array:
        """Return the slip velocities zeta_i = w x P_i - nu_i e_i (..., n, 3) [m/s], (25)."""
        return np.asarray(np.einsum("icj,...j->...ic", self._zeta, np.asarray(nu, dtype=float)))

    def lines(self, nu: ArrayLike) -> tuple[Array, Array]:
        """Return points (..., n, 3) [rad/s] and unit directions (n, 3) of the lines (4)."""
        points = (np.asarray(nu, float) / self.rig.radius)[..., None] * self.rig.axes
        return points, self.rig.normals

    def forward(self, nu: ArrayLike) -> RollerMotion:
        """Return the motion at roller speeds nu (..., n) [m/s], (11) and (14).

        Raises:
            RigError: if the ball has no heading anywhere, since it only spins about z or stands.
        """
        nu = self._checked_speeds(nu)
        omega = self.omega(nu)
        planar = np.hypot(omega[..., 0], omega[..., 1])
        if (planar * self.rig.radius <= STILL * np.abs(nu).max(axis=-1)).any():
            effect = "the ball stands or only spins about z, and has no heading"
            raise RigError(f"w_x = w_y = 0: at these roller speeds {effect}")
        heading = _in_full_turn(np.arctan2(-omega[..., 0], omega[..., 1]))
        rho = np.arctan2(omega[..., 2], planar)
        return RollerMotion(nu, omega, self.rig.radius * planar, heading, rho, nu @ self.slipping.T)

    def inverse(
        self, speed: ArrayLike, heading: ArrayLike, *, spin: ArrayLike | None = None
    ) -> RollerMotion:
        """Return the motion with a velocity of the ball's centre; arguments broadcast.

        Two rollers leave no choice. More are driven with the least sum of squared slips, and
        among equals with the least sum of squared speeds.

        Args:
            speed: |V| [m/s].
            heading: phi from x [rad].
            spin: w_z [rad/s], for three rollers or more; free if not given.

        Raises:
            RigError: if the rig cannot drive the ball in every direction, or not spin it.
        """
        speed, heading = np.broadcast_arrays(np.asarray(speed, float), np.asarray(heading, float))
        if not (np.isfinite(speed).all() and np.isfinite(heading).all()):
            raise RigError("speed and heading must be finite numbers")
        if (speed < 0.0).any():
            raise RigError(f"speed is {speed.min():g} m/s, and must not be negative")
        unit = np.stack([-np.sin(heading), np.cos(heading)], axis=-1)  # of (w_x, w_y), (15)
        planar = unit * (speed / self.rig.radius)[..., None]
        if spin is None:
            nu = planar @ self.driving.T
            # Of the unit vector: rho does not depend on the speed (18), and is known at rest.
            rho = np.arctan(unit @ (self.turning[2] @ self.driving))
        else:
            nu = self._with_spin(planar, np.asarray(spin, dtype=float))
            rho = np.arctan2(nu @ self.turning[2], speed / self.rig.radius)
        omega = nu @ self.turning.T
        return RollerMotion(nu, omega, speed, _in_full_turn(heading), rho, nu @ self.slipping.T)

    def _with_spin(self, planar: Array, spin: Array) -> Array:
        """Return roller speeds (..., n) for (w_x, w_y) (..., 2) and w_z (...)."""
        self._check_headings()
        if _condition(self.turning) > REFUSED_CONDITION:
            rollers = f"this rig of {self.rig.count} rollers"
            raise RigError(f"{rollers} cannot spin the ball about z as asked beside a velocity")
        planar, spin = np.broadcast_arrays(planar, spin[..., None])
        return np.concatenate([planar, spin[..., :1]], axis=-1) @ self._invert(self.turning).T

    def _invert(self, turning: Array) -> Array:
        """Return the matrix K of nu = K d, a solution of `turning` nu = d.

        Of all solutions it has the smallest sum of squared slips, and of these the smallest speeds.
        """
        particular = np.linalg.pinv(turning)
        # Any combination of the columns of `free` may be added, for `turning` maps them to 0.
        # Choose the one that makes the slips of the particular solution smallest.
        free = np.linalg.svd(turning)[2][len(turning) :].T
        slip = self._zeta.reshape(-1, self.rig.count)
        u, sizes, v = np.linalg.svd(slip @ free, full_matrices=False)
        # Combinations that do not slip stay 0, which gives the least speeds
        slips = sizes > SLIPLESS
        change = v[slips].T @ ((u[:, slips].T @ slip @ particular) / sizes[slips, None])
        return np.asarray(particular - free @ change)

    def _checked_speeds(self, nu: ArrayLike) -> Array:
        """Return roller speeds (..., n) as an array, checked."""
        speeds = np.asarray(nu, dtype=float)
        if speeds.ndim == 0 or speeds.shape[-1] != self.rig.count:
            number = speeds.shape[-1] if speeds.ndim else 1
            raise RigError(f"{number} roller speeds for {self.rig.count} rollers")
        if not np.isfinite(speeds).all():
            raise RigError("roller speeds must be finite numbers")
        return speeds

    def _only_spins(self) -> bool:
        """Return whether the ball can only spin about z: planar motion is round-off then."""
        planar_norm, norm = np.linalg.norm(self.turning[:2], 2), np.linalg.norm(self.turning, 2)
        return bool(planar_norm * REFUSED_CONDITION < norm)

    def _best_headings(self) -> tuple[float, float]:
        """Return the two headings along which the rollers drive the ball best [rad]."""
        # The direction of (w_x, w_y) to which the rollers' speeds are amplified most.
        x, y = np.linalg.svd(self.turning[:2])[0][:, 0]
        heading = float(np.arctan2(-x, y)) % np.pi
        heading = 0.0 if heading > np.pi - ANGLE else heading
        return heading, heading + np.pi

    def _check_headings(self) -> None:
        """Check that the rig can drive the ball in every direction.

        Raises:
            RigError: if it cannot.
        """
        if self.remaining is None:
            return
        number = f"condition number {self.condition:.2g}"
        words = " and ".join(f"{np.degrees(heading):.4f}" for heading in self.remaining)
        remaining = f"the headings {words} degrees remain" if words else "no heading remains"
        if _condition(self.turning, 2) > REFUSED_CONDITION:
            raise RigError(f"X x Y = 0 ({number}): all rollers turn the ball alike; {remaining}")
        raise RigError(f"(X x Y)_z = 0 ({number}): some headings are out of reach; {remaining}")


def _condition(matrix: Array, rank: int | None = None) -> float:
    """Return the ratio of the largest singular value to the last, or to that of a rank."""
    sizes = np.linalg.svd(matrix)[1]
    index = (rank or len(matrix)) - 1
    last = sizes[index] if index < len(sizes) else 0.0
    return float(sizes[0] / last) if last > 0.0 else np.inf


def _in_full_turn(angle: Array) -> Array:
    """Return angles in [0, 2 pi) [rad]; one just below 0 is rounded to 0, not to 2 pi."""
    turned = np.mod(angle, TURN)
    return np.asarray(np.where(turned >= TURN, 0.0, turned))
