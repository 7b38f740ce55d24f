"""What an engine simulates: one description with its forces, so that a robot can hold several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from roboaccord.assembly import Setup
from roboaccord.contact import Contact
from roboaccord.description import expand
from roboaccord.interfaces import ForceLaw
from roboaccord.scenario import Base
from roboaccord.state import Array

BASE_LINK = "base_link"


@dataclass(frozen=True)
class JointFriction:
    """Brake each joint by an effort -(b w + c w / sqrt(w^2 + e^2)) [N m] at the rate w [rad/s].

    Args:
        viscous: b of each joint (n,) [N m s/rad].
        constant: c, the dry friction (n,) [N m].
        speed: e, below which the dry friction falls to 0 [rad/s].
    """

    viscous: Array
    constant: Array
    speed: float

    def efforts(self, qd: Array) -> Array:
        """Return the efforts (n,) [N m] at joint rates qd (n,) [rad/s]."""
        return -qd * (self.viscous + self.constant / np.sqrt(qd * qd + self.speed**2))


@dataclass(frozen=True, kw_only=True)
class EngineModel:
    """Hold everything that an engine needs to simulate a mechanism.

    Args:
        urdf: the description; damping and friction of its joints are left out.
        base: how `base_link` moves: with its joints alone, in the plane, freely, or as a ball that
            turns about its centre, which stays.
        joints: names, in the order of every array; n of them.
        effort_limits: what efforts are clipped to (n,) [N m].
        physics_step: [s].
        gravity: along -z [m/s^2].
        root: where the tree starts: `world` where a joint named above is a hinge to the world.
        force_law: external forces on the links, or None.
        friction: of the joints, or None.
        preload: efforts of joints that nobody commands, springs say, by name [N m or N].
        contact: what can touch what, by the engine's own solver; None where nothing can.
        options: engine options, by engine.
    """

    urdf: str
    base: Base
    joints: tuple[str, ...]
    effort_limits: Array
    physics_step: float
    gravity: float
    root: str = BASE_LINK
    force_law: ForceLaw | None = None
    friction: JointFriction | None = None
    preload: Mapping[str, float] = field(default_factory=dict)
    contact: Contact | None = None
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, setup: Setup, mass_scale: Mapping[str, float]) -> EngineModel:
        """Return the model of a setup whose description says it all.

        Args:
            setup: robot and scenario.
            mass_scale: factors on the masses of links; a deliberate error for cross-checks.
        """
        scenario = setup.scenario
        return cls(
            urdf=expand(setup, mass_scale),
            base=scenario.base,
            joints=setup.joints,
            effort_limits=setup.effort_limits,
            physics_step=scenario.physics_step,
            gravity=setup.parameters.gravity,
            force_law=setup.force_law,
            contact=setup.contact,
            options=scenario.engine_options,
        )
