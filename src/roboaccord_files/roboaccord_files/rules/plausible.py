"""Rules for masses that are hardly those of their link: by its shapes, other links, and materials.

`plausible` is called by find.py. Each function of FINDERS takes the links with known shapes
(bodies.py) and yields findings. The bounds of `beyond_shape` follow from the shapes alone: the
variance of a quantity between a and b is at most (b - mean) (mean - a) (Bhatia and Davis, American
Mathematical Monthly 107, 2000), and no radius of gyration is larger than the distance of the
farthest point from the axis. SLACK allows for shapes that leave out screws and cables. All numbers
are tuned on public files (benchmarks/campaigns/plausible.py); docs/rules.md has the rates of
findings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.broken import Found
from roboaccord.description.source import label

from roboaccord_files.repair.inertias import violation
from roboaccord_files.rules.bodies import Solid, bodies
from roboaccord_files.rules.sides import mirrored
from roboaccord_files.rules.source import Source

# Relative to the trace; an inertia less physical than this is found by other rules. It is the
# rounding of numbers to four digits.
TRACE_ROUNDING = 1e-3
# Allowance by which parts may stick out of a link's shapes: a share of its size, and a length [m],
# for screws and cables that are not drawn; tuned on public files (docs/rules.md).
SLACK = (0.05, 0.005)
MIN_MASS_SHARE = 0.005  # share of the robot's mass; lighter links are not judged (docs/rules.md)
# Factor of the bounds on squared radii of gyration, for small shapes (docs/rules.md).
RADII_MARGIN = 1.5
# A hull is too dense above this density [kg/m^3], just above steel's 7,850, and this multiple of
# the median of the links, tuned on public files (docs/rules.md).
MAX_DENSITY, MEDIAN_FACTOR = 8_000.0, 4.0
MIN_DENSE_SIZE = 0.08  # m; smaller links may be of solid metal: motors and gears of this size are
# Densities of solid materials [kg/m^3]; a link of gears, motors and cables has others.
MATERIALS = {
    "1000 kg/m^3 without a material": (990.0, 1_010.0),
    "aluminium": (2_640.0, 2_860.0),
    "titanium": (4_400.0, 4_550.0),
    "steel": (7_200.0, 8_100.0),
    "brass": (8_300.0, 9_000.0),
}
# Relative difference of densities that count as equal, of which 4 % are the error of the hull's
# volume; and the number of links from which on equal densities are no coincidence.
EQUAL_DENSITY, MIN_GROUP = 0.06, 3
# Relative to the geometric mean of two moments; a smaller product of inertia has no clear sign, as
# its body is within 5 % of a sphere or a box.
CLEAR_PRODUCT = 0.05
# Cosine of the angle between the products of a link and of its shapes; beyond it, 37 degrees, they
# agree or are opposite. Tuned on public files (docs/rules.md).
CLEAR_SIGN = 0.8
# Ratio of links with the wrong sign to those with the right one, for a finding: single links may
# have other parts than their shapes show. Tuned on public files (docs/rules.md).
MIN_SIGN_RATIO = 4
LENGTHS = {"mm": 1e-3, "cm": 1e-2, "inches": 0.0254}  # units of length [m]
# Relative; moments this close to those of a box or hull are equal. It is half the error of hulls
# (EQUAL_DENSITY), which boxes do not have.
EQUAL_MOMENT = 0.02


def plausible(source: Source) -> Found:
    """Yield links whose mass, centre or inertia can hardly be that of their shapes."""
    links = [b for b in bodies(source) if b.link.get("name") not in source.misscaled]
    for find in FINDERS:
        yield from find(links)


def beyond_shape(
    links: Sequence[Solid], slack: tuple[float, float] = SLACK, margin: float = RADII_MARGIN
) -> Found:
    """Yield links whose centre of mass or radii of gyration no mass within their shapes can have.

    Args:
        links: with mass and shapes.
        slack: share of a link's size, and length [m], by which parts may stick out of its shapes.
        margin: factor of the bounds on squared radii.
    """
    min_mass = MIN_MASS_SHARE * sum(body.mass for body in links)
    share, length = slack
    for body in links:
        rounding = TRACE_ROUNDING * abs(np.trace(body.inertia))
        if body.mass < min_mass or violation(body.inertia) > rounding:
            continue  # a logo or a camera, whose mass is negligible; or an unphysical inertia
        allowance = length + share * body.size
        outside = float(-body.reach.min())
        if outside > allowance:
            distance = f"{outside:.3g} m outside its shapes"
            message = f"{label(body.link)}: its centre of mass is {distance}"
            yield "centre-outside-shape", body.inertial, message, "write it in the link's frame"
            continue
        values, bounds = _squared_radii(body, allowance, margin)
        worst = int(np.argmax(values / bounds))
        if values[worst] > bounds[worst]:
            radius, room = np.sqrt([values[worst], bounds[worst]])
            where = "its centre, along one line" if worst < 3 else "an axis through its centre"
            message = f"{label(body.link)}: mass {radius:.3g} m off {where}"
            message += f" on average; its shapes leave room for {room:.3g} m"
            yield "gyration-beyond-shape", body.inertial, message, _cure_by_hull(body)


def _squared_radii(body: Solid, allowance: float, margin: float) -> tuple[Array, Array]:
    """Return mean squared distances of the mass (6,) [m^2], and their bounds by the shapes (6,).

    The first three are along the principal axes, with bounds (b - m) (m - a); the others around
    these axes, with the squared distance of the farthest point.

    Args:
        body: the link.
        allowance: length by which parts may stick out of its shapes [m].
        margin: factor of the first bounds.
    """
    along, axes = np.linalg.eigh(body.spread)
    points = (body.points - body.centre) @ axes
    bounds_along = margin * (points.max(axis=0) + allowance) * (allowance - points.min(axis=0))
    around = along.sum(axis=-1, keepdims=True) - along
    distances = (points**2).sum(axis=-1, keepdims=True) - points**2
    bounds_around = (np.sqrt(distances.max(axis=0)) + allowance) ** 2
    return np.concatenate([along, around]), np.concatenate([bounds_along, bounds_around])


def dense(links: Sequence[Solid]) -> Found:
    """Yield links whose hull is denser than steel."""
    densities = [body.mass / body.hull[0] for body in links]
    usual_limit = MEDIAN_FACTOR * float(np.median(densities)) if len(links) > MIN_GROUP else 0.0
    for body, density in zip(links, densities, strict=True):
        if density > max(MAX_DENSITY, usual_limit) and body.size > MIN_DENSE_SIZE:
            message = f"{label(body.link)}: {body.mass:g} kg are {density:.0f} kg/m^3 of its hull"
            yield "density", body.inertial, message, "write the mass that it is weighed with"


def alike(links: Sequence[Solid]) -> Found:
    """Yield links that all have the density of one material, by their shapes or their hulls."""
    for material, (low, high) in MATERIALS.items():
        of_shapes = [low <= body.mass / body.volume <= high for body in links]
        of_hull = [low <= body.mass / body.hull[0] <= high for body in links]
        solids = [*compress(links, np.logical_or(of_shapes, of_hull))]
        for volumes in ([b.volume for b in solids], [b.hull[0] for b in solids]):
            group = _of_one_density(solids, np.array(volumes))
            if len(group) >= max(MIN_GROUP, len(_of_different_mass(links)) / 2):
                names = ", ".join(body.link.get("name", "") for body in group[:4])
                density = np.median([b.mass / v for b, v in zip(solids, volumes, strict=True)])
                message = f"{len(group)} links have one density, {density:.0f} kg/m^3: {names}"
                cure = f"weigh them: a drawing has that by default, {material}"
                yield "density-alike", group[0].inertial, message, cure
                break


def _of_one_density(links: Sequence[Solid], volumes: Array) -> list[Solid]:
    """Return the largest group of links with one density, by their volumes [m^3].

    Of links with the same mass the first one alone counts.
    """
    densities = np.array([body.mass for body in links]) / volumes
    groups = list[list[Solid]]()
    for lowest in densities:
        is_near = (lowest <= densities) & (densities <= (1.0 + EQUAL_DENSITY) * lowest)
        groups.append(_of_different_mass([*compress(links, is_near)]))
    return max(groups, key=len, default=[])


def _of_different_mass(links: Sequence[Solid]) -> list[Solid]:
    """Return the links of different masses: the first of each."""
    different = list[Solid]()
    for body in links:
        if all(abs(body.mass - other.mass) > EQUAL_DENSITY * other.mass for other in different):
            different.append(body)
    return different


def signs(links: Sequence[Solid]) -> Found:
    """Yield the finding that products of inertia have the opposite sign, the convention of CAD."""
    reversed_links, agreeing_count = list[Solid](), 0
    for body in links:
        products, of_hull = _products(body.spread), _products(body.hull[1])
        if min(np.abs(products).max(), np.abs(of_hull).max()) > CLEAR_PRODUCT:
            cosine = products @ of_hull / np.linalg.norm(products) / np.linalg.norm(of_hull)
            if cosine < -CLEAR_SIGN:
                reversed_links.append(body)
            agreeing_count += cosine > CLEAR_SIGN
    if len(reversed_links) >= max(MIN_GROUP, MIN_SIGN_RATIO * agreeing_count):
        message = f"products of inertia of {len(reversed_links)} links lean against their shapes"
        cure = "reverse ixy, ixz and iyz: URDF has them with a minus sign, CAD often without"
        yield "products-sign", reversed_links[0].inertial, message, cure


def _products(moments: Array) -> Array:
    """Return products of second moments (3, 3), over the geometric means of the moments (3,)."""
    scale = np.sqrt(np.abs(np.diag(moments))) + 1e-12
    return np.asarray((moments / np.outer(scale, scale))[np.triu_indices(3, 1)])


def other_unit(links: Sequence[Solid]) -> Found:
    """Yield links whose inertia is that of their hull with lengths in another unit."""
    for body in links:
        if unit := _unit_of(body):
            message = f"{label(body.link)}: its inertia is that of its shape in {unit}"
            yield "inertia-in-another-unit", body.inertial, message, _cure_by_hull(body)


def _unit_of(body: Solid) -> str:
    """Return the unit of length with which the inertia is that of the hull or its bounding box.

    "" if no unit fits.
    """
    squares = np.ptp(body.points, axis=0) ** 2 / 12.0
    squared_radii = np.diag(body.inertia) / body.mass  # of gyration [m^2]
    for shape in (np.diag(body.hull[1]), squares):
        ratios = squared_radii / (shape.sum() - shape)
        for unit, metres in LENGTHS.items():
            for factor in (metres**2, metres**-2):
                if np.abs(ratios / factor - 1.0).max() < EQUAL_MOMENT:
                    return unit
    return ""


def _cure_by_hull(body: Solid) -> str:
    """Return a cure: the moments of a body of this mass that fills its hull."""
    shape = body.hull[1]
    moments = body.mass * (np.trace(shape) - np.diag(shape))
    return "a body that fills its hull has ixx, iyy, izz " + " ".join(f"{m:.3g}" for m in moments)


Finder = Callable[[Sequence[Solid]], Found]
# The functions that `plausible` calls, in this order.
FINDERS: tuple[Finder, ...] = beyond_shape, dense, alike, mirrored, signs, other_unit
