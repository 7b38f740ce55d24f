"""A heavy sphere under gravity and a drive torque, that rolls, slips, and may leave the ground."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from roboaccord.contract import AccordError, Array

from voxel_sphere.rolling import heavy_kernels as kernels
from voxel_sphere.rolling.field import Field, Vector
from voxel_sphere.rolling.motion import contacts
from voxel_sphere.rolling.path import DONE, LEFT, Ball, three
from voxel_sphere.rolling.walls import in_ground

GRAVITY = 981.0  # voxels/s^2: 9.81 m/s^2 where a voxel is 0.01 m
SOLID = 0.4  # of m r^2
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
WORDS = {
    kernels.SLIPS: ("slip", "friction is at its limit: the sphere slides"),
    kernels.ROLLS: ("roll", "the sphere rolls again"),
    kernels.LIFTS: ("lift", "the normal force is gone: the sphere flies"),
    kernels.LANDS: ("land", "the sphere is back on the ground"),
}


@dataclass(frozen=True, kw_only=True)
class HeavyParameters:
    """A sphere's mass and what acts on it; lengths in voxels, any unit of mass.

    Args:
        mass: [M].
        inertia: about the centre [M voxel^2]; None for a solid sphere, 2/5 m r^2.
        gravity: downwards [voxel/s^2].
        friction: Coulomb's, of the ground; infinite for rolling without slip whatever happens.
        restitution: at walls, which have no friction.
    """

    mass: float = 1.0
    inertia: float | None = None
    gravity: float = GRAVITY
    friction: float = math.inf
    restitution: float = 1.0

    def __post_init__(self) -> None:
        for name in ("mass", "inertia"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise AccordError(f"{name} is {value:g}, and must be positive")
        if not (self.friction >= 0 and math.isfinite(self.gravity)):
            raise AccordError("friction must not be negative, and gravity must be finite")
        if not 0 <= self.restitution <= 1:
            raise AccordError(f"restitution is {self.restitution:g}, and must be from 0 to 1")

    def body(self, r: float) -> tuple[float, ...]:
        """Return the kernels' arguments: r, mass, inertia, gravity, mu."""
        inertia = SOLID * self.mass * r * r if self.inertia is None else self.inertia
        return float(r), float(self.mass), float(inertia), float(self.gravity), float(self.friction)


class HeavyRoller(Ball):
    """A heavy sphere on a field.

    Args:
        field: the ground.
        centre: of the sphere at the start (3,) [voxels].
        orientation: x y z w (4,).
        omega: at the start (3,) [rad/s]; it rolls with that.
        velocity: of the centre at the start (3,) [voxels/s], to start sliding; None to roll.
        walls: a field of their own, or None.
        parameters: mass, gravity, friction.
        step: of the integration [s].
    """

    def __init__(
        self, field: Field, *, centre: Vector, orientation: Vector = LEVEL,
        omega: Vector = (0.0, 0.0, 0.0), velocity: Vector | None = None, walls: Field | None = None,
        parameters: HeavyParameters | None = None, step: float = 1e-3,
    ) -> None:  # fmt: skip
        self.parameters = parameters or HeavyParameters()
        self.mode = kernels.ROLL if velocity is None else kernels.SLIDE
        self._body, self._step = self.parameters.body(field.radius), step
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

    @property
    def energy(self) -> float:
        """Kinetic and potential energy, the latter from z = 0 [M voxel^2/s^2]."""
        _, m, inertia, gravity, _ = self._body
        v, w = self.velocity, self.omega
        return float(0.5 * m * v @ v + 0.5 * inertia * w @ w + m * gravity * self._state[2])

    def force(self, torque: Vector = (0.0, 0.0, 0.0)) -> tuple[Array, float]:
        """Return friction (3,) and normal force of the ground [M voxel/s^2]; 0 in flight."""
        y = np.concatenate([self._state[:3], self._state[7:]])
        push = np.asarray(torque, dtype=float)
        force = kernels.contact_force(self.mode, self.field.arrays, self._body, y, push)
        return force[:3], float(force[3])

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
        """Reflect the velocity at the walls; on ground that cannot slip the turning goes with it.

        With friction on the ground the turning stays, and the sphere slides until it rolls again.
        """
        assert self.walls is not None
        n, v = self.normal, self.velocity
        found = [contact.normal for contact in contacts(self.walls, self.centre)]
        if self.mode != kernels.FLIGHT:
            found = [m for m in (in_ground(normal, n) for normal in found) if m is not None]
        into = [m for m in found if v @ m < 0]
        if not into:
            self._end("no_wall_normal")
            return
        for m in into:
            v = v - (1.0 + self.parameters.restitution) * min(float(v @ m), 0.0) * m
        self._state[7:10] = v
        if self.mode == kernels.ROLL:
            if math.isinf(self.parameters.friction):
                w = self.omega
                self._state[10:13] = np.cross(n, v) / self.field.radius + (n @ w) * n
            else:
                self.mode = kernels.SLIDE
        self._record("wall", f"hit with {np.linalg.norm(self.velocity):.3g} voxels/s after it")
