"""Companion of a live run: the reference that is shown beside it, as long as it can be predicted.

Two copies of the reference, each with its own controller, start from states that differ by
`START_CHANGE`. Once they have diverged to `HORIZON`, the motion no longer follows from its start
[Lighthill 1986, "The recently recognized failure of predictability in Newtonian dynamics"]: both
are then reset to the state of the simulation. A regular motion never needs a reset.

COMPARE_PERIOD and OPACITIES may be tuned. HORIZON (noise.py) and START_CHANGE (runs.py) are stated
in docs/ros.md: change both. test_companion (snake) tests the resets.
"""

from __future__ import annotations

import math

import numpy as np

from roboaccord.contract import Inputs, RobotState, Trajectory
from roboaccord.crosscheck.links import largest_distance, link_centres
from roboaccord.crosscheck.noise import HORIZON
from roboaccord.crosscheck.runs import START_CHANGE, nudged
from roboaccord.description.materials import OPACITY
from roboaccord.description.tree import Tree
from roboaccord.run.answer import answer, reset_controller
from roboaccord.run.loop import make_simulator
from roboaccord.scenario import Setup, make_controller
from roboaccord.simulators.base import Simulator

# Simulated time between comparisons of the copies [s]: a frame of a viewer.
COMPARE_PERIOD = 0.02
OPACITIES = 5  # number of different opacities: an eye distinguishes steps of a fifth


class Companion:
    """Simulate the reference with its own controller, and reset it beyond its horizon.

    Args:
        setup: robot and scenario, as the controller knows them.
        simulated: robot and scenario, as the reference simulates them; in Gazebo with other ground.
        inputs: targets of the controller, switches, and joints that fail.
        controller: `package.module:Class` in place of the scenario's.

    Attributes:
        simulated: as given; replaced where joints have failed, for the next reset.
        apart: largest distance between links of the two copies at the last comparison [m].
        anew: number of resets.
    """

    def __init__(
        self, setup: Setup, simulated: Setup, inputs: Inputs, controller: str = ""
    ) -> None:
        self._tree, self._joints, self._inputs = setup.tree, setup.joints, inputs
        self._period = setup.scenario.control_period
        self._ticks_between = max(round(COMPARE_PERIOD / self._period), 1)
        # Each copy of the reference has its own controller.
        self._controllers = [make_controller(setup, controller) for _ in range(2)]
        for one in self._controllers:
            reset_controller(one, setup.scenario.seed)
        self.apart = 0.0
        self.anew = 0
        self._ticks_since_comparison = 0
        self.simulated = simulated
        self._simulators, self._states = self._copies(setup.initial)

    @property
    def state(self) -> RobotState:
        """The state of the reference."""
        return self._states[0]

    @property
    def opacity(self) -> float:
        """Opacity at which the reference is shown: full after a reset, low near the horizon."""
        # Share of the horizon that is used up: distances grow exponentially.
        used = math.log(max(self.apart / START_CHANGE, 1.0)) / math.log(HORIZON / START_CHANGE)
        return OPACITY * (1.0 - min(int(OPACITIES * used), OPACITIES - 1) / OPACITIES)

    def advance(self, state: RobotState) -> bool:
        """Advance to the time of a state of the simulation; return whether that was a reset."""
        for _ in range(round((state.time - self.state.time) / self._period)):
            self._step()
        if self._ticks_since_comparison < self._ticks_between:
            return False
        self._ticks_since_comparison = 0
        self.apart = largest_link_distance(self._tree, self._joints, *self._states)
        if self.apart < HORIZON:
            return False
        self._simulators, self._states = self._copies(state)
        self.apart = 0.0
        self.anew += 1
        return True

    def _copies(self, state: RobotState) -> tuple[list[Simulator], list[RobotState]]:
        """Return both copies and their states: the given one, and one changed by START_CHANGE."""
        simulators = [make_simulator(self.simulated) for _ in self._controllers]
        starts = zip(simulators, (state, nudged(state)), strict=True)
        return simulators, [simulator.reset(start) for simulator, start in starts]

    def _step(self) -> None:
        """Advance both copies by a control period."""
        self._ticks_since_comparison += 1
        faults = self._inputs.faults(self.state)
        for i, (simulator, controller) in enumerate(zip(self._simulators, self._controllers)):
            command = answer(controller, self._states[i], self._inputs, self._joints)
            for fault in faults:
                simulator.fail(fault)
            self._states[i] = simulator.step(command, self._period)
            simulator.take_events()


def largest_link_distance(
    tree: Tree, joints: tuple[str, ...], first: RobotState, second: RobotState
) -> float:
    """Return the largest distance between the link centres, or bases, of two states [m]."""
    pair = Trajectory.from_states(joints, [first, second])
    points = np.concatenate([link_centres(tree, pair), pair.position[:, None]], axis=1)
    return float(largest_distance(points[1:] - points[:1])[0])
