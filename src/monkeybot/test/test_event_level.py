"""Levels `events` and `energy` on MonkeyBot `swing`: a hand grips at 0.5 s, and friction takes."""

from dataclasses import replace

import pytest
from roboaccord import make_simulator
from roboaccord.crosscheck.levels.energy import EnergyLevel, check_energy
from roboaccord.crosscheck.levels.events import EventsLevel, check_events
from roboaccord.engines import spec
from roboaccord.falsify import wrap
from roboaccord.run.energy_book import energy_of
from roboaccord.run.loop import run_setup
from roboaccord.scenario.scenario import Tolerances

ENGINES = ["dart", "mujoco"]


def changed(change):
    """Return what changes every event of an engine's log, and not its motion."""

    def broken(simulator):
        simulator._events[:] = [e for each in simulator._events if (e := change(each))]

    return broken


def faster(part):
    """Return what adds a part to all rates after each tick."""

    def broken(simulator):
        state = simulator.state()
        more = replace(state, qd=(1 + part) * state.qd, twist=(1 + part) * state.twist)
        simulator._place(more)
        simulator._state = None

    return broken


def events_of(setup, engine):
    """Return the finding on the events of an engine's run."""
    reference = run_setup(setup, make_simulator(setup))
    found = check_events(
        setup, spec(engine), run_setup(setup, make_simulator(setup, engine)), reference.events
    )
    return EventsLevel().judge(found, Tolerances())


def energy_in(setup, engine):
    """Return the finding on the energy of an engine's run."""
    run = run_setup(setup, make_simulator(setup, engine))
    return EnergyLevel().judge(
        check_energy(setup, spec(engine), run, energy_of(setup, engine, run)), Tolerances()
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_sound_engines_are_within(setup_with, engine):
    """DART's impulse is 1 % off at 1 ms, and its book 5 mJ: both fall with the step."""
    setup = setup_with("duration=0.55")
    assert events_of(setup, engine).outcome == "within"
    assert energy_in(setup, engine).outcome == "within"


WRONG = {
    "0.1 % more": (lambda e: replace(e, impulse=1.001 * e.impulse), "impulse"),
    "twice": (lambda e: replace(e, impulse=2.0 * e.impulse), "impulse"),
    "1 ms late": (lambda e: replace(e, time=e.time + 0.001), "time"),
    "5 ms late": (lambda e: replace(e, time=e.time + 0.005), "event"),
    "with energy": (lambda e: replace(e, energy=1e-6), "energy"),
    "gone": (lambda e: None, "event"),
    "misnamed": (lambda e: replace(e, subject="magnet_a"), "event"),
}


@pytest.mark.parametrize(
    ("engine", "error"), [("dart", "twice"), ("dart", "5 ms late"), *(("mujoco", e) for e in WRONG)]
)
def test_a_wrong_log_is_outside(setup_with, engine, error):
    """Whatever the engine's order is: the motion is right."""
    change, quantity = WRONG[error]
    found = events_of(setup_with("duration=0.55"), wrap(engine, after_step=changed(change)))
    assert (found.outcome, found.quantity) == ("outside", quantity), found
    assert found.reasons[0].figures["kind"].startswith("magnet_")


@pytest.mark.parametrize(("engine", "part"), [("dart", 1e-4), ("mujoco", -1e-6)])
def test_energy_from_nowhere_is_outside(setup_with, engine, part):
    found = energy_in(setup_with("duration=0.2"), wrap(engine, after_step=faster(part)))
    assert found.outcome == "outside", found
    assert (found.reasons[0].figures["worst"] < 0.0) is (part > 0)
