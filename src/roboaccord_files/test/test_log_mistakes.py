"""Brakes that hold joints, and positions of motors before their gears: logs by raw MuJoCo."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

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

JOINTS, STEP, COUNT = ("yaw", "lift", "elbow"), 1e-3, 5000
ALWAYS = 0.0, 9.0  # s


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[3])


def moved(held: Mapping[str, tuple[float, float]], off: float = np.inf) -> Array:
    """Return time, positions and efforts of an arm under PD control every 4 ms (k, 7).

    Args:
        held: from when to when the brake of a joint is closed [s].
        off: when the efforts become 0 [s].
    """
    from benchmarks.campaigns.own_logs import MJCF, MUJOCO, controlled, wanted

    spec = mujoco.MjSpec.from_string(MJCF.format(**MUJOCO | {"scheme": "implicitfast"}))
    for name in JOINTS:
        brake = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1=name, active=False)
        brake.solref[:], brake.solimp[:] = (0.002, 1.0), (0.9999, 0.9999, 1e-3, 0.5, 2.0)
    model = spec.compile()
    data, act, rows = mujoco.MjData(model), controlled(3, STEP, 0, 1), []
    data.qpos[:] = wanted(0.0, 3, 1)
    for i in range(COUNT):
        for j, (closed, opened) in enumerate(held.get(name, (9.0, 9.0)) for name in JOINTS):
            if closed <= i * STEP < opened and not data.eq_active[j]:
                model.eq_data[j, 0] = data.qpos[j]
            data.eq_active[j] = closed <= i * STEP < opened
        data.qfrc_applied[:] = act(i, data.qpos, data.qvel)[0] * (i * STEP < off)
        rows.append([i * STEP, *data.qpos, *data.qfrc_applied])
        mujoco.mj_step(model, data)
    return np.array(rows)[::4]


def judged(rows: Array, ratios: Array | float = 1.0) -> Report:
    """Check a log with 20 urad of noise; motors' positions are `ratios` as large (3,)."""
    from benchmarks.campaigns.own_logs import ARM

    q = rows[:, 1:4] + 2e-5 * np.random.default_rng(2).standard_normal((len(rows), 3))
    log = in_stretches(JOINTS, rows[:, 0], q * ratios, rows[:, 4:])
    return check_log(log, LogBody.of(Tree.parse(ARM), JOINTS, 9.81))


@pytest.mark.parametrize(
    ("held", "off", "where", "lasting"),
    [
        ({"lift": (2.0, 3.5)}, np.inf, "lift", 1.5),
        ({"elbow": ALWAYS}, np.inf, "elbow", 5.0),
        (dict.fromkeys(JOINTS, (3.0, 9.0)), 3.0, "yaw, lift, elbow", 2.0),
    ],
    ids=["for a time", "always", "parked"],
)
def test_a_brake_is_named_with_its_joint_and_time(
    held: Mapping[str, tuple[float, float]], off: float, where: str, lasting: float
) -> None:
    (cause,) = judged(moved(held, off)).step.explanation.causes
    assert (cause.quantity, cause.where, cause.unit) == ("brake", where, "s")
    assert lasting - 0.1 < (cause.size or 0.0) < lasting + 0.4
    assert with_interval(cause).startswith(f"a brake holds {where.replace(', ', ' and ')}, for ")


def test_a_joint_that_its_servo_holds_is_not_accused() -> None:
    """The same rest, but with the effort that inverse dynamics need of the joint."""
    from benchmarks.campaigns.own_logs import ARM

    rows = moved({"elbow": ALWAYS})
    q, body = rows[:, 1:4], LogBody.of(Tree.parse(ARM), JOINTS, 9.81)
    qd = np.gradient(q, rows[:, 0], axis=0)
    rows[:, 6] = body.efforts(q, qd, np.gradient(qd, rows[:, 0], axis=0))[:, 2]
    found = judged(rows)
    assert (found.verdict, found.step.explanation.causes) == ("pass", ())


@pytest.mark.parametrize(
    ("ratios", "before_gear"),
    [((1, 50, 1), False), ((1, 1, -36), True), ((100, 80, 50), True)],
    ids=str,
)
def test_positions_of_motors_are_named_with_the_ratio(
    ratios: tuple[int, ...], before_gear: bool
) -> None:
    """Positions times the ratio of the gear, and efforts over it where the motor's are recorded."""
    rows = moved({})
    rows[:, 4:] /= ratios if before_gear else 1.0
    (cause,) = judged(rows, np.array(ratios)).step.explanation.causes
    assert cause.quantity == ("gear of axis" if before_gear else "gear of q")
    assert cause.where == ", ".join(joint for joint, n in zip(JOINTS, ratios) if n != 1)
    fitted = [float(text) for text in cause.axis.split(", ")]
    assert fitted == pytest.approx([n for n in ratios if n != 1], rel=2e-3)
    assert with_interval(cause).endswith(f"is the motor's, {cause.axis} times the joint's")
