"""Robots of a public collection, released under gravity: every scheme converges by its order.

The truth is pinocchio's articulated-body algorithm on the file as shipped, integrated by a method
of order 8 to 1e-13; nothing of it is ours.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from roboaccord.contract.state import Array, RobotState
from roboaccord.crosscheck.extrapolation import observed_order
from roboaccord.crosscheck.runs import Job, run_job
from roboaccord.engines import engine_names
from roboaccord.numerics.rotations import quaternion_matrix, quaternion_product
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup
from running import or_skip
from scipy.integrate import solve_ivp

pytestmark = pytest.mark.slow

COLLECTION = (
    Path(sys.prefix)
    / f"lib/python3.{sys.version_info.minor}/site-packages/cmeel.prefix"
    / "share/example-robot-data/robots"
)
ROBOTS = {
    "panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "fixed"),
    "go2": ("go2_description/urdf/go2.urdf", "free"),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "free"),
    "solo12": ("solo_description/robots/solo12.urdf", "free"),
    "z1": ("z1_description/urdf/z1.urdf", "fixed"),
    "talos": ("talos_data/robots/talos_reduced.urdf", "free"),
    "kinova": ("kinova_description/robots/kinova.urdf", "fixed"),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "fixed"),
}
"""By name: file, and base. On a free base nothing but rates moves a joint: those are drawn."""

SCHEMES = {
    "dart": ("dart", {}, 1),
    "mujoco euler": ("mujoco", {"integrator": "euler"}, 1),
    "mujoco rk4": ("mujoco", {"integrator": "rk4"}, 4),
    "reference": ("reference", {}, 4),
}
if "drake" in engine_names():
    SCHEMES["drake discrete"] = ("drake", {"integrator": "discrete"}, 1)
    SCHEMES["drake rk4"] = ("drake", {"integrator": "rk4"}, 4)
"""By name: engine, options, and order."""

STEPS = (1e-3, 5e-4, 2.5e-4)  # s
LENGTHS = (1.0, 0.5, 0.2, 0.1)  # s: the longest is taken over which the error at 1 ms is small
SMALL = 0.05  # rad
EVERY = 3  # of the pairs of robot and scheme; 1: all, as in the table of docs/engines.md
FLOORS = 100.0  # that an error must exceed to have an order
ROUNDING = 1e-9  # rad: 100 floors of sums of some thousand steps are below
WITHIN = {1: 0.05, 4: 0.2}  # of the order


def scenario_of(name: str, **more: Any) -> dict[str, Any]:
    """Return the scenario of a robot as plain data: released, without damping or stops."""
    path, base = ROBOTS[name]
    file = COLLECTION / path
    if not file.exists():
        pytest.skip("example-robot-data is not installed")
    data = {"robot": str(file), "base": base, "parameters": {"damping": 0}, "duration": 1.0}
    setup = Setup.of(make_scenario({**data, **more}))
    if base == "free":
        rng = np.random.default_rng(0)
        rates = dict(zip(setup.joints, rng.normal(size=len(setup.joints)).tolist()))
        data["initial"] = {"qd": rates, "twist": rng.normal(size=6).tolist()}
    return data | more


@cache
def truth(name: str, longest: float = 4e-3) -> Array:
    """Return the positions of the joints each millisecond (1001, n), by steps up to `longest`."""
    pin = pytest.importorskip("pinocchio")
    setup = Setup.of(make_scenario(scenario_of(name)))
    free, start, n = setup.scenario.base == "free", setup.initial, len(setup.joints)
    root = [pin.JointModelFreeFlyer()] if free else []
    model = pin.buildModelFromUrdf(str(setup.scenario.robot), *root)
    data, bodies = model.createData(), [model.joints[model.getJointId(j)] for j in setup.joints]
    q, v, rest = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)

    def rate(_: float, y: Array) -> Array:
        position, orientation, angles, twist, rates = np.split(y, [3, 7, 7 + n, 13 + n])
        unit = orientation / np.linalg.norm(orientation)
        for body, angle, speed in zip(bodies, angles, rates, strict=True):
            q[body.idx_q : body.idx_q + body.nq] = (
                angle if body.nq == 1 else (np.cos(angle), np.sin(angle))
            )
            v[body.idx_v] = speed
        if free:
            q[:7], v[:6] = (*position, *unit), twist
        a = pin.aba(model, data, q, v, rest)
        moved = quaternion_matrix(unit) @ twist[:3]
        turned = 0.5 * quaternion_product(orientation, np.array([*twist[3:], 0.0]))
        base = a[:6] if free else np.zeros(6)
        return np.concatenate([moved, turned, rates, base, a[[b.idx_v for b in bodies]]])

    y = _packed(start)
    times = np.linspace(0.0, 1.0, 1001)
    exact = {"rtol": 1e-13, "atol": 1e-13, "max_step": longest}
    found = solve_ivp(rate, (0.0, 1.0), y, "DOP853", times, **exact)
    return np.asarray(found.y[7 : 7 + n].T)


def _packed(state: RobotState) -> Array:
    return np.concatenate([state.position, state.orientation, state.q, state.twist, state.qd])


def errors_of(name: str, scheme: str) -> tuple[list[Array], Array]:
    """Return the largest error of a joint so far, by step, and the floor (1001,) [rad]."""
    engine, options, _ = SCHEMES[scheme]
    data = Setup.of(
        make_scenario(scenario_of(name, engine_options={engine: options}))
    ).scenario.data()
    exact = truth(name)
    with or_skip():
        runs = {dt: run_job(data, Job(engine, dt), engine)[1].q for dt in STEPS}
    bit = run_job(data, Job(engine, STEPS[0], last_bit=True), engine)[1].q

    def largest(apart: Array) -> Array:
        return np.maximum.accumulate(np.abs(apart).max(axis=1))

    floor = largest(bit - runs[STEPS[0]]) + largest(truth(name, 5e-3) - exact)
    return [largest(run - exact) for run in runs.values()], floor


def judge(name: str, scheme: str) -> tuple[float | None, list[float], float | None]:
    """Return the length of the run, its errors by step, and their order."""
    errors, floor = errors_of(name, scheme)
    for length in LENGTHS:
        at = round(length / 1e-3)
        found = [float(e[at]) for e in errors]
        if found[0] < SMALL:
            return length, found, observed_order(STEPS, found, FLOORS * float(floor[at]))
    return None, found, None


PAIRS = [
    (name, scheme)
    for i, name in enumerate(ROBOTS)
    for j, scheme in enumerate(SCHEMES)
    if (i + j) % EVERY == 0
]


@pytest.mark.parametrize(("name", "scheme"), PAIRS)
def test_a_released_robot_converges_to_the_truth_by_the_order_of_the_scheme(
    name: str, scheme: str
) -> None:
    """Each robot by some schemes; the table of docs/engines.md is the figures of all pairs."""
    length, errors, order = judge(name, scheme)
    figures = " ".join(f"{error:.1e}" for error in errors)
    if length is None:
        print(f"| {name} | {scheme} | {figures} | past its horizon |")
        assert errors[0] >= SMALL
        return
    message = "rounding" if order is None else f"{order:.2f}"
    print(f"| {name} | {scheme} | {length:g} s | {figures} | {message} |")
    expected = SCHEMES[scheme][2]
    if order is None:
        assert errors[0] < ROUNDING
    else:
        assert order == pytest.approx(expected, abs=WITHIN[expected])
