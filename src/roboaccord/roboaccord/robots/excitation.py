"""A robot of a file that would stand still is made to move, so that there is something to judge.

LOOK may be tuned. A scenario that has a controller, and a robot whose joints gravity moves, stay as
they are; one that falls with its joints at rest does not.
"""

from __future__ import annotations

import numpy as np

from roboaccord.contract.outcome import Code, Reason, because
from roboaccord.contract.state import Command
from roboaccord.robots.file import FileRobot
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup

LOOK = 20  # control periods in which something must move
STILL = 1e-9  # rad/s or m/s


def excited(setup: Setup) -> tuple[Setup, list[Reason]]:
    """Return a setup whose joints move, and what was changed for that.

    All its joints start from the middle of their ranges, but for those that the scenario places,
    under efforts drawn from its seed.
    """
    scenario = setup.scenario
    idle, robot = scenario.controller.get("name") == "none", setup.robot
    if not (idle and isinstance(robot, FileRobot) and setup.joints) or moves(setup):
        return setup, []
    ranges = robot.ranges(setup)
    middle = {name: float(np.mean(e)) for name, e in ranges.items() if np.isfinite(e).all()}
    data = scenario.data()
    data["controller"] = {"name": "random"}
    data["initial"] = {**data["initial"], "q": {**middle, **data["initial"]["q"]}}
    return Setup.of(make_scenario(data), robot), [because(Code.EXCITED, seed=scenario.seed)]


def moves(setup: Setup) -> bool:
    """Return whether a joint moves by itself."""
    simulator, command = make_simulator(setup), Command(np.zeros(len(setup.joints)))
    state = simulator.state()
    for _ in range(LOOK):
        state = simulator.step(command, setup.scenario.control_period)
        if np.abs(state.qd).max() > STILL:
            return True
    return False
