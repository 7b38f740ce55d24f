"""Dynamics of a dribbled ball between the rollers of a carrier: compiled functions.

The rates y are eight numbers: the ball's angular velocity omega, the speeds of both rollers, and
the carrier's x', y' and psi' (yaw). The ball rolls on the ground, so its centre moves with v = r
omega x z. The centre c_i of roller i moves with its holder,

    c_i' = V + psi' z x rho_i - s_i' n_i,   (c_i' - v) u_i = 0

where V is the carrier's velocity, rho_i points from the carrier's middle to the roller's centre,
n_i is the direction of its slide, and u_i the direction from the ball's centre to it. The second
equation, contact, gives the slides' rates s_i'. So c_i' = J_i y, the slips are zeta_i = G_i y, and
with the forces Q along y (Kane's method)

    M y' + sum m J_i' (dJ_i/dt y) = Q + sum G_i' f_i(N_i, zeta_i)

M, J and G depend on the configuration. The friction f_i depends on the load N_i of the contact,
which follows from the pressing force F, the roller's weight and its inertia:

    N_i u_i n_i = F + m (c_i'' n_i + g z n_i) + f_i n_i.

`advance` takes the steps. For each, `configure` computes a `Configuration` with J, G and
directions, `assemble` M and the forces, and `solve_step` the change of rates. A step is of second
order and L-stable. Positions are five numbers: x and y of the ball, x and y of the carrier's middle
[m], and its yaw [rad]. The constants below name the indices. A prime is a derivative by time, or a
transpose after a matrix, and z the unit vector upwards.

Friction may be changed in model/contact.py, `fill_friction`. test_roller_newton_euler compares
accelerations and loads with Newton's and Euler's equations for the URDF, to round-off;
test_roller_dribble measures the order.
"""

import math
from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import cholesky, cross, kernel

from roller_sphere.model.contact import dot, fill_friction

RATES = 8  # entries of y: omega (3), rollers (2), carrier's x', y' and psi'
ROLLER, CARRIER, YAW = 3, 5, 7  # indices in y of the first roller's speed, of x' and of psi'
BALL_AT, CARRIER_AT, YAW_AT = 0, 2, 4  # indices in the positions of the x of either, and the yaw
TURNS = 5  # rates that are integrated to turns: those of ball and rollers, which come first in y
# Passes of a step: the second has loads and accelerations at its middle, the third refines them. In
# 3 s of `dribble` the largest offset of the ball is 0.28 mm off with two, 0.015 mm with three
# (measured against six).
PASSES = 3
GAMMA = 1.0 - math.sqrt(0.5)  # of the L-stable, diagonally implicit scheme of second order


class Bodies(NamedTuple):
    """Masses of rollers, ball and carrier, and the forces on the rollers.

    Attributes:
        press_force: F, with which each roller is pressed along its slide [N].
        mass: m, of a roller with its holder [kg].
        roller_inertia: of a roller about its axis [kg m^2].
        gravity: g [m/s^2].
        fixed: the part of M that does not depend on the configuration (8, 8).
        friction: viscous coefficient [N s/m], dry friction over the load, and slip speed [m/s].
    """

    press_force: float
    mass: float
    roller_inertia: float
    gravity: float
    fixed: Array
    friction: tuple[float, float, float]


class Configuration(NamedTuple):
    """Matrices and directions in a configuration, in the world frame; row i is of roller i.

    Attributes:
        J: of the velocities of the rollers' centres, c_i' = J_i y (2, 3, 8).
        G: of the slips of the ball on the rollers, zeta_i = G_i y (2, 3, 8).
        k: of the rates of the slides, s_i' = k_i y (2, 8).
        bias: accelerations of the rollers' centres at constant rates (2, 3) [m/s^2].
        u: unit vectors from the ball's centre to the rollers' (2, 3).
        n: unit vectors along the slides, outwards (2, 3).
    """

    J: Array
    G: Array
    k: Array
    bias: Array
    u: Array
    n: Array


@kernel
def advance(geometry, bodies, drive, positions, y, held, step, turns):
    """Advance the rates and the positions by as many steps as `turns` has rows.

    Args:
        geometry: of ball and rollers (`hold.Geometry`).
        bodies: masses and forces (`Bodies`).
        drive: efforts along the rates (8,): of rollers and carrier, 0 for the ball [N m, N].
        positions: of ball and carrier (5,), changed.
        y: rates (8,), changed.
        held: whether the rollers touch the ball.
        step: [s].
        turns: filled with the integrals of the first five rates in each step (count, 5) [rad].

    Returns:
        Number of steps after which the ball was lost, or -1.
    """
    change, lost = np.empty(RATES), -1
    for index in range(len(turns)):
        move(positions, y, geometry.radius, 0.5 * step)
        change[:] = 0.0
        for _ in range(PASSES):
            middle = y + 0.5 * change
            configuration, is_reached = configure(geometry, positions, middle, held)
            if held and not is_reached:  # a roller that does not reach the ball loses it for good
                held, lost = False, index
                configuration, _ = configure(geometry, positions, middle, held)
            system = assemble(geometry, bodies, configuration, drive, held, middle, change, step)
            solve_step(system, step, change)
        turns[index] = step * (y[:TURNS] + 0.5 * change[:TURNS])
        y += change
        move(positions, y, geometry.radius, 0.5 * step)
    return lost


@kernel
def mass_matrix(geometry, bodies, positions, y, held):
    """Return M (8, 8) in a state; the arguments are those of `advance`."""
    configuration, _ = configure(geometry, positions, y, held)
    none = np.zeros(RATES)
    return assemble(geometry, bodies, configuration, none, held, y, none, 1.0)[0]


@kernel
def move(positions, y, radius, step):
    """Advance the positions by a step [s] at constant rates; `radius` is the ball's [m]."""
    positions[BALL_AT] += step * radius * y[1]
    positions[BALL_AT + 1] -= step * radius * y[0]
    positions[CARRIER_AT:] += step * y[CARRIER:]


@kernel
def configure(geometry, positions, y, held):
    """Return the Configuration at positions and rates, and whether both rollers reach the ball.

    The arguments are those of `advance`. Rollers that have lost the ball rest at the stops of their
    slides.
    """
    J, G, k = np.zeros((2, 3, RATES)), np.zeros((2, 3, RATES)), np.zeros((2, RATES))
    bias, u, n = np.zeros((2, 3)), np.empty((2, 3)), np.empty((2, 3))
    configuration = Configuration(J, G, k, bias, u, n)
    c, s = math.cos(positions[YAW_AT]), math.sin(positions[YAW_AT])
    # Ball relative to the carrier's middle, in the world frame.
    dx = positions[BALL_AT] - positions[CARRIER_AT]
    dy = positions[BALL_AT + 1] - positions[CARRIER_AT + 1]
    offset, centre = np.zeros(3), np.empty(3)
    axis, rho = np.empty(3), np.empty(3)
    # Offset of the ball from its nominal place, in the carrier's frame; it stays on the ground.
    offset[0] = c * dx + s * dy - geometry.ball_ahead
    offset[1] = c * dy - s * dx
    is_reached = True
    for i in range(2):
        is_reached = place_roller(geometry, i, offset, centre) and is_reached
        if not held:
            stop = geometry.radius + geometry.roller_radius - geometry.stroke
            centre[:] = stop * geometry.slides[i]
            centre[0] += geometry.ball_ahead
        to_world(c, s, centre, rho)
        to_world(c, s, geometry.slides[i], n[i])
        to_world(c, s, geometry.axes[i], axis)
        # Direction from the ball's centre to the roller's.
        u[i, 0], u[i, 1], u[i, 2] = rho[0] - dx, rho[1] - dy, rho[2]
        u[i] /= math.sqrt(dot(u[i], u[i]))
        # Velocity of the roller's centre by the carrier's motion: V + psi' z x rho.
        J[i, 0, CARRIER] = J[i, 1, CARRIER + 1] = 1.0
        J[i, 0, YAW], J[i, 1, YAW] = -rho[1], rho[0]
        # Centripetal acceleration of the carrier's turn.
        bias[i, :2] = -y[YAW] * y[YAW] * rho[:2]
        if held:
            add_contact(geometry, i, axis, y, configuration)
    return configuration, is_reached


@kernel
def place_roller(geometry, i, offset, centre):
    """Fill roller i's centre (3,) in the carrier's frame; return whether it reaches the ball.

    The centre is on the slide, R - s_i from the ball's nominal place (`hold.slide_displacements`).
    `offset` (3,) is that of the ball from this place [m].
    """
    direction, reach = geometry.slides[i], geometry.radius + geometry.roller_radius
    projected = dot(direction, offset)
    square = projected * projected - dot(offset, offset) + reach * reach
    distance = projected + math.sqrt(max(square, 0.0))  # R - s_i
    centre[:] = distance * direction
    centre[0] += geometry.ball_ahead
    return square > 0.0 and abs(reach - distance) <= geometry.stroke


@kernel
def to_world(c, s, vector, out):
    """Fill `out` with a vector (3,) of the carrier's frame in the world; c, s are of its yaw."""
    out[0] = c * vector[0] - s * vector[1]
    out[1] = s * vector[0] + c * vector[1]
    out[2] = vector[2]


@kernel
def add_contact(geometry, i, axis, y, configuration):
    """Add the motion that contact with the ball imposes on roller i to a Configuration.

    Contact, (c' - v) u = 0, gives s' = k y with k = (J - rolling)' u / (n u). `axis` (3,) is the
    roller's, and y are the rates (8,).
    """
    J, G, k = configuration.J[i], configuration.G[i], configuration.k[i]
    bias, u, n = configuration.bias[i], configuration.u[i], configuration.n[i]
    r, r_roller = geometry.radius, geometry.roller_radius
    facing = dot(n, u)  # cosine of the angle between slide and contact
    # Velocity of the ball's centre, v = rolling y, then k, and J with the slide's motion.
    rolling = np.zeros((3, RATES))
    rolling[0, 1], rolling[1, 0] = r, -r
    for j in range(RATES):
        for d in range(3):
            k[j] += (J[d, j] - rolling[d, j]) * u[d] / facing
        J[:, j] -= k[j] * n
    # Slide's rate; squared speed of the roller's centre relative to the ball's; bias along u. The
    # derivative of contact gives the slide's acceleration at constant rates.
    rate, relative, normal_bias = dot(k, y), 0.0, 0.0
    bias[0] += 2.0 * y[YAW] * rate * n[1]
    bias[1] -= 2.0 * y[YAW] * rate * n[0]
    for d in range(3):
        relative += dot(J[d] - rolling[d], y) ** 2
        normal_bias += bias[d] * u[d]
    bias -= (normal_bias + relative / (r + r_roller)) / facing * n
    G[:] = rolling - J
    # Slip of the surfaces: omega x r u of the ball, and the roller's own turn and yaw.
    unit, arm = np.zeros(3), np.empty(3)
    for d in range(3):
        unit[:] = 0.0
        unit[d] = r
        cross(unit, u, arm)
        G[:, d] += arm
    cross(axis, u, arm)
    G[:, ROLLER + i] += r_roller * arm
    G[0, YAW] -= r_roller * u[1]
    G[1, YAW] += r_roller * u[0]


@kernel
def assemble(geometry, bodies, configuration, drive, held, middle, change, step):
    """Return the linear equations of a step, M y' = pull + slope (y - y_0), y_0 being at its start.

    Args:
        geometry, bodies, drive, held, step: as in `advance`.
        configuration: at the middle of the step.
        middle, change: rates at the middle of the step, and their change in it (8,), as far as the
            last pass has computed them.

    Returns:
        the mass matrix M (8, 8), the derivative of the forces by the rates `slope` (8, 8), which is
        symmetric and negative semidefinite, and the forces along the rates `pull` (8,).
    """
    J, G, k, bias, _, _ = configuration
    M, slopes, pull = bodies.fixed.copy(), np.zeros((RATES, RATES)), drive.copy()
    force, slope = np.zeros(3), np.zeros((3, 3))
    mass = bodies.mass
    for i in range(2):
        M[ROLLER + i, YAW] += bodies.roller_inertia * geometry.axes[i, 2]
        M[YAW, ROLLER + i] += bodies.roller_inertia * geometry.axes[i, 2]
        if held:
            fill_roller_friction(bodies, configuration, i, middle, change, step, force, slope)
        for a in range(RATES):
            pull[a] += bodies.press_force * k[i, a] - mass * bodies.gravity * J[i, 2, a]
            for d in range(3):
                pull[a] += G[i, d, a] * force[d] - mass * J[i, d, a] * bias[i, d]
            for b in range(RATES):
                for d in range(3):
                    M[a, b] += mass * J[i, d, a] * J[i, d, b]
                    for e in range(3):
                        slopes[a, b] += G[i, d, a] * slope[d, e] * G[i, e, b]
    return M, slopes, pull


@kernel
def fill_roller_friction(bodies, configuration, i, middle, change, step, force, slope):
    """Fill roller i's friction on the ball at the start of a step, for the load at its middle.

    Friction itself adds to the load; that part is computed to first order in mu sin(u, n).

    Args:
        bodies, configuration, middle, change, step: as in `assemble`.
        i: index of the roller.
        force: filled with the friction (3,) [N].
        slope: filled with its derivative by the slip (3, 3) [N s/m].
    """
    J, G, bias = configuration.J[i], configuration.G[i], configuration.bias[i]
    u, n, slip = configuration.u[i], configuration.n[i], np.empty(3)
    # Cosine of the angle between slide and contact; acceleration that the load adds along the
    # slide.
    facing, rise = dot(u, n), bodies.gravity * n[2]
    for d in range(3):
        rise += (dot(J[d], change) / step + bias[d]) * n[d]
        slip[d] = dot(G[d], middle)
    load = (bodies.press_force + bodies.mass * rise) / facing
    fill_friction(bodies.friction, load, slip, force, slope)
    load = max(load + dot(force, n) / facing, 0.0)
    for d in range(3):
        slip[d] = dot(G[d], middle) - 0.5 * dot(G[d], change)
    fill_friction(bodies.friction, load, slip, force, slope)


@kernel
def solve_step(system, step, change):
    """Fill the change of rates (8,) in a step [s] from its equations, M, slope and pull.

    The scheme is a diagonally implicit one of two stages with (M - GAMMA step slope) in both; it is
    L-stable, so friction may be arbitrarily stiff.
    """
    M, slope, pull = system
    L = M - GAMMA * step * slope  # replaced by its Cholesky factor
    cholesky.factor(L, L)
    first, second = pull.copy(), pull.copy()
    cholesky.solve(L, first)
    for i in range(RATES):
        second[i] += (1.0 - GAMMA) * step * dot(slope[i], first)
    cholesky.solve(L, second)
    change[:] = step * ((1.0 - GAMMA) * first + GAMMA * second)
