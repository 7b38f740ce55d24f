"""Planar and floating joints of a file: pinocchio's accelerations, and the engines' own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, RobotState
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.engines.charts import free_motion
from roboaccord.engines.reading import Question, TreeReading
from roboaccord.numerics.rotations import quaternion_matrix, turn_twist
from roboaccord_files.parity.bench import Bench
from test_parity import examine, status

SAME = 1e-9
WORLD, GROUND = '<link name="world"/>', '<link name="ground"/>'


def link(name: str, mass: float = 1.0) -> str:
    return f"""<link name="{name}"><inertial><origin xyz="0.01 0.02 0.1"/><mass value="{mass}"/>
<inertia ixx="0.02" ixy="0.001" ixz="0.002" iyy="0.03" iyz="-0.001" izz="0.025"/></inertial></link>
"""


def robot(above: str, kind: str, parent: str, axis: str = "0 0 1") -> UrdfFile:
    """Return a base of a joint `J` of some kind, and an arm of one hinge on it."""
    text = f"""<robot name="r">{above}{link("base")}{link("arm", 0.5)}
<joint name="J" type="{kind}"><parent link="{parent}"/><child link="base"/>
<origin xyz="0.1 0.2 0.3" rpy="0.2 0.1 0.4"/><axis xyz="{axis}"/></joint>
<joint name="a" type="revolute"><parent link="base"/><child link="arm"/>
<origin xyz="0 0 0.2" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="10" velocity="3"/></joint></robot>"""
    return UrdfFile(Path("r.urdf"), "r", text)


FREE = {
    "declared": robot(WORLD, "floating", "world"),
    "implicit": robot("", "floating", "world"),
    "ground": robot(GROUND, "floating", "ground"),
}
PLANAR = {
    "z": robot(WORLD, "planar", "world"),
    "y": robot(WORLD, "planar", "world", "0 1 0"),
    "down": robot(WORLD, "planar", "world", "0 0 -1"),
    "oblique": robot(link("body"), "planar", "body", "0.6 0 0.8"),
}
INNER = robot(link("body"), "floating", "body")


@pytest.mark.parametrize("engine", ["dart", "mujoco", "drake"])
@pytest.mark.parametrize("name", [*FREE, *PLANAR])
def test_engines_that_read_it_agree(name: str, engine: str) -> None:
    pytest.importorskip({"dart": "dartpy", "mujoco": "mujoco", "drake": "roboaccord_drake"}[engine])
    if engine == "drake":
        pytest.importorskip("pydrake")
    found = examine(Bench({**FREE, **PLANAR}[name]), engine)
    if name == "implicit" and engine != "drake":  # which alone takes it
        assert status(found) == "refused"
        assert [(c.quantity, c.where) for c in found.causes] == [("world undeclared", ("J",))]
    else:
        assert status(found) == "same" and found.acceleration is not None
        assert found.acceleration < SAME


def test_a_joint_that_floats_within_the_tree_is_dropped_by_some() -> None:
    found = {name: examine(Bench(INNER), name) for name in ("dart", "mujoco")}
    assert status(found["dart"]) == "same" and status(found["mujoco"]) == "refused"
    assert [cause.quantity for cause in found["mujoco"].causes] == ["floating joint"]


def test_what_floats_cannot_be_fixed() -> None:
    with pytest.raises(AccordError, match="floats above its link ground"):
        Bench(FREE["ground"], "fixed").question  # noqa: B018


@pytest.mark.parametrize("file", [*FREE.values(), PLANAR["z"], INNER])
def test_accelerations_are_pinocchio_s(file: UrdfFile) -> None:
    pin = pytest.importorskip("pinocchio")
    bench = Bench(file)
    text = file.text if "world" not in file.text or WORLD in file.text else file.text.replace(
        '<robot name="r">', f'<robot name="r">{WORLD}'
    )  # fmt: skip
    inner = file is INNER
    model = pin.buildModelFromXML(text, *([pin.JointModelFreeFlyer()] if inner else []))
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    data, question = model.createData(), bench.question
    reading = TreeReading(bench.tree, question)
    for state in question.states:
        mine = reading.acceleration(state)
        other = accelerations(pin, model, data, question, state)
        np.testing.assert_allclose(mine, other, rtol=0, atol=SAME * np.abs(other).max())


def accelerations(pin: Any, model: Any, data: Any, question: Question, state: RobotState) -> Array:
    """Return pinocchio's accelerations in our order: the base's in the world, then the joints'."""
    q, v, tau = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    rotation = quaternion_matrix(state.orientation)
    index = {name: i for i, name in enumerate(question.joints)}
    rows, back = [], []
    for joint, name in zip(model.joints[1:], list(model.names)[1:], strict=True):
        at, to = (
            slice(joint.idx_q, joint.idx_q + joint.nq),
            slice(joint.idx_v, joint.idx_v + joint.nv),
        )
        if joint.nv == 6 and f"{name}_TX" not in index:  # the base
            origin = model.jointPlacements[joint.id]
            pose = origin.inverse() * pin.SE3(rotation, state.position)
            q[at], v[to] = pin.SE3ToXYZQUAT(pose), state.twist
            back.append(to)
        elif joint.nv == 1:
            i = index[name]
            q[at], v[to], tau[to] = state.q[i], state.qd[i], state.effort[i]
            rows.append(([i], to, np.eye(1), np.zeros(1)))
        elif joint.nv == 3:
            ends = [index[f"{name}_{each}"] for each in ("TX", "TY", "RZ")]
            x, y, turn = state.q[ends]
            q[at] = x, y, np.cos(turn), np.sin(turn)
            c, s = np.cos(turn), np.sin(turn)
            jacobian = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
            rate = state.qd[ends]
            v[to] = jacobian @ rate
            tau[to] = np.linalg.solve(jacobian.T, state.effort[ends])
            drift = rate[2] * np.array(
                [-s * rate[0] + c * rate[1], -c * rate[0] - s * rate[1], 0.0]
            )
            rows.append((ends, to, jacobian, drift))
        else:
            ends = [index[f"{name}_{each}"] for each in ("TX", "TY", "TZ", "RX", "RY", "RZ")]
            place, turned, jacobian, drift = free_motion(state.q[ends], state.qd[ends])
            jacobian, drift = np.roll(jacobian, 3, axis=0), np.roll(drift, 3)
            q[at] = pin.SE3ToXYZQUAT(pin.SE3(turned, place))
            v[to] = jacobian @ state.qd[ends]
            tau[to] = np.linalg.solve(jacobian.T, state.effort[ends])
            rows.append((ends, to, jacobian, drift))
    found = pin.aba(model, data, q, v, tau)
    joints = np.zeros(len(index))
    for ends, to, jacobian, drift in rows:
        joints[ends] = np.linalg.solve(jacobian, found[to] - drift)
    base = np.zeros(0)
    for to in back:  # of the point at the base's origin, in the world
        linear = found[to][:3] + np.cross(v[to][3:], v[to][:3])
        base = turn_twist(rotation, np.concatenate([linear, found[to][3:]]))
    return np.concatenate([base, joints])
