"""An engine in a moved world, which must give the same motion: `moved` and its simulator `Moved`.

What a move does to numbers and models is in moves.py. A simulator in the moved world is shown as it
is without the move, so that the two runs can be compared (test_invariance).
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
        simulator: in that world.
        move: of the world.
        joints: names, in the order in which they are shown.
    """

    def __init__(self, simulator: Simulator, move: Move, joints: tuple[str, ...]) -> None:
        super().__init__(simulator)
        self.inner, self.move = simulator, move
        self._there = move.order(len(joints))
        self._here = np.argsort(self._there)
        self.joints = joints
        self.effort_limits = simulator.effort_limits[self._here]
        self.armature = simulator.armature[self._here]
        if simulator.spring:
            self.spring = simulator.spring[0][self._here], simulator.spring[1][self._here]
        self.restitution = getattr(simulator, "restitution", None)

    def _moved(self, state: RobotState) -> RobotState:
        return self._ordered(self.move.state(state), self._there)

    @staticmethod
    def _ordered(state: RobotState, order: Index) -> RobotState:
        q, qd, effort = state.q[order], state.qd[order], state.effort[order]
        return replace(state, q=q, qd=qd, effort=effort)

    def lock(self, joint: int, locked: bool) -> None:
        self._inner.lock(int(self._here[joint]), locked)

    def _place(self, state: RobotState) -> None:
        self._inner.reset(self._moved(state))

    def _advance(self, command: Command, duration: float) -> None:
        wrench = None if command.wrench is None else self.move.wrench(command.wrench)
        effort = command.effort[self._there]
        self._inner.step(replace(command, effort=effort, wrench=wrench), duration)

    def _read(self) -> RobotState:
        return self._ordered(self.move.back(self._inner.state()), self._here)

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration | None:
        there = self._inner.acceleration(self._moved(state), effort[self._there])
        if there is None:
            return None
        straight, bent = there.base[:3] @ self.move.matrix, there.base[3:] @ self.move.turning
        return Acceleration(np.concatenate([straight, bent]), there.joints[self._here])

    def mass_matrix(self, state: RobotState) -> Array:
        """Return the mass matrix of a model with a free base, as `EngineSimulator` has it."""
        n = len(self.joints)
        rates = np.zeros((6 + n, 6 + n))
        rates[:3, :3], rates[3:6, 3:6] = self.move.matrix, self.move.turning
        rates[6:, 6:] = np.eye(n)[self._there]
        mass = cast(EngineSimulator, self._inner).mass_matrix(self._moved(state))
        return np.asarray(rates.T @ mass @ rates)


@dataclass(frozen=True, kw_only=True)
class MovedSpec(EngineSpec):
    """Specify an engine in a moved world, shown as it is without the move; `moved` makes it."""

    inner: EngineSpec
    move: Move

    def simulate(self, model: EngineModel) -> EngineSimulator:
        simulator, move = self.inner.simulate(move_model(model, self.move)), self.move
        if not KINDS[model.base].moves:  # only the description has been moved
            move = Move(move.name, reordered=move.reordered)
        # A robot of several models uses it like the simulator of any one of them.
        return cast(EngineSimulator, Moved(simulator, move, model.joints))

    def make(self, setup: Setup) -> Simulator:
        move = self.move
        if move.mirrored or move.reordered or any(move.shift) or not setup.base.moves:
            raise AccordError(f"{self.name}: where its world is whole, the robot is turned alone")
        data = setup.scenario.data()
        position = move.place(np.array(data["initial"]["position"])).tolist()
        turned = {"position": position, "yaw": data["initial"]["yaw"] + move.yaw}
        data["initial"] = {**data["initial"], **turned}
        return Moved(self.inner.make(Setup.of(Scenario(**data))), move, setup.joints)

    def complete(self, simulator: Simulator) -> Simulator:
        """Return a simulator completed in the moved world, where the engine completes it."""
        if isinstance(simulator, Moved):
            return Moved(self.inner.complete(simulator.inner), simulator.move, simulator.joints)
        return self.inner.complete(simulator)


def moved(engine: EngineSpec, move: Move) -> MovedSpec:
    """Return an engine in a moved world."""
    return MovedSpec.of(engine, inner=engine, move=move)
