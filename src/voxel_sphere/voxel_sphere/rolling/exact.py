"""Integration of a rolling sphere to its next event; compiled functions.

`advance` takes steps of a scheme of schemes.py until the time is over or an event happens, and
returns one of the codes below: a wall is hit (HIT), a given path length is reached (TRAVELLED), the
workspace is left (LEFT), the contact is lost (LOST), or the ground is a groove so narrow that two
contacts alternate (HOLLOW).

The normal is constant along itself, so a distance that is slightly wrong does not spoil the path;
it is corrected only beyond `guard`. SUSPECT, SHARP and BISECTIONS may be tuned; test_voxel_rolling
and test_voxel_walls guard the rest.
"""

from __future__ import annotations

import math

from roboaccord.numerics import kernel

from voxel_sphere.rolling.field import sample
from voxel_sphere.rolling.schemes import hits, rolling, runge_kutta, turn, velocity
from voxel_sphere.rolling.state import HOLLOWNESS, LAST_NORMAL, LAST_STEP, TRAVEL

DONE, HIT, TRAVELLED, LEFT, LOST, HOLLOW = range(6)

# r times the curvature of the surface on which the centre moves, estimated from the turn of the
# normal in a step. From here on it is computed from distances, which costs three samples of the
# field. It is an eighth of SHARP, for the smoothed normal turns more slowly than the ground does;
# the bowl whose centre's surface has a radius of 4 r, 1/4, is not measured in every step.
SUSPECT = 0.5
# The same, computed from distances, from which on the ground counts as a groove: r times the
# curvature of the ground is then SHARP / (1 + SHARP) = 0.8. Two contacts alternate where that is 1,
# which no grid can show.
SHARP = 4.0
BISECTIONS = 45  # halvings of a step: they locate a hit to 3e-14 of the step, which is round-off
# steps; a longer remaining time is taken in two steps. The 1e-6 is far above the round-off of times
# and lengthens a last step by nothing that counts.
ROUND_OFF = 1.000001


@kernel
def bend(field, r, x, y, z, ux, uy, uz):
    """Return r times the curvature of the centre's surface along (ux, uy, uz), hollow positive.

    It is the second difference of the distances at (x, y, z) and on both sides of it, for their
    smoothed gradient does not show where two contacts alternate.
    """
    b = max(1.5, 0.1 * r)  # distance of the samples [voxels], beyond the noise of single voxels
    middle = sample(field, x, y, z)[0]
    ahead = sample(field, x + b * ux, y + b * uy, z + b * uz)[0]
    behind = sample(field, x - b * ux, y - b * uy, z - b * uz)[0]
    return r * (2.0 * middle - ahead - behind) / (b * b)


@kernel
def enters_groove(ground, r, state, x, y, z, nx, ny, nz, x1, y1, z1, length):
    """Return whether a step enters a groove in which two contacts alternate.

    The step leads from (x, y, z), above the normal (nx, ny, nz), to (x1, y1, z1). The hollowness of
    a groove stays in the state until the sphere is out of it, so that it is reported once.
    """
    last = state[LAST_STEP]
    if not (last > 0.0 and length > 0.0):
        return False
    tx, ty = nx - state[LAST_NORMAL], ny - state[LAST_NORMAL + 1]
    tz = nz - state[LAST_NORMAL + 2]
    if r * math.sqrt(tx * tx + ty * ty + tz * tz) > SUSPECT * last:
        sharp = bend(ground, r, x, y, z, (x1 - x) / length, (y1 - y) / length, (z1 - z) / length)
        if sharp > SHARP and state[HOLLOWNESS] == 0.0:
            state[HOLLOWNESS] = sharp
            return True
        if sharp < 0.5 * SHARP:
            state[HOLLOWNESS] = 0.0
    return False


@kernel
def step_to_wall(scheme, ground, walls, r, spin, x, y, z, vx, vy, vz, step):
    """Return the time [s] within a step at which the sphere touches a wall, and the centre (3)."""
    low, high = 0.0, step
    x1, y1, z1 = x, y, z
    for _ in range(BISECTIONS):
        step = 0.5 * (low + high)
        x1, y1, z1 = runge_kutta(scheme, ground, r, spin, x, y, z, vx, vy, vz, step)
        if sample(walls, x1, y1, z1)[0] < r:
            high = step
        else:
            low = step
    return step, x1, y1, z1


@kernel
def advance(scheme, ground, walls, walled, r, size, state, w, h, duration, reach, guard, lost):
    """Roll with w for `duration` [s] in steps h [s], or to an event; return its code and the time.

    Args:
        scheme: EXACT or LOCAL_PLANE.
        ground, walls: fields (kind, params, grid); that of the walls is used only if `walled`.
        r, size: radius of the sphere, and edge of the workspace [voxels].
        state: state of the kinematic sphere as in state.py; it is changed.
        w: angular velocity in the world frame (3,) [rad/s].
        reach: travel at which to stop [voxels].
        guard, lost: errors of the distance r from the ground [voxels]: above the first the centre
            is moved back, above the second contact is lost.
    """
    spin = w[0], w[1], w[2]
    x, y, z = state[0], state[1], state[2]
    time, code = 0.0, DONE
    while code == DONE and time < duration:
        # Distance and normal of the ground, and the centre put back if it is off.
        d, nx, ny, nz = sample(ground, x, y, z)
        if not abs(d - r) < lost or nx * nx + ny * ny + nz * nz == 0.0:
            code = LOST
            break
        if abs(d - r) > guard:
            x, y, z = x - (d - r) * nx, y - (d - r) * ny, z - (d - r) * nz
            d, nx, ny, nz = sample(ground, x, y, z)
        vx, vy, vz = rolling(scheme, ground, r, spin, x, y, z, nx, ny, nz)
        if walled and time == 0.0 and hits(walls, r, vx, vy, vz, x, y, z):
            code = HIT
            break
        remaining = duration - time
        step = h if remaining > ROUND_OFF * h else remaining
        x1, y1, z1 = runge_kutta(scheme, ground, r, spin, x, y, z, vx, vy, vz, step)
        length = math.sqrt((x1 - x) ** 2 + (y1 - y) ** 2 + (z1 - z) ** 2)
        if enters_groove(ground, r, state, x, y, z, nx, ny, nz, x1, y1, z1, length):
            code = HOLLOW
            break
        # Shorten the step at the given path length, or at a wall.
        if state[TRAVEL] + length >= reach:
            step *= max(reach - state[TRAVEL], 0.0) / length
            x1, y1, z1 = runge_kutta(scheme, ground, r, spin, x, y, z, vx, vy, vz, step)
            length = max(reach - state[TRAVEL], 0.0)
            code = TRAVELLED
        if walled and sample(walls, x1, y1, z1)[0] < r:
            ex, ey, ez = velocity(scheme, ground, r, spin, x1, y1, z1)
            if hits(walls, r, ex, ey, ez, x1, y1, z1):
                step, x1, y1, z1 = step_to_wall(
                    scheme, ground, walls, r, spin, x, y, z, vx, vy, vz, step
                )
                code = HIT
                length = math.sqrt((x1 - x) ** 2 + (y1 - y) ** 2 + (z1 - z) ** 2)
        if not (0.0 <= x1 <= size and 0.0 <= y1 <= size and 0.0 <= z1 <= size):
            code = LEFT
            break
        turn(state, spin, step)
        x, y, z = x1, y1, z1
        time += step
        state[TRAVEL] += length
        state[LAST_NORMAL], state[LAST_NORMAL + 1], state[LAST_NORMAL + 2] = nx, ny, nz
        state[LAST_STEP] = length
    state[0], state[1], state[2] = x, y, z
    return code, time
