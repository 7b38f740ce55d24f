"""The reference as a second robot: it runs free beside a simulation, up to its horizon.

Two copies of the reference go from states that differ by `NUDGE`. Where they have parted by
`HORIZON`, nothing of the motion follows from its start any more [Lighthill 1986, "The recently
recognized failure of predictability in Newtonian dynamics"]: both are then set anew to the state of
the simulation. A regular motion never is.
"""

from __future__ import annotations

import math

import numpy as np

from roboaccord.contract.interfaces import Controller, Inputs
from roboaccord.contract.state import Array, RobotState
from roboaccord.crosscheck.runs import NUDGE, nudged
from roboaccord.description.materials import OPACITY
from roboaccord.description.tree import Tree
from roboaccord.run.factory import make_simulator
from roboaccord.run.loop import answer, reset_controller
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.setup import Setup

HORIZON = 1e-3  # m, between the two copies
LOOK_PERIOD = 0.02  # s of simulated time between looks at how far they are apart
LEVELS = 5  # of opacity


class Companion:
    """Run the reference free, with a controller of its own, and set it anew past its horizon.

    Args:
        setup: robot and scenario, as the controller knows them.
        simulated: as the reference simulates them; another ground in Gazebo.
        inputs: targets of the controller, switches, and joints that fail.
        controller: `package.module:Class` in place of the scenario's.

    Attributes:
        simulated: as given; replaced where joints have failed, with which it is set anew.
        apart: largest distance between links of the two copies at the last look [m].
        anew: how often it was set anew.
    """

    def __init__(
        self, setup: Setup, simulated: Setup, inputs: Inputs, controller: str = ""
    ) -> None:
        self._tree, self._joints, self._inputs = setup.tree, setup.joints, inputs
        self._period = setup.scenario.control_period
        self._look = max(round(LOOK_PERIOD / self._period), 1)
        self._controllers = [_ready(setup, controller) for _ in range(2)]
        self.apart, self.anew, self._tick = 0.0, 0, 0
        self.simulated = simulated
        self._start(setup.initial)

    @property
    def state(self) -> RobotState:
        """The state of the reference."""
        return self._states[0]

    @property
    def opacity(self) -> float:
        """How opaque it is to be shown: full at a start, and little at the horizon."""
        used = math.log(max(self.apart / NUDGE, 1.0)) / math.log(HORIZON / NUDGE)
        return OPACITY * (1.0 - min(int(LEVELS * used), LEVELS - 1) / LEVELS)

    def advance(self, state: RobotState) -> bool:
        """Advance to the time of a state of the simulation; return whether it was set anew."""
        for _ in range(round((state.time - self.state.time) / self._period)):
            self._step()
        if self._tick < self._look:
            return False
        self._tick, self.apart = 0, farthest(self._tree, self._joints, *self._states)
        if self.apart < HORIZON:
            return False
        self._start(state)
        self.apart, self.anew = 0.0, self.anew + 1
        return True

    def _start(self, state: RobotState) -> None:
        """Put both copies into a state, one of them nearly."""
        self._simulators = [make_simulator(self.simulated) for _ in self._controllers]
        starts = zip(self._simulators, (state, nudged(state)), strict=True)
        self._states = [simulator.reset(start) for simulator, start in starts]

    def _step(self) -> None:
        self._tick += 1
        faults = self._inputs.faults(self.state)
        for i, (simulator, controller) in enumerate(zip(self._simulators, self._controllers)):
            command = answer(controller, self._states[i], self._inputs, self._joints)
            for fault in faults:
                simulator.fail(fault)
            self._states[i] = simulator.step(command, self._period)
            simulator.take_events()


def _ready(setup: Setup, custom: str) -> Controller:
    """Return a controller that is made and reset."""
    made = make_controller(setup, custom)
    reset_controller(made, setup.scenario.seed)
    return made


def farthest(tree: Tree, joints: tuple[str, ...], one: RobotState, other: RobotState) -> float:
    """Return the largest distance between links' centres, or bases, of two states [m]."""
    q, position, orientation = (
        np.array([getattr(state, name) for state in (one, other)])
        for name in ("q", "position", "orientation")
    )
    origins, rotations = tree.forward(joints, q, position, orientation)
    offsets = np.array([link.centre for link in tree.links])
    centres: Array = origins + np.einsum("tkij,kj->tki", rotations, offsets)
    points = np.concatenate([centres, position[:, None]], axis=1)
    return float(np.linalg.norm(points[1] - points[0], axis=1).max())
