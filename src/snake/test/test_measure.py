"""The period of a gait, by which its figures are taken."""

import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.contract.trajectory import Trajectory
from snake.simulators.metrics import GaitFigures


@pytest.mark.parametrize(
    "controller", ["{name: serpenoid, frequency: 501}", "{name: as_described, hold: 1e-9}"]
)
def test_a_gait_faster_than_half_the_control_rate_is_refused(setup_with, controller):
    """Of some thousand million periods none is measured one by one."""
    setup = setup_with("duration=0.02", f"controller={controller}")
    with pytest.raises(AccordError, match=r"is shorter than two control periods, 0\.002 s"):
        GaitFigures(setup)


def test_a_wave_that_stands_still_has_no_period(setup_with):
    """Its controller refuses it, after this."""
    setup = setup_with("duration=0.02", "controller={name: serpenoid, frequency: 0}")
    figures = GaitFigures(setup)
    figures.add(Trajectory.from_states(setup.joints, [setup.initial]))
    assert figures.figures([])["speed"] == 0.0
