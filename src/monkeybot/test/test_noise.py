"""Noise of the MonkeyBot's cross-check: rate of divergence against its variational equations."""

import linearised as lin
import numpy as np
import pytest
import scipy
from monkeybots import REPORT
from roboaccord.crosscheck.chaotic import HORIZON, measure_noise
from roboaccord.crosscheck.runs import NOISE, Job, run_job
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

STARTS = [(2.0, 0.5), (2.8, 0.3), (1.6, 1.6)]  # rad: of the held link and of the elbow
DURATION = 5.0  # s: the schemes' own errors grow, too, and motions must still be the same

pytestmark = pytest.mark.slow


def growth(start, times):
    """Return by how much a change of the elbow at the start moves a centre, at times (k,)."""
    k, p = lin.links(REPORT, 0), REPORT
    r1, r2 = p.centre_a, k.B / p.mass_b

    def rate(_, y):
        rate, slope = lin.motion(k, y[: lin.SIZE], 0.0, flight=False)
        return np.concatenate([rate, slope @ y[lin.SIZE :]])

    X, W = np.zeros(lin.SIZE), np.zeros(lin.SIZE)
    X[lin.MOVED], W[lin.MOVED] = (lin.TO_LINKS @ np.array([*u, 0, 0]) for u in (start, (0, 1)))
    found = scipy.integrate.solve_ivp(
        rate, (0.0, times[-1]), np.concatenate([X, W]), method="DOP853",
        t_eval=times, rtol=1e-13, atol=1e-13,
    ).y.T  # fmt: skip
    sizes = []
    for row in found:
        a, b = row[lin.ANGLES]
        turned_a, turned_b = row[lin.SIZE :][lin.ANGLES]
        first = turned_a * np.array([np.cos(a), np.sin(a)])
        second = k.l1 * first + r2 * turned_b * np.array([np.cos(b), np.sin(b)])
        sizes.append(max(np.linalg.norm(r1 * first), np.linalg.norm(second)))
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
    noise = measure_noise(setup.tree, *runs)
    grown = growth(start, runs[0].time)
    assert 1e-9 * grown[-1] < HORIZON
    expected = np.log(grown[-1] / grown[0]) / DURATION
    assert expected > 1.0
    assert noise.rate == pytest.approx(expected, rel=1e-4)
