"""Engine models: one description with its forces; a robot can have several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from roboaccord.contract.contact import Contact
from roboaccord.contract.fault import Fault
from roboaccord.contract.interfaces import ForceLaw
from roboaccord.contract.state import Array
from roboaccord.description.base_kinds import Base
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.joint_friction import JointFriction

BASE_LINK = "base_link"


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
        armature: what the rotors of the drives add to the inertia of the joints (n,) [kg m^2], of
            which DART can take none; None for none.
        faults: joints that fail.
        preload: efforts of joints that nobody commands, springs say, by name [N m or N].
        contact: what can touch what, by the engine's own solver; None where nothing can.
        contact_events: whether a pair that begins to touch makes an event.
        options: engine options, by engine.
        gear: factors on the efforts that act (n,); None for 1.
        damping: viscous damping that the engine itself adds to `friction` (n,) [N m s/rad].
        stop_softness: factor on the softness of joint stops.
        restitution: of impacts that the robot itself computes; None where it computes none.
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
    armature: Array | None = None
    faults: tuple[Fault, ...] = ()
    preload: Mapping[str, float] = field(default_factory=dict)
    contact: Contact | None = None
    contact_events: bool = False
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    gear: Array | None = None
    damping: Array | None = None
    stop_softness: float = 1.0
    restitution: float | None = None

    @classmethod
    def of(cls, setup: Setup, **more: Any) -> EngineModel:
        """Return the model of a setup whose description says it all.

        Args:
            setup: robot and scenario.
            more: what the description does not say, `friction` and `armature` say.
        """
        scenario = setup.scenario
        said: dict[str, Any] = {
            "urdf": setup.urdf(),
            "base": scenario.base,
            "joints": setup.joints,
            "effort_limits": setup.effort_limits,
            "physics_step": scenario.physics_step,
            "gravity": setup.parameters.gravity,
            "faults": setup.faults,
            "force_law": setup.force_law,
            "contact": setup.contact,
            "options": scenario.engine_options,
        }
        return cls(**(said | more))
