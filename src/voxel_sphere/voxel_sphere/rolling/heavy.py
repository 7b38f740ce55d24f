"""A heavy sphere under gravity and a drive torque, that rolls, slips, and may leave the ground.

Kinds and words of events are in WORDS: kinds must stay, for cross-checks and bags compare them;
words may be changed. The equations are in heavy_kernels.py, numbers in the caller's `body`
(simulators/reference.py). That walls have no friction and take all speed towards them is our
choice: `_bounce` is the place for another wall, and test_voxel_heavy tests this one.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array

from voxel_sphere.rolling import heavy_kernels as kernels
from voxel_sphere.rolling.contacts import contacts
from voxel_sphere.rolling.field import Field, Vector
from voxel_sphere.rolling.path import DONE, LEFT, Ball, three
from voxel_sphere.rolling.walls import in_ground

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
WORDS = {
    kernels.SLIPS: ("slip", "friction is at its limit: the sphere slides"),
    kernels.ROLLS: ("roll", "the sphere rolls again"),
    kernels.LIFTS: ("lift", "the normal force is gone: the sphere flies"),
    kernels.LANDS: ("land", "the sphere is back on the ground"),
}


Body = tuple[float, float, float, float, float]
"""Radius [voxels], mass [M], moment of inertia [M voxel^2], gravity downwards [voxels/s^2], and the
coefficient of Coulomb friction of the ground, which may be infinite."""


class HeavyRoller(Ball):
    """A heavy sphere on a field; walls, without friction, take all of the speed towards them.

    Args:
        field: the ground.
        body: its mass and what acts on it.
        centre: of the sphere at the start (3,) [voxels].
        orientation: x y z w (4,).
        omega: at the start (3,) [rad/s]; it rolls with that.
        velocity: of the centre at the start (3,) [voxels/s], to start sliding; None to roll.
        walls: a field of their own, or None.
        step: of the integration [s].
    """

    def __init__(
        self, field: Field, body: Body, *, centre: Vector, orientation: Vector = LEVEL,
        omega: Vector = (0.0, 0.0, 0.0), velocity: Vector | None = None, walls: Field | None = None,
        step: float = 1e-3,
    ) -> None:  # fmt: skip
        self.mode = kernels.ROLL if velocity is None else kernels.SLIDE
        self._body, self._step = body, step
        spin = np.array(omega, dtype=float)
        v = field.radius * np.cross(spin, field.normal(centre)) if velocity is None else velocity
        state = [*centre, *orientation, *v, *spin]
        super().__init__(field, walls, state, max(1.0, 0.1 * field.radius))

    @property
    def velocity(self) -> Array:
        """The centre's velocity (3,) [voxels/s]."""
        return self._state[7:10].copy()

    @property
    def omega(self) -> Array:
        """The angular velocity in the world frame (3,) [rad/s]."""
        return self._state[10:13].copy()

    def advance(self, torque: Vector, duration: float) -> str:
        """Move for a time [s] under a torque (3,) in the world frame; return the status."""
        push = three(torque, "a torque")
        end = self.time + duration
        walls = self.walls or self.field
        while self.status == DONE and self.time < end:
            code, self.mode, passed = kernels.advance(
                self.field.arrays, walls.arrays, self.walls is not None, self._body,
                self.field.size, self._state, self.mode, push, self._step, end - self.time,
                0.5 * self._lost, self._lost,
            )  # fmt: skip
            self.time += passed
            if code == kernels.DONE:
                self.time = end
            elif code == kernels.HIT:
                self._bounce()
            elif code in WORDS:
                self._record(*WORDS[code])
            else:
                self._end(LEFT if code == kernels.LEFT else "contact_lost")
        return self.status

    def _bounce(self) -> None:
        """Take the velocity towards the walls; what rolled slides until it rolls again."""
        assert self.walls is not None
        n, v = self.normal, self.velocity
        normals = [contact.normal for contact in contacts(self.walls, self.centre)]
        if self.mode != kernels.FLIGHT:
            normals = [m for m in (in_ground(normal, n) for normal in normals) if m is not None]
        into = [m for m in normals if v @ m < 0]
        if not into:
            self._end("no_wall_normal")
            return
        for m in into:
            v = v - min(float(v @ m), 0.0) * m
        self._state[7:10] = v
        if self.mode == kernels.ROLL:
            self.mode = kernels.SLIDE
        self._record("wall", f"hit with {np.linalg.norm(self.velocity):.3g} voxels/s after it")
