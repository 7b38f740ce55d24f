"""Gaits of short pulses: times of their phases, the search that closes many, and the campaign."""

from __future__ import annotations

import json

import lagrangian
import numpy as np
import pytest
from benchmarks.campaigns import pulses as campaign
from benchmarks.campaigns.rows import read
from monkeybot.gaits.gait import Gait, evaluate
from monkeybot.model.events import VERTICAL, energy_restored, level
from monkeybot.model.hybrid import Phase, Then
from monkeybots import REPORT, oracle
from roboaccord import AccordError
from roboaccord_studies.monkeybot.kinds import PULSES, SINKING, gait_of
from roboaccord_studies.monkeybot.orbits import find_orbit, shipped_gait
from roboaccord_studies.monkeybot.pulses import close, phases_of, spectral_radii
from scipy.integrate import solve_ivp

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def shipped():
    return shipped_gait("pulses", REPORT)


def schedule_of(orbit):
    """Return period (1,) and pulses (1, 3, 3) of an orbit."""
    values = orbit.controls
    pulses = np.array([[values[f"{name}_{i}"] for name in ("start", "stop", "torque")]
                       for i in (1, 2, 3)])  # fmt: skip
    return np.array([values["period"]]), pulses[None]


def raised(x, _v):
    """Return how far the free hand is above the held one: of hand A, in link lengths."""
    return -np.cos(x[2]) - np.cos(x[2] + x[3])


def upright(x, _v):
    """Return the sine of link B's angle from hanging straight down from hand B."""
    return -np.sin(x[2] + x[3])


def dop853(s, torque, hand, duration, condition=None, direction=1.0):
    """Return when a condition on (x, v) passes 0, or a time is over, and the state then (8,).

    Short steps leave an error of 1e-13 s to the dense output on which the event is located.
    """

    def rate(_, s):
        return [*s[4:], *lagrangian.acceleration(REPORT, s[:4], s[4:], torque, hand)]

    def crossing(_, s):
        return condition(s[:4], s[4:])

    crossing.terminal, crossing.direction = True, direction
    found = solve_ivp(
        rate, (0.0, duration), s, method="DOP853", rtol=3e-14, atol=1e-15, max_step=5e-3,
        events=crossing if condition else None,
    )  # fmt: skip
    return found.t[-1], found.y[:, -1]


def times_of(gait, start):
    """Return the times of the phases by the events' integrator, which the ensemble agrees with."""
    times = evaluate(gait, REPORT, start, tolerance=1e-13).times[0]
    together = evaluate(gait, REPORT, np.tile(start, (64, 1)), tolerance=1e-13).times
    assert np.abs(together - times).max() < 1e-12
    return times


def test_the_motor_switches_when_dop853_says():
    """The gait of docs/monkeybot.md: the second pulse ends with the energy, all to 1e-12 s."""
    gait = Gait(
        "two pulses",
        (
            Phase(level(), then=Then.CHANGE, duration=1.0),
            Phase(torque=10.0, duration=0.004),
            Phase(duration=0.01),
            Phase(energy_restored(), torque=10.0, may_stop=True, duration=1.0),
            Phase(VERTICAL, duration=1.0),
        ),
        stop=VERTICAL,
    )
    start = np.array([0.0, 0.0, 0.88905, 10.93522])
    s = np.concatenate(oracle(np.array([*start, 0.0, 0.0, 0.0, 0.0])))
    energy = sum(lagrangian.energy(REPORT, s[:4], s[4:]))
    switch, s = dop853(s, 0.0, "a", 1.0, raised)
    s[4:] = lagrangian.impact(REPORT, s[:4], s[4:], "b")[0]
    _, s = dop853(s, -10.0, "b", 0.004)
    _, s = dop853(s, 0.0, "b", 0.01)
    off, s = dop853(s, -10.0, "b", 1.0, lambda x, v: sum(lagrangian.energy(REPORT, x, v)) - energy)
    down, s = dop853(s, 0.0, "b", 1.0, upright)
    assert np.abs(times_of(gait, start) - [switch, 0.004, 0.01, off, down]).max() < 1e-12


def test_the_free_hand_of_the_shipped_gait_is_level_when_dop853_says(shipped):
    """Hands that change by the clock are level then, so the last phase may end by the event."""
    *pulses, coast = shipped.gait.phases
    gait = Gait("pulses", (*pulses, Phase(SINKING, duration=coast.duration + 0.01)))
    s = np.concatenate(oracle(np.array([*shipped.start, 0.0, 0.0, 0.0, 0.0])))
    for phase in pulses:
        if phase.duration:
            _, s = dop853(s, phase.torque, "a", phase.duration)
    last, _ = dop853(s, 0.0, "a", coast.duration + 0.01, raised, -1.0)
    times = times_of(gait, shipped.start)
    assert abs(times[-1] - last) < 1e-12
    assert abs(times.sum() - shipped.period) < 1e-10


def test_the_shipped_gait_repeats_and_is_stable_with_pulses_as_short_as_stated(shipped):
    _, pulses = schedule_of(shipped)
    lengths = pulses[0, :, 1] - pulses[0, :, 0]
    assert shipped.residual < 1e-10 and abs(shipped.drop) < 1e-10
    assert shipped.spectral_radius < 1.0 and shipped.changes == 1
    assert lengths.max() < 0.05 + 1e-9 and lengths.sum() < 0.15 + 1e-9
    assert np.abs(pulses[0, :, 2]).max() <= 10.0


def contraction(th1):
    """Return the determinant of a change of hands with both level, from the oracle's impact.

    By Liouville's theorem no torque as a function of time changes the volume of phase space in a
    swing. So |determinant| is the product of all multipliers, and its fourth root a lower bound on
    the spectral radius.
    """
    x = np.array([0.0, 0.0, -th1, np.pi + 2.0 * th1])  # the swing's end mirrors its start
    rates = np.eye(4)[2:]  # of th1 and th2, hand A held
    after = np.array([lagrangian.impact(REPORT, x, v, "b")[0] for v in rates])
    return abs(np.linalg.det(after[:, 2:]))


def test_no_schedule_is_more_stable_than_its_impact_allows(shipped):
    """The best of the search is within 0.2 % of what holds for every schedule of the motor."""
    product = contraction(shipped.start[0])
    assert abs(np.prod(shipped.multipliers)) == pytest.approx(product, rel=1e-6)
    least = min(contraction(th1) for th1 in np.linspace(-1.57, -0.01, 400)) ** 0.25
    assert least == pytest.approx(0.3777, abs=1e-4)
    assert least < shipped.spectral_radius < 1.002 * least


def one_pulse(period, start, stop, torque, guess):
    """Return the gait of a single pulse, which is given as three of which two last no time."""
    values = [period, start, stop, torque, *([period, period, 0.0] * 2)]
    th1, *rates = guess
    x = np.array([th1, -np.pi - 2.0 * th1, *rates])
    return find_orbit(PULSES, REPORT, dict(zip(PULSES.controls, values, strict=True)), x)


def test_one_pulse_right_after_the_change_is_stable_with_short_steps():
    """As in the report, but by the clock: at 0.78 s and about 20 ms, not with steps of 0.6 m."""
    orbit = one_pulse(0.78, 0.0, 0.02, 9.764, (-0.2405, 0.2745, -0.1603))
    assert orbit.spectral_radius == pytest.approx(0.8055, abs=1e-4)
    assert orbit.stride == pytest.approx(0.2906, abs=1e-4) and abs(orbit.drop) < 1e-10
    assert orbit.controls["torque_1"] == pytest.approx(9.764, abs=1e-3)


def test_when_a_pulse_comes_decides_whether_a_gait_of_long_steps_is_stable():
    """One of 45 ms at 0.935 s; followed from where it is stable to where it is not."""
    begin = one_pulse(0.951, 0.282, 0.327, 6.183, (-0.91066, 0.41449, 0.52868))
    for period in (0.947, 0.943, 0.939, 0.935):
        begin = one_pulse(period, 0.282, 0.327, begin.controls["torque_1"], begin.start[[0, 2, 3]])
    radii = {}
    for way in (-0.004, 0.004):
        orbit = begin
        for count in range(1, 60 if way < 0.0 else 12):
            start = 0.282 + count * way
            guess = orbit.controls["torque_1"], orbit.start[[0, 2, 3]]
            orbit = one_pulse(0.935, start, start + 0.045, *guess)
            radii[round(start, 3)] = orbit.spectral_radius
    stable = [start for start, radius in radii.items() if radius < 1.0]
    assert (min(stable), max(stable)) == (0.17, 0.314)
    assert all(radii[s] < 1.0 for s in radii if min(stable) <= s <= max(stable))
    assert radii[0.046] > 3.0


def test_many_guesses_beside_a_gait_are_closed_at_once(shipped):
    """With the factor on the torques that leads back, and the radius of the exact gait."""
    period, pulses = schedule_of(shipped)
    rng, count = np.random.default_rng(3), 50
    phases = np.tile(phases_of(period, pulses), (count, 1, 1))
    root = np.array([shipped.start[0], *shipped.start[2:], 1.0])
    found = close(REPORT, phases, root + rng.normal(0.0, 0.01, (count, 4)))
    assert found.residuals.max() < 1e-7
    assert np.abs(found.unknowns - root).max() < 1e-6
    assert np.abs(found.strides - shipped.stride).max() < 1e-6
    radii = spectral_radii(REPORT, phases, found.unknowns)
    assert np.abs(radii - shipped.spectral_radius).max() < 1e-4


def test_guesses_without_a_gait_near_are_not_closed(shipped):
    period, pulses = schedule_of(shipped)
    phases = np.tile(phases_of(0.5 * period, 0.5 * pulses), (3, 1, 1))
    found = close(REPORT, phases, np.array([[0.0, 20.0, 0.0, 1.0], [np.nan] * 4, [-1, 0, 0, 9]]))
    assert not (found.residuals < 1e-7).any()


def test_times_of_pulses_that_fall_are_one_line(shipped):
    with pytest.raises(AccordError, match="the times of pulses fall"):
        gait_of(PULSES, {**shipped.controls, "start_2": shipped.controls["stop_1"] - 0.001})


def test_a_campaign_that_goes_on_from_its_file_ends_as_one_that_was_not_stopped(
    monkeypatch, tmp_path, capsys
):
    """Each gait kept is within the limits of the study, exact where it is the best, and drawn."""
    monkeypatch.setattr(campaign, "BLOCK", 600)

    def run(name, blocks):
        words = f"pulses --out {tmp_path / name} --pulses 2 --blocks {blocks} --random 2"
        figure = tmp_path / f"{name}.svg"
        monkeypatch.setattr("sys.argv", [*words.split(), "--figure", str(figure)])
        campaign.main()
        assert figure.stat().st_size > 1000
        return read(tmp_path / name, campaign.Row)

    run("parts", 2)
    rows = run("parts", 4)
    assert rows == run("whole", 4)
    best = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert best["residual"] < 1e-10
    gaits = np.array([gait for row in rows for gait in row.gaits])
    assert campaign.allowed(gaits[:, 1:]).all()
    assert best["spectral_radius"] == pytest.approx(gaits[:, 0].min(), abs=1e-3)
