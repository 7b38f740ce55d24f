"""The serpenoid whose parameters change during the run."""

import math

import numpy as np
import pytest
from snake.controllers.serpenoid import Serpenoid, VariableSerpenoid


def draw(rng):
    """Draw set-points of every sign and size that steering asks for."""
    return {
        "amplitude": rng.uniform(0, 0.45),
        "frequency": rng.uniform(-2, 2),
        "waves": rng.uniform(0.5, 2.5),
        "offset": rng.uniform(-0.3, 0.3),
    }


def sampled(*, step, every, duration, limit=math.inf, seed=0):
    """Return the shapes (3, k, n) under random set-points that change `every` so many steps."""
    rng = np.random.default_rng(seed)
    gait = VariableSerpenoid(21, 0.4, 1.0, 1.5, limit=limit)
    rows, asked = [], draw(rng)
    for tick in range(round(duration / step) + 1):
        if tick % every == 0:
            asked = draw(rng)
        rows.append(gait.advance(tick * step, **asked))
    return np.array(rows).transpose(1, 0, 2)


@pytest.mark.parametrize("frequency", [1.3, -1.3])
def test_it_is_the_serpenoid_once_the_set_points_have_settled(frequency):
    """Exact but for the filter's rest, 31 exp(-30) of the step after 30 time constants."""
    asked = {"amplitude": 0.35, "frequency": frequency, "waves": 1.2, "offset": 0.05}
    gait = VariableSerpenoid(21, **asked, time_constant=0.2)
    for tick in range(6001):
        varied = gait.advance(tick * 1e-3, **asked)
    constant = Serpenoid(21, 0.35, frequency, 1.2, 0.05, ramp=0.0).shape(6.0)
    for ours, theirs in zip(varied, constant, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_rates_and_accelerations_are_the_derivatives_of_the_angles():
    """Central differences, of order step^2, under random set-points; halving quarters the error.

    Left out are the ticks at which the set-points change: the acceleration jumps there.
    """
    errors = []
    for step, every in ((4e-4, 500), (2e-4, 1000)):
        q, qd, qdd = sampled(step=step, every=every, duration=2.0)
        inside = np.arange(1, len(q) - 1) % every != 0
        first = (q[2:] - q[:-2]) / (2 * step) - qd[1:-1]
        second = (qd[2:] - qd[:-2]) / (2 * step) - qdd[1:-1]
        errors.append((np.abs(first[inside]).max(), np.abs(second[inside]).max()))
    (rate, acceleration), (finer_rate, finer_acceleration) = errors
    assert rate < 1e-3
    assert acceleration < 2e-2
    assert finer_rate == pytest.approx(rate / 4, rel=0.05)
    assert finer_acceleration == pytest.approx(acceleration / 4, rel=0.05)


def test_set_points_that_change_at_every_tick_cause_no_jump():
    """The angle changes by no more than the rate times the tick, plus a Taylor rest."""
    q, qd, qdd = sampled(step=1e-3, every=1, duration=3.0)
    rest = np.diff(q, axis=0) - 1e-3 * qd[:-1]
    largest = np.abs(qdd).max()
    assert np.abs(rest).max() < 1e-6 * largest


def test_it_does_not_matter_how_often_it_is_asked():
    """The filters and the phase are solved exactly: 1 ms and 100 ms ticks agree to round-off."""
    ends = []
    for step in (1e-3, 0.1):
        rng = np.random.default_rng(3)
        gait = VariableSerpenoid(21, 0.4, 1.0, 1.5)
        every = round(0.5 / step)
        for tick in range(6 * every + 1):
            if tick % every == 0:
                asked = draw(rng)
            shape = gait.advance(tick * step, **asked)
        ends.append(shape)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-10)


def test_the_joint_limit_holds_through_every_change():
    """Also while offset and amplitude change."""
    q, _, _ = sampled(step=1e-3, every=170, duration=20.0, limit=0.4)
    assert np.abs(q).max() <= 0.4 + 1e-12 and np.abs(q).max() > 0.35


def test_what_it_refuses():
    """A time that goes back, a negative amplitude, no time constant."""
    gait = VariableSerpenoid(21, 0.4, 1.0, 1.5)
    asked = {"amplitude": 0.4, "frequency": 1.0, "waves": 1.5, "offset": 0.0}
    gait.advance(0.5, **asked)
    with pytest.raises(ValueError, match="goes back"):
        gait.advance(0.4, **asked)
    with pytest.raises(ValueError, match="negative"):
        gait.advance(0.6, **{**asked, "amplitude": -0.1})
    with pytest.raises(ValueError, match="positive"):
        VariableSerpenoid(21, 0.4, 1.0, 1.5, time_constant=0.0)
