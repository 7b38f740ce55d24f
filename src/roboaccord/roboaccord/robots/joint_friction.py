"""Friction, springs and servos of the joints of a file, if the scenario switches them on.

The switches are `parameters.damping`, `dry_friction`, `springs` and `actuators` (0 or 1,
config/parameters.yaml). The servo of an actuator becomes a spring and a damper about the initial
position. `FileRobot` (file.py) passes the result to the reference and to engines. The friction law
itself is in simulators/friction.py.
"""

from __future__ import annotations

import numpy as np

from roboaccord.scenario.setup import Setup
from roboaccord.simulators.friction import JointFriction


def friction_of(setup: Setup) -> JointFriction | None:
    """Return friction and springs of all moving joints (n,), or None if none is switched on."""
    parameters, moving = setup.parameters, setup.tree.moving
    servos = parameters.actuators * np.array([joint.servo for joint in moving]).reshape(-1, 2)
    servo_stiffness, servo_damping = servos.T
    viscous = parameters.damping * np.array([joint.damping for joint in moving]) + servo_damping
    dry = parameters.dry_friction * np.array([joint.friction for joint in moving])
    file_stiffness, file_slack = np.array([joint.spring for joint in moving]).reshape(-1, 2).T
    spring_stiffness = parameters.springs * file_stiffness
    # Two springs in parallel: k = k1 + k2, with the slack position where their torques cancel.
    stiffness = spring_stiffness + servo_stiffness
    torque_at_zero = spring_stiffness * file_slack + servo_stiffness * setup.initial.q
    slack = torque_at_zero / np.where(stiffness, stiffness, 1.0)
    spring = (stiffness, slack) if stiffness.any() else None
    if not (viscous.any() or dry.any() or spring):
        return None
    return JointFriction(viscous, dry, parameters.friction_speed, spring=spring)
