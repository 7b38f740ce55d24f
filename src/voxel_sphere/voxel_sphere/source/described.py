"""Rolling of a sphere over voxels as the source describes it, to show what that method costs.

The source is the description of a MATLAB program, from which this package started
(docs/voxel_sphere.md). `roll_as_described` rolls a sphere by its method for
`accord voxel-sphere roll --scheme as_described`; `AsDescribed` is the sphere. In each step the
centre moves by an Euler step of one voxel of travel. Then the boundary voxels near the sphere's
skin are grouped into patches: the patch nearest to the last contact is the ground, a second one is
a wall; if no voxel matches, the sphere is shifted by up to r/10 (`_find_contacts`). The slopes of
the ground are fitted to the voxels within r/5 of the contact (`_fit_slopes`). At a wall, a plane is
fitted to the voxels within r/10, and the velocity is reflected (`_bounce`); the sphere rolls off
for r/5 of travel, then turns parallel to the wall (`_turn_parallel`).

Taken literally the description stops or freezes the sphere in two cases. There we deviate
(docs/voxel_sphere.md): voxels up to 3 r/10 apart belong to one patch, and the position of the
centre is carried from step to step, not that of the contact.

The reaches, shift and step of the source stay (test_voxel_as_described); LEAST_REACH,
TOUCH_DISTANCE and the linkage are ours and may be changed. A better scheme belongs in rolling/.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy
from roboaccord.contract import AccordError, Array
from roboaccord.numerics import axis_angle_matrix, matrix_quaternion

from voxel_sphere.rolling.ball import DONE, LEFT, MESSAGES, RollEvent
from voxel_sphere.rolling.contacts import LINKAGE, SHORTEST_LINK, cluster_numbers
from voxel_sphere.rolling.distance import Solid
from voxel_sphere.rolling.field import Vector
from voxel_sphere.rolling.path import RolledPath, Sample
from voxel_sphere.rolling.walls import MOVE, project_to_ground, reflected, spin_for, tangent
from voxel_sphere.terrain.slices import Done, no_progress

# In units of the sphere's radius r: radii within which slopes and the plane of a wall are fitted,
# and the largest shift. All are the source's.
SLOPE_REACH, WALL_REACH, SHIFT_REACH = 0.2, 0.1, 0.1
# voxels; smallest radius of a fit, more than the diagonal of a voxel's face. Measured at n = 50 in
# bowl and sinusoid: with 1, 1.5 and 2.5 the errors are 1.4, 0.55, 0.36 r and 0.56, 0.33, 0.29 r;
# 1.5 is the nearest to the source's r/10, 0.5 voxel there, that finds enough voxels.
LEAST_REACH = 1.5
STEP = 1.0  # voxels; travel in a step, the source's
DESCRIBED = "as_described"  # name of the scheme
# voxels; a voxel matches if its centre is this near to the sphere's skin: from 1 to 3 the paths in
# bowl and sinusoid at n = 50 are the same (measured)
TOUCH_DISTANCE = 1.5
# voxels of a singular value, or voxels^4 of a determinant; below it points lie on a line and define
# no plane: for centres of voxels both are round-off then, and of order 1 elsewhere.
COLLINEAR = 1e-9


class AsDescribed:
    """A sphere that rolls over voxels by the source's scheme.

    Args:
        solid: surface and walls in one (n, n, n), bool or grey.
        radius: r of the sphere [voxels].
        centre: centre at the start (3,) [voxels]; it is shifted until the sphere touches.
        omega: angular velocity in the world frame (3,) [rad/s].
    """

    def __init__(self, solid: Solid, radius: float, *, centre: Vector, omega: Vector) -> None:
        full = solid if solid.dtype == np.bool_ else solid >= 128
        self._size, self._r = float(full.shape[0]), radius
        # Centres of the boundary voxels: full ones with an empty neighbour.
        self._voxels = np.argwhere(full & ~scipy.ndimage.binary_erosion(full, border_value=1)) + 0.5
        self._tree = scipy.spatial.cKDTree(self._voxels)
        self.time = 0.0
        self.centre, self.rotation = np.array(centre, dtype=float), np.eye(3)
        self.omega = np.array(omega, dtype=float)
        self.slopes = np.zeros(2)  # z_x and z_y of the ground
        self.contact = self.centre - [0.0, 0.0, radius]
        self._wall_contact: Array | None = None  # contact with a wall now (3,), or None
        self._wall_normal: Array | None = None  # normal of the wall that was hit last (3,)
        self._steps_to_turn = 0  # steps until it turns parallel to that wall; 0: no turn is due
        self.status, self.events = DONE, list[RollEvent]()
        self._find_contacts()
        if self.status != DONE:
            raise AccordError("the start is in the air: no voxel matches the sphere")
        self._fit_slopes()

    @property
    def normal(self) -> Array:
        """Unit normal (3,) of the ground, (-z_x, -z_y, 1) over its length."""
        up = np.array([-self.slopes[0], -self.slopes[1], 1.0])
        return np.asarray(up / np.linalg.norm(up))

    @property
    def orientation(self) -> Array:
        """Orientation x y z w (4,)."""
        return matrix_quaternion(self.rotation)

    @property
    def velocity(self) -> Array:
        """The centre's velocity (3,) in the plane of the ground, r omega x n [voxels/s]."""
        return self._r * np.cross(self.omega, self.normal)

    def time_step(self) -> float:
        """Return the time in which the centre moves by STEP [s]; infinite at rest."""
        speed = float(np.linalg.norm(self.velocity))
        return STEP / speed if speed > 0 else math.inf

    def advance(self, dt: float) -> None:
        """Make an Euler step, find the contacts again, and bounce off or turn along a wall."""
        self.centre = self.centre + dt * self._r * np.cross(self.omega, self.normal)
        rate = float(np.linalg.norm(self.omega))
        if rate > 0:
            turn = axis_angle_matrix(self.omega / rate, np.array(rate * dt))
            self.rotation = turn @ self.rotation
        self.time += dt
        if not (np.all(self.centre >= 0.0) and np.all(self.centre <= self._size)):
            self._end(LEFT)
            return
        self._find_contacts()
        if self.status != DONE:
            return
        self._fit_slopes()
        if self._steps_to_turn > 0:
            self._steps_to_turn -= 1
            if self._steps_to_turn == 0:
                self._turn_parallel()
        if self._wall_contact is not None:
            self._bounce(self._wall_contact)

    def _find_contacts(self) -> None:
        """Set the contacts with ground and wall from the voxels that match.

        The sphere is shifted first if no voxel matches; the motion ends if no shift helps, or if
        there are more than two patches.
        """
        r = self._r
        if self._tree.query(self.centre)[0] > r + TOUCH_DISTANCE and not self._shift():
            self._end("contact_lost")
            return
        neighbours = np.array(self._tree.query_ball_point(self.centre, r + TOUCH_DISTANCE))
        points = self._voxels[neighbours]
        number = cluster_numbers(points, max(LINKAGE * r, SHORTEST_LINK))
        patches = [points[number == k] for k in range(number.max() + 1)]
        if len(patches) > 2:
            self._end("too_many_contacts")
            return
        # The contact of each patch is its voxel nearest to the centre; that of the ground is the
        # one nearest to its last contact.
        gaps = [np.linalg.norm(patch - self.centre, axis=1) for patch in patches]
        contacts = [patch[np.argmin(gap)] for patch, gap in zip(patches, gaps, strict=True)]
        contacts.sort(key=lambda point: float(np.linalg.norm(point - self.contact)))
        self.contact = contacts[0]
        self._wall_contact = contacts[1] if len(contacts) > 1 else None
        # Move the centre to the distance r from the ground.
        gap = self.centre - self.contact
        self.centre = self.contact + gap * (r / np.linalg.norm(gap))

    def _shift(self) -> bool:
        """Shift the centre by as few whole voxels as make it touch; return whether any do."""
        reach = max(1, round(SHIFT_REACH * self._r))
        steps = np.arange(-reach, reach + 1)
        shifts = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
        touching = self._tree.query(self.centre + shifts)[0] <= self._r + TOUCH_DISTANCE
        if not touching.any():
            return False
        shortest = shifts[touching][np.argmin(np.linalg.norm(shifts[touching], axis=1))]
        self.centre = self.centre + shortest
        return True

    def _voxels_near(self, point: Array, reach: float) -> Array:
        """Return the boundary voxels (k, 3) within a distance [r] of a point (3,)."""
        neighbours = self._tree.query_ball_point(point, max(reach * self._r, LEAST_REACH))
        return np.asarray(self._voxels[neighbours])

    def _fit_slopes(self) -> None:
        """Fit the slopes z_x and z_y to the voxels within r/5, by least squares.

        A slope keeps its last value where the ground is upright and the fit has no solution.
        """
        neighbours = self._voxels_near(self.contact, SLOPE_REACH)
        offsets = neighbours - neighbours.mean(axis=0)
        # Normal equations of z = z_x x + z_y y.
        plan = offsets[:, :2].T @ offsets[:, :2]
        for axis in (0, 1):
            if plan[axis, axis] > 0 and np.linalg.det(plan) > COLLINEAR:
                slopes = np.linalg.solve(plan, offsets[:, :2].T @ offsets[:, 2])
                self.slopes[axis] = slopes[axis]

    def _bounce(self, hit: Array) -> None:
        """Reflect at the wall with a contact `hit` (3,); its plane fits the voxels within r/10."""
        n, v = self.normal, self.velocity
        neighbours = self._voxels_near(hit, WALL_REACH)
        # The last principal axis of the voxels is the normal of their plane.
        _, sizes, axes = np.linalg.svd(neighbours - neighbours.mean(axis=0), full_matrices=False)
        m = project_to_ground(axes[-1], n) if len(neighbours) > 2 and sizes[1] > COLLINEAR else None
        if m is None:
            self._end("no_wall_normal")
            return
        # Turn it towards the sphere.
        m = m if m @ (self.centre - hit) > 0 else -m
        if v @ m >= 0:  # it leaves the wall already
            return
        velocity = reflected(v, [m])
        assert velocity is not None
        self.omega = spin_for(velocity, n, self._r, self.omega)
        self._wall_normal, self._steps_to_turn = m, max(1, round(MOVE * self._r))
        facing = math.degrees(math.atan2(m[1], m[0]))
        self._record("wall", f"the wall faces {facing:.1f} deg in plan")

    def _turn_parallel(self) -> None:
        """Turn the velocity parallel to the wall that was hit, and keep the speed."""
        assert self._wall_normal is not None
        n, v = self.normal, self.velocity
        m = project_to_ground(self._wall_normal, n)
        if m is None:
            self._end("no_wall_normal")
            return
        along = float(np.linalg.norm(v)) * tangent(v, m, n, None)
        self.omega = spin_for(along, n, self._r, self.omega)
        self._record("parallel", "parallel to the wall")

    def _record(self, kind: str, detail: str) -> None:
        """Append an event at the present time and place."""
        self.events.append(RollEvent(self.time, kind, tuple(self.centre.tolist()), detail))

    def _end(self, status: str) -> None:
        """End the motion with a status, one of MESSAGES."""
        self.status = status
        self._record(status, MESSAGES[status])


def roll_as_described(
    solid: Solid,
    radius: float,
    *,
    centre: Vector,
    omega: Vector | Callable[[float], Vector],
    duration: float,
    samples: int = 500,
    done: Done = no_progress,
) -> RolledPath:
    """Roll by the source's scheme, and return the path with one sample for each step.

    Args:
        solid: surface and walls in one (n, n, n), bool or grey.
        radius: radius of the sphere [voxels].
        centre: centre of the sphere at the start (3,) [voxels].
        omega: angular velocity (3,) [rad/s], or a function that returns it at a time [s].
        duration: longest time of the motion [s].
        samples: number of equal parts of the duration, by which progress is reported.
        done: called in each step with the number of parts that have passed since the last.
    """
    start_omega = omega(0.0) if callable(omega) else omega
    sphere = AsDescribed(solid, radius, centre=centre, omega=start_omega)
    path = [Sample.of(sphere)]
    reported = 0  # number of parts of the duration that have been reported
    travel = 0.0  # length of the centre's path so far [voxels]
    while sphere.status == DONE and sphere.time < duration:
        if callable(omega):
            sphere.omega = np.array(omega(sphere.time), dtype=float)
        before = sphere.centre
        sphere.advance(min(sphere.time_step(), duration - sphere.time))
        travel += float(np.linalg.norm(sphere.centre - before))
        path.append(Sample.of(sphere))
        passed = int(samples * min(sphere.time / duration, 1.0))
        done(passed - reported)
        reported = passed
    return RolledPath.of(path, radius, travel, sphere.status, sphere.events)
