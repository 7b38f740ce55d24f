"""An engine in a moved world, whose motion is shown as it is without the move.

If the world is turned, mirrored or shifted, or joints are listed in another order, a sound engine
gives the same motion, moved. moves.py converts numbers and models. Here `moved` makes an engine
that simulates the moved model, and its simulator `Moved` converts states and commands there and
back, so that the run can be compared with one that is not moved (test_invariance). "There" means
in the moved world, "here" without the move.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.description.base_kinds import KINDS
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel
from roboaccord.engines.moves import Move, move_model
from roboaccord.engines.spec import EngineSpec
from roboaccord.scenario.scenario import Scenario
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.proxy import Proxy


class Moved(Proxy):
    """Show the motion of a simulator in a moved world as it is without the move.

    Args:
        simulator: of the moved model.
        move: of the world.
        joints: names, in the order of states and commands here.

    Attributes:
        inner: the simulator of the moved model.
    """

    def __init__(self, simulator: Simulator, move: Move, joints: tuple[str, ...]) -> None:
        super().__init__(simulator)
        self.inner, self.move = simulator, move
        self._order_there = move.joint_order(len(joints))  # index here of each joint there
        self._order_here = np.argsort(self._order_there)  # index there of each joint here
        self.joints = joints
        self.effort_limits = simulator.effort_limits[self._order_here]
        self.armature = simulator.armature[self._order_here]
        if simulator.spring:
            stiffness, slack = simulator.spring
            self.spring = stiffness[self._order_here], slack[self._order_here]
        self.restitution = getattr(simulator, "restitution", None)

    def _moved(self, state: RobotState) -> RobotState:
        """Return a state as the simulator in the moved world has it."""
        return self._with_order(self.move.move_state(state), self._order_there)

    @staticmethod
    def _with_order(state: RobotState, order: Index) -> RobotState:
        """Return a state with its joints in another order."""
        q, qd, effort = state.q[order], state.qd[order], state.effort[order]
        return replace(state, q=q, qd=qd, effort=effort)

    def lock(self, joint: int, locked: bool) -> None:
        self._inner.lock(int(self._order_here[joint]), locked)

    def _place(self, state: RobotState) -> None:
        self._inner.reset(self._moved(state))

    def _advance(self, command: Command, duration: float) -> None:
        wrench = None if command.wrench is None else self.move.move_wrench(command.wrench)
        effort = command.effort[self._order_there]
        self._inner.step(replace(command, effort=effort, wrench=wrench), duration)

    def _read(self) -> RobotState:
        return self._with_order(self.move.move_state_back(self._inner.state()), self._order_here)

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration | None:
        there = self._inner.acceleration(self._moved(state), effort[self._order_there])
        if there is None:
            return None
        linear = there.base[:3] @ self.move.matrix
        angular = there.base[3:] @ self.move.axial_matrix
        return Acceleration(np.concatenate([linear, angular]), there.joints[self._order_here])

    def mass_matrix(self, state: RobotState) -> Array:
        """Return the mass matrix (6 + n, 6 + n) of a model with a free base, without the move."""
        # Rates in the moved world are R times those here, so the matrix here is R' M R.
        n = len(self.joints)
        rates = np.zeros((6 + n, 6 + n))
        rates[:3, :3], rates[3:6, 3:6] = self.move.matrix, self.move.axial_matrix
        rates[6:, 6:] = np.eye(n)[self._order_there]
        mass = cast(EngineSimulator, self._inner).mass_matrix(self._moved(state))
        return np.asarray(rates.T @ mass @ rates)


@dataclass(frozen=True, kw_only=True)
class MovedSpec(EngineSpec):
    """Specify an engine that simulates in a moved world; `moved` makes it.

    Args:
        inner: the engine.
        move: of the world.
    """

    inner: EngineSpec
    move: Move

    def simulate(self, model: EngineModel) -> EngineSimulator:
        simulator, move = self.inner.simulate(move_model(model, self.move)), self.move
        if not KINDS[model.base].moves:  # states of a fixed base stay: only the description moves
            move = Move(move.name, reordered=move.reordered)
        # A robot of several models uses it like the simulator of any one of them.
        return cast(EngineSimulator, Moved(simulator, move, model.joints))

    def make(self, setup: Setup) -> Simulator:
        move = self.move
        if move.mirrored or move.reordered or any(move.shift) or not setup.base.moves:
            raise AccordError(f"{self.name}: where its world is whole, the robot is turned alone")
        data = setup.scenario.data()
        position = move.move_point(np.array(data["initial"]["position"])).tolist()
        turned = {"position": position, "yaw": data["initial"]["yaw"] + move.yaw}
        data["initial"] = {**data["initial"], **turned}
        return Moved(self.inner.make(Setup.of(Scenario(**data))), move, setup.joints)

    def complete(self, simulator: Simulator) -> Simulator:
        """Return a simulator that the engine completes in the moved world."""
        if isinstance(simulator, Moved):
            return Moved(self.inner.complete(simulator.inner), simulator.move, simulator.joints)
        return self.inner.complete(simulator)


def moved(engine: EngineSpec, move: Move) -> MovedSpec:
    """Return an engine in a moved world."""
    return MovedSpec.of(engine, inner=engine, move=move)
