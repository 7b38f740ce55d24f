"""Stops of the reference of a file: closed forms, the momentum that an impact leaves, order 4."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.bodies import Q
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.tree import Tree
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.stops import Stops

BODY = """<link name="{}"><inertial><origin xyz="0 0 {}"/><mass value="{}"/>
<inertia ixx="0.08" ixy="0" ixz="0" iyy="0.08" iyz="0" izz="0.01"/></inertial></link>"""
JOINT = """<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="0 0 {}"/>
<axis xyz="{}"/><limit lower="{}" upper="{}" effort="99" velocity="9"/></joint>"""
BLOCK = "".join([
    '<robot name="block">', BODY.format("base_link", 0, 1), BODY.format("block", 0, 2),
    JOINT.format("x", "prismatic", "base_link", "block", 0, "1 0 0", -1, 0.5), "</robot>",
])  # fmt: skip
PENDULUM = "".join([
    '<robot name="pendulum">', BODY.format("base", 0, 1), BODY.format("upper", -0.5, 1),
    BODY.format("lower", -0.4, 0.6),
    JOINT.format("a", "revolute", "base", "upper", 0, "0 1 0", -0.5, 2),
    JOINT.format("c", "revolute", "upper", "lower", -1, "0 1 0", -0.6, 0.8), "</robot>",
])  # fmt: skip


def state(law: TreeDynamics, q: list[float], qd: list[float]) -> Array:
    at_rest = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(6)
    return law.state(np.array(q), np.array(qd), *at_rest)


def test_a_block_comes_to_its_stop_rests_and_leaves() -> None:
    """Of 2 kg under 3 N it takes sqrt(2 m s / f) for 0.5 m, and ends with the impulse m v."""
    law = TreeDynamics(Tree.parse(BLOCK), ("x",), "fixed", 9.81)
    stops = Stops(law, np.array([-1.0]), np.array([0.5]))
    y = state(law, [0.0], [0.0])
    (impact,) = stops.advance(y, np.array([3.0]), 0.1, 20, None)
    assert impact.time == pytest.approx(np.sqrt(2 * 2 * 0.5 / 3), abs=1e-12)
    assert impact.impulse == pytest.approx(np.sqrt(2 * 2 * 3 * 0.5), rel=1e-12)
    assert stops.energy == pytest.approx(3 * 0.5, rel=1e-12)
    assert (y[Q], y[-1]) == (0.5, 0.0)
    assert stops.advance(y, np.array([-3.0]), 0.1, 5, None) == []
    assert y[Q] == pytest.approx(0.5 - 3 / 2 / 2 * 0.5**2, abs=1e-13)


def test_an_impact_leaves_what_no_push_can_change() -> None:
    """Of pinocchio's mass matrix: M (v+ - v) is a push at the stop alone, and the rate there 0."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(PENDULUM)
    law = TreeDynamics(Tree.parse(PENDULUM, root="base"), ("a", "c"), "fixed", 9.81)
    stops = Stops(law, np.array([-0.5, -0.6]), np.array([2.0, 0.8]))
    q, v = [0.3, 0.8 - 1e-9], np.array([1.0, 2.0])
    y = state(law, q, [*v])
    (impact,) = stops.advance(y, np.zeros(2), 1e-8, 1, None)
    mass = pin.crba(model, model.createData(), np.array(q))
    mass = np.triu(mass) + np.triu(mass, 1).T
    np.testing.assert_allclose(mass @ (y[-2:] - v), [0.0, -impact.impulse], atol=1e-6)
    assert y[-1] == pytest.approx(0.0, abs=1e-6)
    lost = 0.5 * v @ mass @ v - 0.5 * y[-2:] @ mass @ y[-2:]
    assert stops.energy == pytest.approx(lost, abs=1e-6)


def motion(path: Path, engine: str, step: float) -> Trajectory:
    changes = ["parameters.stops=1", "initial.q.a=1.5", "duration=0.8", "control_period=0.004"]
    changes.append(f"physics_step={step}")
    setup = Setup.of(load_scenario("roboaccord", str(path), "released", changes))
    return run_setup(setup, make_simulator(setup, engine))


def test_the_order_is_kept_over_impacts_and_dart_converges_to_it(tmp_path: Path) -> None:
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM, encoding="utf-8")
    fine = motion(path, "reference", 2.5e-4)
    assert [event.subject for event in fine.events] == ["c", "c"]  # at either end
    assert np.ptp(fine.q[:, 1]) == pytest.approx(0.6 + 0.8, abs=1e-3)
    assert (np.abs(fine.q[:, 1] - 0.1) <= 0.7).all()
    ends = [np.abs(motion(path, "reference", h).q - fine.q).max() for h in (4e-3, 2e-3)]
    assert ends[0] < 1e-6
    assert ends[0] / ends[1] > 2**3.5
    pytest.importorskip("dartpy")
    ends = [np.abs(motion(path, "dart", h).q - fine.q).max() for h in (1e-3, 2.5e-4)]
    assert ends[0] < 0.01
    assert ends[0] / ends[1] > 2.5
