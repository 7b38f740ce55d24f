"""Drake's plant of a description, and where the coordinates of `base_link` are in it."""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from roboaccord.contract.errors import AccordError
from roboaccord.description.tree import Tree
from roboaccord.engines.model import BASE_LINK, EngineModel

UNREAD = ("visual", "collision", "dynamics", "transmission")  # the model says, or nobody asks
CONTINUOUS = 0.0  # time step of a plant whose equations are integrated outside

# It warns of what it replaces, an inertia say, which we refuse.
logging.getLogger("drake").setLevel(logging.ERROR)


def make_plant(model: EngineModel, tree: Tree, time_step: float) -> Any:
    """Return Drake's plant of a model, with a rotor at each joint that is commanded.

    Args:
        model: description and base.
        tree: of the description.
        time_step: of the discrete equations [s], or CONTINUOUS.

    Raises:
        AccordError: if Drake cannot read the description.
    """
    plant = MultibodyPlant(time_step)
    try:
        text = _reduced(model.urdf, mimic=time_step != CONTINUOUS)
        Parser(plant).AddModelsFromString(text, "urdf")
        for i, name in enumerate(model.joints):
            joint = plant.GetJointByName(name)
            actuator = plant.AddJointActuator(name, joint)
            if model.armature is not None:
                actuator.set_default_rotor_inertia(model.armature[i])
            if model.damping is not None:
                joint.set_default_damping_vector([model.damping[i]])
        for joint in tree.moving:
            if joint.kind == "continuous":  # Drake would keep limits that it happens to have
                plant.GetMutableJointByName(joint.name).set_position_limits([-np.inf], [np.inf])
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -model.gravity])
        plant.Finalize()
    except (RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise AccordError(f"Drake refuses the description: {reason}") from None
    return plant


def _reduced(urdf: str, *, mimic: bool) -> str:
    """Return a URDF without shapes, transmissions, damping, friction, and mimic joints perhaps."""
    root = ET.fromstring(urdf)
    for parent in [root, *root.findall("link"), *root.findall("joint")]:
        for child in list(parent):
            if child.tag in UNREAD or (child.tag == "mimic" and not mimic):
                parent.remove(child)
    return ET.tostring(root, encoding="unicode")


def base_slices(plant: Any, base: str) -> tuple[slice, slice]:
    """Return the slices of positions and velocities of `base_link`.

    A planar base has x, y and yaw; a free one quaternion w x y z and position, angular and linear
    velocity in the world.
    """
    if base == "fixed":
        return slice(0), slice(0)
    if base == "free":
        body = plant.GetBodyByName(BASE_LINK)
        q, v = body.floating_positions_start(), body.floating_velocities_start_in_v()
        return slice(q, q + 7), slice(v, v + 6)
    joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
    planar = next(j for j in joints if j.child_body().name() == BASE_LINK)
    q, v = planar.position_start(), planar.velocity_start()
    return slice(q, q + 3), slice(v, v + 3)
