"""The Packbot's energy book as the arm collapses: all that it had goes somewhere."""

import numpy as np
import pytest
from running import book_of, setup_of

pytestmark = pytest.mark.thorough


def book(engine, *changes, duration=0.6):
    """Return the book of a fall, and the run."""
    setup = setup_of("packbot", "collapse", f"duration={duration}", *changes)
    found, run = book_of(setup, engine)
    assert np.abs(found.net_work).max() == 0.0
    return found, run


@pytest.mark.parametrize(
    ("changes", "closed"),
    [
        ((), 1e-6),  # steps of a tolerance of 1e-8
        pytest.param(("friction.restitution=0.4",), 1e-6, marks=pytest.mark.slow),
        # What slides is integrated by the trapezoidal rule, over steps of at most 4 ms.
        (("friction.mu=0.3",), 1e-3),
    ],
)
def test_the_references_collapse_closes(changes, closed):
    """Potential energy becomes kinetic, and goes into impacts and the friction of joints."""
    found, run = book("reference", *changes)
    assert np.abs(found.rest).max() < closed
    assert min(found.impacts[-1], found.damping[-1], -found.potential[-1]) > 0.5
    assert (found.friction[-1] > 0.01) == ("friction.mu=0.3" in changes)
    assert np.diff(found.friction).min() > -1e-9  # friction never gives
    assert any(event.kind == "impact" for event in run.events)


def test_impacts_take_energy_when_they_happen_and_stops_theirs():
    """Both channels rise at the events of their kind, by more than what a rounding would be."""
    found, run = book("reference")
    for channel, kind in (("impacts", "impact"), ("stops", "joint_stop")):
        steps = np.diff(getattr(found, channel))
        assert steps.min() > -1e-9
        for at in np.flatnonzero(steps > 1e-5):
            start, end = found.time[at], found.time[at + 1]
            assert any(e.kind == kind and start <= e.time <= end for e in run.events)


@pytest.mark.parametrize("engine", ["dart", pytest.param("mujoco", marks=pytest.mark.slow)])
def test_engines_lose_in_impacts_what_the_reference_does(engine):
    """By 10 %: they meet half a millimetre later, and their steps are of first order."""
    (found, _), (expected, _) = book(engine), book("reference")
    assert found.impacts[-1] == pytest.approx(expected.impacts[-1], rel=0.1)
    assert abs(found.rest[-1]) < 0.02 * -found.potential[-1]


def test_a_rotor_counts_as_kinetic_energy():
    """Reflected inertia is the reference's; without it the book would not close."""
    found, _ = book("reference", "parameters.reflected_inertia_shoulder=0.05", duration=0.15)
    assert np.abs(found.rest).max() < 1e-6
    assert found.kinetic[-1] > 0.1
