"""Friction, springs and servos of the joints of a file, as far as the scenario takes them.

`parameters.damping`, `dry_friction`, `springs` and `actuators` (0 or 1, config/parameters.yaml)
choose. The law itself is in simulators/joints.py.
"""

from __future__ import annotations

import numpy as np

from roboaccord.scenario.setup import Setup
from roboaccord.simulators.friction import JointFriction


def friction_of(setup: Setup) -> JointFriction | None:
    """Return friction and springs that the file has and the scenario takes, or None."""
    p, moving = setup.parameters, setup.tree.moving
    servo, damped = p.actuators * np.array([joint.servo for joint in moving]).reshape(-1, 2).T
    viscous = p.damping * np.array([joint.damping for joint in moving]) + damped
    dry = p.dry_friction * np.array([joint.friction for joint in moving])
    stiffness, slack = np.array([joint.spring for joint in moving]).reshape(-1, 2).T
    stiffness = p.springs * stiffness
    whole = stiffness + servo  # which holds the start
    slack = (stiffness * slack + servo * setup.initial.q) / np.where(whole, whole, 1.0)
    spring = (whole, slack) if whole.any() else None
    if not (viscous.any() or dry.any() or spring):
        return None
    return JointFriction(viscous, dry, p.friction_speed, spring=spring)
