"""The ball's energy book: in the bowl it closes, and a ball whose motion is prescribed has none."""

import numpy as np
import pytest
from roboaccord.run.energy_book import NoBook, energy_of
from running import run_in, setup_of

pytestmark = pytest.mark.thorough


def book(scenario, engine, duration, *changes):
    """Return the book of a run."""
    setup = setup_of("voxel_sphere", scenario, *changes)
    run = run_in(setup, engine, duration=duration)
    return energy_of(setup, engine, run)


def test_a_ball_that_rolls_in_a_bowl_keeps_its_energy():
    """Rolling friction does no work, so nothing is lost and nothing is left."""
    found = book("bowl", "reference", 2.0)
    swing = found.kinetic.max()
    assert swing == pytest.approx(-found.potential.min(), rel=1e-9)
    assert np.abs(found.rest).max() < 1e-9 * swing


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["dart", "mujoco"])
def test_the_rest_of_the_engines_in_the_bowl_falls_with_the_step(engine):
    """They roll over facets, and what contact does is measured: what is left is time stepping.

    Both steps are of first order where there are contacts.
    """
    steps = (1e-3, 5e-4)
    books = [book("bowl", engine, 2.0, f"physics_step={step}") for step in steps]
    rests = [np.abs(found.rest).max() for found in books]
    assert rests[0] / rests[1] == pytest.approx(2.0, rel=0.1)
    assert books[0].impacts[-1] != 0.0


def test_a_kinematic_ball_has_no_book():
    found = book("incline", "reference", 0.5)
    assert found == NoBook("kinematic: no energy book")
