"""In every simulator of every robot, a state that somebody keeps does not change, nor can it be."""

from __future__ import annotations

import numpy as np
import pytest
from roboaccord.contract.state import STATE_ARRAYS, Command, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.run.factory import make_simulator
from roboaccord.run.loop import simulate
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup, find_robot

pytestmark = pytest.mark.thorough

ENGINES = ("reference", "dart", "mujoco")
SCENARIOS = {
    ("monkeybot", "brachiate"): ENGINES,
    ("packbot", "collapse"): ENGINES,
    ("roller_sphere", "dribble"): ENGINES,
    ("roller_sphere", "figure_eight"): ENGINES,
    ("snake", "serpenoid"): ENGINES,
    ("voxel_sphere", "arena"): ("reference",),
    ("voxel_sphere", "bowl"): ENGINES,
}


class Keeper:
    """Keep each state with a copy of what it said (Observer)."""

    def __init__(self) -> None:
        self.kept: list[tuple[RobotState, dict[str, object], dict[str, bool]]] = []

    def on_state(self, state: RobotState) -> None:
        arrays = {name: np.array(getattr(state, name)) for name in STATE_ARRAYS}
        self.kept.append((state, arrays, dict(state.switches)))

    def on_command(self, state: RobotState, command: Command) -> None:
        pass

    def on_event(self, event: Event) -> None:
        pass


@pytest.mark.parametrize(
    ("robot", "scenario", "engine"), [(*key, e) for key, names in SCENARIOS.items() for e in names]
)
def test_kept_states_do_not_change(robot: str, scenario: str, engine: str) -> None:
    setup = Setup.of(load_scenario(find_robot(robot).package, robot, scenario, []))
    period, keeper = setup.scenario.control_period, Keeper()
    simulate(
        simulator=make_simulator(setup, engine), controller=make_controller(setup),
        initial=setup.initial, duration=10 * period, control_period=period, observers=(keeper,),
    )  # fmt: skip
    assert len(keeper.kept) == 11
    for state, arrays, switches in keeper.kept:
        assert state.switches == switches
        for name, said in arrays.items():
            array = getattr(state, name)
            np.testing.assert_array_equal(array, said)
            owner = array if array.base is None else array.base
            assert not owner.flags.writeable, name
