"""Pegs: vertical cylinders among which the snake moves, and where its links touch them.

Against pegs a link is a stadium: all points within half of its width of the line from the joint
behind it to the joint ahead of it. So the links of the body close up, where the post's boxes would
leave gaps of 30 mm, in which pegs catch. Only pegs touch the stadium; masses, pictures and the
friction on the ground stay those of the boxes. The xacro has the same shape, a box with two
spheres, for engines and Gazebo.

`make_pegs` makes the pegs of a scenario's `terrain`, as a `Contact` for engines; `PegField` is what
the kernels take. `touching` finds the pairs of link and peg that are close to each other; what is
reported and drawn of them is in touches.py.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from roboaccord.contract import AccordError, Array, Contact, CylinderFixture, check_positive
from roboaccord.contract import results as si
from roboaccord.numerics import kernel
from roboaccord.scenario import Setup

from snake.model.coordinates import PlanarSnake, headings
from snake.model.kinematics import link_positions
from snake.model.parameters import SnakeParameters

HEIGHT = 0.2  # m: pegs are twice as high as the snake, which is what counts
ROUNDS = 20  # to move a peg out of the links, one after the other


class PegField(NamedTuple):
    """The pegs, as the kernels take them.

    Attributes:
        centres: in the plane (p, 2) [m].
        reach: distance of a peg's centre from a link's line at which they touch [m].
        half_width: of a link [m].
        mu: coefficient of friction of a link on a peg [1].
    """

    centres: Array
    reach: float
    half_width: float
    mu: float


NO_PEGS = PegField(np.zeros((0, 2)), 0.0, 0.0, 0.0)


def make_pegs(
    setup: Setup,
    pegs: Sequence[Sequence[float]] = (),
    radius: si.Metres = 0.1,
    mu: float = 0.2,
    spread: si.Metres = 0.0,
) -> Contact | None:
    """Return the pegs of a scenario's `terrain`; None without any.

    Args:
        setup: robot and scenario.
        pegs: x and y of each [m].
        radius: of every peg.
        mu: coefficient of friction of links on pegs.
        spread: standard deviation of each coordinate of a peg, drawn anew for each seed; a peg that
            would then overlap the snake at the start is moved to where it just touches.

    Raises:
        AccordError: for pegs that are not pairs of numbers.
    """
    if not pegs:
        return None
    centres = np.array(pegs, dtype=float)
    if centres.shape != (len(pegs), 2):
        raise AccordError("terrain.pegs: each peg needs two numbers, x and y [m]")
    check_positive({"terrain.radius": radius})
    if min(mu, spread) < 0.0:
        raise AccordError("terrain: mu and spread must not be negative")
    centres += spread * np.random.default_rng(setup.scenario.seed).standard_normal(centres.shape)
    for _ in range(ROUNDS if spread else 0):
        centres = outside(setup, centres, radius)
    fixtures = tuple(
        CylinderFixture(
            name=f"peg_{i:02d}", radius=radius, height=HEIGHT, position=np.array([x, y, HEIGHT / 2])
        )
        for i, (x, y) in enumerate(centres.tolist(), 1)
    )
    names = [fixture.name for fixture in fixtures]
    links = setup.parameters.link_names
    pairs = tuple((link, name) for link in links for name in names)
    return Contact(pairs=pairs, friction=dict.fromkeys([*links, *names], mu), fixtures=fixtures)


def peg_field(contact: Contact | None, parameters: SnakeParameters) -> PegField:
    """Return the pegs of a contact as the kernels take them."""
    if contact is None:
        return NO_PEGS
    pegs = [peg for peg in contact.fixtures if isinstance(peg, CylinderFixture)]
    centres, half_width = np.array([peg.position[:2] for peg in pegs]), 0.5 * parameters.link_width
    return PegField(centres, half_width + pegs[0].radius, half_width, contact.mu(contact.pairs[0]))


def outside(setup: Setup, centres: Array, radius: float) -> Array:
    """Return the centres of pegs (p, 2) [m], each moved out of the link that it overlaps most."""
    chain, half_width = PlanarSnake(setup.parameters), 0.5 * setup.parameters.link_width
    y, field = chain.pack(setup.initial), PegField(centres, half_width + radius, half_width, 0.0)
    th = headings(y)
    pairs, rows = touching(chain.body, field, np.cos(th), np.sin(th), y[0], y[1], 0.0)
    moved = centres.copy()
    for peg in np.unique(pairs[:, 1]):
        gap, nx, ny = min(rows[pairs[:, 1] == peg, :3].tolist())
        moved[peg] += gap * np.array([nx, ny])
    return moved


@kernel
def touching(body, field, c, s, x, y, margin):
    """Return the pairs of link and peg that are closer than a margin [m].

    Args:
        body, c, s, x, y: as of `link_positions`.
        field: as `PegField`.
        margin: largest gap of a pair [m].

    Returns:
        links and pegs of the k pairs, as numbers (k, 2); and a row for each pair (k, 5): the gap
        [m], negative for an overlap; the normal from the peg to the link; and the point of the
        link that is nearest to the peg, relative to the link's centre [m].
    """
    a, b, _, _ = body
    n, count = c.shape[0], field.centres.shape[0]
    px, py = np.empty(n), np.empty(n)
    link_positions(body, c, s, x, y, px, py)
    pairs, rows, k = np.empty((n * count, 2), np.int64), np.empty((n * count, 5)), 0
    for i in range(n):
        for j in range(count):
            dx, dy = field.centres[j, 0] - px[i], field.centres[j, 1] - py[i]
            if dx * dx + dy * dy > (field.reach + a + b + margin) ** 2:
                continue
            along = min(max(c[i] * dx + s[i] * dy, -a), b)  # of the foot on the link's line
            nx, ny = along * c[i] - dx, along * s[i] - dy
            distance = np.sqrt(nx * nx + ny * ny)
            if distance - field.reach > margin or distance == 0.0:
                continue
            nx, ny = nx / distance, ny / distance
            pairs[k, 0], pairs[k, 1] = i, j
            rows[k, 0], rows[k, 1], rows[k, 2] = distance - field.reach, nx, ny
            rows[k, 3] = along * c[i] - field.half_width * nx
            rows[k, 4] = along * s[i] - field.half_width * ny
            k += 1
    return pairs[:k], rows[:k]
