"""What efforts of a log are, and errors that are no parameter of a link: logs by equations here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Cause
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.fit import Fit
from roboaccord.crosscheck.report import Report
from roboaccord.description.tree import Tree
from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.check import check_log
from roboaccord_files.logs.efforts import COMPENSATED, TORQUE, best_reading
from roboaccord_files.logs.log import in_stretches
from roboaccord_files.logs.shown import effort_line, log_lines
from test_own_log import judged as of_pendulum
from test_own_log import pendulum

ROOT = Path(__file__).resolve().parents[3]
HIP, KNEE = 0.4, 0.15  # m: length of the first link, centre of the second
KT = np.array([11.1, 7.3])  # N m/A


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


def recorded(every: int, **changes: float) -> tuple[Array, Array, Array]:
    """Log a planar arm by the textbook's equations: stamps, angles, torques of every few steps."""
    from benchmarks.campaigns.own_logs import TEXTBOOK, Error, run_textbook

    assert {*changes} <= {*TEXTBOOK}
    motion = run_textbook(Error("textbook", changes), seed=3)
    return motion.time[::every], motion.q[::every], motion.effort[::every]


def weight(q: Array) -> Array:
    """Return the torques (k, 2) that hold the planar arm [Spong et al. 2006, 7.4]."""
    lower = 0.7 * KNEE * np.sin(q.sum(axis=1))
    return 9.81 * np.column_stack([(1.2 * 0.2 + 0.7 * HIP) * np.sin(q[:, 0]) + lower, lower])


def judged(time: Array, q: Array, effort: Array, noise: float = 1e-4, stated: str = "") -> Report:
    """Check a log of the planar arm, with noise of its encoders [rad]."""
    from benchmarks.campaigns.own_logs import PLANAR

    tree = Tree.parse(PLANAR.format(dry=0.0))
    q = q + noise * np.random.default_rng(2).standard_normal(q.shape)
    joints = ("hip", "knee")
    log = in_stretches(joints, time, q, effort)
    return check_log(log, LogBody.of(tree, joints, 9.81), stated)


def own(found: Report, quantity: str, where: str) -> list[Cause]:
    """Return the causes of a quantity and a place, the only ones that are named."""
    causes = found.step.explanation.causes
    assert {(cause.quantity, cause.where) for cause in causes} == {(quantity, where)}, causes
    return [*causes]


def holds(cause: Cause, truth: float, wide: float) -> bool:
    """Return whether an interval holds the truth, and is no wider than a part of it."""
    low, high = cause.interval or (0.0, 0.0)
    return low <= truth <= high and high - low <= wide * abs(truth)


def test_currents_at_125_hz_are_read_by_their_factors_and_accuse_nobody() -> None:
    """.2 mrad of noise, tau / kt: pass, and each kt within 1 %."""
    time, q, effort = recorded(8)
    found = judged(time, q, effort / KT, noise=2e-4)
    assert (found.verdict, found.step.explanation.causes) == ("pass", ())
    factors = found.step.taken.factors
    assert all(holds(cause, kt, 0.02) for cause, kt in zip(factors, KT, strict=True))
    assert "motor current" in effort_line(found.step.taken)


def test_torque_less_gravity_is_read_as_that_and_an_error_beside_it_is_named() -> None:
    time, q, effort = recorded(4, m2=0.84, i2=0.006)
    by_file = effort - weight(q)  # a controller that knows 0.7 kg, for 0.84
    cause, *_ = own(judged(time, q, by_file), "mass", "two")
    assert holds(cause, 0.2, 0.05)
    # A gear passes 95 % of what the drive makes, gravity's part included.
    time, q, acting = recorded(4)
    (cause,) = own(judged(time, q, acting / (0.95, 1.0) - weight(q), 3e-5), "gear", "hip")
    assert holds(cause, -0.05, 0.1)


def test_a_large_error_of_one_joint_does_not_hide_what_efforts_are() -> None:
    """Residuals of three joints; a spring of the last leaves more than its efforts do."""
    fits = dict.fromkeys((TORQUE, COMPENSATED), Fit(None, cost=1e6))  # type: ignore[arg-type]
    shares = {TORQUE: np.array([0.8, 0.9, 1.3]), COMPENSATED: np.array([0.02, 0.03, 1.2])}
    assert best_reading(fits, shares) == COMPENSATED


def test_torque_of_a_sound_arm_is_torque_and_what_is_stated_holds() -> None:
    time, q, effort = recorded(4)
    found = judged(time, q, effort)
    assert (found.verdict, found.step.taken.name) == ("pass", "torque at the joint")
    assert found.step.taken.next_ratio > 10.0
    assert judged(time, q, effort, stated="compensated").verdict == "fail"
    with pytest.raises(AccordError, match="--effort is one of torque, current, motor"):
        judged(time, q, effort, stated="amps")


def test_efforts_that_are_all_zero_are_not_measured() -> None:
    time, q, effort = recorded(4)
    found = judged(time, q, 0.0 * effort)
    assert found.verdict == "undecided"
    assert "the efforts are all 0" in found.levels.one_step["log"].reason


def filtered(time: Array, q: Array, effort: Array) -> tuple[Array, Array]:
    """Record efforts by a filter of first order, 10 ms."""
    found, kept = [effort[0]], np.exp(-np.diff(time) / 0.01)
    for part, now in zip(kept, effort[1:]):
        found.append(part * found[-1] + (1.0 - part) * now)
    return q, np.array(found)


def loose(time: Array, q: Array, effort: Array) -> tuple[Array, Array]:
    """Record the hip before its gear, which has a backlash of 4 mrad."""
    return q + np.array([0.002, 0.0]) * np.tanh(effort / (0.05 * effort.std(axis=0))), effort


CASES: Mapping[str, tuple[Callable[..., tuple[Array, Array]], str, float]] = {
    "effort filter": (filtered, "*", 0.01),
    "backlash": (loose, "hip", 0.004),
}


@pytest.mark.slow
@pytest.mark.parametrize("quantity", CASES)
def test_what_drives_and_encoders_do_is_named(quantity: str) -> None:
    change, where, truth = CASES[quantity]
    time, q, effort = recorded(2)
    (cause,) = own(judged(time, *change(time, q, effort), noise=3e-5), quantity, where)
    assert cause.size == pytest.approx(truth, rel=0.15 if quantity == "backlash" else 0.06)


@pytest.mark.slow
def test_a_filter_that_is_stated_is_no_error() -> None:
    time, q, effort = recorded(2)
    found = judged(time, *filtered(time, q, effort), noise=3e-5, stated="filtered")
    assert (found.verdict, found.step.explanation.causes) == ("pass", ())
    assert "effort filter of every joint" in effort_line(found.step.taken)


@pytest.mark.slow
def test_a_payload_beside_motors_that_lag_is_named_by_mass_and_place() -> None:
    """0.3 kg, 0.25 m below the knee, by the parallel-axis theorem; a step of a lag keeps 7 / 8."""
    centre = 0.7 * KNEE + 0.3 * 0.25
    inertia = 0.006 + 0.7 * (KNEE - centre) ** 2 + 0.3 * (0.25 - centre) ** 2
    found = judged(*recorded(2, m2=0.7 + 0.3, c2=centre, i2=inertia, lag=0.008), noise=3e-5)
    mass, *place, lag = found.step.explanation.causes
    assert {c.quantity for c in [mass, *place]} == {"payload"} and lag.quantity == "motor lag"
    assert holds(lag, -1e-3 / np.log(0.875), 0.2) and holds(mass, 0.3, 0.05)
    assert any(cause.axis == "z" and holds(cause, -0.25, 0.05) for cause in place)


def test_a_spring_is_named() -> None:
    """0.5 N m/rad at a pendulum that swings far enough to tell it from weight."""
    (cause,) = own(of_pendulum(pendulum(lambda q: -0.5 * q), noise=1e-5), "spring", "hinge")
    assert holds(cause, 0.5, 0.05)


def test_a_velocity_limit_is_named() -> None:
    """A pendulum of 1 kg at 0.1 m whose rate an engine clips at 0.8 rad/s."""
    step, q, rate, rows = 0.002, 0.5, 0.0, []
    for i in range(2500):
        torque = 2.5 * np.sin(3.0 * i * step) + 0.4 * np.cos(7.0 * i * step)
        rows.append((i * step, q, torque))
        pull = torque - 9.81 * 0.1 * np.sin(q) - 0.1 * rate
        rate = float(np.clip(rate + step * pull / 0.02, -0.8, 0.8))
        q += step * rate
    found = of_pendulum(np.array(rows))
    (cause,) = own(found, "velocity limit", "hinge")
    assert cause.size == pytest.approx(0.8, rel=1e-3)
    share = float((np.abs(np.diff(np.array(rows)[:, 1])) > 0.799 * step).mean())
    assert found.step.capped == {"hinge": pytest.approx(share, abs=0.01)}
    assert any("0.8 rad/s in" in str(line) for line in log_lines(found))
