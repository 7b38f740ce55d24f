"""Logs as robots and people write them: one motion, written in many ways, is read as the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from roboaccord.contract.errors import AccordError
from roboaccord_files.logs.actuators import read_actuators
from roboaccord_files.logs.log import Choice, Log, read_log
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

JOINTS = ("boom", "stick")
COUNT, PERIOD = 400, 4_000_000  # samples, and between them [ns]
EPOCH = 1_699_999_999_123_456_789  # ns
TIME = 4e-3 * np.arange(COUNT)
STAMPS = [EPOCH + i * PERIOD for i in range(COUNT)]
Q = np.column_stack([0.7 * np.sin(9.0 * TIME), 0.2 + 0.4 * np.cos(7.0 * TIME)])
QD = np.column_stack([6.3 * np.cos(9.0 * TIME), -2.8 * np.sin(7.0 * TIME)])
EFFORT = np.column_stack([3.0 * np.cos(5.0 * TIME), 0.5 * np.sin(TIME) - 2.0])
PARTS = {"q": Q, "qd": QD, "effort": EFFORT}
HINGES = dict.fromkeys(JOINTS, np.inf)
NAN, NONE = np.full(2, np.nan), np.zeros(0)
STATE, NUMBERS = "sensor_msgs/msg/JointState", "std_msgs/msg/Float64MultiArray"
STORE = get_typestore(Stores.ROS2_JAZZY)
TYPES: Mapping[str, Callable[..., Any]] = STORE.types
Message = tuple[str, str, int, Any]


def state(i: int, joints: Sequence[int] = (0, 1), stamp: int | None = None, **more: Any) -> Message:
    """Return the joint state of a sample, of some joints, as it came at that time."""
    names = [more.get("prefix", "") + JOINTS[j] for j in joints]
    parts = [more.get(kind, each[i, [*joints]]) for kind, each in PARTS.items()]
    stamp = STAMPS[i] if stamp is None else stamp
    return more.get("topic", "/joint_states"), STATE, STAMPS[i], (stamp, names, *parts)


def commands(i: int) -> Message:
    return "/crane/commands", NUMBERS, STAMPS[i] + 900_000, EFFORT[i]


def bag(path: Path, messages: Iterable[Message]) -> Path:
    """Write messages as rosbag2 does."""
    known = dict[str, Any]()
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for topic, kind, came, data in messages:
            if topic not in known:
                known[topic] = writer.add_connection(topic, kind, typestore=STORE)
            if kind == STATE:
                time = TYPES["builtin_interfaces/msg/Time"](*divmod(data[0], 10**9))
                made = TYPES[kind](TYPES["std_msgs/msg/Header"](time, ""), *data[1:])
            else:
                made = TYPES[kind](TYPES["std_msgs/msg/MultiArrayLayout"]([], 0), data)
            writer.write(known[topic], came, STORE.serialize_cdr(made, kind))
    return path


FINGER = ("/joint_states", STATE, EPOCH, (EPOCH + 5, ["finger"], *np.ones((3, 1))))
MAPPED = {f"effort/{joint}": f"/crane/commands[{j}]" for j, joint in enumerate(JOINTS)}
ALL, SIDES = range(COUNT), (("a", 2), ("b", 1))
BAGS: Mapping[str, tuple[list[Message], str]] = {
    "gripper": ([FINGER, *map(state, ALL)], "states of others left out: finger"),
    "two drivers": ([state(i, (j,)) for i in ALL for j in (1, 0)], "400 samples every 4 ms"),
    "no rates": ([state(i, qd=NONE) for i in ALL], "400 samples"),
    "rates not measured": ([state(i, qd=NAN) for i in ALL], "400 samples"),
    "no stamps": ([state(i, stamp=0) for i in ALL], "times of receipt count"),
    "out of order": ([state(i + (i == 300) - (i == 301)) for i in ALL], "1 rows came late"),
    "twice": ([state(i - i // 200) for i in range(COUNT + 2)], "2 rows have the stamp of one"),
    "reset": ([*map(state, range(150, 390)), *map(state, ALL)], "run 2 is read"),
    "two robots": ([state(i, topic=f"/{side}/joint_states", effort=EFFORT[i] * scale)
                    for i in ALL for side, scale in SIDES], "joint states of /b/joint_states"),
    "robot by prefix": ([state(i, prefix=f"{side}_", effort=EFFORT[i] * scale) for i in ALL
                         for side, scale in SIDES], "a_boom"),
    "commands": ([each for i in ALL for each in (state(i, effort=NONE), commands(i))],
                 "boom, effort/stick have stamps of their own: eff"),
}  # fmt: skip
CHOICES = {"two robots": Choice(topic="/b/joint_states"), "robot by prefix": Choice(names="b_")}


def check_same(log: Log, close: float = 0.0) -> None:
    np.testing.assert_allclose(log.time, TIME, rtol=0.0, atol=max(close, 1e-12))
    np.testing.assert_allclose(log.q, Q, rtol=0.0, atol=close)
    np.testing.assert_allclose(log.effort, EFFORT, rtol=0.0, atol=close)


@pytest.mark.parametrize("name", BAGS)
def test_bags_of_the_same_motion_are_the_same_log(name: str, tmp_path: Path) -> None:
    path, choice = bag(tmp_path / "b", BAGS[name][0]), CHOICES.get(name, Choice())
    log = read_log(path, JOINTS, MAPPED if name == "commands" else {}, HINGES, choice)
    check_same(log)
    assert BAGS[name][1] in " ".join(log.notes) and log.passive == ()
    assert log.qd is None if "rates" in name else np.array_equal(log.qd, QD)


def text(cells: Iterable[Sequence[object]], head: str, by: str = ",", comma: str = ".") -> bytes:
    rows = (by.join(str(cell).replace(".", comma) for cell in row) for row in cells)
    return "\n".join([*([head] if head else []), *rows, ""]).encode()


@given(late=st.integers(0, 90), seed=st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_late_messages_and_split_ones_make_the_same_log(
    late: int, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Late by up to 90 messages, of the 99.75 that the window has; each may be two, by joints."""
    random, rows = Random(seed), list[Sequence[object]]()
    for i in sorted(range(COUNT), key=lambda i: i + random.uniform(0, late)):
        for joints in random.choice([[[0, 1]], [[1, 0]], [[0], [1]], [[1], [0]]]):
            stamp, names, *parts = state(i, joints)[3]
            rows.append([*divmod(stamp, 10**9), "", *names, *(x for part in parts for x in part)])
    path = tmp_path_factory.getbasetemp() / "late.csv"
    path.write_bytes(text(rows, ""))
    check_same(read_log(path, JOINTS, {}, HINGES))


def test_a_second_driver_with_stamps_of_its_own_is_interpolated(tmp_path: Path) -> None:
    """1.3 ms later it states where its joint is then: a cubic spline leaves 5 (7 h)^4 / 384."""
    later = 0.2 + 0.4 * np.cos(7.0 * (TIME + 1.3e-3))
    own = [state(i, (1,), STAMPS[i] + 1_300_000, q=later[[i]]) for i in range(COUNT)]
    messages = [each for i in range(COUNT) for each in (state(i, (0,)), own[i])]
    log = read_log(bag(tmp_path / "b", messages), JOINTS, {}, HINGES)
    assert "q/stick, qd/stick, effort/stick have stamps of their own" in " ".join(log.notes)
    np.testing.assert_allclose(log.q[3:-3], Q[4:-3], rtol=0.0, atol=1e-8)
    np.testing.assert_array_equal(log.effort, EFFORT[1:])


ROWS = [*zip(TIME, *Q.T, *EFFORT.T)]
LATE = [(t, *row[1:]) for t, row in zip(STAMPS, ROWS)]
SECONDS = [(f"{t // 10**9}.{t % 10**9:09}", *row[1:]) for t, row in zip(STAMPS, ROWS)]
HEAD, COMMANDS = "t,q_boom,q_stick,tau_boom,tau_stick", "/effort_crane/commands/data"
DEGREES = [(t, *np.degrees(r[:2]), *r[2:]) for t, *r in LATE]
ECHO = [(*divmod(t, 10**9), "", "stick", "boom", b, a, "", d, c) for t, a, b, c, d in LATE]
APART = [each for t, a, b, *more in SECONDS
         for each in ((t, a, b, "", "", ""), (f"{t}5", "", "", *more, 1))]  # fmt: skip
TEXTS = {
    "times since 1970 in s": text(SECONDS, HEAD), "times since 1970 in ns": text(LATE, HEAD),
    "decimal comma, units in a line": text(
        DEGREES, "Logger 7\nZeit t;q1;q2;M1 torque;M2 torque\n[ns];[deg];[deg];Nm;Nm", ";", ","),
    "decimal comma and blanks": text(ROWS, "# t q1 q2 tau1 tau2", " ", ","),
    "ros2 topic echo --csv": text(ECHO, ""),
    "PlotJuggler": text(APART, "__time,/joint_states/boom/position,/joint_states/stick/position,"
                               f"{COMMANDS}[0],{COMMANDS}[1],bus"),
    "pandas": text([(i, str(np.datetime64(t, "ns")).replace("T", " "), *r, "arm")
                    for i, (t, *r) in enumerate(LATE)], f",{HEAD},name"),
    "stamps": text([(*divmod(t, 10**9), *r) for t, *r in LATE], "a.sec,a.nanosec,q1,q2,u1,u2"),
    "wanted": text([(*r, *r[1:]) for r in ROWS], "t,q1,q2,u1,u2,q1_ref,q2_ref,cmd_u1,cmd_u2"),
    "strokes": text([(1e3 * t, *r) for t, *r in ROWS], "t/ms,boomAngle/rad,q/rad,u1/Nm,u2/Nm"),
    "cut": text(ROWS, HEAD) + b"1.6,0.1",
    "scaled": text([(*r[:3], r[3] / 11.5, -4 * r[4]) for r in ROWS], "t,q1,q2,I1 [A],I2 [counts]"),
}  # fmt: skip
SCALED = {"effort/boom": "11.5*I1 [A]", "effort/stick": "-.25*I2 [counts]"}
UNUSED = {"PlotJuggler": "bus", "pandas": "name"}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_the_same_motion_are_the_same_log(name: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(TEXTS[name])
    log = read_log(tmp_path / "log.csv", JOINTS, SCALED if name == "scaled" else {}, HINGES)
    check_same(log, 1e-14)
    assert UNUSED.get(name, "") in " ".join(log.notes).partition("not used")[2]


def save(path: Path) -> None:
    if path.suffix == ".mat":
        words = np.array(JOINTS, object)
        log = {"time": TIME, "q": Q.T, "tau": EFFORT.T}
        import_module("scipy.io").savemat(path, {"log": log, "joints": words})
        return
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    stamps = pyarrow.array(STAMPS, pyarrow.timestamp("ns"))
    columns = dict(zip(HEAD.split(","), [stamps, *Q.T, *EFFORT.T]), name=["arm"] * COUNT)
    import_module("pyarrow.parquet").write_table(pyarrow.table(columns), path)


ARRAYS = {"q": Q, "tau": EFFORT, "joints": JOINTS}
FILES: Mapping[str, Callable[[Path], object]] = {
    "whole.npz": lambda path: np.savez(path, time=np.array(STAMPS, np.uint64), **ARRAYS),
    "floats_since_1970.npz": lambda path: np.savez(path, time=EPOCH / 1e9 + TIME, **ARRAYS),
    **dict.fromkeys(("a.mat", "a.parquet"), save),
}


@pytest.mark.parametrize("name", FILES)
def test_arrays_of_the_same_motion_are_the_same_log(name: str, tmp_path: Path) -> None:
    """Floats of times since 1970 are off by 0.12 us each, less over all rows."""
    FILES[name](tmp_path / name)
    log = read_log(tmp_path / name, JOINTS, {}, HINGES)
    check_same(log, 1e-7 if "floats" in name else 0.0)
    assert np.ptp(np.diff(log.time)) < 1e-12


def test_an_angle_wrapped_to_a_turn_is_unwrapped_where_the_joint_turns(tmp_path: Path) -> None:
    rows = [(r[0], 11.0 * r[0] % (2.0 * np.pi), *r[2:]) for r in ROWS]
    (tmp_path / "log.csv").write_bytes(text(rows, HEAD))
    log = read_log(tmp_path / "log.csv", JOINTS, {}, HINGES)
    np.testing.assert_allclose(log.q[:, 0], 11.0 * TIME, rtol=0.0, atol=1e-13)
    assert "boom was wrapped to a turn: unwrapped at 2 jumps" in log.notes
    assert np.ptp(read_log(tmp_path / "log.csv", JOINTS, {}, {"stick": np.inf}).q[:, 0]) < 6.3


def test_a_joint_at_rest_is_recorded_and_a_swing_is_passive(tmp_path: Path) -> None:
    """Zeros of a joint are numbers; efforts that all are 0 may be measured by nobody."""
    still = [state(i, q=Q[i] * (0, 1), effort=EFFORT[i] * (0, 1)) for i in range(COUNT)]
    log = read_log(bag(tmp_path / "still", still), JOINTS, {})
    assert not log.q[:, 0].any() and log.passive == ("boom",)
    zero = bag(tmp_path / "zero", [state(i, effort=np.zeros(2)) for i in range(COUNT)])
    with pytest.raises(AccordError, match="efforts are all zero: this publisher does not measure"):
        read_log(zero, JOINTS, {})
    (tmp_path / "log.csv").write_bytes(text([r[:3] for r in ROWS], "t,q1,q2"))
    for path in (zero, tmp_path / "log.csv"):
        assert read_log(path, JOINTS, {}, choice=Choice(passive=True)).passive == JOINTS


POSE = ",base_pos_x,base_pos_y,base_pos_z"
CURRENT = text(ROWS, "t,q1,q2,tau_boom [mA],tau_stick [Nm]")
MOVING = text([(*r, r[0] / 2, 3, -r[0]) for r in ROWS], HEAD + POSE)
REFUSED: Mapping[str, tuple[bytes, Mapping[str, Any]]] = {
    "no efforts among t, q1, q2: --map .*, or --pass": (text([r[:3] for r in ROWS], "t,q1,q2"), {}),
    "the base moves 1.78 m, and base/qx, .* are not": (MOVING, {}),
    r"tau_boom \[mA\] is in mA: --map 'effort/boom=FACTOR": (CURRENT, {}),
    "current_1 is in A": (text(ROWS, "t,q1,q2,current_1,current_2"), {}),
    "tau_boom_mA is in mA": (text(ROWS, "t,q1,q2,tau_boom_mA,tau_stick_mA"), {}),
    "tau_boom_A is in A": (text(ROWS, "t,q1,q2,tau_boom_A,tau_stick_A"), {}),
    "boom: positions in degrees beside rates in radians": (
        text([(*r, *v) for r, v in zip(ROWS, np.radians(QD))], f"{HEAD},qd1,qd2"), {}),
    "--run 2: there are 1 runs": (text(ROWS, HEAD), {"run": 2}),
    "--topic /a: .* is no bag": (text(ROWS, HEAD), {"topic": "/a"}),
    "row 6 has 4 columns, the header 5": (text([*ROWS[:4], ROWS[4][:4], *ROWS[5:]], HEAD), {}),
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_judged_is_refused_with_the_cure(words: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(REFUSED[words][0])
    with pytest.raises(AccordError, match=words):
        read_log(tmp_path / "log.csv", JOINTS, {}, HINGES, Choice(**REFUSED[words][1]))


def test_what_may_be_asked_for_is_named_and_current_is_read_as_a_hypothesis(tmp_path: Path) -> None:
    path = bag(tmp_path / "b", BAGS["commands"][0])
    with pytest.raises(AccordError, match=r"--map effort/boom=/crane/commands\[0\]"):
        read_log(path, JOINTS, {})
    with pytest.raises(
        AccordError, match="no hip among boom, stick of /joint_states: --names PREF"
    ):
        read_log(path, ("hip",), {})
    (tmp_path / "log.csv").write_bytes(CURRENT)
    log = read_log(tmp_path / "log.csv", JOINTS, {}, choice=Choice(effort="current"))
    assert log.effort_units == {"boom": "mA", "stick": "Nm"}
    check_same(log, 1e-14)


def test_a_file_of_actuators_makes_torques_of_currents(tmp_path: Path) -> None:
    """The effort of a drive in mA times kt, gear and efficiency; and a rate in rpm is named."""
    rate = 30.0 / np.pi * QD
    rows = [(*r[:3], 1e3 * r[3] / 11.1, r[4] / 2.0, *v) for r, v in zip(ROWS, rate)]
    data = text(rows, "t,q1,q2,tau_boom [mA],tau_stick [Nm],qd1,qd2")
    (tmp_path / "log.csv").write_bytes(data)
    drives = tmp_path / "drives.yaml"
    drives.write_text("boom: {kt: 0.15, gear: 100, efficiency: 0.74}\nstick: {gear: 2}\n", "utf-8")
    factors = read_actuators(drives, JOINTS)
    log = read_log(tmp_path / "log.csv", JOINTS, {}, choice=Choice(factors=factors))
    assert log.effort == pytest.approx(EFFORT, rel=1e-12)
    assert sum("in rpm by d(position)/dt" in note for note in log.notes) == 2
    for wrong, words in {
        "elbow: {kt: 1}": "unknown joint", "boom: {ratio: 2}": "unknown field",
        "boom: {kt: 0}": "kt is no number above 0", "boom: 3": "not JOINT", "[": "not JOINT",
    }.items():  # fmt: skip
        drives.write_text(wrong, "utf-8")
        with pytest.raises(AccordError, match=words):
            read_actuators(drives, JOINTS)
