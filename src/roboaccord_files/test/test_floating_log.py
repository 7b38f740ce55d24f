"""Logs of a floating base, by raw MuJoCo: judged in flight and about a pivot, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.crosscheck.report import Report
from roboaccord_files.logs.door import crosscheck_log

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.thorough
LINK = """<link name="{name}"><inertial><origin xyz="0.01 0.004 {centre}"/><mass value="{mass}"/>
<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="continuous"><origin xyz="0 0 {z}"/><parent link="{parent}"/>
<child link="{child}"/><axis xyz="{axis}"/><dynamics damping="0.05"/></joint>"""
ROBOT = "".join([
    '<robot name="acrobat">',
    LINK.format(name="trunk", centre=-0.1, mass=3, i=0.03),
    LINK.format(name="thigh", centre=0.16, mass=1.4, i=0.012),
    LINK.format(name="shin", centre=0.13, mass=0.75, i=0.005),
    JOINT.format(name="hip", z=0.12, parent="trunk", child="thigh", axis="0 1 0"),
    JOINT.format(name="knee", z=0.32, parent="thigh", child="shin", axis="1 0 0"),
    "</robot>",
])  # fmt: skip
SETTINGS = '<mujoco><compiler fusestatic="false" balanceinertia="false"/></mujoco><link'
STEP, COUNT = 5e-4, 2400
HEAD = "time," + ",".join(f"base_{x}" for x in "x y z qw qx qy qz".split())


def check(folder: Path, base: str, heavier: float, pushed: float = 0.0) -> Report:
    """Check the log of an acrobat that flies, or swings about the origin of its trunk.

    Args:
        folder: of the files.
        base: free or ball.
        heavier: part by which the thigh is heavier than in the file.
        pushed: until when something pushes the trunk [s].
    """
    spec = mujoco.MjSpec.from_string(ROBOT.replace("<link", SETTINGS, 1))
    kinds = {"free": mujoco.mjtJoint.mjJNT_FREE, "ball": mujoco.mjtJoint.mjJNT_BALL}
    spec.worldbody.first_body().add_joint(type=kinds[base])
    model = spec.compile()
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    thigh = model.body("thigh").id
    model.body_mass[thigh] *= 1.0 + heavier
    data, rows = mujoco.MjData(model), []
    data.qvel[-5:-2] = 0.4, -0.3, 0.2
    for i in range(COUNT):
        effort = np.array([2.0, 1.0]) * np.sin(8.0 * data.time + np.arange(2.0)) - data.qpos[-2:]
        data.xfrc_applied[1, :3] = (15.0, 0.0, 60.0) if data.time < pushed else 0.0
        if i % 2 == 0:
            mujoco.mj_kinematics(model, data)
            pose = (*data.xpos[1], *data.xquat[1])
            rows.append([data.time, *pose, *data.qpos[-2:], *effort])
            data.qfrc_applied[-2:] = effort
        mujoco.mj_step(model, data)
    robot, log = folder / "acrobat.urdf", folder / "log.csv"
    robot.write_text(ROBOT, "utf-8")
    names = f"{HEAD},q_hip,q_knee,tau_hip,tau_knee"
    np.savetxt(log, rows, "%.12g", ",", header=names, comments="")
    return crosscheck_log(log, robot=robot)


@pytest.mark.parametrize("base", ["free", "ball"])
def test_a_heavier_link_is_named_in_flight_and_about_a_pivot(base: str, tmp_path: Path) -> None:
    """A sound robot passes, and 5 % of the mass of one link are named with their interval."""
    assert check(tmp_path, base, 0.0).verdict == "pass"
    (cause,) = check(tmp_path, base, 0.05).step.explanation.causes
    assert (cause.quantity, cause.where) == ("mass", "thigh")
    low, high = cause.interval
    assert low < 0.05 < high
    assert high - low < 0.005


def test_what_pushes_a_robot_is_not_judged(tmp_path: Path) -> None:
    """Of 1.2 s something pushes for 0.4: the rest, less the span of accelerations, is judged."""
    found = check(tmp_path, "free", 0.0, pushed=0.4)
    assert found.verdict == "pass"
    assert any("in flight and 0 in swings" in note for note in found.step.notes), found.step.notes
    (flight,) = [int(note.split()[3]) for note in found.step.notes if "floats" in note]
    assert 770 < flight < 800
    with pytest.raises(AccordError, match=r"base moves .* m, and what touches it is unknown: 0"):
        check(tmp_path, "free", 0.0, pushed=9.0)
