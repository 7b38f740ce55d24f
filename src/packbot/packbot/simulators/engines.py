"""The arm in physics engines and in Gazebo: hulls and joint friction are the reference simulator's.

DAMPING_RATIO, measured on MuJoCo's contacts, may be tuned; `engine_options.mujoco.contact_damping`
of a scenario overrides it. GROUND_MASK and MASK must fit the masks in urdf/gazebo.xacro:
test_packbot_gazebo compares the pairs that can touch. `joint_friction` must stay the same in every
simulator. An engine's special need goes into `make_engine_simulator`, an obstacle's form in Gazebo
into `_model`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from roboaccord import engines, gazebo
from roboaccord.contract import AccordError, AnyEngine, Fixture, MeshFixture
from roboaccord.run import make_folder, write_text
from roboaccord.scenario import Setup
from roboaccord.simulators import JointFriction, Simulator

from packbot.contact.collisions import ClampContact, Fixtures
from packbot.model.parameters import PackbotParameters, check_limits

if TYPE_CHECKING:
    from packbot.contact.clearance import Clearance


def check_start(setup: Setup, clearance: Clearance) -> None:
    """Refuse a start with joints outside their limits or penetrating hulls.

    Raises:
        AccordError: naming the joint, or the pair and its depth.
    """
    q = setup.initial.q
    check_limits(setup.parameters, q, "initial.q.")
    pair, distance = clearance.closest(q)
    if distance < 0.0:
        a, b = map(clearance.full_name, clearance.pairs[pair])
        raise AccordError(f"start in collision: {a} is {-1e3 * distance:.3g} mm deep in {b}")


def refuse_bad_start(setup: Setup) -> None:
    """Check a start for a simulator that would start anyhow.

    Without a contact law, or without the libraries that measure distances, all is let be.

    Raises:
        AccordError: as `check_start`.
    """
    if setup.contact is None:
        return
    try:
        from packbot.contact.clearance import Clearance
    except ImportError:
        return
    check_start(setup, Clearance.of(setup))


# Of MuJoCo's contacts: at its own 1 they rebound with 0.135 of the speed, at 3 with 0.022. More
# takes longer to open again what an impact has pressed together.
DAMPING_RATIO = 3.0


def joint_friction(parameters: PackbotParameters) -> JointFriction:
    """Return the friction of the joints, alike in every simulator."""
    coulomb = parameters.of_joints("coulomb")
    stiction = np.maximum(parameters.of_joints("stiction"), coulomb)
    return JointFriction(
        viscous=parameters.of_joints("viscous"),
        constant=coulomb,
        speed=parameters.friction_speed,
        stiction=stiction if (stiction > coulomb).any() else None,
        stribeck_speed=parameters.stribeck_speed,
    )


def make_engine_simulator(setup: Setup, engine: AnyEngine) -> Simulator:
    """Make the arm of an engine.

    Raises:
        AccordError: for the report's contact, which the reference alone has, or a bad start.
    """
    if isinstance(setup.contact, ClampContact):
        raise AccordError(f"{engine.name} has no contact joint_clamp; use --engine reference")
    refuse_bad_start(setup)
    parameters: PackbotParameters = setup.parameters
    armature = parameters.of_joints("reflected_inertia")
    stops = "false" if setup.contact is None else "true"  # as in the reference
    model = engines.EngineModel.of(
        setup,
        urdf=setup.urdf(more={"stops": stops}),
        friction=joint_friction(parameters),
        armature=armature if armature.any() else None,
        contact_events=True,
        options=engines.preset(setup.scenario.engine_options, contact_damping=DAMPING_RATIO),
    )
    return engines.simulate_model(model, engine)


NAME = "packbot"  # of the world
# Which links can touch the ground, and everything else: urdf/gazebo.xacro has the links' masks.
GROUND_MASK, MASK = 0x00F, 0x10F
COMMENT = """What stands around the Packbot in a scenario: physics alone, without sensors.

     gz sim -s -r worlds/{name}.sdf

     Physics: DART, steps of the scenario, at most real time."""


def make_world(setup: Setup) -> Path:
    """Return the file of the world of a scenario; what it names lies beside it.

    Raises:
        AccordError: if Gazebo does not have the scenario's contact law or drives, the arm cannot
            start so, or nothing can be written.
    """
    law = setup.scenario.friction.get("law", "none")
    if law not in ("normal", "none"):
        raise AccordError(f"Gazebo has no contact law {law}; try friction.law=normal")
    if setup.parameters.of_joints("reflected_inertia").any():
        raise AccordError("gz: no reflected inertia; use the reference or mujoco")
    refuse_bad_start(setup)
    fixtures: Fixtures = setup.terrain
    models = "".join(_model(fixture) for fixture in fixtures)
    step, gravity = setup.scenario.physics_step, setup.parameters.gravity
    comment = COMMENT.format(name=NAME)
    text = gazebo.world_text(NAME, comment, models, step=step, gravity=gravity)
    digest = hashlib.sha256(text.encode())
    hulls = [fixture for fixture in fixtures if isinstance(fixture, MeshFixture)]
    for hull in hulls:
        digest.update(hull.vertices.tobytes() + hull.faces.tobytes())
    folder = gazebo.cache("packbot") / digest.hexdigest()[:12]
    world = make_folder(folder, "worlds") / f"{NAME}.sdf"
    meshes = make_folder(folder, "meshes")
    for hull in hulls:
        gazebo.write_faceted(meshes / f"{hull.name}.obj", hull.vertices, hull.faces)
    write_text(world, text)
    return world


def _model(fixture: Fixture | MeshFixture) -> str:
    """Return a fixed obstacle as a model of a world."""
    if isinstance(fixture, MeshFixture):
        geometry = f"<mesh><uri>../meshes/{fixture.name}.obj</uri></mesh>"
        return gazebo.static_model(fixture.name, fixture.position, geometry, mask=MASK)
    shape = fixture.name, fixture.position, gazebo.box(fixture.size)
    if fixture.name != "ground":
        return gazebo.static_model(*shape, mask=MASK)
    return gazebo.static_model(
        *shape, mask=GROUND_MASK, visual=gazebo.squares(0.5 * fixture.size[2])
    )
