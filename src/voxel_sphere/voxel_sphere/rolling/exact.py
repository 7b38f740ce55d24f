"""Rolling without slipping in the world frame: c' = r w x n(c), A' = [w] A; compiled kernels.

Only SUSPECT, SHARP and BISECTIONS may be tuned: when a groove is too hollow, and how well ends of
runs are located. Both schemes are fixed: test_voxel_rolling compares them with quadrature, holonomy
and Montana's equations. LOCAL_PLANE is fixed by the source, with its error. A new scheme is a
number beside these and a branch in `rolling`.

The centre c moves over the surface at the distance r from the ground, and n is constant along the
normal, so that a distance a little off does not spoil the path; it is put right as a guard only.
"""

from __future__ import annotations

import math

from roboaccord.numerics import kernel

from voxel_sphere.rolling.field import sample, turning

EXACT, LOCAL_PLANE = range(2)
DONE, HIT, TRAVELLED, LEFT, LOST, HOLLOW = range(6)
SUSPECT = 0.5  # r * curvature of the centre's surface from which on the ground is looked at
SHARP = 4.0  # the same at which r * curvature of the ground is 0.8; a grid shows no 1
BISECTIONS = 45


@kernel
def rolling(scheme, field, r, w, x, y, z, nx, ny, nz):
    """Return the centre's velocity (3) where the normal is (nx, ny, nz).

    EXACT: r w x n. LOCAL_PLANE: the contact has r w x n, as on a plane, and not the centre. With
    n' = J c' the centre then has (1 - r J)^-1 r w x n, solved in the plane of the ground.
    """
    wx, wy, wz = w
    vx, vy, vz = r * (wy * nz - wz * ny), r * (wz * nx - wx * nz), r * (wx * ny - wy * nx)
    size = math.sqrt(vx * vx + vy * vy + vz * vz)
    if scheme == EXACT or size == 0.0:
        return vx, vy, vz
    ax, ay, az = vx / size, vy / size, vz / size
    bx, by, bz = ny * az - nz * ay, nz * ax - nx * az, nx * ay - ny * ax
    px, py, pz = turning(field, x, y, z, ax, ay, az)
    qx, qy, qz = turning(field, x, y, z, bx, by, bz)
    aa, ab = 1.0 - r * (ax * px + ay * py + az * pz), -r * (ax * qx + ay * qy + az * qz)
    ba, bb = -r * (bx * px + by * py + bz * pz), 1.0 - r * (bx * qx + by * qy + bz * qz)
    along, across = size * bb / (aa * bb - ab * ba), -size * ba / (aa * bb - ab * ba)
    return along * ax + across * bx, along * ay + across * by, along * az + across * bz


@kernel
def velocity(scheme, field, r, w, x, y, z):
    """Return the centre's velocity (3) at a centre."""
    _, nx, ny, nz = sample(field, x, y, z)
    return rolling(scheme, field, r, w, x, y, z, nx, ny, nz)


@kernel
def runge_kutta(scheme, field, r, w, x, y, z, ax, ay, az, h):
    """Return the centre after a step h of the classical method; (ax, ay, az) is the first slope."""
    g = 0.5 * h
    bx, by, bz = velocity(scheme, field, r, w, x + g * ax, y + g * ay, z + g * az)
    cx, cy, cz = velocity(scheme, field, r, w, x + g * bx, y + g * by, z + g * bz)
    dx, dy, dz = velocity(scheme, field, r, w, x + h * cx, y + h * cy, z + h * cz)
    s = h / 6.0
    return (
        x + s * (ax + 2.0 * (bx + cx) + dx),
        y + s * (ay + 2.0 * (by + cy) + dy),
        z + s * (az + 2.0 * (bz + cz) + dz),
    )


@kernel
def turn(state, w, h):
    """Turn the orientation state[3:7], x y z w, by exp([w] h), exact for a constant w."""
    wx, wy, wz = w[0], w[1], w[2]
    size = math.sqrt(wx * wx + wy * wy + wz * wz)
    half = 0.5 * h * size
    part = math.sin(half) / size if size > 0.0 else 0.0
    px, py, pz, pw = wx * part, wy * part, wz * part, math.cos(half)
    x, y, z, s = state[3], state[4], state[5], state[6]
    qx = pw * x + px * s + py * z - pz * y
    qy = pw * y + py * s + pz * x - px * z
    qz = pw * z + pz * s + px * y - py * x
    qw = pw * s - px * x - py * y - pz * z
    size = math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    state[3], state[4], state[5], state[6] = qx / size, qy / size, qz / size, qw / size


@kernel
def hits(field, r, vx, vy, vz, x, y, z):
    """Return whether a centre moving with (vx, vy, vz) is nearer than r to a wall, and nears."""
    d, mx, my, mz = sample(field, x, y, z)
    return d < r and vx * mx + vy * my + vz * mz < 0.0


@kernel
def bend(field, r, x, y, z, ux, uy, uz):
    """Return r times the curvature of the centre's surface along a direction, hollow positive.

    From the distance itself: its smoothed gradient does not show where two contacts change over.
    """
    b = max(1.5, 0.1 * r)
    middle = sample(field, x, y, z)[0]
    ahead = sample(field, x + b * ux, y + b * uy, z + b * uz)[0]
    behind = sample(field, x - b * ux, y - b * uy, z - b * uz)[0]
    return r * (2.0 * middle - ahead - behind) / (b * b)


@kernel
def advance(scheme, ground, walls, walled, r, size, state, w, h, duration, reach, guard, lost):
    """Roll with w for `duration` [s] in steps h, or to what ends it; return code and time.

    Args:
        scheme: EXACT or LOCAL_PLANE.
        ground, walls: fields, (kind, params, grid); of the walls only if `walled`.
        r, size: of the sphere and of the workspace [voxels].
        state: changed: centre (3), orientation (4), travel [voxels], r * curvature of the centre's
            surface where the ground is too hollow, else 0; normal before the last step (3) and that
            step's length [voxels].
        w: angular velocity in the world frame (3,) [rad/s].
        reach: travel at which to stop [voxels].
        guard, lost: errors of the distance r from which on the centre is put right, and at which
            the contact is lost [voxels].
    """
    spin = w[0], w[1], w[2]
    x, y, z = state[0], state[1], state[2]
    time, code = 0.0, DONE
    px, py, pz, moved = state[9], state[10], state[11], state[12]
    while code == DONE and time < duration:
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
        left = duration - time
        step = h if left > 1.000001 * h else left
        X, Y, Z = runge_kutta(scheme, ground, r, spin, x, y, z, vx, vy, vz, step)
        length = math.sqrt((X - x) ** 2 + (Y - y) ** 2 + (Z - z) ** 2)
        if moved > 0.0 and length > 0.0:
            tx, ty, tz = nx - px, ny - py, nz - pz
            if r * math.sqrt(tx * tx + ty * ty + tz * tz) > SUSPECT * moved:
                ux, uy, uz = (X - x) / length, (Y - y) / length, (Z - z) / length
                sharp = bend(ground, r, x, y, z, ux, uy, uz)
                if sharp > SHARP and state[8] == 0.0:
                    state[8] = sharp
                    code = HOLLOW
                    break
                if sharp < 0.5 * SHARP:
                    state[8] = 0.0
        if state[7] + length >= reach:
            step *= max(reach - state[7], 0.0) / length
            X, Y, Z = runge_kutta(scheme, ground, r, spin, x, y, z, vx, vy, vz, step)
            length = max(reach - state[7], 0.0)
            code = TRAVELLED
        if walled and sample(walls, X, Y, Z)[0] < r:
            ex, ey, ez = velocity(scheme, ground, r, spin, X, Y, Z)
            if hits(walls, r, ex, ey, ez, X, Y, Z):
                low, high = 0.0, step
                for _ in range(BISECTIONS):
                    step = 0.5 * (low + high)
                    X, Y, Z = runge_kutta(scheme, ground, r, spin, x, y, z, vx, vy, vz, step)
                    if sample(walls, X, Y, Z)[0] < r:
                        high = step
                    else:
                        low = step
                code = HIT
                length = math.sqrt((X - x) ** 2 + (Y - y) ** 2 + (Z - z) ** 2)
        if not (0.0 <= X <= size and 0.0 <= Y <= size and 0.0 <= Z <= size):
            code = LEFT
            break
        turn(state, spin, step)
        x, y, z = X, Y, Z
        state[7] += length
        time += step
        px, py, pz, moved = nx, ny, nz, length
    state[0], state[1], state[2] = x, y, z
    state[9], state[10], state[11], state[12] = px, py, pz, moved
    return code, time
