"""Every robot that is installed keeps the rules of all robots."""

from dataclasses import replace

import numpy as np
import pytest
from roboaccord.scenario import find_robot, load_scenario, robot_names, scenario_names
from roboaccord.testing import RobotConformance
from roboaccord.testing.robot_runs import controller_of, setup_of

pytestmark = pytest.mark.thorough
pytest.mark.slow(RobotConformance.test_every_parameter_counts)

PLANNED = {
    "packbot": (
        "frozen_and_loose", "frozen_elbow", "frozen_elbow_real", "identify", "loose_elbow2",
        "reach_real", "shelf", "shelf_real", "transition", "watch_target",
    )
}  # fmt: skip

for name in robot_names():
    title = f"Test{name.title().replace('_', '')}"
    members = {"robot": name, "slow": PLANNED.get(name, ()), "__module__": __name__}
    globals()[title] = type(title, (RobotConformance,), members)


@pytest.mark.parametrize(
    "robot", [pytest.param(n, marks=pytest.mark.slow) if n in PLANNED else n for n in robot_names()]
)
def test_a_controller_forgets_its_run_as_it_is_reset(robot: str) -> None:
    """The same states make the same commands once more, from each kind of controller."""
    package = find_robot(robot).package
    names = reversed(scenario_names(package))
    kinds = {load_scenario(package, robot, n).controller.get("name"): n for n in names}
    for scenario in kinds.values():
        setup, controller = setup_of(robot, scenario), controller_of(robot, scenario)
        start, runs = setup.initial, []
        for _ in range(2):
            controller.reset(setup.scenario.seed)
            times = setup.scenario.control_period * np.arange(4)
            states = [replace(start, time=t, q=start.q + t, qd=start.qd + t) for t in times]
            runs.append([controller.update(state, None) for state in states])
        for one, other in zip(*runs, strict=True):
            assert one.effort.tolist() == other.effort.tolist()
            assert one.switches == other.switches
