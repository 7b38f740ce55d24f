"""Reference simulator of the arm."""

from __future__ import annotations

from collections.abc import Mapping

from roboaccord import Array, JointSpaceReference

from arm import dynamics


class ArmReference(JointSpaceReference):
    """Simulate the arm by its own equations of motion (Simulator)."""

    def joint_accelerations(self, q: Array, qd: Array, effort: Array) -> Array:
        return dynamics.joint_accelerations(self.parameters, q, qd, effort)

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        return {"base_link": self.parameters.stand_mass, "rod_link": self.parameters.mass}
