"""The reference as a second robot: from the same start, by the same controller, beside a simulator.

It runs free for as long as its motion is its own. A second reference beside it starts with one bit
changed; when any link of both is 1 mm apart, as for the horizon of `crosscheck.noise`, round-off
decides where the robot is. From then on the reference is set to the simulator's state every second.
"""

from __future__ import annotations

import numpy as np

from roboaccord.bag.targets import TargetLog
from roboaccord.contract.state import Command, RobotState
from roboaccord.crosscheck.noise import HORIZON
from roboaccord.crosscheck.runs import Job, start_of
from roboaccord.run.factory import make_simulator
from roboaccord.run.inputs import Hold
from roboaccord.run.loop import Stepper, answer, reset_controller
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.setup import Setup

CYCLE = 1.0  # s between two settings to the simulator's state, past the horizon
LOOK = 0.02  # s between looks at the distance
NOBODY = "none"  # controller of a launch in which somebody else commands


class Companion:
    """Follow a simulator's run by the reference, tick by tick.

    Args:
        setup: robot and scenario; the reference's ground, which can be another engine's law.
        controller: in place of the scenario's; `none` where the run's own efforts act.

    Attributes:
        state: of the reference, at the time of the state that was followed last.
        free: whether nothing but the start comes from the simulator.
        since: when the reference was at the simulator's state last [s].
    """

    def __init__(self, setup: Setup, controller: str = "") -> None:
        self._setup, self._tree = setup, setup.tree
        self._given = controller == NOBODY
        self._targets = TargetLog(setup.joints)
        self._starts = [start_of(Job("reference", 0.0, bit=b), setup.initial) for b in (False, True)]
        period = setup.scenario.control_period
        self._runs = [Stepper(make_simulator(setup), start, period) for start in self._starts]
        names = "" if self._given else controller
        self._controllers = [make_controller(setup, names) for _ in self._runs]
        self.begin()

    def begin(self) -> None:
        """Go back to the start."""
        for run, controller in zip(self._runs, self._controllers, strict=True):
            reset_controller(controller, self._setup.scenario.seed)
            run.start()
        self.free, self.since, self._next = True, 0.0, LOOK
        self.state = self._runs[0].state

    def hear(self, name: str, data: bytes) -> None:
        """Take the message of a target, by the name of its topic."""
        self._targets.take(name, data)

    def follow(self, state: RobotState) -> RobotState:
        """Go on to the time of a simulator's state, and return the reference's.

        Args:
            state: the efforts and switches that were in force up to it.

        Raises:
            AccordError: of a controller, or a reference that diverges.
        """
        period = self._runs[0].period
        while self.state.time < state.time - 0.5 * period:
            for run, controller in zip(self._runs, self._controllers, strict=True):
                if self._given:
                    command = Command(state.effort, state.switches)
                else:
                    target = Hold(self._targets.at(run.state.time))
                    command = answer(controller, run.state, target, self._setup.joints)
                run.step(command)
                if not self.free:
                    break
            self.state = self._runs[0].state
        if self.free and state.time >= self._next:
            self._next = state.time + LOOK
            self.free = self.apart(self._runs[1].state) < HORIZON
        if not self.free and state.time >= self.since + CYCLE - 0.5 * period:
            self._runs[0].put(state)
            self.state, self.since = self._runs[0].state, state.time
        return self.state

    def apart(self, state: RobotState) -> float:
        """Return the largest distance of a link from where it is in another state [m]."""
        joints = self._setup.joints
        one, two = (
            self._tree.forward(joints, each.q, each.position, each.orientation)[0]
            for each in (self.state, state)
        )
        return float(np.linalg.norm(one - two, axis=-1).max())

