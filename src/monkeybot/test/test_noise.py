"""Noise of the MonkeyBot's cross-check: rate of divergence against its variational equations."""

import numpy as np
import pytest
import scipy
from monkeybots import REPORT
from roboaccord.crosscheck.links import link_centres
from roboaccord.crosscheck.noise import HORIZON, measure_noise
from roboaccord.crosscheck.runs import NOISE, Job, run_job
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

STARTS = [(2.0, 0.5), (2.8, 0.3), (1.6, 1.6)]  # rad: of the held link and of the elbow
DURATION = 5.0  # s: the schemes' own errors grow, too, and motions must still be the same

pytestmark = pytest.mark.slow


def rates(x):
    """Return the rates of a pinned double pendulum, x = (a, b, a', b') from hanging (4,)."""
    p, (a, b, wa, wb) = REPORT, x
    A, B = p.mass_a * p.centre_a + p.mass_b * p.length_a, p.mass_b * p.centre_b
    E, c, s = B * p.length_a, np.cos(a - b), np.sin(a - b)
    first = p.inertia_a + p.mass_a * p.centre_a**2 + p.mass_b * p.length_a**2
    M = np.array([[first, E * c], [E * c, p.inertia_b + p.mass_b * p.centre_b**2]])
    force = [-E * s * wb**2 - p.gravity * A * np.sin(a), E * s * wa**2 - p.gravity * B * np.sin(b)]
    return np.array([wa, wb, *np.linalg.solve(M, force)])


def growth(start, times):
    """Return by how much a change of the elbow at the start moves a centre, at times (k,)."""

    def rate(_, y):  # the derivative along W by a complex step, exact to round-off
        return np.concatenate([rates(y[:4]), rates(y[:4] + 1e-30j * y[4:]).imag / 1e-30])

    th1, th2 = start
    found = scipy.integrate.solve_ivp(
        rate, (0.0, times[-1]), [th1, th1 + th2, 0, 0, 0, 1, 0, 0], method="DOP853",
        t_eval=times, rtol=1e-13, atol=1e-13,
    ).y.T  # fmt: skip
    sizes = []
    for a, b, _, _, turned_a, turned_b, *_ in found:
        first = turned_a * np.array([np.cos(a), np.sin(a)])
        second = REPORT.length_a * first + REPORT.centre_b * turned_b * np.array(
            [np.cos(b), np.sin(b)]
        )
        sizes.append(max(np.linalg.norm(REPORT.centre_a * first), np.linalg.norm(second)))
    return np.maximum.accumulate(sizes)


@pytest.mark.parametrize("engine", ["reference", "mujoco"])
@pytest.mark.parametrize("start", STARTS)
def test_the_rate_is_the_lyapunov_rate_along_the_run(engine, start):
    """Within 1e-4: the error of the step in the motion itself, and squares of the distance."""
    changes = [
        f"initial.roll={start[0]}", f"initial.q.elbow={start[1]}", f"duration={DURATION}",
        "controller.steps=[{at: 0.0, hold: a, effort: 0.0}]",
    ]  # fmt: skip
    setup = Setup.of(load_scenario("monkeybot", "monkeybot", "swing", changes))
    assert setup.parameters.frictionless
    jobs = [Job(engine, 1e-3), *(Job(engine, 1e-3, **{how: True}) for how in NOISE)]
    runs = [run_job(setup.scenario.data(), job, engine)[1] for job in jobs]
    noise = measure_noise(runs[0].time, *(link_centres(setup.tree, run) for run in runs))
    grown = growth(start, runs[0].time)
    assert 1e-9 * grown[-1] < HORIZON
    expected = np.log(grown[-1] / grown[0]) / DURATION
    assert expected > 1.0
    assert noise.rate == pytest.approx(expected, rel=1e-4)
