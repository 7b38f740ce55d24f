"""Engines of the bench: a scene in each, stepped by one small adapter a file in engines/.

An adapter is a subclass of `World`, and an `Engine` in its module's ENGINE; its module has the
engine's name. Packages of others give theirs by an entry point of the group
`roboaccord.bench_engines`. Adapters are of the bench alone: they share no code with those of
robots, whose settings the bench must not inherit.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from roboaccord.contract import AccordError, Array

from roboaccord_bench.scene import Motion, Scene

# Coefficient of each of two equal surfaces, from that of their pair.
Coefficient = Callable[[float], float]
Forces = Mapping[str, Array]  # on the centres of bodies, by name, in the world (3,) [N]


def same(coefficient: float) -> float:
    """Return the coefficient of two equal surfaces, where that of the pair is the same."""
    return coefficient


class Touch(NamedTuple):
    """A contact of two bodies in one step.

    Attributes:
        first, second: their names.
        point: in the world (3,) [m].
        normal: unit vector from the first into the second, in the world (3,).
        force: on the second, friction included, in the world (3,) [N].
        gap: their distance [m]; negative for an overlap.
    """

    first: str
    second: str
    point: Array
    normal: Array
    force: Array
    gap: float


class World(ABC):
    """A scene in an engine.

    Args:
        scene: whose bodies all have coefficients of their surfaces.
        step: physics step [s].
        options: of the engine.

    Raises:
        AccordError: for what the engine does not have.
    """

    @abstractmethod
    def __init__(self, scene: Scene, step: float, **options: Any) -> None: ...

    @abstractmethod
    def advance(self, forces: Forces) -> None:
        """Take one physics step under forces."""

    @abstractmethod
    def motion(self, name: str) -> Motion:
        """Return the motion of a body."""

    def contacts(self) -> Iterable[Touch] | None:
        """Return the contacts of the last step; None where the engine does not report them."""
        return None


@dataclass(frozen=True, kw_only=True)
class Engine:
    """An engine, and what its users may set.

    Args:
        version: of the library.
        world: class of its worlds.
        options: sets of options by name; `default`, and `expert` where its authors would choose
            others, each the same for all problems.
        surface_mu: returns the coefficient of friction of each of two equal surfaces whose pair has
            the one given.
        surface_restitution: the same for restitution; None where the engine has no coefficient of
            restitution, and one beyond 0 is refused.
        slow: whether it runs only if it is named.
    """

    version: str
    world: type[World]
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"default": {}})
    surface_mu: Coefficient = same
    surface_restitution: Coefficient | None = same
    slow: bool = False

    def make(self, scene: Scene, step: float, options: str = "default") -> World:
        """Return a scene in this engine, with the coefficients that its own rule for pairs needs.

        Raises:
            AccordError: for what the engine does not have.
        """
        asked = [scene.restitution, *(body.restitution for body in scene.bodies)]
        if self.surface_restitution is None and any(asked):
            raise AccordError("it has no coefficient of restitution")
        restitution = (self.surface_restitution or same)(scene.restitution)
        surfaced = scene.with_surfaces(self.surface_mu(scene.mu), restitution)
        return self.world(surfaced, step, **self.options[options])
