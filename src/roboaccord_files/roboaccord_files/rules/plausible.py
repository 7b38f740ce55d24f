"""Rules for masses that are hardly those of their link: by its shapes, other links, and materials.

Each function of FINDERS takes the links with known shapes (bodies.py). The bounds of
`beyond_shape` follow from the shapes alone: the variance of what lies between a and b is at most
(b - mean) (mean - a) (Bhatia and Davis, American Mathematical Monthly 107, 2000), and no radius of
gyration is larger than the distance of the farthest point from the axis. SLACK allows for shapes
that leave out screws and cables. Numbers are tuned on public files by the campaign named below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.broken import Found
from roboaccord.description.source import label

from roboaccord_files.repair.inertias import shortage
from roboaccord_files.rules.bodies import Solid, bodies
from roboaccord_files.rules.sides import mirrored
from roboaccord_files.rules.source import Source

# All tuned on public files (benchmarks/campaigns/plausible.py; docs/rules.md has the rates).
ROUND = 1e-3  # of the moments: what is off by more is no inertia, which other rules find
SLACK, LEAST = 0.05, 0.005  # of the size of a link, and m: what may stick out of its shapes
LIGHT = 0.005  # of all masses: lighter links are not judged
MARGIN = 1.5  # times the bound: below it a shape may be a little small
STEEL, OTHERS = 8_000.0, 4.0  # kg/m^3 of a hull, and times the median of the robot's links
LARGE = 0.08  # m: smaller links may be of solid metal
MATERIALS = {
    "1000 kg/m^3 without a material": (990.0, 1_010.0), "aluminium": (2_640.0, 2_860.0),
    "titanium": (4_400.0, 4_550.0), "steel": (7_200.0, 8_100.0), "brass": (8_300.0, 9_000.0),
}  # fmt: skip
"""Densities [kg/m^3] of materials, which a link of gears, motors and cables has by chance alone."""
ALIKE, SEVERAL = 0.06, 3  # relative, 4 % of it for the hull; and links: so many are no chance
SEEN = 0.05  # of the geometric mean of two moments: a product of inertia that has a sign
LEANS = 0.8  # cosine, or less than its negative: of products of a link and those of its shapes
MOSTLY = 4  # times as many links against their shapes as along them
LENGTHS = {"mm": 1e-3, "cm": 1e-2, "inches": 0.0254}  # m
SAME = 0.02  # relative: of moments and those of a box or hull


def plausible(source: Source) -> Found:
    """Yield links whose mass, centre or inertia cannot be, or hardly, that of their shapes."""
    links = [b for b in bodies(source) if b.link.get("name") not in source.misscaled]
    for find in FINDERS:
        yield from find(links)


def beyond_shape(
    links: Sequence[Solid], slack: tuple[float, float] = (SLACK, LEAST), margin: float = MARGIN
) -> Found:
    """Yield centres of mass and radii of gyration beyond every point of a link's shapes."""
    least = LIGHT * sum(body.mass for body in links)
    for body in links:
        if body.mass < least or shortage(body.inertia) > ROUND * abs(np.trace(body.inertia)):
            continue  # a logo or a camera, which moves nothing; or no inertia at all
        more = slack[1] + slack[0] * body.size
        out = float(-body.reach.min())
        if out > more:
            message = f"{label(body.link)}: its centre of mass is {out:.3g} m outside its shapes"
            yield "centre-outside-shape", body.inertial, message, "write it in the link's frame"
            continue
        squares, axes = np.linalg.eigh(body.spread)
        along = (body.points - body.centre) @ axes
        bound = margin * (along.max(axis=0) + more) * (more - along.min(axis=0))
        around, away = (x.sum(axis=-1, keepdims=True) - x for x in (squares, along**2))
        farthest = (np.sqrt(away.max(axis=0)) + more) ** 2
        has, most = np.concatenate([[squares, bound], [around, farthest]], axis=1)
        worst = int(np.argmax(has / most))
        if has[worst] > most[worst]:
            radius, room = np.sqrt([has[worst], most[worst]])
            where = "its centre, along one line" if worst < 3 else "an axis through its centre"
            message = f"{label(body.link)}: mass {radius:.3g} m off {where}"
            message += f" on average; its shapes leave room for {room:.3g} m"
            yield "gyration-beyond-shape", body.inertial, message, _unit(body)


def dense(links: Sequence[Solid]) -> Found:
    """Yield links heavier than steel in their hull, and most links of a default density of CAD."""
    densities = [body.mass / body.hull[0] for body in links]
    usual = OTHERS * float(np.median(densities)) if len(links) > SEVERAL else 0.0
    for body, density in zip(links, densities, strict=True):
        if density > max(STEEL, usual) and body.size > LARGE:
            message = f"{label(body.link)}: {body.mass:g} kg are {density:.0f} kg/m^3 of its hull"
            yield "density", body.inertial, message, "write the mass that it is weighed with"
    for material, (low, high) in MATERIALS.items():
        those = [body for body, density in zip(links, densities, strict=True)
                 if low <= body.mass / body.volume <= high or low <= density <= high]  # fmt: skip
        for volumes in ([b.volume for b in those], [b.hull[0] for b in those]):
            alike = _alike(those, np.array(volumes))
            if len(alike) >= max(SEVERAL, len(_kinds(links)) / 2):
                names = ", ".join(body.link.get("name", "") for body in alike[:4])
                density = np.median([b.mass / v for b, v in zip(those, volumes, strict=True)])
                message = f"{len(alike)} links have one density, {density:.0f} kg/m^3: {names}"
                cure = f"weigh them: a drawing has that by default, {material}"
                yield "density-alike", alike[0].inertial, message, cure
                break


def _alike(links: Sequence[Solid], volumes: Array) -> list[Solid]:
    """Return the links with the density that most of them share, of each mass one."""
    densities = np.array([body.mass for body in links]) / volumes
    near = [(low <= densities) & (densities <= (1.0 + ALIKE) * low) for low in densities]
    return max((_kinds(list(compress(links, which))) for which in near), key=len, default=[])


def _kinds(links: Sequence[Solid]) -> list[Solid]:
    """Return the links of different masses: the first of each."""
    kinds = list[Solid]()
    for body in links:
        if all(abs(body.mass - kind.mass) > ALIKE * kind.mass for kind in kinds):
            kinds.append(body)
    return kinds


def signs(links: Sequence[Solid]) -> Found:
    """Yield a robot whose products of inertia have the sign that CAD gives them."""
    against, along = list[Solid](), 0
    for body in links:
        theirs, shape = _products(body.spread), _products(body.hull[1])
        if min(np.abs(theirs).max(), np.abs(shape).max()) > SEEN:
            cosine = theirs @ shape / np.linalg.norm(theirs) / np.linalg.norm(shape)
            against += [body] if cosine < -LEANS else []
            along += cosine > LEANS
    if len(against) >= max(SEVERAL, MOSTLY * along):
        message = f"products of inertia of {len(against)} links lean against their shapes"
        cure = "reverse ixy, ixz and iyz: URDF has them with a minus sign, CAD often without"
        yield "products-sign", against[0].inertial, message, cure


def _products(moments: Array) -> Array:
    """Return the three products of second moments (3, 3), by the geometric means of the moments."""
    scale = np.sqrt(np.abs(np.diag(moments))) + 1e-12
    return np.asarray((moments / np.outer(scale, scale))[np.triu_indices(3, 1)])


def other_unit(links: Sequence[Solid]) -> Found:
    """Yield inertias that are those of the hull with its lengths in another unit."""
    for body in links:
        if unit := _unit_of(body):
            message = f"{label(body.link)}: its inertia is that of its shape in {unit}"
            yield "inertia-in-another-unit", body.inertial, message, _unit(body)


def _unit_of(body: Solid) -> str:
    """Return the unit of length with which the inertia is that of the hull, or of the box around.

    "" where none is.
    """
    squares = np.ptp(body.points, axis=0) ** 2 / 12.0
    squared_radii = np.diag(body.inertia) / body.mass  # of gyration [m^2]
    for shape in (np.diag(body.hull[1]), squares):
        ratios = squared_radii / (shape.sum() - shape)
        for unit, metres in LENGTHS.items():
            for factor in (metres**2, metres**-2):
                if np.abs(ratios / factor - 1.0).max() < SAME:
                    return unit
    return ""


def _unit(body: Solid) -> str:
    """Return a cure: the inertia of the hull, if it were full."""
    shape = body.hull[1]
    moments = body.mass * (np.trace(shape) - np.diag(shape))
    return "a body that fills its hull has ixx, iyy, izz " + " ".join(f"{m:.3g}" for m in moments)


FINDERS: tuple[Callable[[Sequence[Solid]], Found], ...] = (
    beyond_shape, dense, mirrored, signs, other_unit,
)  # fmt: skip
