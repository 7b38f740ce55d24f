"""Links as rigid bodies of convex hulls, from any URDF or folder of meshes.

The report's createCollisionBodies asks for the points of every polyhedron and boxes those of a
frame; here they are read, and volume, centre and inertia come with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.state import Array

from packbot.hulls.collisions import Shape, split
from packbot.hulls.solids import Hull

FAR = 0.9  # of a hull's volume: a mesh that fills less is far from convex


@dataclass(frozen=True)
class Body:
    """Hold a link made of convex hulls of one density.

    Args:
        name: of the link.
        shapes: what the hulls are made of, in the link's frame.
        hulls: one for each.
        mass: [kg].
    """

    name: str
    shapes: tuple[Shape, ...]
    hulls: tuple[Hull, ...]
    mass: float

    @property
    def box(self) -> tuple[Array, Array]:
        """Lowest and highest corner of the bounding box along its frame's axes (3,), (3,) [m]."""
        corners = np.concatenate([hull.vertices for hull in self.hulls])
        return corners.min(axis=0), corners.max(axis=0)

    @property
    def volume(self) -> float:
        """Of all hulls; what two share counts twice [m^3]."""
        return sum(hull.volume for hull in self.hulls)

    @property
    def centre(self) -> Array:
        """Centre of mass (3,) [m]."""
        return np.asarray(sum(hull.volume * hull.centre for hull in self.hulls) / self.volume)

    @property
    def inertia(self) -> Array:
        """Inertia about the centre of mass, in the axes of its frame (3, 3) [kg m^2]."""
        second = sum(hull.volume * hull.moments for hull in self.hulls) / self.volume
        second = second - np.outer(self.centre, self.centre)
        return np.asarray(self.mass * (np.trace(second) * np.eye(3) - second))


def make_bodies(
    shapes: Iterable[Shape],
    *,
    density: float,
    masses: Mapping[str, float],
    whole: bool = False,
    done: Callable[[], None] = lambda: None,
) -> list[Body]:
    """Make the bodies of links, one hull a shape.

    Args:
        shapes: collision shapes of all links.
        density: of links whose mass is not given [kg/m^3].
        masses: of links by name [kg].
        whole: whether a mesh of several connected parts gets one hull and not one a part.
        done: called after each shape.

    Raises:
        AccordError: for a shape without volume, or a mass of a link that is not there.
    """
    made: dict[str, list[tuple[Shape, Hull]]] = {}
    for shape in shapes:
        for part in [shape] if whole else split(shape):
            made.setdefault(part.link, []).append((part, part.hull))
        done()
    for name in masses:
        if name not in made:
            raise AccordError(f"no link {name}{did_you_mean(name, made)}")
    bodies = []
    for link, both in made.items():
        parts, hulls = zip(*both, strict=True)
        mass = masses.get(link, density * sum(hull.volume for hull in hulls))
        bodies.append(Body(link, parts, hulls, mass))
    return bodies


def fit(shape: Shape, hull: Hull) -> float:
    """Return the volume of a shape over that of its hull; nan for a mesh that is not closed."""
    return shape.volume / hull.volume


def complaints(bodies: Iterable[Body]) -> list[str]:
    """Return a line for every shape that its convex hull approximates badly."""
    lines = []
    for body in bodies:
        for shape, hull in zip(body.shapes, body.hulls, strict=True):
            filled = fit(shape, hull)
            if np.isnan(filled):
                lines.append(f"{shape.name} of {body.name} is not closed: its fit is not known")
            elif filled < FAR:
                lines.append(
                    f"{shape.name} of {body.name} is far from convex: it fills "
                    f"{100.0 * filled:.0f} % of its hull; split it"
                )
    return lines
