"""Level `events` on the collapse: what the contact law makes of a sound log, and a false log."""

import pytest
from roboaccord import Setup, load_scenario, make_simulator
from roboaccord.crosscheck.levels.events import EventsLevel, check_events
from roboaccord.engines import spec
from roboaccord.run.loop import run_setup
from roboaccord.scenario.scenario import Tolerances

pytestmark = pytest.mark.slow


def check(engine, engine_spec):
    """Return check and finding of 0.4 s, in which two large impacts and joints at stops are."""
    setup = Setup.of(load_scenario("packbot", "packbot", "collapse", ["duration=0.4"]))
    level_check = check_events(
        setup,
        engine_spec,
        run_setup(setup, make_simulator(setup, engine_spec)),
        run_setup(setup, make_simulator(setup)).events,
    )
    return level_check, EventsLevel().judge(level_check, Tolerances())


@pytest.mark.parametrize("engine", ["dart", "mujoco"])
def test_contacts_come_late_by_the_margin(engine):
    """Wanted: hulls meet 0.5 mm later than in the reference; two large impulses agree."""
    found, finding = check(engine, spec(engine))
    assert finding.outcome == "outside"
    assert finding.reasons[0].figures["law"] == "contact"
    first = [each for each in found.differences if each.time < 0.2]
    assert {each.what for each in first} <= {"time"}
    assert all(each.left < 0.001 for each in first)
