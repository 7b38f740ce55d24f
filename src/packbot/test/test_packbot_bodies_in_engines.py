"""Bodies beside the arm in engines: energy book and certificate of a box that slides."""

from __future__ import annotations

import pytest
from roboaccord.contract import AccordError, Certificate
from roboaccord.crosscheck.certificate import certificate_of
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.runs import Job, Runs
from roboaccord.run.energy_book import EnergyBook, energy_of
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.scenario.scenario import Scenario
from roboaccord.scenario.setup import Setup

G, MU, MASS, SPEED, STEP = 9.81, 0.3, 1.5, 0.5, 1e-3
FOLDED = {"shoulder": 3.001966, "elbow1": -2.705260, "elbow2": 1.361357, "tilt": -1.570796}
BOX = {
    "size": [0.12, 0.2, 0.16], "mass": MASS, "position": [0.9, 0.0, 0.48],
    "twist": [SPEED, 0.0, 0.0, 0.0, 0.0, 0.0],
}  # fmt: skip


def beside_the_arm(**keys: object) -> Setup:
    """Return a box that slides over a table, beside the arm, which falls."""
    table = {"size": [0.5, 0.8, 0.4], "position": [0.95, 0.0, 0.2]}
    data = {
        "robot": "packbot", "terrain": {"ground": True, "boxes": {"table": table}},
        "bodies": {"box": BOX}, "initial": {"q": FOLDED},
        "friction": {"law": "normal", "mu": MU}, "duration": 0.15,
        "control_period": 0.01, "physics_step": STEP,
    }  # fmt: skip
    return Setup.of(Scenario(**{**data, **keys}))


@pytest.mark.parametrize("engine", ["dart", "mujoco"])
def test_the_book_closes_and_the_momentum_balances(engine: str) -> None:
    """With the box, before the arm meets anything: its rest is of first order in the step."""
    setup, rests = beside_the_arm(), []
    for each in (setup, setup.at_step(0.5 * STEP)):
        run = run_setup(each, make_simulator(each, engine))
        book = energy_of(each, engine, run)
        assert isinstance(book, EnergyBook)
        assert book.reason is None
        assert book.kinetic[0] == pytest.approx(0.5 * MASS * SPEED**2, rel=1e-9)
        taken = 0.5 * MASS * (SPEED**2 - (SPEED - MU * G * run.time[-1]) ** 2)
        # Damping in the joints of the arm is not in these two; the box hops in MuJoCo.
        assert book.friction[-1] + book.impacts[-1] == pytest.approx(taken, abs=1e-3)
        rests.append(book.rest[-1])
    assert rests[0] < 0.01 * abs(book.potential[-1])
    assert rests[0] == pytest.approx(2.0 * rests[1], rel=0.1)
    runs = Runs({Job(engine, 0.5 * STEP): run}, [0.5 * STEP])
    certificate = certificate_of(CheckCase(each, engine, engine, runs))
    assert isinstance(certificate, Certificate)
    assert certificate.momentum.value < 1e-11


def test_bodies_without_a_contact_law_are_refused() -> None:
    """They would fall through everything."""
    with pytest.raises(AccordError, match="packbot touches none"):
        beside_the_arm(friction={"law": "none"})
