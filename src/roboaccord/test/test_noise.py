"""Noise floor, rate of divergence and horizon: exponentials, and variational equations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Code, because
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.links import link_centres
from roboaccord.crosscheck.noise import Noise, measure_noise, refuse_tolerances, sensitive
from roboaccord.crosscheck.runs import NOISE_FLAGS, START_CHANGE, Job, run_job, start_of
from roboaccord.description.tree import Tree
from roboaccord.engines import engine_names, preset, simulate_model, spec
from roboaccord.engines.model import EngineModel
from roboaccord.scenario.scenario import Allowance, Tolerances
from running import or_skip, setup_of

GRAVITY, ABOUT_CENTRE = 9.81, 0.02  # m/s^2, kg m^2; both links weigh 1 kg and are 1 m long
HALF = 0.5  # m: from the upper end of a link to its centre
STEP, DURATION = 1e-3, 5.0  # s: the scheme's own error grows, too; the motions must be the same
LINK = f"""<link name="NAME"><inertial><origin xyz="0 0 -{HALF}"/><mass value="1"/>
  <inertia ixx="{ABOUT_CENTRE}" iyy="{ABOUT_CENTRE}" izz="0.001" ixy="0" ixz="0" iyz="0"/>
  </inertial></link>"""
URDF = f"""<robot name="double_pendulum"><link name="world"/>
  {LINK.replace("NAME", "base_link")}{LINK.replace("NAME", "tip_link")}
  <joint name="upper" type="continuous">
    <parent link="world"/><child link="base_link"/><axis xyz="1 0 0"/></joint>
  <joint name="lower" type="continuous"><origin xyz="0 0 -1"/>
    <parent link="base_link"/><child link="tip_link"/><axis xyz="1 0 0"/></joint>
</robot>"""
TREE = Tree.parse(URDF, root="world")


def slid(x: Array, time: Array) -> Trajectory:
    """Return the run of a ball along x (k,)."""
    states = [
        RobotState(t, np.zeros(0), np.zeros(0), np.zeros(0), np.array([a, 0.0, 0.0]))
        for t, a in zip(time, x, strict=True)
    ]
    return Trajectory.from_states((), states)


def noise_between(tree: Tree, *runs: Trajectory) -> Noise:
    """Return the noise of a run, beside its repetition and runs from changed starts."""
    return measure_noise(runs[0].time, [link_centres(tree, run) for run in runs])


@pytest.mark.parametrize(("duration", "reached"), [(6.0, False), (12.0, True)])
def test_an_exponential_has_its_rate_and_its_horizon(duration: float, reached: bool) -> None:
    """1e-12 exp(2 t) m comes to 1 mm at ln(1e9) / 2 = 10.36 s; beyond it does not count."""
    ball = Tree.parse('<robot name="ball"><link name="base_link"/></robot>')
    time = np.arange(0.0, duration, STEP)
    still = slid(np.zeros_like(time), time)
    apart = np.where(time < 10.5, np.exp(2.0 * time), 1.0)  # and then comes back
    bit, nudged = slid(1e-12 * apart, time), slid(START_CHANGE * np.exp(1.5 * time), time)
    noise = noise_between(ball, still, still, bit, nudged)
    assert noise.floor == pytest.approx(1e-12 * apart.max(), rel=1e-12)
    assert noise.rate == pytest.approx(1.5, rel=1e-9)
    horizon = np.log(1e-3 / 1e-12) / 2.0
    assert noise.horizon == (pytest.approx(horizon, abs=STEP) if reached else None)
    said = sensitive({"dart": noise})
    assert said == [because(Code.SENSITIVE, engine="dart", horizon=noise.horizon)] * reached
    assert all(str(each).startswith("dart: agree until t = 10.36 s: ") for each in said)
    assert noise_between(ball, still, still, still, still) == Noise(0.0, None, None)
    assert noise_between(ball, still, bit, still, nudged) == noise


def test_a_tolerance_below_the_floor_is_refused() -> None:
    """The engine's own floor counts, and the reference's; others' do not."""
    noise = {"dart": Noise(1e-9, None, None)}
    refuse_tolerances(Tolerances(trajectory={"dart": 1.1e-9, "mujoco": 1e-15}), noise, 0.0)
    for limit in (0.9e-9, Allowance(limit=0.9e-9, reason="none")):
        with pytest.raises(AccordError, match=r"trajectory\.dart: 9e-10 m is below .* of 1e-09 m"):
            refuse_tolerances(Tolerances(trajectory={"dart": limit}), noise, 0.0)
    with pytest.raises(AccordError, match=r"floor of 0\.001 m"):
        refuse_tolerances(Tolerances(trajectory={"dart": 1e-6}), noise, 1e-3)


@pytest.mark.parametrize("value", [0.0, 1e-3, 0.3, -0.7, 2.5, -40.0])
def test_the_last_bit_is_that_of_1_or_of_what_is_larger(value: float) -> None:
    """So it outlasts a sum with 1, in which the last bit of a small value would be lost."""
    state = RobotState(0.0, np.array([value, 0.5]), np.zeros(2), np.zeros(2))
    changed = start_of(Job("dart", STEP, last_bit=True), state)
    assert start_of(Job("dart", STEP, repeated=True), state) is state
    assert start_of(Job("dart", STEP, nudged=True), state).q[0] == value + START_CHANGE
    assert changed.q[0] + 1.0 != value + 1.0 or abs(value) > 1.0
    assert abs(changed.q[0] - value) <= np.finfo(float).eps * max(1.0, 2.0 * abs(value))
    assert changed.q[0] != value and changed.q[1] == 0.5


@pytest.mark.parametrize("how", NOISE_FLAGS)
def test_a_run_begins_where_its_job_says(how: str) -> None:
    setup = setup_of("monkeybot", "swing", "duration=0.01")
    job = Job("reference", STEP, **{how: True})
    _, run, _ = run_job(setup.scenario.data(), job, "reference")
    assert (run.q[0] == start_of(job, setup.initial).q).all()


def slope(x: Array) -> Array:
    """Return the rates of the angles and of their rates (4,), from the Lagrangian by hand."""
    one, two, v, w = x
    c, s, both = np.cos(two), np.sin(two), one + two
    tip = ABOUT_CENTRE + HALF**2
    coupled = tip + HALF * c
    mass = np.array([[2.0 * tip + 1.0 + 2.0 * HALF * c, coupled], [coupled, tip]])
    force = -np.array([
        -HALF * s * (2.0 * v * w + w * w) + GRAVITY * (1.5 * np.sin(one) + HALF * np.sin(both)),
        HALF * s * v * v + GRAVITY * HALF * np.sin(both),
    ])  # fmt: skip
    return np.concatenate([x[2:], np.linalg.solve(mass, force)])


def jacobian(x: Array) -> Array:
    """Return the derivative of `slope` (4, 4), by steps into the complex plane."""
    steps = 1e-30j * np.eye(4)
    return np.array([slope(x + step).imag / 1e-30 for step in steps]).T


def growth(q: tuple[float, float]) -> Array:
    """Return by how much a change of the first angle moves a centre, at each step (k,)."""

    def rate(_: float, y: Array) -> Array:
        return np.concatenate([slope(y[:4]), jacobian(y[:4]) @ y[4:]])

    times = np.linspace(0.0, DURATION, round(DURATION / STEP) + 1)
    start = np.array([*q, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    found = scipy.integrate.solve_ivp(
        rate, (0.0, DURATION), start, "DOP853", times, rtol=1e-12, atol=1e-12
    )
    one, two, _, _, upper, lower, _, _ = found.y
    first = upper * np.array([np.cos(one), np.sin(one)])
    second = first + HALF * (upper + lower) * np.array([np.cos(one + two), np.sin(one + two)])
    sizes = [np.linalg.norm(move, axis=0) for move in (HALF * first, second)]
    return np.asarray(np.maximum.accumulate(np.maximum(*sizes)))


RUNGE_KUTTA = [name for name in engine_names() if spec(name).has_setting("integrator")]


def noise_of(q: tuple[float, float], engine: str) -> Noise:
    """Return the noise of the double pendulum from rest, by Runge-Kutta 4."""
    model = EngineModel(
        urdf=URDF, base="fixed", joints=("upper", "lower"), effort_limits=np.ones(2),
        physics_step=STEP, gravity=GRAVITY, root="world",
        options=preset({}, integrator="rk4"),
    )  # fmt: skip
    with or_skip(""):
        simulator = simulate_model(model, engine)
    start = RobotState(0.0, np.array(q), np.zeros(2), np.zeros(2))
    runs = []
    for how in ({}, {"repeated": True}, {"last_bit": True}, {"nudged": True}):
        count = round(DURATION / STEP)
        first = simulator.reset(start_of(Job(engine, STEP, **how), start))
        states = [first, *(simulator.step(Command(np.zeros(2)), STEP) for _ in range(count))]
        runs.append(Trajectory.from_states(model.joints, states))
    return noise_between(TREE, *runs)


@pytest.mark.slow
@pytest.mark.parametrize("engine", RUNGE_KUTTA)
@pytest.mark.parametrize("q", [(2.0, 0.5), (2.5, -1.0)])
def test_the_rate_is_the_lyapunov_rate_along_the_run(q: tuple[float, float], engine: str) -> None:
    """Within 1e-4: the error of the step in the motion itself, and squares of the distance."""
    grown = growth(q)
    expected = np.log(grown[-1] / grown[0]) / DURATION
    noise = noise_of(q, engine)
    assert expected > 1.0
    assert noise.rate == pytest.approx(expected, rel=1e-4)
    assert 1e-13 < noise.floor < 1e-10  # the last bit, 2e-16, grows by the same factor or more


@pytest.mark.slow
def test_a_regular_motion_has_next_to_no_rate() -> None:
    """Small swings are those of a linear system: round-off grows with time, and not as exp."""
    noise = noise_of((0.03, 0.02), "mujoco")
    assert noise.rate is not None and noise.rate < 0.05
    assert noise.horizon is None and noise.floor < 1e-14
