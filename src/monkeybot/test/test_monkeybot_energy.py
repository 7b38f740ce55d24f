"""The MonkeyBot's energy book: grips against the Lagrangian, friction by closing."""

import lagrangian
import numpy as np
import pytest
from monkeybot.model.coordinates import pack
from running import book_of

ROUGH = (
    "parameters={viscous_hand: 0.1, viscous_elbow: 0.2, constant_hand: 0.3, constant_elbow: 0.4}"
)
SIMULATORS = ["reference", "mujoco", "dart"]


@pytest.mark.parametrize("engine", SIMULATORS)
def test_a_grip_takes_what_a_plastic_impact_does(setup_with, engine):
    """At 0.5 s hand B grips: half v M v before it, less that after it, from the Lagrangian."""
    setup = setup_with()
    found, run = book_of(setup, engine)
    (at,) = np.flatnonzero(np.diff(run.switches["magnet_b"]))
    u = pack(run.state(at))
    x, v = u[[4, 5, 0, 1]], u[[6, 7, 2, 3]]
    after, _ = lagrangian.impact(setup.parameters, x, v, "b")
    lost, kept = (lagrangian.kinetic_energy(setup.parameters, x, w) for w in (v, after))
    taken = np.interp([run.time[at], run.time[at + 1]], found.time, found.impacts)
    assert np.diff(taken) == pytest.approx([lost - kept], rel=1e-9)
    assert found.impacts[-1] == pytest.approx(lost - kept, rel=1e-9)
    assert lost - kept > 0.05 * -found.potential.min()


@pytest.mark.parametrize(("engine", "closed"), [("reference", 1e-11), ("mujoco", 1e-7)])
def test_without_friction_the_book_closes(setup_with, engine, closed):
    """To what 1e-12 a step, and Runge-Kutta at 1 ms, leave of 100 J."""
    found, _ = book_of(setup_with(), engine)
    assert np.abs(found.rest).max() < closed and np.abs(found.damping).max() == 0.0


@pytest.mark.parametrize("engine", ["reference", "mujoco"])
def test_friction_of_hands_and_elbow_takes_what_is_missing(setup_with, engine):
    """The rest is the trapezoidal rule's: it falls with the square of the step."""
    rests = []
    for step in (2e-3, 1e-3):
        setup = setup_with(ROUGH, f"physics_step={step}", f"control_period={step}")
        found, _ = book_of(setup, engine)
        assert found.damping[-1] > 5.0
        rests.append(np.abs(found.rest).max())
    assert rests[1] < 1e-4
    assert rests[0] / rests[1] == pytest.approx(4.0, rel=0.3)
