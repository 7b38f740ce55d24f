"""Brakes that hold joints, and positions of motors before their gears: logs by raw MuJoCo."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np
import pytest
from roboaccord.contract.state import Array
from roboaccord.crosscheck.report import Report
from roboaccord.description.tree import Tree
from roboaccord.report.cause_words import with_interval
from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.check import check_log
from roboaccord_files.logs.log import in_stretches

JOINTS = ("lift", "bend", "turn")
LINK = """<link name="{}"><inertial><origin xyz="{}"/><mass value="{}"/>
<inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{i}"/></inertial></link>"""
JOINT = """<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/>
<origin xyz="0 0 {}"/><axis xyz="{}"/><dynamics damping="{}"/></joint>"""
ARM = "".join([
    '<robot name="arm"><link name="base_link"/>',
    LINK.format("upper", "0 .01 -.2", 1.5, i=0.02),
    LINK.format("fore", ".01 0 -.15", 0.8, i=0.008),
    LINK.format("hand", ".02 .01 -.05", 0.4, i=0.001),
    JOINT.format("lift", "base_link", "upper", 0, "0 1 0", 0.2),
    JOINT.format("bend", "upper", "fore", -0.4, "0 1 0", 0.1),
    JOINT.format("turn", "fore", "hand", -0.3, "1 0 0", 0.05),
    "</robot>",
])  # fmt: skip
SETTINGS = '<mujoco><compiler fusestatic="false" balanceinertia="false"/></mujoco><link'
STEP, COUNT, EVERY_STEPS = 5e-4, 12000, 8  # 6 s, recorded at 250 Hz
RATE = np.array([[1.3, 2.9], [1.9, 4.1], [2.3, 3.7]])  # rad/s
SIZE = np.array([[0.6, 0.2], [0.7, 0.15], [0.8, 0.2]])  # rad


def moved(
    held: Mapping[str, tuple[float, float]], off: float = np.inf
) -> tuple[Array, Array, Array]:
    """Return times, positions and efforts of an arm that tracks sines by computed torque.

    Args:
        held: from when to when the brake of a joint is closed [s].
        off: when the efforts become 0 [s].
    """
    spec = mujoco.MjSpec.from_string(ARM.replace("<link", SETTINGS, 1))
    nominal = spec.compile()
    for name in JOINTS:
        brake = spec.add_equality()
        brake.type, brake.name1, brake.active = mujoco.mjtEq.mjEQ_JOINT, name, False
        brake.solref[:], brake.solimp[:] = (0.002, 1.0), (0.9999, 0.9999, 1e-3, 0.5, 2.0)
    model = spec.compile()
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    data, ideal, rows = mujoco.MjData(model), mujoco.MjData(nominal), []
    spans = np.array([held.get(name, (np.inf, np.inf)) for name in JOINTS])
    data.qpos[:] = SIZE.sum(axis=1)
    for i in range(COUNT):
        time, waves = i * STEP, RATE * i * STEP
        if i % 2 == 0:
            closed = (spans[:, 0] <= time) & (time < spans[:, 1])
            for j in np.flatnonzero(closed & ~data.eq_active.astype(bool)):
                model.eq_data[j, 0] = data.qpos[j]
            data.eq_active[:] = closed
            ideal.qpos[:], ideal.qvel[:] = data.qpos, data.qvel
            wanted, rate = (SIZE * np.cos(waves)).sum(axis=1), -(SIZE * RATE * np.sin(waves)).sum(1)
            ideal.qacc[:] = 100.0 * (wanted - data.qpos) + 20.0 * (rate - data.qvel)
            ideal.qacc[:] -= (SIZE * RATE**2 * np.cos(waves)).sum(axis=1)
            mujoco.mj_inverse(nominal, ideal)
            data.qfrc_applied[:] = ideal.qfrc_inverse * (time < off)
        if i % EVERY_STEPS == 0:
            rows.append([time, *data.qpos, *data.qfrc_applied])
        mujoco.mj_step(model, data)
    time, *columns = np.array(rows).T
    return time, np.transpose(columns[:3]), np.transpose(columns[3:])


def judged(time: Array, q: Array, effort: Array) -> Report:
    """Check a log of the arm."""
    log = in_stretches(JOINTS, time, q, effort, {}, [])
    return check_log(log, LogBody.of(Tree.parse(ARM), JOINTS, 9.81))


def noisy(q: Array) -> Array:
    """Return positions with noise of 20 urad."""
    return q + 2e-5 * np.random.default_rng(2).standard_normal(q.shape)


def named(found: Report) -> list[str]:
    """Return the named causes in words."""
    return [with_interval(cause) for cause in found.step.explanation.causes]


@pytest.mark.parametrize(
    ("held", "off", "where", "lasting"),
    [
        ({"bend": (2.0, 4.0)}, np.inf, "bend", 2.0),
        ({"bend": (0.0, 9.0)}, np.inf, "bend", 6.0),
        (dict.fromkeys(JOINTS, (4.0, 9.0)), 4.0, "lift, bend, turn", 2.0),
    ],
    ids=["for 2 s", "always", "parked"],
)
def test_a_brake_is_named_with_its_joint_and_time(
    held: Mapping[str, tuple[float, float]], off: float, where: str, lasting: float
) -> None:
    time, q, effort = moved(held, off)
    (cause,) = judged(time, noisy(q), effort).step.explanation.causes
    assert (cause.quantity, cause.where, cause.unit) == ("brake", where, "s")
    assert lasting - 0.1 < (cause.size or 0.0) < lasting + 0.4
    assert with_interval(cause).startswith(f"a brake holds {where.replace(', ', ' and ')}, for ")


def test_a_joint_that_its_servo_holds_is_not_accused() -> None:
    """The same rest, but with the effort that inverse dynamics need of the joint."""
    time, q, effort = moved({"bend": (0.0, 9.0)})
    body = LogBody.of(Tree.parse(ARM), JOINTS, 9.81)
    qd, qdd = (np.gradient(x, time, axis=0) for x in (q, np.gradient(q, time, axis=0)))
    effort[:, 1] = body.efforts(q, qd, qdd)[:, 1]
    found = judged(time, noisy(q), effort)
    assert (found.verdict, named(found)) == ("pass", [])


@pytest.mark.parametrize(
    ("ratios", "before_gear"),
    [((1, 50, 1), False), ((1, 1, -36), True), ((100, 80, 50), True)],
    ids=str,
)
def test_positions_of_motors_are_named_with_the_ratio(
    ratios: tuple[int, ...], before_gear: bool
) -> None:
    """Positions times the ratio of the gear, and efforts over it where the motor's are recorded."""
    time, q, effort = moved({})
    found = judged(time, noisy(q) * ratios, effort / (ratios if before_gear else 1.0))
    (cause,) = found.step.explanation.causes
    assert cause.quantity == ("gear of axis" if before_gear else "gear of q")
    geared = [joint for joint, ratio in zip(JOINTS, ratios) if ratio != 1]
    fitted = [float(text) for text in cause.axis.split(", ")]
    assert cause.where == ", ".join(geared)
    assert fitted == pytest.approx([ratio for ratio in ratios if ratio != 1], rel=2e-3)
    columns = "position, rate and effort" if before_gear else "q"
    where = cause.where.replace(", ", " and ")
    assert named(found) == [
        f"the {columns} of {where} is the motor's, {cause.axis} times the joint's"
    ]
