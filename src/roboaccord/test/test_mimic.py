"""Joints that mimic others: G' M G of pinocchio's matrices, and what a motion keeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from interpreted import interpret
from roboaccord.contract.errors import AccordError
from roboaccord.description.mimic import MimicDynamics
from roboaccord.engines.reading import GRAVITY, Question, TreeReading, draw_question, read_tree
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

LEADS = {"b": ("a", -0.5, 0.2), "d": ("b", 0.3, 0.0)}


def text(leads: dict[str, tuple[str, float, float]], light: str = "") -> str:
    """Return a tree of four joints, of which some mimic others, and one link may have no mass."""
    links = {"base": 1.0, "l1": 0.5, "l2": 0.3, "l3": 0.2, "l4": 0.2}
    elements = "".join(
        f'<link name="{name}"/>' if name == light else
        f'<link name="{name}"><inertial><origin xyz="0.01 0.02 0.1"/><mass value="{mass}"/>'
        '<inertia ixx="0.02" ixy="0.001" ixz="0.002" iyy="0.03" iyz="-0.001" izz="0.025"/>'
        "</inertial></link>"
        for name, mass in links.items()
    )  # fmt: skip
    joints = [
        ("a", "revolute", "base", "l1", "0 1 0"), ("b", "revolute", "l1", "l2", "1 0 0"),
        ("c", "revolute", "l2", "l3", "0 0 1"), ("d", "prismatic", "base", "l4", "0 1 1"),
    ]  # fmt: skip
    for name, kind, parent, child, axis in joints:
        mimic = ""
        if name in leads:
            leader, factor, offset = leads[name]
            mimic = f'<mimic joint="{leader}" multiplier="{factor}" offset="{offset}"/>'
        elements += (
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="0.1 0.05 0.2" rpy="0.1 0.2 0.3"/><axis xyz="{axis}"/>'
            f'<limit lower="-2" upper="2" effort="9" velocity="9"/>{mimic}</joint>'
        )
    return f'<robot name="r">{elements}</robot>'


def drawn() -> tuple[TreeReading, Question]:
    tree = read_tree(text(LEADS))
    question = draw_question(tree, "fixed", 0)
    return TreeReading(tree, question), question


@pytest.mark.parametrize("compiled", [True, False])
def test_accelerations_are_those_of_pinocchio_s_matrices(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        interpret(monkeypatch)
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(text({}))
    data = model.createData()
    reading, question = drawn()
    order = [model.idx_vs[model.getJointId(name)] for name in question.joints]
    # a, b, c, d by a and c.
    leads = np.array([[1.0, 0.0], [-0.5, 0.0], [0.0, 1.0], [-0.15, 0.0]])
    leads = leads[["abcd".index(name) for name in question.joints]]
    answers = reading.accelerations(question.states)
    for state, found in zip(question.states, answers, strict=True):
        q, v, effort = (np.zeros(4) for _ in range(3))
        q[order], v[order], effort[order] = state.q, state.qd, state.effort
        mass = pin.crba(model, data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        right = (effort - pin.nonLinearEffects(model, data, q, v))[order]
        whole = leads.T @ mass[np.ix_(order, order)] @ leads
        expected = leads @ np.linalg.solve(whole, leads.T @ right)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_a_motion_keeps_the_constraint_and_the_energy() -> None:
    tree, joints = read_tree(text(LEADS)), ("a", "b", "c", "d")
    law = MimicDynamics(tree, joints, "fixed", GRAVITY)
    leads, offset = tree.independent(joints)
    free = leads.T[:, [0, 2]] @ np.array([0.3, -0.4])  # any state that it allows
    at_rest = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(6)
    y = law.state(leads @ free + offset, leads @ free, *at_rest)

    def energy(y: np.ndarray) -> float:
        q, qd = y[7:11], y[17:21]
        origins, rotations = tree.forward(joints, q, np.zeros(3), np.array([0, 0, 0, 1.0]))
        mass = sum(link.mass for link in tree.links)
        height = tree.centres(origins, rotations)[2]
        return float(0.5 * qd @ law.mass_matrix(q, np.eye(3)) @ qd + mass * GRAVITY * height)

    before, drifts = energy(y), []
    for step in (4e-3, 2e-3):
        end = y.copy()
        law.advance(end, np.zeros(4), step, round(0.4 / step))
        drifts.append(abs(energy(end) - before))
        residual = end[7:11] - (leads @ end[[7, 9]] + offset)
        np.testing.assert_allclose(residual, 0.0, atol=1e-14)
    assert drifts[1] < 1e-6
    assert drifts[0] / drifts[1] > 2**3.5


def test_a_link_without_mass_that_mimics_is_carried() -> None:
    tree = read_tree(text(LEADS, light="l4"))
    law = MimicDynamics(tree, ("a", "b", "c", "d"), "fixed", GRAVITY)
    still = np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(3), np.eye(3), np.zeros(6)
    assert np.isfinite(law.acceleration(*still).joints).all()


def test_a_cycle_is_refused() -> None:
    tree = read_tree(text({"a": ("b", 1.0, 0.0), "b": ("a", 1.0, 0.0)}))
    with pytest.raises(AccordError, match="joint a mimics itself"):
        tree.independent(("a", "b", "c", "d"))


def test_a_run_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(text(LEADS), encoding="utf-8")
    setup = Setup.of(
        load_scenario("roboaccord", str(path), "released", ["duration=0.2", "parameters.mimic=1"])
    )
    motion = run_setup(setup, make_simulator(setup))
    q = {name: motion.q[:, i] for i, name in enumerate(motion.joints)}
    np.testing.assert_allclose(q["b"], 0.2 - 0.5 * q["a"], atol=1e-13)
    np.testing.assert_allclose(q["d"], 0.3 * q["b"], atol=1e-13)
    assert np.ptp(q["a"]) > 0.05
