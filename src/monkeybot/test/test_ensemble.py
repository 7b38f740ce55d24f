"""Ensembles of gaits by Taylor series against the Dormand-Prince kernel of single gaits."""

import numpy as np
import pytest
from monkeybot.gaits.gait import ENSEMBLE, Gait, evaluate, full_starts, horizontal, timed
from monkeybot.model.events import VERTICAL, linear
from monkeybot.model.hybrid import Phase, Then, run_many
from monkeybots import REPORT
from roboaccord.numerics.jit import COMPILES

pytestmark = pytest.mark.skipif(not COMPILES, reason="vectors are numba's")

FINE = 1e-12
GRID = np.stack(np.meshgrid(np.linspace(-2, 3, 21), np.linspace(4, 16, 25)), axis=-1).reshape(-1, 2)
GAITS = {
    "the report's": horizontal(2.0, limit=1.0),
    "stopped before its energy is restored": horizontal(10.0, limit=1.0),
    "by the clock": timed(horizontal(2.0), np.array([0.428, 0.024, 0.37]), clock="pure"),
    "two steps, and the elbow at rest": Gait(
        "two steps",
        (
            Phase(linear("falling", th1=-1.0), then=Then.CHANGE, duration=1.0),
            Phase(torque=0.7, duration=0.3),
            Phase(VERTICAL, -0.3, then=Then.CHANGE, duration=1.0),
            Phase(linear("elbow at rest", w2=1.0, th2=0.1, above=0.2), duration=1.0),
        ),
    ),
}


def one_by_one(gait, starts, tolerance):
    """Return times, final states and counts by the kernel of single gaits."""
    phases, k = np.array([phase.row for phase in gait.phases]), len(starts)
    out = np.empty((k, len(phases))), np.empty((k, 8)), np.empty(k, dtype=np.int64)
    run_many(REPORT.rows, full_starts(starts), phases, gait.stop.row, tolerance, *out)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("name", GAITS)
def test_ensembles_are_the_same_gaits(name):
    """To 1e-8, and the same starts miss an event."""
    gait = GAITS[name]
    found = evaluate(gait, REPORT, GRID, tolerance=FINE)
    times, finals, _ = one_by_one(gait, GRID, FINE)
    assert 0.1 < np.isfinite(times).all(axis=1).mean() <= 1.0
    assert found.times == pytest.approx(times, abs=1e-8, nan_ok=True)
    assert found.final == pytest.approx(finals[:, :4], rel=1e-8, abs=1e-8, nan_ok=True)
    assert found.travel == pytest.approx(finals[:, 4:6], abs=1e-8, nan_ok=True)


@pytest.mark.slow
def test_the_tolerance_bounds_the_error_as_in_the_single_kernel():
    """At 1e-8 an ensemble's error is no larger than that of steps of Dormand and Prince."""
    starts = np.array([0.902, 10.935]) + np.random.default_rng(0).uniform(0.0, 0.1, (ENSEMBLE, 2))
    gait = GAITS["the report's"]
    _, exact, _ = one_by_one(gait, starts, 1e-14)
    _, single, _ = one_by_one(gait, starts, 1e-8)
    together = evaluate(gait, REPORT, starts, tolerance=1e-8).final
    errors = [np.abs(final - exact[:, :4]).max() for final in (together, single[:, :4])]
    assert errors[0] <= errors[1]


def test_friction_is_left_to_the_kernel_of_single_gaits():
    rough = REPORT.replace(viscous_elbow=0.01)
    gait, starts = GAITS["the report's"], GRID[-ENSEMBLE:]
    found = evaluate(gait, rough, starts)
    one = evaluate(gait, rough, starts[:1])
    assert found.final[0].tobytes() == one.final[0].tobytes()
