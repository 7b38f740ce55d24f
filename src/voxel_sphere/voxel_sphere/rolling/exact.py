"""Integration of a rolling sphere to its next event; compiled functions.

`advance` takes steps of a scheme of schemes.py until the time is over or an event happens, and
returns one of the codes below: a wall is hit (HIT), a given path length is reached (TRAVELLED), the
workspace is left (LEFT), the contact is lost (LOST), or the ground is a groove so narrow that two
contacts alternate (HOLLOW).

Points and vectors are tuples of three numbers: the centre c [voxels], the ground's unit normal n
below it, and the centre's velocity v [voxels/s]. The normal is constant along itself, so a distance
that is slightly wrong does not spoil the path; it is corrected only beyond a bound. The constants
but the codes may be tuned; test_voxel_rolling and test_voxel_walls guard the rest.
"""

from __future__ import annotations

from roboaccord.numerics import kernel

from voxel_sphere.rolling.field import sample
from voxel_sphere.rolling.schemes import hits, rolling_velocity, runge_kutta, turn, velocity
from voxel_sphere.rolling.state import HOLLOWNESS, LAST_NORMAL, LAST_STEP, TRAVEL
from voxel_sphere.rolling.vectors import add_scaled, distance_between, dot, is_inside

DONE, HIT, TRAVELLED, LEFT, LOST, HOLLOW = range(6)

# Hollowness is r times the curvature of the surface on which the centre moves. It is estimated from
# the turn of the normal in a step, and from this estimate on it is computed from distances, which
# costs three samples of the field. The value is an eighth of GROOVE_HOLLOWNESS, for the smoothed
# normal turns more slowly than the ground does; the bowl whose centre's surface has a radius of
# 4 r, 1/4, is not measured in every step.
SUSPECTED_HOLLOWNESS = 0.5
# Hollowness, computed from distances, from which on the ground counts as a groove: r times the
# curvature of the ground is then 4 / (1 + 4) = 0.8. Two contacts alternate where that is 1, which
# no grid can show.
GROOVE_HOLLOWNESS = 4.0
BISECTIONS = 45  # halvings of a step: they locate a hit to 3e-14 of the step, which is round-off
# Steps of `step_size`; a longer remaining time is taken in two steps. The 1e-6 is far above the
# round-off of times and lengthens a last step by nothing that counts.
LONGEST_LAST_STEP = 1.000001


@kernel
def advance(scheme, surroundings, state, w, step_size, duration, reach):
    """Roll for a duration, or to an event; return its code, and the time that has passed [s].

    Args:
        scheme: EXACT or LOCAL_PLANE.
        surroundings: ground, walls and bounds (`ball.Surroundings`).
        state: state of the kinematic sphere as in state.py; changed.
        w: angular velocity in the world frame (3,) [rad/s].
        step_size: longest step of the integration [s].
        duration: [s].
        reach: travel at which to stop [voxels].
    """
    ground, walls, r = surroundings.ground, surroundings.walls, surroundings.radius
    spin = w[0], w[1], w[2]
    c = state[0], state[1], state[2]
    time, code = 0.0, DONE
    while code == DONE and time < duration:
        # Distance and normal of the ground, and the centre put back if it is off.
        d, n = sample(ground, *c)
        if not abs(d - r) < surroundings.lost or dot(n, n) == 0.0:
            code = LOST
            break
        if abs(d - r) > surroundings.guard:
            c = add_scaled(c, r - d, n)
            _, n = sample(ground, *c)
        v = rolling_velocity(scheme, ground, r, spin, c, n)
        if surroundings.has_walls and time == 0.0 and hits(walls, r, c, v):
            code = HIT
            break
        remaining = duration - time
        step = step_size if remaining > LONGEST_LAST_STEP * step_size else remaining
        end = runge_kutta(scheme, ground, r, spin, c, v, step)
        length = distance_between(c, end)
        if enters_groove(ground, r, state, c, n, end, length):
            code = HOLLOW
            break
        # Shorten the step at the given path length, or at a wall.
        if state[TRAVEL] + length >= reach:
            step *= max(reach - state[TRAVEL], 0.0) / length
            end = runge_kutta(scheme, ground, r, spin, c, v, step)
            length = max(reach - state[TRAVEL], 0.0)
            code = TRAVELLED
        touches = surroundings.has_walls and sample(walls, *end)[0] < r
        if touches and hits(walls, r, end, velocity(scheme, ground, r, spin, end)):
            step, end = step_to_wall(scheme, surroundings, spin, c, v, step)
            code = HIT
            length = distance_between(c, end)
        if not is_inside(end, surroundings.size):
            code = LEFT
            break
        turn(state, spin, step)
        c = end
        time += step
        state[TRAVEL] += length
        state[LAST_NORMAL], state[LAST_NORMAL + 1], state[LAST_NORMAL + 2] = n
        state[LAST_STEP] = length
    state[0], state[1], state[2] = c
    return code, time


@kernel
def enters_groove(ground, r, state, c, n, end, length):
    """Return whether a step enters a groove in which two contacts alternate.

    The step leads from the centre c, above the normal n, to `end`, over a length [voxels]. The
    hollowness of a groove stays in the state until the sphere is out of it, so that it is reported
    once.
    """
    last_length = state[LAST_STEP]
    if not (last_length > 0.0 and length > 0.0):
        return False
    last_normal = state[LAST_NORMAL : LAST_NORMAL + 3]
    if r * distance_between(last_normal, n) > SUSPECTED_HOLLOWNESS * last_length:
        along = (end[0] - c[0]) / length, (end[1] - c[1]) / length, (end[2] - c[2]) / length
        hollowness = measure_hollowness(ground, r, c, along)
        if hollowness > GROOVE_HOLLOWNESS and state[HOLLOWNESS] == 0.0:
            state[HOLLOWNESS] = hollowness
            return True
        if hollowness < 0.5 * GROOVE_HOLLOWNESS:
            state[HOLLOWNESS] = 0.0
    return False


@kernel
def measure_hollowness(field, r, c, along):
    """Return r times the curvature of the centre's surface in a direction (3), hollow positive.

    It is the second difference of the distances at the centre c and on both sides of it, for their
    smoothed gradient does not show where two contacts alternate.
    """
    spacing = max(1.5, 0.1 * r)  # of the samples [voxels], beyond the noise of single voxels
    middle = sample(field, *c)[0]
    ahead = sample(field, *add_scaled(c, spacing, along))[0]
    behind = sample(field, *add_scaled(c, -spacing, along))[0]
    return r * (2.0 * middle - ahead - behind) / (spacing * spacing)


@kernel
def step_to_wall(scheme, surroundings, spin, c, v, step):
    """Return the time [s] within a step at which the sphere touches a wall, and the centre (3)."""
    low, high = 0.0, step
    end = c
    for _ in range(BISECTIONS):
        step = 0.5 * (low + high)
        end = runge_kutta(scheme, surroundings.ground, surroundings.radius, spin, c, v, step)
        if sample(surroundings.walls, *end)[0] < surroundings.radius:
            high = step
        else:
            low = step
    return step, end
