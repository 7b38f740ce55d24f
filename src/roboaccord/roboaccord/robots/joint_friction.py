"""Friction, springs and servos of the joints of a file, if the scenario switches them on.

`parameters.damping`, `dry_friction`, `springs` and `actuators` are the switches (0 or 1,
config/parameters.yaml). Servos of actuators are springs and dampers here, which keep the initial
state. The friction law itself is in simulators/joints.py.
"""

from __future__ import annotations

import numpy as np

from roboaccord.scenario.setup import Setup
from roboaccord.simulators.friction import JointFriction


def friction_of(setup: Setup) -> JointFriction | None:
    """Return the joints' friction and springs that the scenario switches on, or None."""
    parameters, moving = setup.parameters, setup.tree.moving
    servo, servo_damping = (
        parameters.actuators * np.array([joint.servo for joint in moving]).reshape(-1, 2).T
    )
    viscous = parameters.damping * np.array([joint.damping for joint in moving]) + servo_damping
    dry = parameters.dry_friction * np.array([joint.friction for joint in moving])
    stiffness, slack = np.array([joint.spring for joint in moving]).reshape(-1, 2).T
    stiffness = parameters.springs * stiffness
    total_stiffness = stiffness + servo  # the servo keeps the initial position
    # Two springs in parallel: k = k1 + k2, with the slack position where their torques cancel.
    slack = (stiffness * slack + servo * setup.initial.q) / np.where(
        total_stiffness, total_stiffness, 1.0
    )
    spring = (total_stiffness, slack) if total_stiffness.any() else None
    if not (viscous.any() or dry.any() or spring):
        return None
    return JointFriction(viscous, dry, parameters.friction_speed, spring=spring)
