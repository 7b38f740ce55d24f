"""Exact rolling of the sphere, step by step or along a whole run.

STEP_ANGLE, LONGEST and HITS may be tuned: accuracy of a step, time until Ctrl-C is seen, and when a
sphere counts as stuck. Rolling off a wall for MOVE, then `parallel` to it, is fixed by the source
(test_voxel_walls tests its paths). A new scheme is an entry in SCHEMES with a kernel in exact.py; a
new rule after a hit a name in AFTER (walls.py) and a branch in `_bounce`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np
from roboaccord.contract import AccordError, Array

from voxel_sphere.rolling import exact
from voxel_sphere.rolling.contacts import contacts
from voxel_sphere.rolling.field import Field, Vector
from voxel_sphere.rolling.path import DONE, LEFT, Ball, RolledPath, Row, three
from voxel_sphere.rolling.walls import AFTER, MOVE, in_ground, reflected, spin_for, tangent
from voxel_sphere.terrain.slices import Done, nothing

STEP_ANGLE = 0.02  # rad that the sphere turns in a step, unless a step is given
LONGEST = 100_000  # steps of a call of the kernel, which nothing interrupts
GOES_ON = -1  # code of a call that ended there
LEVEL = (0.0, 0.0, 0.0, 1.0)
HITS = 50  # in one call without travel between them, after which the sphere is stuck
SCHEMES = {"exact": exact.EXACT, "local_plane": exact.LOCAL_PLANE}

Omega = Callable[[float], Vector]


class Roller(Ball):
    """A sphere that rolls on a field at a commanded angular velocity.

    A hit turns the velocity; the turn stays in force as long as the command is the same, so that
    one call and a thousand short ones do the same.

    Args:
        field: the ground.
        centre: of the sphere at the start (3,) [voxels], from `Field.place`.
        orientation: x y z w (4,).
        walls: a field of their own, or None.
        after: a hit: `parallel`: the sphere rolls off for `MOVE`, then parallel to the wall, as in
            the source; `reflected`: it rolls on as it was reflected.
        step: of the integration [s]; None for 0.02 rad of turn.
        scheme: `exact`, or `local_plane`: the source's, which drops the ground's curvature.
    """

    def __init__(
        self, field: Field, *, centre: Vector, orientation: Vector = LEVEL,
        walls: Field | None = None, after: str = "parallel", step: float | None = None,
        scheme: str = "exact",
    ) -> None:  # fmt: skip
        if after not in AFTER:
            raise AccordError(f"after a wall: {' or '.join(AFTER)}, not {after}")
        if step is not None and not 0 < step < math.inf:
            raise AccordError(f"step is {step:g} s, and must be positive")
        self._step, self._after, self._scheme = step, after, SCHEMES[check_scheme(scheme)]
        r = field.radius
        # The source's delta_move.
        lost = max(1.0, round(0.1 * r))
        super().__init__(field, walls, [*centre, *orientation, *np.zeros(6)], lost)
        if walls is not None and walls.distance(self.centre) < r - lost:
            raise AccordError("the start is inside a wall")
        self._state[3:7] /= np.linalg.norm(self._state[3:7])
        self.omega = np.zeros(3)
        self._command = np.full(3, np.nan)
        self._turned = 1.0 + 0.0j  # the command times this is w in plan, as complex numbers
        self._wall: Array | None = None  # the normal of the wall that the sphere rolls off from
        self._second: Array | None = None  # the normal of a second one there
        self._reach = math.inf  # travel at which it turns parallel

    @property
    def travel(self) -> float:
        """Length of the centre's path so far [voxels]."""
        return float(self._state[7])

    def advance(self, omega: Vector, duration: float) -> str:
        """Roll with a world-frame angular velocity (3,) [rad/s] for a time [s]; return the status.

        After a run has ended this does nothing.
        """
        self.take(omega)
        end, hits, travel = self.time + duration, 0, self.travel
        while self.status == DONE and self.time < end:
            code = self._run(end - self.time)
            if code == exact.DONE:
                self.time = end
            elif code == GOES_ON:
                continue
            elif code == exact.TRAVELLED:
                self._turn_parallel()
            elif code == exact.HIT:
                hits = hits + 1 if self.travel - travel < 0.01 * self.field.radius else 0
                travel = self.travel
                self._bounce(hits)
            elif code == exact.HOLLOW:
                self._record_hollow()
            else:
                self._end("contact_lost" if code == exact.LOST else LEFT)
        return self.status

    def _run(self, duration: float) -> int:
        """Roll on in the kernel, so far that Ctrl-C is soon seen; return why it stopped."""
        speed = float(np.linalg.norm(self.omega))
        step = self._step or (STEP_ANGLE / speed if speed > 0 else duration)
        span = min(duration, LONGEST * step)
        walls = self.walls or self.field
        code, passed = exact.advance(
            self._scheme, self.field.arrays, walls.arrays, self.walls is not None,
            self.field.radius, self.field.size, self._state, self.omega, step, span,
            self._reach, 0.5 * self._lost, self._lost,
        )  # fmt: skip
        self.time += passed
        return GOES_ON if code == exact.DONE and span < duration else int(code)

    def take(self, omega: Vector) -> None:
        """Take a command (3,) [rad/s] over; a new one is not bound by what the last one ran into.

        Raises:
            AccordError: if it is not three finite numbers.
        """
        command = three(omega, "an angular velocity")
        if not np.array_equal(command, self._command):
            self._turned, self._reach = 1.0 + 0.0j, math.inf
            self._command = command.copy()
        plan = complex(command[0], command[1]) * self._turned
        self.omega = np.array([plan.real, plan.imag, command[2]])

    def _set(self, v: Array) -> None:
        """Roll with the centre's velocity v (3,) from here on."""
        before = complex(*self.omega[:2])
        self.omega = spin_for(v, self.normal, self.field.radius, self.omega)
        if before != 0:
            self._turned *= complex(*self.omega[:2]) / before

    def _bounce(self, hits: int) -> None:
        """Reflect the velocity at the walls that are touched."""
        assert self.walls is not None
        n, r = self.normal, self.field.radius
        touched = contacts(self.walls, self.centre)
        if len(touched) > 2:
            self._end("too_many_contacts")
            return
        if hits > HITS:
            self._end("stuck")
            return
        v = r * np.cross(self.omega, n)
        grounded = (in_ground(contact.normal, n) for contact in touched)
        normals = [m for m in grounded if m is not None]
        if not normals:
            self._end("no_wall_normal")
            return
        after = reflected(v, normals)
        if after is None:
            self._end("stuck")
            return
        normals.sort(key=lambda m: float(v @ m))
        self._set(after)
        self._wall, self._second = normals[0], normals[1] if len(normals) > 1 else None
        if self._after == "parallel":
            self._reach = self.travel + MOVE * r
        kind = "wall" if len(normals) == 1 else "corner"
        facing = math.degrees(math.atan2(*normals[0][1::-1]))
        self._record(kind, f"the wall faces {facing:.1f} deg in plan")

    def _turn_parallel(self) -> None:
        """Turn parallel to the wall, after the distance off it."""
        assert self._wall is not None
        n = self.normal
        v = self.field.radius * np.cross(self.omega, n)
        m = in_ground(self._wall, n)
        self._reach = math.inf
        if m is None:
            self._end("no_wall_normal")
            return
        self._set(float(np.linalg.norm(v)) * tangent(v, m, n, self._second))
        self._record("parallel", "parallel to the wall")

    def _record_hollow(self) -> None:
        sharp = self._state[8]
        value = sharp / (1.0 + sharp)
        self._record("curvature", f"r * curvature is {value:.2f} or more: two contacts change over")


def roll(
    roller: Roller, omega: Vector | Omega, duration: float, samples: int = 500,
    done: Done = nothing,
) -> RolledPath:  # fmt: skip
    """Roll for a time, and return the path in equal samples.

    Args:
        roller: that is at its start.
        omega: (3,) or a function of the time [rad/s], of which each sample has the value in its
            middle.
        duration: [s].
        samples: number of intervals between samples.
        done: called with every sample.
    """
    if not 0 < duration < math.inf:
        raise AccordError(f"the time is {duration:g} s, and must be positive")
    if not 1 <= samples <= 1_000_000:
        raise AccordError(f"{samples} samples: 1 to 1000000")
    rows = []
    for begin, end in pairwise(np.linspace(0.0, duration, samples + 1)):
        command = omega(0.5 * (begin + end)) if callable(omega) else omega
        roller.take(command)
        rows.append(_row(roller))
        roller.advance(command, end - roller.time)
        done(1)
        if roller.status != DONE:
            break
    rows.append(_row(roller))
    return RolledPath.of(rows, roller.field.radius, roller.travel, roller.status, roller.events)


def check_scheme(name: str, schemes: Iterable[str] = SCHEMES) -> str:
    """Return the name of a scheme, or complain."""
    if name not in schemes:
        raise AccordError(f"no scheme {name}; available: {', '.join(schemes)}")
    return name


def _row(roller: Roller) -> Row:
    return roller.time, roller.centre, roller.normal, roller.orientation, roller.omega
