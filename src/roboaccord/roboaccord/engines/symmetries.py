"""An engine that simulates a moved model, with states and commands converted to the original world.

If the world is turned, mirrored or shifted, or joints are listed in another order, a sound engine
gives the same motion, moved in the same way. The level `invariance` of the cross-check tests that:
`moved` returns an engine that simulates the moved model, and its simulator `Moved` converts
commands to the moved world and states back to the original one, so that the run can be compared
with one of the original model (test_invariance). moves.py converts numbers and models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from roboaccord.contract.contact import FreeBody, Index
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.description.base_kinds import KINDS
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel
from roboaccord.engines.moves import Move, move_model
from roboaccord.engines.spec import EngineSpec
from roboaccord.scenario import Scenario, Setup
from roboaccord.simulators import Proxy, Simulator


class Moved(Proxy):
    """Simulate a moved model, with states and commands of the original world.

    Args:
        simulator: simulates the moved model.
        move: the move of the world.
        joints: names, in the order of the original model.

    Attributes:
        inner: the simulator of the moved model.
    """

    def __init__(self, simulator: Simulator, move: Move, joints: tuple[str, ...]) -> None:
        super().__init__(simulator)
        self.inner, self.move = simulator, move
        self._to_moved = move.joint_order(len(joints))  # original index of each moved joint
        self._to_original = np.argsort(self._to_moved)  # moved index of each original joint
        self.joints = joints
        self.effort_limits = simulator.effort_limits[self._to_original]
        self.armature = simulator.armature[self._to_original]
        if simulator.spring:
            stiffness, slack = simulator.spring
            self.spring = stiffness[self._to_original], slack[self._to_original]
        self.restitution = getattr(simulator, "restitution", None)

    def _moved(self, state: RobotState) -> RobotState:
        """Return a state of the original world in the moved one."""
        return self._with_order(self.move.move_state(state), self._to_moved)

    @staticmethod
    def _with_order(state: RobotState, order: Index) -> RobotState:
        """Return a state with its joints in another order."""
        q, qd, effort = state.q[order], state.qd[order], state.effort[order]
        return replace(state, q=q, qd=qd, effort=effort)

    def lock(self, joint: int, locked: bool) -> None:
        """Lock a joint of the moved model, or release it."""
        self._inner.lock(int(self._to_original[joint]), locked)

    def _place(self, state: RobotState) -> None:
        """Set the state of the moved model."""
        self._inner.reset(self._moved(state))

    def _advance(self, command: Command, duration: float) -> None:
        """Advance the moved model under the moved command."""
        wrench = None if command.wrench is None else self.move.move_wrench(command.wrench)
        effort = command.effort[self._to_moved]
        self._inner.step(replace(command, effort=effort, wrench=wrench), duration)

    def _read(self) -> RobotState:
        """Return the moved model's state in the original world."""
        return self._with_order(self.move.move_state_back(self._inner.state()), self._to_original)

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration | None:
        """Return the accelerations of the moved model, in the original world."""
        moved = self._inner.acceleration(self._moved(state), effort[self._to_moved])
        if moved is None:
            return None
        linear = moved.base[:3] @ self.move.matrix
        angular = moved.base[3:] @ self.move.axial_matrix
        return Acceleration(np.concatenate([linear, angular]), moved.joints[self._to_original])

    def mass_matrix(self, state: RobotState) -> Array:
        """Return the mass matrix (6 + n, 6 + n) of the original model, which has a free base."""
        # Rates in the moved world are R times the original ones, so the matrix is R' M R.
        n = len(self.joints)
        rates = np.zeros((6 + n, 6 + n))
        rates[:3, :3] = self.move.matrix
        rates[3:6, 3:6] = self.move.axial_matrix
        rates[6:, 6:] = np.eye(n)[self._to_moved]
        mass = cast(EngineSimulator, self._inner).mass_matrix(self._moved(state))
        return np.asarray(rates.T @ mass @ rates)


@dataclass(frozen=True, kw_only=True)
class MovedSpec(EngineSpec):
    """Specify an engine that simulates moved models; `moved` makes it.

    Args:
        inner: the engine.
        move: the move of the world.
    """

    inner: EngineSpec
    move: Move

    def check_bodies(self, bodies: Sequence[FreeBody]) -> None:
        """Refuse free bodies, whose states are not converted."""
        if bodies:
            raise AccordError("free bodies beside the robot are not moved")

    def simulate(self, model: EngineModel) -> EngineSimulator:
        """Make the simulator of a moved model."""
        self.check(model)
        simulator, move = self.inner.simulate(move_model(model, self.move)), self.move
        if not KINDS[model.base].moves:  # a fixed base keeps its state: only its description moves
            move = Move(move.name, reordered=move.reordered)
        # A robot that consists of several models uses it as the simulator of one of them.
        return cast(EngineSimulator, Moved(simulator, move, model.joints))

    def make(self, setup: Setup) -> Simulator:
        """Make the simulator of a setup as a whole, whose robot alone is turned."""
        move = self.move
        if move.mirrored or move.reordered or any(move.shift) or not setup.base.moves:
            raise AccordError(f"{self.name}: where its world is whole, the robot is turned alone")
        data = setup.scenario.data()
        position = move.move_point(np.array(data["initial"]["position"])).tolist()
        turned = {"position": position, "yaw": data["initial"]["yaw"] + move.yaw}
        data["initial"] = {**data["initial"], **turned}
        return Moved(self.inner.make(Setup.of(Scenario(**data))), move, setup.joints)

    def complete(self, simulator: Simulator) -> Simulator:
        """Return a simulator of the original world that the engine completes in the moved one."""
        if isinstance(simulator, Moved):
            return Moved(self.inner.complete(simulator.inner), simulator.move, simulator.joints)
        return self.inner.complete(simulator)


def moved(engine: EngineSpec, move: Move) -> MovedSpec:
    """Return an engine that simulates moved models."""
    return MovedSpec.of(engine, inner=engine, move=move)
