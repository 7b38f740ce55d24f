"""Levels that a chaotic motion has: one step, events and energy from its recorded states."""

from dataclasses import replace

import pytest
from roboaccord import Setup, load_scenario, make_simulator
from roboaccord.crosscheck.levels.energy import EnergyLevel, check_energy
from roboaccord.crosscheck.levels.events import EventsLevel, check_events
from roboaccord.crosscheck.levels.one_step import judge_step
from roboaccord.crosscheck.measures.event_matching import comes_freely
from roboaccord.crosscheck.measures.one_step import check_free_steps
from roboaccord.crosscheck.runs import twice_or_half
from roboaccord.crosscheck.special_ticks import stop_ticks
from roboaccord.engines import spec
from roboaccord.falsify import wrap
from roboaccord.run.energy_book import energy_of
from roboaccord.run.loop import run_setup
from roboaccord.scenario.scenario import Tolerances

ENGINES = ["dart", "mujoco"]


def late(simulator):
    simulator._events[:] = [replace(e, time=e.time + 0.005) for e in simulator._events]


def faster(simulator):
    state = simulator.state()
    more = replace(state, qd=(1 + 1e-3) * state.qd, twist=(1 + 1e-3) * state.twist)
    simulator._place(more)
    simulator._state = None


def pulled(simulator):
    """Add a rate of 1 mrad/s to a joint in each period, which no step explains."""
    state = simulator.state()
    qd = state.qd.copy()
    qd[3] += 1e-3
    simulator._place(replace(state, qd=qd))
    simulator._state = None


@pytest.fixture
def setup():
    """Return the gait whose joints knock at their stops some 250 times a second."""
    return Setup.of(load_scenario("snake", "snake", "lateral_undulation", ["duration=0.4"]))


def findings(setup, engine):
    """Return level, outcome of what a chaotic motion is judged by from its own states."""
    run, made = run_setup(setup, make_simulator(setup, engine)), spec(engine)
    order, start = make_simulator(setup, engine).order, make_simulator(setup)
    steps = check_free_steps(setup, made, order, {setup.scenario.physics_step: run})
    events = check_events(setup, made, run, run_setup(setup, start).events)
    energy = check_energy(setup, made, run, energy_of(setup, engine, run))
    return {
        "one_step": judge_step(steps, setup.scenario.crosscheck.tolerances).outcome,
        "events": EventsLevel().judge(events, Tolerances()).outcome,
        "energy": EnergyLevel().judge(energy, Tolerances()).outcome,
    }


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_sound_engines_are_within(setup, engine):
    """Statistics compare what the stops do; between them an engine errs by its own order."""
    assert findings(setup, engine) == dict.fromkeys(("one_step", "events", "energy"), "within")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("broken", "levels"),
    [(late, {"events"}), (faster, {"one_step", "energy"}), (pulled, {"one_step"})],
)
def test_a_broken_engine_is_outside(setup, engine, broken, levels):
    found = findings(setup, wrap(engine, after_step=broken))
    assert {level for level, outcome in found.items() if outcome == "outside"} == levels, found


def test_a_stop_is_compared_where_no_other_acts(setup):
    """Of joints that come to their stops within a tick of each other none comes freely."""
    simulator = make_simulator(setup)
    run = run_setup(setup, simulator)
    held, period = stop_ticks(simulator, run), setup.scenario.control_period
    free = {event: comes_freely(simulator, run, held, event) for event in run.events}
    near = {
        one
        for one in run.events
        for other in run.events
        if other.subject != one.subject and 0.0 <= one.time - other.time < period
    }
    assert any(free.values()) and near
    assert not any(free[event] for event in near)


@pytest.mark.parametrize(("period", "steps"), [(0.002, [0.001, 0.002]), (0.001, [0.001, 0.0005])])
def test_statistics_know_what_the_step_does(period, steps):
    """At twice the step, or at half of it where the control period is one step."""
    assert [0.001, twice_or_half(0.001, period)] == steps
