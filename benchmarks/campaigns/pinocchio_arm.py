"""The Packbot's arm by an independent computation, for campaigns: rigid bodies by pinocchio.

Time stepping [Moreau 1988] with Coulomb's friction as a set, so that joints stick: with the mass
matrix M, gravity, Coriolis and centrifugal efforts n, viscous friction D, efforts tau and impulses
p of dry friction c, of which v+ leaves each joint the least rate,

    (M + h D) v+ = M v + h (tau - n) + p,    |p| <= h c,    v+ = 0 or p = -h c sgn(v+),

by projected Gauss-Seidel. Contacts, stops and failures are left out: motions keep clear of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
from roboaccord.contract import Acceleration, Array, Command, RobotState
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

SUBSTEP = 5e-4  # s: a twentieth of a control period of 10 ms
# Of Gauss-Seidel at most; rad/s by which the last may change a rate; seven joints settle in tens,
# and any number above would do.
SWEEPS, EXACT = 200, 1e-12


class PinocchioArm(Simulator):
    """Simulate the arm of a setup.

    Args:
        setup: robot and scenario.
        substep: h, a whole fraction of the scenario's physics step [s].
    """

    name, version, order = "pinocchio", pin.__version__, 1

    def __init__(self, setup: Setup, substep: float = SUBSTEP) -> None:
        super().__init__(setup.joints, setup.effort_limits, setup.scenario.physics_step)
        self._model = pin.buildModelFromXML(setup.urdf(base="fixed"))
        if tuple(self._model.names)[1:] != setup.joints:
            raise ValueError(f"joints are {tuple(self._model.names)[1:]}, not {setup.joints}")
        p = setup.parameters
        self._model.armature = p.of_joints("reflected_inertia")
        self._model.gravity.linear = np.array([0.0, 0.0, -p.gravity])
        self._data = self._model.createData()
        self._viscous, self._dry = p.of_joints("viscous"), p.of_joints("coulomb")
        self._substep = substep
        self._place(setup.initial)

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link that moves [kg]."""
        frames = [frame for frame in self._model.frames if frame.name.endswith("_link")]
        bodies = {frame.name: frame.parentJoint for frame in frames if frame.parentJoint}
        return {name: float(self._model.inertias[j].mass) for name, j in bodies.items()}

    def _place(self, state: RobotState) -> None:
        self._q, self._v = np.array(state.q), np.array(state.qd)
        self._p = np.zeros(len(self._q))

    def _advance(self, command: Command, duration: float) -> None:
        count = round(duration / self._substep)
        for _ in range(count):
            self._go(duration / count)

    def _go(self, h: float) -> None:
        """Take a step h [s]."""
        q, v = self._q, self._v
        mass = pin.crba(self._model, self._data, q)
        bias = pin.nonLinearEffects(self._model, self._data, q, v)
        give = np.linalg.inv(mass + h * np.diag(self._viscous))
        most = h * self._dry
        p = np.clip(self._p, -most, most)
        v = give @ (mass @ v + h * (self._effort - bias) + p)
        for _ in range(SWEEPS):
            change = 0.0
            for j in range(len(p)):
                wanted = min(max(p[j] - v[j] / give[j, j], -most[j]), most[j])
                v += give[:, j] * (wanted - p[j])
                change = max(change, abs(wanted - p[j]) * give[j, j])
                p[j] = wanted
            if change < EXACT:
                break
        self._q, self._v, self._p = q + h * v, v, p

    def _read(self) -> RobotState:
        return RobotState(self._time, self._q.copy(), self._v.copy(), self._effort)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        found = pin.aba(self._model, self._data, state.q, state.qd, effort)
        return Acceleration(np.zeros(6), np.array(found))
