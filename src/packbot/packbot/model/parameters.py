"""Physical parameters of the Packbot; their values and sources are in config/parameters.yaml."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from roboaccord.contract.state import Array

JOINTS = ("turret", "shoulder", "elbow1", "elbow2", "tilt", "pan", "wrist")
POSITIVE = ("_mass", "_radius", "_speed", "_length")  # ends of names
LIMITS = ("effort_limit", "speed_limit")  # beginnings of names


@dataclass(frozen=True, kw_only=True)
class PackbotParameters:
    """Hold the Packbot's parameters, in SI units; config/parameters.yaml says what each is.

    Names of the joints' parameters end in the joint: `lower_`, `upper_` [rad], `effort_limit_`
    [N m], `speed_limit_` [rad/s], `viscous_` [N m s/rad], `coulomb_`, `stiction_` [N m] and
    `reflected_inertia_` [kg m^2]; `of_joints` gives those of all.
    """

    base_x: float
    base_z: float
    chassis_top: float
    turret_d: float
    shoulder_a: float
    shoulder_d: float
    elbow1_a: float
    elbow1_d: float
    tilt_x: float
    tilt_z: float
    pan_d: float
    wrist_x: float
    gripper_length: float
    shoulder_casing_radius: float
    elbow1_casing_radius: float
    elbow2_casing_radius: float
    tube_1_radius: float
    tube_2_radius: float
    tube_3_radius: float
    base_mass: float
    turret_base_mass: float
    shoulder_casing_mass: float
    turret_motor_mass: float
    tube_1_mass: float
    elbow1_casing_mass: float
    motor_1_mass: float
    chip_1_mass: float
    tube_2_mass: float
    elbow2_casing_mass: float
    motor_2_mass: float
    chip_2_mass: float
    tube_3_mass: float
    wrist_block_mass: float
    chip_3_mass: float
    tilt_mass: float
    camera_head_mass: float
    lamps_mass: float
    palm_mass: float
    finger_mass: float
    motor_radius: float
    gravity: float
    lower_turret: float
    upper_turret: float
    lower_shoulder: float
    upper_shoulder: float
    lower_elbow1: float
    upper_elbow1: float
    lower_elbow2: float
    upper_elbow2: float
    lower_tilt: float
    upper_tilt: float
    lower_pan: float
    upper_pan: float
    lower_wrist: float
    upper_wrist: float
    effort_limit_turret: float
    effort_limit_shoulder: float
    effort_limit_elbow1: float
    effort_limit_elbow2: float
    effort_limit_tilt: float
    effort_limit_pan: float
    effort_limit_wrist: float
    speed_limit_turret: float
    speed_limit_shoulder: float
    speed_limit_elbow1: float
    speed_limit_elbow2: float
    speed_limit_tilt: float
    speed_limit_pan: float
    speed_limit_wrist: float
    viscous_turret: float
    viscous_shoulder: float
    viscous_elbow1: float
    viscous_elbow2: float
    viscous_tilt: float
    viscous_pan: float
    viscous_wrist: float
    coulomb_turret: float
    coulomb_shoulder: float
    coulomb_elbow1: float
    coulomb_elbow2: float
    coulomb_tilt: float
    coulomb_pan: float
    coulomb_wrist: float
    stiction_turret: float
    stiction_shoulder: float
    stiction_elbow1: float
    stiction_elbow2: float
    stiction_tilt: float
    stiction_pan: float
    stiction_wrist: float
    stribeck_speed: float
    friction_speed: float
    reflected_inertia_turret: float
    reflected_inertia_shoulder: float
    reflected_inertia_elbow1: float
    reflected_inertia_elbow2: float
    reflected_inertia_tilt: float
    reflected_inertia_pan: float
    reflected_inertia_wrist: float

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not math.isfinite(value):
                raise ValueError(f"{field.name} is {value}, and must be finite")
            must = field.name.endswith(POSITIVE) or field.name.startswith(LIMITS)
            if must and not value > 0:
                raise ValueError(f"{field.name} is {value:g}, and must be positive")
            least = field.name.startswith(("viscous", "coulomb", "stiction", "reflected"))
            if least and value < 0:
                raise ValueError(f"{field.name} is {value:g}, and must not be negative")
        for joint in JOINTS:
            if not getattr(self, f"lower_{joint}") < getattr(self, f"upper_{joint}"):
                raise ValueError(f"lower_{joint} must be below upper_{joint}")

    def of_joints(self, kind: str) -> Array:
        """Return the parameter `KIND_JOINT` of every joint (7,)."""
        return np.array([getattr(self, f"{kind}_{joint}") for joint in JOINTS])
