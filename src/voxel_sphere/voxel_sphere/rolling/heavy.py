"""A heavy sphere under gravity and a drive torque: it rolls, slides, flies, and hits walls.

`HeavyRoller` calls the compiled functions of heavy_kernels.py, which integrate the motion up to the
next event (a slip begins or ends, the sphere lifts or lands, hits a wall or leaves the workspace).
It records the event, and goes on in the mode that follows.

Walls have no friction and take away all of the speed towards them, which is a choice of this model;
another law of impact would go into `_bounce`. Mass, gravity and friction come from the caller
(simulators/reference.py).

The kinds in EVENTS stay, for cross-checks and bags compare them; descriptions may be changed.
test_voxel_heavy tests the walls.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array

from voxel_sphere.rolling import heavy_kernels as kernels
from voxel_sphere.rolling.ball import DONE, LEFT, LEVEL, Ball, checked_vector
from voxel_sphere.rolling.contacts import touching_patches
from voxel_sphere.rolling.field import Field, Vector
from voxel_sphere.rolling.heavy_equations import FLIGHT, ROLL, SLIDE, Body
from voxel_sphere.rolling.state import SPIN, VELOCITY
from voxel_sphere.rolling.walls import project_to_ground

# Kind and description of each event, by the kernels' return code.
EVENTS = {
    kernels.SLIPS: ("slip", "friction is at its limit: the sphere slides"),
    kernels.ROLLS: ("roll", "the sphere rolls again"),
    kernels.LIFTS: ("lift", "the normal force is gone: the sphere flies"),
    kernels.LANDS: ("land", "the sphere is back on the ground"),
}


class HeavyRoller(Ball):
    """A heavy sphere on ground that is given by its distance field.

    `Ball` (ball.py) has its time, status, events, and the array `_state`, whose layout is in
    state.py. Its `mode` is ROLL, SLIDE or FLIGHT (heavy_equations.py).

    Args:
        field: distance field of the ground.
        body: radius, mass, moment of inertia, gravity and friction of the sphere.
        centre: centre of the sphere at the start (3,) [voxels].
        orientation: x y z w (4,).
        omega: angular velocity at the start (3,) [rad/s].
        velocity: of the centre at the start (3,) [voxels/s]; the sphere then starts sliding. None
            for a sphere that starts rolling with omega.
        walls: distance field of the walls, or None.
        step: integration step [s].
    """

    def __init__(
        self, field: Field, body: Body, *, centre: Vector, orientation: Vector = LEVEL,
        omega: Vector = (0.0, 0.0, 0.0), velocity: Vector | None = None, walls: Field | None = None,
        step: float = 1e-3,
    ) -> None:  # fmt: skip
        self.mode = ROLL if velocity is None else SLIDE
        self._body, self._step = body, step
        spin = np.array(omega, dtype=float)
        if velocity is None:  # rolling: v = r omega x n
            velocity = field.radius * np.cross(spin, field.normal(centre))
        state = [*centre, *orientation, *velocity, *spin]
        # Contact counts as lost at an error of r/10, at least a voxel, as for the kinematic sphere.
        super().__init__(field, walls, state, max(1.0, 0.1 * field.radius))

    @property
    def velocity(self) -> Array:
        """The centre's velocity (3,) [voxels/s]."""
        return self._state[VELOCITY].copy()

    @property
    def omega(self) -> Array:
        """The angular velocity in the world frame (3,) [rad/s]."""
        return self._state[SPIN].copy()

    def advance(self, torque: Vector, duration: float) -> str:
        """Move for a duration [s] and return the status, DONE or why the motion ended.

        `torque` (3,) is constant and in the world frame [M voxels^2/s^2].
        """
        drive = checked_vector(torque, "a torque")
        end = self.time + duration
        while self.status == DONE and self.time < end:
            remaining = end - self.time
            code, self.mode, passed = kernels.advance(
                self._surroundings, self._body, self._state, self.mode, drive, self._step, remaining
            )
            self.time += passed
            if code == kernels.DONE:
                self.time = end
            elif code == kernels.HIT:
                self._bounce()
            elif code in EVENTS:
                self._record(*EVENTS[code])
            else:
                self._end(LEFT if code == kernels.LEFT else "contact_lost")
        return self.status

    def _bounce(self) -> None:
        """Take away the velocity towards each wall in contact; a rolling sphere then slides."""
        assert self.walls is not None
        n, v = self.normal, self.velocity  # normal of the ground, velocity of the centre
        # On the ground, a wall stops the sphere only within the ground's plane.
        normals = [contact.normal for contact in touching_patches(self.walls, self.centre)]
        if self.mode != FLIGHT:
            in_plane = [project_to_ground(normal, n) for normal in normals]
            normals = [m for m in in_plane if m is not None]
        approached = [m for m in normals if v @ m < 0]
        if not approached:
            self._end("no_wall_normal")
            return
        for m in approached:
            v = v - min(float(v @ m), 0.0) * m
        self._state[VELOCITY] = v
        if self.mode == ROLL:
            self.mode = SLIDE
        self._record("wall", f"hit with {np.linalg.norm(self.velocity):.3g} voxels/s after it")
