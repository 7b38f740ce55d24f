"""The source's method as described: voxels that match, slopes from them, Euler steps.

In each step the sphere moves by one voxel of travel. The boundary voxels near its skin are grouped
into patches: the one nearest to the last contact is the ground, a second one is a wall. The slopes
of the ground are fitted to the voxels within r/5, a wall's plane to those within r/10; where
nothing matches, the sphere is shifted by up to r/10. After a hit it rolls off for r/5 of travel,
then parallel to the wall.

Where the description as it stands stops or freezes the sphere we read it otherwise
(docs/voxel_sphere.md): patches are linked over 3 r/10, and the centre is carried, not the contact.

The file shows what the method costs, so its reaches, shift and step stay (test_voxel_as_described);
LEAST_REACH, TOUCH and the linkage, which are our reading, may be changed. A better scheme goes into
rolling/.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy
from roboaccord.contract import AccordError, Array
from roboaccord.numerics import axis_angle_matrix, matrix_quaternion

from voxel_sphere.rolling.ball import DONE, LEFT, MESSAGES, RollEvent
from voxel_sphere.rolling.contacts import LINKAGE, SHORTEST_LINK, linked
from voxel_sphere.rolling.distance import Solid
from voxel_sphere.rolling.field import Vector
from voxel_sphere.rolling.path import RolledPath, Sample
from voxel_sphere.rolling.walls import MOVE, in_ground, reflected, spin_for, tangent
from voxel_sphere.terrain.slices import Done, nothing

SLOPE_REACH, WALL_REACH, SHIFT_REACH = 0.2, 0.1, 0.1  # r, the source's
LEAST_REACH = 1.5  # voxels, more than the diagonal between neighbours in a face
STEP = 1.0  # voxel of travel, the source's
DESCRIBED = "as_described"  # name of the scheme
TOUCH = 1.5  # voxels: a voxel matches if its centre is this near to the sphere's skin
FLAT = 1e-9  # voxels, or voxels^4: points on a line have no plane


class AsDescribed:
    """A sphere that rolls over voxels by the source's scheme.

    Args:
        solid: surface and walls in one (n, n, n), bool or grey.
        radius: of the sphere [voxels].
        centre: at the start (3,) [voxels], shifted to touch.
        omega: world frame (3,) [rad/s].
    """

    def __init__(self, solid: Solid, radius: float, *, centre: Vector, omega: Vector) -> None:
        full = solid if solid.dtype == np.bool_ else solid >= 128
        self._size, self._r = float(full.shape[0]), radius
        self._voxels = np.argwhere(full & ~scipy.ndimage.binary_erosion(full, border_value=1)) + 0.5
        self._tree = scipy.spatial.cKDTree(self._voxels)
        self.time, self.centre, self.rotation = 0.0, np.array(centre, dtype=float), np.eye(3)
        self.omega = np.array(omega, dtype=float)
        self.slopes = np.zeros(2)  # z_x and z_y of the ground
        self.contact = self.centre - [0.0, 0.0, radius]
        self._hit: Array | None = None  # contact (3,) with a wall
        self._wall: Array | None = None  # normal (3,) of the wall that was hit last
        self._moves = 0  # steps until it turns parallel to that wall
        self.status, self.events = DONE, list[RollEvent]()
        self._match()
        if self.status != DONE:
            raise AccordError("the start is in the air: no voxel matches the sphere")
        self._slopes()

    @property
    def normal(self) -> Array:
        """Unit normal (3,) of the plane with the slopes."""
        up = np.array([-self.slopes[0], -self.slopes[1], 1.0])
        return np.asarray(up / np.linalg.norm(up))

    @property
    def velocity(self) -> Array:
        """The centre's velocity (3,) on that plane [voxels/s]."""
        return self._r * np.cross(self.omega, self.normal)

    def step(self) -> float:
        """Return the time of a voxel of travel [s]."""
        speed = float(np.linalg.norm(self.velocity))
        return STEP / speed if speed > 0 else math.inf

    def advance(self, dt: float) -> None:
        """Make an Euler step, find the contacts again, and bounce off or turn along a wall."""
        self.centre = self.centre + dt * self._r * np.cross(self.omega, self.normal)
        rate = float(np.linalg.norm(self.omega))
        if rate > 0:
            self.rotation = (
                axis_angle_matrix(self.omega / rate, np.array(rate * dt)) @ self.rotation
            )
        self.time += dt
        if not (np.all(self.centre >= 0.0) and np.all(self.centre <= self._size)):
            self._end(LEFT)
            return
        self._match()
        if self.status != DONE:
            return
        self._slopes()
        if self._moves > 0:
            self._moves -= 1
            if self._moves == 0:
                self._turn_parallel()
        if self._hit is not None:
            self._bounce(self._hit)

    def _match(self) -> None:
        """Take ground and wall from the patches that match; shift the sphere if none does."""
        r = self._r
        if self._tree.query(self.centre)[0] > r + TOUCH and not self._shift():
            self._end("contact_lost")
            return
        near = np.array(self._tree.query_ball_point(self.centre, r + TOUCH))
        points = self._voxels[near]
        number = linked(points, max(LINKAGE * r, SHORTEST_LINK))
        patches = [points[number == k] for k in range(number.max() + 1)]
        if len(patches) > 2:
            self._end("too_many_contacts")
            return
        tips = [self._tip(patch) for patch in patches]
        tips.sort(key=lambda tip: float(np.linalg.norm(tip - self.contact)))
        self.contact, self._hit = tips[0], tips[1] if len(tips) > 1 else None
        gap = self.centre - self.contact
        self.centre = self.contact + gap * (r / np.linalg.norm(gap))

    def _tip(self, patch: Array) -> Array:
        """Return the voxel (3,) of a patch that is nearest to the centre."""
        return np.asarray(patch[np.argmin(np.linalg.norm(patch - self.centre, axis=1))])

    def _shift(self) -> bool:
        """Shift the centre by the least whole voxels that bring a match; return whether it did."""
        reach = max(1, round(SHIFT_REACH * self._r))
        steps = np.arange(-reach, reach + 1)
        shifts = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
        touching = self._tree.query(self.centre + shifts)[0] <= self._r + TOUCH
        if not touching.any():
            return False
        least = shifts[touching][np.argmin(np.linalg.norm(shifts[touching], axis=1))]
        self.centre = self.centre + least
        return True

    def _near(self, point: Array, reach: float) -> Array:
        """Return the boundary voxels (k, 3) within a reach [r] of a point."""
        near = self._tree.query_ball_point(point, max(reach * self._r, LEAST_REACH))
        return np.asarray(self._voxels[near])

    def _slopes(self) -> None:
        """Fit z_x and z_y to the voxels within r/5; an infinite slope keeps its last value."""
        near = self._near(self.contact, SLOPE_REACH)
        offsets = near - near.mean(axis=0)
        plan = offsets[:, :2].T @ offsets[:, :2]
        for axis in (0, 1):
            if plan[axis, axis] > 0 and np.linalg.det(plan) > FLAT:
                slopes = np.linalg.solve(plan, offsets[:, :2].T @ offsets[:, 2])
                self.slopes[axis] = slopes[axis]

    def _bounce(self, hit: Array) -> None:
        """Reflect at the wall that the voxels within r/10 of a hit show."""
        n, v, near = self.normal, self.velocity, self._near(hit, WALL_REACH)
        _, sizes, axes = np.linalg.svd(near - near.mean(axis=0), full_matrices=False)
        m = in_ground(axes[-1], n) if len(near) > 2 and sizes[1] > FLAT else None
        if m is None:
            self._end("no_wall_normal")
            return
        m = m if m @ (self.centre - hit) > 0 else -m
        if v @ m >= 0:  # it leaves the wall already
            return
        velocity = reflected(v, [m])
        assert velocity is not None
        self.omega = spin_for(velocity, n, self._r, self.omega)
        self._wall, self._moves = m, max(1, round(MOVE * self._r))
        facing = math.degrees(math.atan2(m[1], m[0]))
        self._record("wall", f"the wall faces {facing:.1f} deg in plan")

    def _turn_parallel(self) -> None:
        """Turn parallel to the wall that was hit."""
        assert self._wall is not None
        n, v = self.normal, self.velocity
        m = in_ground(self._wall, n)
        if m is None:
            self._end("no_wall_normal")
            return
        along = float(np.linalg.norm(v)) * tangent(v, m, n, None)
        self.omega = spin_for(along, n, self._r, self.omega)
        self._record("parallel", "parallel to the wall")

    def _record(self, kind: str, detail: str) -> None:
        centre = tuple(self.centre.tolist())
        self.events.append(RollEvent(self.time, kind, centre, detail))

    def _end(self, status: str) -> None:
        self.status = status
        self._record(status, MESSAGES[status])


def roll_as_described(
    solid: Solid, radius: float, *, centre: Vector,
    omega: Vector | Callable[[float], Vector], duration: float, samples: int = 500,
    done: Done = nothing,
) -> RolledPath:  # fmt: skip
    """Roll by the source's scheme, and return the path, each step a sample.

    Args:
        solid, radius, centre: see `AsDescribed`.
        omega: (3,) [rad/s], or a function of the time.
        duration: [s].
        samples: parts of the time that `done` counts.
        done: called with the number of parts that have passed.
    """
    first = omega(0.0) if callable(omega) else omega
    sphere = AsDescribed(solid, radius, centre=centre, omega=first)
    path, reported, travel = [_sample(sphere)], 0, 0.0
    while sphere.status == DONE and sphere.time < duration:
        if callable(omega):
            sphere.omega = np.array(omega(sphere.time), dtype=float)
        before = sphere.centre
        sphere.advance(min(sphere.step(), duration - sphere.time))
        travel += float(np.linalg.norm(sphere.centre - before))
        path.append(_sample(sphere))
        passed = int(samples * min(sphere.time / duration, 1.0))
        done(passed - reported)
        reported = passed
    return RolledPath.of(path, radius, travel, sphere.status, sphere.events)


def _sample(s: AsDescribed) -> Sample:
    orientation = matrix_quaternion(s.rotation)
    return Sample(s.time, s.centre, s.normal, orientation, s.omega.copy())
