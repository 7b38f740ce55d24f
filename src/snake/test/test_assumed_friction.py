"""The friction law of the simulator, and another one that the controller assumes."""

import numpy as np
import pytest
from roboaccord import load_scenario, make_controller
from roboaccord.bag.reader import read_run
from roboaccord.contract.errors import AccordError
from roboaccord.run.runner import RunRequest, run_direct
from roboaccord.scenario.files import make_scenario, scenario_names
from roboaccord.scenario.setup import Setup
from running import run_in

LAW = ("friction.law=pyramid", "friction.slip_speed=0.02", "friction.mu_along=0.3")
SHORT = "duration=0.1"
OTHER = "controller.friction.law=ellipse"


def motion(setup, controlled=None, engine="reference"):
    """Return angles and efforts of a run, with the controller of another setup perhaps."""
    run = run_in(setup, engine, controller=make_controller(controlled or setup))
    return np.column_stack([run.q, run.effort])


@pytest.mark.parametrize("engine", ["reference", "dart", "mujoco"])
def test_simulator_and_controller_have_their_own_laws(setup_with, engine):
    """The run is that of a simulator and a controller made apart, bit for bit."""
    both, simulated, assumed = (setup_with(SHORT, *changes) for changes in ((*LAW, OTHER), LAW, ()))
    found = motion(both, engine=engine)
    assert np.array_equal(found, motion(simulated, assumed, engine))
    for one in (simulated, assumed):
        assert np.abs(found - motion(one, engine=engine)).max() > 1e-3


def test_with_the_law_of_the_simulator_nothing_changes(setup_with):
    same = "controller.friction={law: pyramid, slip_speed: 0.02, mu_along: 0.3}"
    assert np.array_equal(motion(setup_with(SHORT, *LAW)), motion(setup_with(SHORT, *LAW, same)))


def test_without_a_law_the_controller_assumes_that_of_the_scenario_with_changes(setup_with):
    setup = setup_with(*LAW, "controller.friction.mu_across=0.5")
    assert setup.assumed.scenario.friction == {**setup.scenario.friction, "mu_across": 0.5}
    assert setup_with(*LAW, OTHER).assumed.scenario.friction == {"law": "ellipse"}


def test_a_scenario_that_says_nothing_of_it_has_one_setup():
    for name in scenario_names("snake"):
        setup = Setup.of(load_scenario("snake", "snake", name))
        assert setup.assumed is setup


def test_the_bag_repeats_the_run(setup_with, tmp_path):
    """The recorded scenario holds both laws."""
    setup = setup_with(SHORT, *LAW, OTHER)
    run_direct(RunRequest(setup=setup, engine="reference", bag=tmp_path / "bag"))
    run = read_run(tmp_path / "bag")
    again = motion(Setup.of(make_scenario(run.scenario)))
    assert np.array_equal(again, np.column_stack([run.trajectory.q, run.trajectory.effort]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("controller.friction.law=elipse", "unknown friction law elipse; did you mean ellipse"),
        ("controller.friction.mu=1", "unknown key friction.mu"),
        ("controller.friction.law=3", "3 is not a name"),
        ("controller.friction=0.3", "0.3 has none of the keys of friction"),
    ],
)
def test_a_law_that_is_none_is_refused_in_one_line(setup_with, change, message):
    with pytest.raises(AccordError, match=rf"controller\.friction.*{message}") as caught:
        setup_with(change)
    assert "\n" not in str(caught.value)
