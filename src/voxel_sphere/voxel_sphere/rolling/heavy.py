"""A heavy sphere under gravity and a drive torque, that rolls, slips, and may leave the ground.

`HeavyRoller` steps the kernels of heavy_kernels.py from event to event and records each event.
Walls have no friction and take all of the speed towards them, which is our choice: `_bounce` is the
place for another wall. Numbers of the sphere come from the caller (simulators/reference.py).

Descriptions in EVENTS may be changed; their kinds stay, for cross-checks and bags compare them.
test_voxel_heavy tests the walls.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array

from voxel_sphere.rolling import heavy_kernels as kernels
from voxel_sphere.rolling.ball import DONE, LEFT, Ball, three
from voxel_sphere.rolling.contacts import contacts
from voxel_sphere.rolling.field import Field, Vector
from voxel_sphere.rolling.heavy_equations import FLIGHT, ROLL, SLIDE
from voxel_sphere.rolling.state import SPIN, VELOCITY
from voxel_sphere.rolling.walls import in_ground

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])  # orientation x y z w without a turn
# Kind and description of the event that a code of the kernels stands for.
EVENTS = {
    kernels.SLIPS: ("slip", "friction is at its limit: the sphere slides"),
    kernels.ROLLS: ("roll", "the sphere rolls again"),
    kernels.LIFTS: ("lift", "the normal force is gone: the sphere flies"),
    kernels.LANDS: ("land", "the sphere is back on the ground"),
}

# Radius [voxels], mass [M], moment of inertia [M voxel^2], gravity downwards [voxels/s^2], and the
# coefficient of Coulomb friction of the ground, which may be infinite.
Body = tuple[float, float, float, float, float]


class HeavyRoller(Ball):
    """A heavy sphere on a field.

    Its `mode` is ROLL, SLIDE or FLIGHT (heavy_equations.py).

    Args:
        field: the ground.
        body: numbers of the sphere and of what acts on it.
        centre: of the sphere at the start (3,) [voxels].
        orientation: x y z w (4,).
        omega: angular velocity at the start (3,) [rad/s].
        velocity: of the centre at the start (3,) [voxels/s], to start sliding; None to roll
            with omega.
        walls: their field, or None.
        step: of the integration [s].
    """

    def __init__(
        self, field: Field, body: Body, *, centre: Vector, orientation: Vector = LEVEL,
        omega: Vector = (0.0, 0.0, 0.0), velocity: Vector | None = None, walls: Field | None = None,
        step: float = 1e-3,
    ) -> None:  # fmt: skip
        self.mode = ROLL if velocity is None else SLIDE
        self._body, self._step = body, step
        spin = np.array(omega, dtype=float)
        if velocity is None:
            velocity = field.radius * np.cross(spin, field.normal(centre))
        state = [*centre, *orientation, *velocity, *spin]
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
        """Move for a time [s] under a torque (3,) in the world frame; return the status."""
        drive = three(torque, "a torque")
        end = self.time + duration
        walls = self.walls or self.field
        while self.status == DONE and self.time < end:
            code, self.mode, passed = kernels.advance(
                self.field.arrays, walls.arrays, self.walls is not None, self._body,
                self.field.size, self._state, self.mode, drive, self._step, end - self.time,
                0.5 * self._lost, self._lost,
            )  # fmt: skip
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
        """Take away the velocity towards the walls; a sphere that rolled then slides."""
        assert self.walls is not None
        n, v = self.normal, self.velocity
        normals = [contact.normal for contact in contacts(self.walls, self.centre)]
        if self.mode != FLIGHT:
            normals = [m for m in (in_ground(normal, n) for normal in normals) if m is not None]
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
