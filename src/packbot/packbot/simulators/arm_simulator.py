"""Base class of the arm's analytical simulators: state, stepping and energy, without contact."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import roboaccord
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, RobotState
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.joint_faults import LOCK_INERTIA
from roboaccord.simulators.reference import Reference

from packbot.contact.clearance import Clearance
from packbot.contact.law import normal
from packbot.hulls.collisions import read_collisions
from packbot.model.arm import Arm
from packbot.simulators.energy import EnergyBook
from packbot.simulators.engines import joint_friction


class ArmSimulator(Reference):
    """Hold the arm's dynamics, hull distances, joint friction and energy balance.

    Args:
        setup: robot and scenario.

    Attributes:
        arm: dynamics.
        clearance: measures distances.
        joint_friction: of the joints.
        energy: book of the energy.
    """

    version = f"roboaccord-packbot {roboaccord.__version__}"
    order = 5

    def __init__(self, setup: Setup) -> None:
        urdf = setup.urdf(base="fixed")  # once: the xacro takes its time
        super().__init__(setup)
        p = setup.parameters
        self._base_mass: float = p.base_mass
        self._rotors = p.of_joints("reflected_inertia")
        self.arm = Arm(urdf, self._rotors, p.gravity)
        pairs = (setup.contact or normal(setup)).pairs
        shapes = read_collisions(urdf)
        self.clearance = Clearance(self.arm.model, shapes, setup.terrain, pairs)
        self.joint_friction = joint_friction(p)
        self.energy = EnergyBook(self.arm, self._losses)

    @property
    def energy_rise(self) -> float:
        """Sum of all rises of the energy beyond the work of the efforts, since the reset [J]."""
        return self.energy.rise

    def lock(self, joint: int, locked: bool) -> None:
        armature = np.array(self.arm.model.armature)
        armature[joint] = LOCK_INERTIA if locked else self._rotors[joint]
        self.arm.model.armature = armature

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        return Acceleration(np.zeros(6), self.arm.acceleration(state.q, state.qd, effort))

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg], the fixed chassis included."""
        return {"base_link": self._base_mass, **self.arm.masses()}
