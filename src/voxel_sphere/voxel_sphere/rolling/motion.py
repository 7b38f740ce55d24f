"""Kinematic rolling of the sphere, step by step or along a whole run.

`Roller` turns a commanded angular velocity into motion on a field (field.py): the compiled function
of exact.py integrates to the next event, and `advance` acts on the event. When the sphere hits a
wall, the source (the description of a MATLAB program, docs/voxel_sphere.md) has this rule: it is
reflected, rolls off the wall for a distance MOVE, and then turns parallel to the wall. Plain
reflection is offered beside it. `roll` samples a whole run, for `accord voxel-sphere roll`.

A new scheme is a branch in schemes.py and an entry in SCHEMES; a new rule after a hit is a name in
AFTER (walls.py) and a branch in `_bounce`. STEP_ANGLE, MAX_STEPS and MAX_HITS may be tuned.
test_voxel_walls tests the paths of the source's rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np
from roboaccord.contract import AccordError, Array, check_known

from voxel_sphere.rolling import exact
from voxel_sphere.rolling.ball import DONE, LEFT, LEVEL, Ball, checked_vector
from voxel_sphere.rolling.contacts import touching_patches
from voxel_sphere.rolling.field import Field, Vector
from voxel_sphere.rolling.path import RolledPath, Sample
from voxel_sphere.rolling.schemes import EXACT, LOCAL_PLANE
from voxel_sphere.rolling.state import HOLLOWNESS, KINEMATIC_EXTRA, ORIENTATION, TRAVEL
from voxel_sphere.rolling.walls import AFTER, MOVE, project_to_ground, reflected, spin_for, tangent
from voxel_sphere.terrain.slices import Done, no_progress

# rad; turn of the sphere in a step, unless a step is given. A step of the fourth order has an error
# of about 0.02^5 / 120 = 3e-11 r, far below the errors of a field of voxels.
STEP_ANGLE = 0.02
# Largest number of steps in a compiled call, for Ctrl-C waits for its end: 0.1 s at 1 us a step
MAX_STEPS = 100_000
UNFINISHED = -1  # code of a call that ended after MAX_STEPS steps, besides the codes of exact.py
# Number of hits in one place after which the sphere counts as stuck: any above the REFLECTIONS of a
# corner would do.
MAX_HITS = 50
# r; travel between two hits that count as being in one place: half of a step.
SAME_PLACE_TRAVEL = 0.01
SCHEMES = {"exact": EXACT, "local_plane": LOCAL_PLANE}

# Angular velocity (3,) [rad/s] in the world frame, by the time [s].
Omega = Callable[[float], Vector]


class Roller(Ball):
    """A sphere that rolls on a field at a commanded angular velocity.

    `Ball` (ball.py) has its time, status, events, and the array `_state`, whose layout is in
    state.py.

    A hit turns the velocity. The turn stays in force as long as the command is the same, so one
    call of `advance` and a thousand short ones give the same path.

    Args:
        field: the ground.
        centre: centre of the sphere at the start (3,) [voxels], from `Field.place`.
        orientation: x y z w (4,).
        walls: their field, or None.
        after: what follows a hit: with `parallel`, the source's rule, the sphere rolls off for
            `MOVE`, then parallel to the wall; with `reflected` it rolls on as it was reflected.
        step: step of the integration [s]; None for 0.02 rad of turn.
        scheme: `exact`, or `local_plane`: the source's, which drops the ground's curvature.
    """

    def __init__(
        self,
        field: Field,
        *,
        centre: Vector,
        orientation: Vector = LEVEL,
        walls: Field | None = None,
        after: str = "parallel",
        step: float | None = None,
        scheme: str = "exact",
    ) -> None:
        if after not in AFTER:
            raise AccordError(f"after a wall: {' or '.join(AFTER)}, not {after}")
        if step is not None and not 0 < step < math.inf:
            raise AccordError(f"step is {step:g} s, and must be positive")
        self._step, self._after = step, after
        self._scheme = SCHEMES[check_scheme(scheme)]
        r = field.radius
        lost = max(1.0, round(0.1 * r))  # the source's delta_move
        super().__init__(field, walls, [*centre, *orientation, *np.zeros(KINEMATIC_EXTRA)], lost)
        if walls is not None and walls.distance(self.centre) < r - lost:
            raise AccordError("the start is inside a wall")
        self._state[ORIENTATION] /= np.linalg.norm(self._state[ORIENTATION])
        self.omega = np.zeros(3)
        self._command = np.full(3, np.nan)
        # How hits have turned and scaled the command, as a complex number: with w_x + i w_y for the
        # horizontal part of an angular velocity, the sphere's is the command's times this factor.
        self._hit_factor = 1.0 + 0.0j
        self._wall_normal: Array | None = None  # normal of the wall that was hit last (3,)
        self._second_normal: Array | None = None  # normal of a second wall in the corner (3,)
        self._turn_travel = math.inf  # travel at which it turns parallel to the wall [voxels]

    @property
    def travel(self) -> float:
        """Length of the centre's path so far [voxels]."""
        return float(self._state[TRAVEL])

    def advance(self, omega: Vector, duration: float) -> str:
        """Roll with a world-frame angular velocity (3,) [rad/s] for a time [s]; return the status.

        After a run has ended this does nothing.
        """
        self.set_omega(omega)
        end = self.time + duration
        hits, last_hit = 0, self.travel  # number of hits in this place; travel at the last hit
        while self.status == DONE and self.time < end:
            code = self._run(end - self.time)
            if code == exact.DONE:
                self.time = end
            elif code == UNFINISHED:
                continue
            elif code == exact.TRAVELLED:
                self._turn_parallel()
            elif code == exact.HIT:
                is_same_place = self.travel - last_hit < SAME_PLACE_TRAVEL * self.field.radius
                hits = hits + 1 if is_same_place else 0
                last_hit = self.travel
                self._bounce(hits)
            elif code == exact.HOLLOW:
                self._record_hollow()
            else:
                self._end("contact_lost" if code == exact.LOST else LEFT)
        return self.status

    def _run(self, duration: float) -> int:
        """Integrate for at most MAX_STEPS steps; return the code of the event that stopped it."""
        speed = float(np.linalg.norm(self.omega))
        step = self._step or (STEP_ANGLE / speed if speed > 0 else duration)
        span = min(duration, MAX_STEPS * step)
        code, passed = exact.advance(
            self._scheme, self._surroundings, self._state, self.omega, step, span, self._turn_travel
        )
        self.time += passed
        return UNFINISHED if code == exact.DONE and span < duration else int(code)

    def set_omega(self, omega: Vector) -> None:
        """Set the commanded angular velocity (3,) [rad/s].

        The effect of earlier hits lasts as long as the command stays the same.

        Raises:
            AccordError: if it is not three finite numbers.
        """
        command = checked_vector(omega, "an angular velocity")
        if not np.array_equal(command, self._command):
            self._hit_factor = 1.0 + 0.0j
            self._turn_travel = math.inf
            self._command = command.copy()
        horizontal = complex(command[0], command[1]) * self._hit_factor
        self.omega = np.array([horizontal.real, horizontal.imag, command[2]])

    def _roll_with(self, v: Array) -> None:
        """Roll on with a velocity v (3,) of the centre [voxels/s]."""
        horizontal_before = complex(*self.omega[:2])
        self.omega = spin_for(v, self.normal, self.field.radius, self.omega)
        if horizontal_before != 0:
            self._hit_factor *= complex(*self.omega[:2]) / horizontal_before

    def _bounce(self, hits: int) -> None:
        """Reflect the velocity at the walls that are touched, after `hits` hits in this place."""
        assert self.walls is not None
        n, r = self.normal, self.field.radius
        touched = touching_patches(self.walls, self.centre)
        if len(touched) > 2:
            self._end("too_many_contacts")
            return
        if hits > MAX_HITS:
            self._end("stuck")
            return
        v = r * np.cross(self.omega, n)
        in_plane = (project_to_ground(contact.normal, n) for contact in touched)
        normals = [m for m in in_plane if m is not None]
        if not normals:
            self._end("no_wall_normal")
            return
        velocity = reflected(v, normals)
        if velocity is None:
            self._end("stuck")
            return
        normals.sort(key=lambda m: float(v @ m))  # the wall that is hit fastest first
        self._roll_with(velocity)
        self._wall_normal = normals[0]
        self._second_normal = normals[1] if len(normals) > 1 else None
        if self._after == "parallel":
            self._turn_travel = self.travel + MOVE * r
        kind = "wall" if len(normals) == 1 else "corner"
        facing = math.degrees(math.atan2(normals[0][1], normals[0][0]))
        self._record(kind, f"the wall faces {facing:.1f} deg in plan")

    def _turn_parallel(self) -> None:
        """Turn parallel to the wall, once the sphere has rolled off it for MOVE."""
        assert self._wall_normal is not None
        n = self.normal
        v = self.field.radius * np.cross(self.omega, n)
        m = project_to_ground(self._wall_normal, n)
        self._turn_travel = math.inf
        if m is None:
            self._end("no_wall_normal")
            return
        self._roll_with(float(np.linalg.norm(v)) * tangent(v, m, n, self._second_normal))
        self._record("parallel", "parallel to the wall")

    def _record_hollow(self) -> None:
        """Record a groove with r times the curvature of the ground, k / (1 + k).

        k is r times the curvature of the surface on which the centre moves.
        """
        hollowness = self._state[HOLLOWNESS]
        value = hollowness / (1.0 + hollowness)
        self._record("curvature", f"r * curvature is {value:.2f} or more: two contacts change over")


def roll(
    roller: Roller,
    omega: Vector | Omega,
    duration: float,
    samples: int = 500,
    done: Done = no_progress,
) -> RolledPath:
    """Roll for a time, and return the path in equal samples.

    Args:
        roller: the sphere, at its start.
        omega: angular velocity (3,) [rad/s], or a function that returns it at a time [s]; it is
            evaluated in the middle of each interval.
        duration: duration of the run [s].
        samples: number of intervals between samples.
        done: called after every interval.
    """
    if not 0 < duration < math.inf:
        raise AccordError(f"the time is {duration:g} s, and must be positive")
    if not 1 <= samples <= 1_000_000:
        raise AccordError(f"{samples} samples: 1 to 1000000")
    path: list[Sample] = []
    for begin, end in pairwise(np.linspace(0.0, duration, samples + 1)):
        command = omega(0.5 * (begin + end)) if callable(omega) else omega
        roller.set_omega(command)
        path.append(Sample.of(roller))
        roller.advance(command, end - roller.time)
        done(1)
        if roller.status != DONE:
            break
    path.append(Sample.of(roller))
    return RolledPath.of(path, roller.field.radius, roller.travel, roller.status, roller.events)


def check_scheme(name: str, schemes: Iterable[str] = SCHEMES) -> str:
    """Return the name of a scheme.

    Raises:
        AccordError: if there is none of this name.
    """
    check_known("no scheme ", name, [*schemes])
    return name
