"""Encoders in counts, whose rates are differences: quantisation is noise, and no failure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from detected_runs import rows_of
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import parse_fault
from roboaccord.contract.state import Array
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from roboaccord_studies.packbot.detection.detected import detections
from roboaccord_studies.packbot.detection.diagnosis import Diagnosis
from roboaccord_studies.packbot.detection.noise import NOISE_FLOOR, SETTLING_TIME, Noise

PERIOD = 0.01
SLOWEST = 0.5  # rad/s: the shoulder
QUIETEST = np.array(NOISE_FLOOR)


def counted(angles: Array, counts: int) -> tuple[Array, Array]:
    """Return angles (k, n) in counts of a turn, and their differences over the period."""
    step = 2.0 * np.pi / counts
    q = step * np.round(angles / step)
    return q, np.diff(q, axis=0, prepend=q[:1]) / PERIOD


def moving(seconds: float) -> Array:
    """Return angles of seven joints that swing, and one after the other come to rest."""
    time = PERIOD * np.arange(round(seconds / PERIOD))[:, None]
    return 0.3 * np.sin(np.minimum(time, 0.3 * np.arange(1, 8)) * np.arange(1.0, 1.7, 0.1))


def noises(noise: Noise, q: Array, qd: Array) -> Array:
    return np.array([noise.update(*row, PERIOD * (i > 0)) for i, row in enumerate(zip(q, qd))])


@pytest.mark.parametrize("counts", [600, 4096, 2**16])
def test_rates_of_counts_are_off_by_the_count_over_root_6_periods(counts: int) -> None:
    """That is measured here, too, as the deviation from the rates that are meant."""
    angles = moving(3.0)
    q, qd = counted(angles, counts)
    noise = Noise((1e-3, 1e-2), SLOWEST)
    found = noises(noise, q, qd)
    step = 2.0 * np.pi / counts
    assert noise.count == pytest.approx(step)
    assert (found[-1] >= 0.999 * step * np.array([12.0**-0.5, 6.0**-0.5 / PERIOD])).all()
    true = np.diff(angles, axis=0, prepend=angles[:1]) / PERIOD
    turning = np.abs(true) > 10.0 * step
    assert np.std((qd - true)[turning]) == pytest.approx(step / (6.0**0.5 * PERIOD), rel=0.1)


def test_rates_that_are_measured_leave_the_noise_as_it_was_to_the_bit() -> None:
    """The noise without that: second differences alone, not below NOISE_FLOOR."""
    angles = moving(1.0)
    q, _ = counted(angles, 4096)
    qd = np.gradient(angles, PERIOD, axis=0)
    noise, first = Noise((1e-3, 1e-2), SLOWEST), np.array([1e-3, 1e-2])
    variance, estimates = first**2, noises(noise, q, qd)
    for i in range(2, len(q)):
        parts = [x[i - 2] - 2.0 * x[i - 1] + x[i] for x in (q, qd)]
        squares = np.median(np.array(parts) ** 2, axis=1) / (6.0 * 0.455)
        variance = variance + (PERIOD / 0.5) * (squares - variance)
        assert (estimates[i] == np.maximum(np.sqrt(variance), QUIETEST)).all()
    assert noise.count == 0.0


@pytest.mark.parametrize("still", [1.0, 0.5])
def test_one_physics_step_a_period_is_no_encoder_in_counts(still: float) -> None:
    """Semi-implicit Euler moves an angle by its rate times the period, to the last bit or so."""
    rates = np.gradient(moving(1.0), PERIOD, axis=0) * (np.arange(7) < 7.0 * still)
    rates[0] = 0.0
    noise = Noise((1e-3, 1e-2), SLOWEST)
    found = noises(noise, 0.3 + np.cumsum(PERIOD * rates, axis=0), rates)
    assert noise.count == 0.0
    plain = noises(Noise((1e-3, 1e-2), SLOWEST), np.cumsum(PERIOD * rates, axis=0), 0.99 * rates)
    assert found[-1] == pytest.approx(plain[-1], rel=0.05)


@pytest.mark.parametrize("counts", [2**19, 2**26])
def test_the_count_is_found_of_moves_that_are_all_larger(counts: int) -> None:
    """It is their greatest common divisor: here of 6, 10 and 15 counts."""
    step = 2.0 * np.pi / counts
    q = step * np.cumsum([[0] * 7, [6] * 7, [10] * 7, [15] * 7, [0] * 7], axis=0)
    noise = Noise((1e-3, 1e-2), SLOWEST)
    noises(noise, q, np.diff(q, axis=0, prepend=q[:1]) / PERIOD)
    assert noise.count == pytest.approx(step, rel=1e-6)


@pytest.mark.parametrize("counts", [100, 500, 520])
def test_too_few_counts_are_refused_with_how_many_are_needed(counts: int) -> None:
    """Where the deviation of the rates is the limit of the slowest joint."""
    least = int(np.ceil(2.0 * np.pi / (6.0**0.5 * PERIOD * SLOWEST)))
    q, qd = counted(moving(SETTLING_TIME + 0.5), counts)
    if counts >= least:
        noises(Noise((1e-3, 1e-2), SLOWEST), q, qd)
        return
    words = f"of {counts} counts a turn: {least} are needed"
    with pytest.raises(AccordError, match=words):
        noises(Noise((1e-3, 1e-2), SLOWEST), q, qd)


def rows(scenario: str, duration: float, fault: str = "") -> list[Array]:
    """Return time, angles, rates and efforts of a run in MuJoCo, as `detections` takes them."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    setup = Setup.of(load_scenario("packbot", "packbot", scenario, [f"duration={duration}"]))
    return rows_of(setup, parse_fault(fault) if fault else None)


def found_of(run: Sequence[Array], counts: int) -> list[tuple[str, str, float]]:
    setup = Setup.of(load_scenario("packbot", "packbot", "reach", []))
    time, q, _, effort = run
    seen = detections(Diagnosis(setup), time, *counted(q, counts), effort)
    return [(each.joint, each.kind, each.time) for each in seen]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "duration", "counts"),
    [("reach", 8.0, 4096), ("identify", 12.0, 4096), ("identify", 12.0, 1024)],
)
def test_a_sound_arm_in_counts_gives_no_finding(
    scenario: str, duration: float, counts: int
) -> None:
    """A whole motion, in which joints turn slowly, and come to rest."""
    assert found_of(rows(scenario, duration), counts) == []


@pytest.mark.slow
@pytest.mark.parametrize(("counts", "within"), [(1024, 1.0), (4096, 0.2)])
def test_a_shoulder_that_freezes_is_found_in_counts(counts: int, within: float) -> None:
    found = found_of(rows("identify", 8.0, "shoulder=frozen@5.5"), counts)
    assert [each[:2] for each in found] == [("shoulder", "frozen")]
    assert 5.5 < found[0][2] < 5.5 + within
