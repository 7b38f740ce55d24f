"""Excitation of a robot of a file that would otherwise not move, so that a check can judge it.

If a scenario has no controller and no joint moves without efforts, `excited` returns a setup with
random efforts, which starts from the middle of the joints' ranges. A robot that falls while its
joints are at rest is excited, too (test_excitation).
"""

from __future__ import annotations

import numpy as np

from roboaccord.contract.outcome import Code, Reason, because
from roboaccord.contract.state import Command
from roboaccord.robots.file import FileRobot
from roboaccord.run.loop import make_simulator
from roboaccord.scenario import Setup, make_scenario

# Number of control periods in which a joint must move. Under gravity it moves in the first one, so
# that any number would do.
WATCHED_PERIODS = 20
# [rad/s or m/s] Smaller rates are round-off: forces in balance leave 1e-15 or so of 10 m/s^2 in a
# tick of 1 ms, while gravity gives 1e-2 m/s in it.
ROUND_OFF_RATE = 1e-9


def excited(setup: Setup) -> tuple[Setup, list[Reason]]:
    """Return a setup whose joints move, and a reason that states what was changed for that.

    Joints that the scenario does not place start from the middle of their ranges; efforts are
    drawn by the scenario's seed. A setup that moves is returned as it is, without a reason.
    """
    scenario, robot = setup.scenario, setup.robot
    is_driven = scenario.controller.get("name") != "none"
    if is_driven or not isinstance(robot, FileRobot) or not setup.joints or _joints_move(setup):
        return setup, []
    # Middle of each joint's range [rad or m], where it has both ends.
    ranges = robot.ranges(setup).items()
    middle = {joint: float(np.mean(ends)) for joint, ends in ranges if np.isfinite(ends).all()}
    data = scenario.data()
    data["controller"] = {"name": "random"}
    data["initial"] = {**data["initial"], "q": {**middle, **data["initial"]["q"]}}
    return Setup.of(make_scenario(data), robot), [because(Code.EXCITED, seed=scenario.seed)]


def _joints_move(setup: Setup) -> bool:
    """Return whether a joint moves without efforts."""
    simulator = make_simulator(setup)
    no_effort = Command(np.zeros(len(setup.joints)))
    for _ in range(WATCHED_PERIODS):
        state = simulator.step(no_effort, setup.scenario.control_period)
        if np.abs(state.qd).max() > ROUND_OFF_RATE:
            return True
    return False
