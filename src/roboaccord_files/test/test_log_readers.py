"""Logs as robots and people write them: one motion, written in many ways, is read as the same."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from roboaccord.contract.errors import AccordError
from roboaccord_files.logs.log import Choice, Log, read_log

JOINTS = ("boom", "stick")
COUNT, PERIOD = 400, 4_000_000  # samples, and between them [ns]
EPOCH = 1_699_999_999_123_456_789  # ns
TIME = 4e-3 * np.arange(COUNT)
Q = np.column_stack([0.7 * np.sin(9.0 * TIME), 0.2 + 0.4 * np.cos(7.0 * TIME)])
QD = np.column_stack([6.3 * np.cos(9.0 * TIME), -2.8 * np.sin(7.0 * TIME)])
EFFORT = np.column_stack([3.0 * np.cos(5.0 * TIME), 0.5 * np.sin(TIME) - 2.0])
HINGES = dict.fromkeys(JOINTS, np.inf)
Message = tuple[str, str, int, Any]
STATE, NUMBERS = "sensor_msgs/msg/JointState", "std_msgs/msg/Float64MultiArray"


def state(i: int, joints: Sequence[int] = (0, 1), stamp: int | None = None, **more: Any) -> Message:
    """Return the joint state of a sample, of some joints, as it came at that time."""
    names = [more.get("prefix", "") + JOINTS[j] for j in joints]
    parts = [more.get(kind, each[i, [*joints]]) for kind, each in PARTS.items()]
    came = EPOCH + i * PERIOD
    stamp = came if stamp is None else stamp
    return more.get("topic", "/joint_states"), STATE, came, (stamp, names, *parts)


PARTS = {"q": Q, "qd": QD, "effort": EFFORT}
NAN, NONE = np.full(2, np.nan), np.zeros(0)


def commands(i: int) -> Message:
    return "/crane/commands", NUMBERS, EPOCH + i * PERIOD + 900_000, EFFORT[i]


def bag(path: Path, messages: Iterable[Message]) -> Path:
    """Write messages as rosbag2 does."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    types: Mapping[str, Callable[..., Any]] = store.types
    known = dict[str, Any]()
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for topic, kind, came, data in messages:
            if topic not in known:
                known[topic] = writer.add_connection(topic, kind, typestore=store)
            if kind == STATE:
                stamp, names, *parts = data
                time = types["builtin_interfaces/msg/Time"](*divmod(stamp, 1_000_000_000))
                made = types[kind](types["std_msgs/msg/Header"](time, ""), names, *parts)
            else:
                made = types[kind](types["std_msgs/msg/MultiArrayLayout"]([], 0), data)
            writer.write(known[topic], came, store.serialize_cdr(made, kind))
    return path


FINGER = ("/joint_states", STATE, EPOCH + 5, (EPOCH + 5, ["finger"], *np.ones((3, 1))))
SWAPPED = [*range(300), 301, 300, *range(302, COUNT)]
MAPPED = {f"effort/{joint}": f"/crane/commands[{j}]" for j, joint in enumerate(JOINTS)}
BAGS: Mapping[str, tuple[list[Message], str]] = {
    "as it is": ([state(i) for i in range(COUNT)], "400 samples every 4 ms"),
    "gripper": ([FINGER, *map(state, range(COUNT))], "states of others left out: finger"),
    "two drivers": ([state(i, (j,)) for i in range(COUNT) for j in (1, 0)], "400 samples"),
    "no rates": ([state(i, qd=NONE) for i in range(COUNT)], "400 samples"),
    "rates not measured": ([state(i, qd=NAN) for i in range(COUNT)], "400 samples"),
    "no stamps": ([state(i, stamp=0) for i in range(COUNT)], "times of receipt count"),
    "out of order": ([state(i) for i in SWAPPED], "1 rows came late"),
    "twice": ([state(i - i // 200) for i in range(COUNT + 2)], "2 rows have the stamp of one"),
    "reset": ([*map(state, range(150, 390)), *map(state, range(COUNT))], "run 2 is read"),
    "two robots": ([state(i, topic=f"/{side}/joint_states", effort=EFFORT[i] * scale)
                    for i in range(COUNT) for side, scale in (("b", 1), ("a", 2))],
                   "joint states of /b/joint_states"),
    "robot by prefix": ([state(i, prefix=side, effort=EFFORT[i] * scale) for i in range(COUNT)
                         for side, scale in (("left_", 2), ("right_", 1))], "left_boom"),
    "commands": ([each for i in range(COUNT) for each in (state(i, effort=NONE), commands(i))],
                 "those in force in the middle of each step"),
}  # fmt: skip
CHOICES = {"two robots": Choice(topic="/b/joint_states"), "robot by prefix": Choice(names="right_")}


def check_same(log: Log, close: float = 0.0) -> None:
    np.testing.assert_allclose(log.time, TIME, rtol=0.0, atol=max(close, 1e-12))
    np.testing.assert_allclose(log.q, Q, rtol=0.0, atol=close)
    np.testing.assert_allclose(log.effort, EFFORT, rtol=0.0, atol=close)


@pytest.mark.parametrize("name", BAGS)
def test_bags_of_the_same_motion_are_the_same_log(name: str, tmp_path: Path) -> None:
    messages, note = BAGS[name]
    columns = MAPPED if name == "commands" else {}
    log = read_log(
        bag(tmp_path / "b", messages), JOINTS, columns, HINGES, CHOICES.get(name, Choice())
    )
    check_same(log)
    assert note in " ".join(log.notes)
    assert log.qd is None if "rates" in name else np.array_equal(log.qd, QD)
    assert log.passive == ()


@given(late=st.integers(0, 90), seed=st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_late_messages_and_split_ones_make_the_same_log(
    late: int, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Late by up to 90 messages, of the 99.75 that the window has; each may be two, by joints."""
    random = Random(seed)
    places = sorted(range(COUNT), key=lambda i: i + random.uniform(0, late))
    rows = []
    for i in places:
        for joints in random.choice([[[0, 1]], [[1, 0]], [[0], [1]], [[1], [0]]]):
            stamp, names, *parts = state(i, joints)[3]
            rows.append([*divmod(stamp, 10**9), "", *names, *(x for part in parts for x in part)])
    path = tmp_path_factory.getbasetemp() / "late.csv"
    path.write_bytes(text(rows, ""))
    check_same(read_log(path, JOINTS, {}, HINGES))


def test_a_second_driver_with_stamps_of_its_own_is_interpolated(tmp_path: Path) -> None:
    """1.3 ms later it states where its joint is then: a cubic spline leaves (9 h)^4 / 384."""
    own = TIME + 1.3e-3
    later = np.column_stack([0.7 * np.sin(9.0 * own), 0.2 + 0.4 * np.cos(7.0 * own)])
    at = [EPOCH + i * PERIOD + 1_300_000 for i in range(COUNT)]
    messages = [m for i in range(COUNT)
                for m in (state(i, (0,)), state(i, (1,), at[i], q=later[i, [1]]))]  # fmt: skip
    log = read_log(bag(tmp_path / "b", messages), JOINTS, {}, HINGES)
    assert "positions of stick have stamps of their own" in " ".join(log.notes)
    np.testing.assert_allclose(log.q[2:-2], Q[3:-2], rtol=0.0, atol=1e-7)
    np.testing.assert_array_equal(log.effort, EFFORT[1:])


def text(
    cells: Iterable[Sequence[object]], head: str, separator: str = ",", comma: str = "."
) -> bytes:
    rows = (separator.join(str(cell).replace(".", comma) for cell in row) for row in cells)
    return "\n".join([*([head] if head else []), *rows, ""]).encode()


ROWS = [*zip(TIME, *Q.T, *EFFORT.T)]
SECONDS = [
    f"{(EPOCH + i * PERIOD) // 10**9}.{(EPOCH + i * PERIOD) % 10**9:09}" for i in range(COUNT)
]
LATE = [EPOCH + i * PERIOD for i in range(COUNT)]
HEAD = "t,q_boom,q_stick,tau_boom,tau_stick"
DEGREES = [(t, *np.degrees(r[1:3]), *r[3:]) for t, r in zip(LATE, ROWS)]
ECHO = [(*divmod(t, 10**9), "", "stick", "boom", *q[::-1], "", *e[::-1])
        for t, q, e in zip(LATE, Q, EFFORT)]  # fmt: skip
APART = sorted([*((t, *r[1:3], "", "", "") for t, r in zip(SECONDS, ROWS)),
                *((t[:-6] + f"{int(t[-6:]) + 1:06}", "", "", *r[3:], 1) for t, r in zip(SECONDS, ROWS))])  # fmt: skip
TEXTS = {
    "times since 1970 in s": text([(t, *r[1:]) for t, r in zip(SECONDS, ROWS)], HEAD),
    "times since 1970 in ns": text([(t, *r[1:]) for t, r in zip(LATE, ROWS)], HEAD),
    "decimal comma, units in a line": text(
        DEGREES, "Logger 7\nZeit t;q1;q2;M1 torque;M2 torque\n[ns];[deg];[deg];[Nm];[Nm]", ";", ","
    ),
    "decimal comma and blanks": text(ROWS, "# t q1 q2 tau1 tau2", " ", ","),
    "ros2 topic echo --csv": text(ECHO, ""),
    "PlotJuggler": text(APART, "__time,/joint_states/boom/position,/joint_states/stick/position,"
                        "/effort_crane/commands/data[0],/effort_crane/commands/data[1],/battery"),
    "pandas": text([(i, *r, "arm") for i, r in enumerate(ROWS)], f",{HEAD},name"),
    "whole stamps": text([(*divmod(t, 10**9), *r[1:]) for t, r in zip(LATE, ROWS)],
                         "header.stamp.sec,header.stamp.nanosec,q1,q2,tau1,tau2"),
    "wanted beside measured": text([(*r, *r[:2], 0) for r in ROWS], f"{HEAD},qd_ref,q_boom_ref,u_ref"),
    "units behind a stroke": text([(1e3 * r[0], *r[1:]) for r in ROWS],
                                  "t/ms,boom.angle/rad,stick.angle/rad,boom.M torque/Nm,stick.torque/Nm"),
    "cut": text(ROWS, HEAD) + b"1.6,0.1",
    "scaled currents": text([(*r[:3], r[3] / 11.5, -r[4] / 0.25) for r in ROWS],
                            "t,q1,q2,boom current [A],stick counts [counts]"),
}  # fmt: skip
SCALED = {"effort/boom": "11.5*boom current [A]", "effort/stick": "-.25*stick counts [counts]"}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_the_same_motion_are_the_same_log(name: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(TEXTS[name])
    log = read_log(tmp_path / "log.csv", JOINTS, SCALED if "scaled" in name else {}, HINGES)
    check_same(log, 1e-14)
    unused = {"PlotJuggler": "/battery", "pandas": "name"}.get(name, "")
    assert unused in " ".join(log.notes).partition("not used")[2]


def arrays(dtype: Any, start: Any = 0, unit: str = "s") -> dict[str, Any]:
    return {"time": np.asarray(start + TIME * 1.0, dtype), "q": Q, "tau": EFFORT, "joints": JOINTS}


def mat(path: Path) -> None:
    from scipy.io import savemat

    words = np.array(JOINTS, object)
    savemat(path, {"log": {"time": TIME, "q": Q.T, "tau": EFFORT.T}, "joints": words})


def parquet(path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    stamps = pyarrow.array(LATE, pyarrow.timestamp("ns"))
    columns = {"timestamp": stamps, **dict(zip(HEAD.split(",")[1:], [*Q.T, *EFFORT.T]))}
    parquet.write_table(pyarrow.table({**columns, "name": ["arm"] * COUNT}), path)


FILES: Mapping[str, Callable[[Path], object]] = {
    "whole.npz": lambda path: np.savez(
        path, **{**arrays(float), "time": np.array(LATE, np.uint64)}
    ),
    "floats_since_1970.npz": lambda path: np.savez(path, **arrays(float, EPOCH / 1e9)),
    "a.mat": mat,
    "a.parquet": parquet,
}


@pytest.mark.parametrize("name", FILES)
def test_arrays_of_the_same_motion_are_the_same_log(name: str, tmp_path: Path) -> None:
    """Floats of times since 1970 are off by 0.12 us each, less over all rows."""
    FILES[name](tmp_path / name)
    log = read_log(tmp_path / name, JOINTS, {}, HINGES)
    check_same(log, 1e-7 if "floats" in name else 0.0)
    assert np.ptp(np.diff(log.time)) < 1e-12


def test_an_angle_wrapped_to_a_turn_is_unwrapped(tmp_path: Path) -> None:
    turned = np.column_stack([TIME, 11.0 * TIME, *Q[:, 1:].T, *EFFORT.T])
    wrapped = turned.copy()
    wrapped[:, 1] = np.mod(turned[:, 1], 2.0 * np.pi)
    file = io.BytesIO()
    np.savetxt(file, wrapped, fmt="%.17g", delimiter=",", header=HEAD, comments="")
    (tmp_path / "log.csv").write_bytes(file.getvalue())
    log = read_log(tmp_path / "log.csv", JOINTS, {}, HINGES)
    np.testing.assert_allclose(log.q[:, 0], turned[:, 1], rtol=0.0, atol=1e-14)
    assert "boom was wrapped to a turn: unwrapped at 2 jumps" in log.notes
    sliding = read_log(tmp_path / "log.csv", JOINTS, {}, {"stick": np.inf})
    assert np.ptp(sliding.q[:, 0]) < 6.3


def test_a_joint_at_rest_is_recorded_and_a_swing_is_passive(tmp_path: Path) -> None:
    """Zeros of a joint are numbers; efforts that all are 0 may be measured by nobody."""
    still = [state(i, q=Q[i] * (0, 1), effort=EFFORT[i] * (0, 1)) for i in range(COUNT)]
    log = read_log(bag(tmp_path / "still", still), JOINTS, {})
    assert not log.q[:, 0].any() and log.passive == ("boom",)
    zero = bag(tmp_path / "zero", [state(i, effort=np.zeros(2)) for i in range(COUNT)])
    with pytest.raises(AccordError, match="efforts are all zero: this publisher does not measure"):
        read_log(zero, JOINTS, {})
    assert read_log(zero, JOINTS, {}, choice=Choice(passive=True)).passive == JOINTS
    (tmp_path / "log.csv").write_bytes(text([r[:3] for r in ROWS], "t,q1,q2"))
    with pytest.raises(AccordError, match="no efforts among t, q1, q2: --map .*, or --passive if"):
        read_log(tmp_path / "log.csv", JOINTS, {})
    assert read_log(tmp_path / "log.csv", JOINTS, {}, choice=Choice(passive=True)).passive == JOINTS


BASE = [(*r, 0.5 * r[0], 3.0, 2.0 - r[0], 1, 0, 0, 0) for r in ROWS]
POSE = ",base_pos_x,base_pos_y,base_pos_z,base_qw,base_qx,base_qy,base_qz"
REFUSED = {
    "the base moves 1.78 m": (text(BASE, HEAD + POSE), {}),
    "tau_boom \\[A\\] is in A, no effort: --map 'effort/boom=FACTOR": (
        text(ROWS, "t,q1,q2,tau_boom [A],tau_stick [A]"), {},
    ),
    "current_1 is in A": (text(ROWS, "t,q1,q2,current_1,current_2"), {}),
    "boom: positions in degrees beside rates in radians": (
        text([(*r[:1], *r[1:3], *r[3:], *v) for r, v in zip(ROWS, np.radians(QD))],
             f"{HEAD},qd1,qd2"),
        {},
    ),
    "--run 2: there are 1 runs": (text(ROWS, HEAD), {"run": 2}),
    "--topic /a: .* is no bag": (text(ROWS, HEAD), {"topic": "/a"}),
    "row 6 has 4 columns, the header 5": (text([*ROWS[:4], ROWS[4][:4], *ROWS[5:]], HEAD), {}),
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_judged_is_refused_with_the_cure(words: str, tmp_path: Path) -> None:
    data, choice = REFUSED[words]
    (tmp_path / "log.csv").write_bytes(data)
    with pytest.raises(AccordError, match=words):
        read_log(tmp_path / "log.csv", JOINTS, {}, HINGES, Choice(**choice))


def test_current_is_read_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(text(ROWS, "t,q1,q2,tau_boom [mA],tau_stick [Nm]"))
    log = read_log(tmp_path / "log.csv", JOINTS, {}, choice=Choice(effort="current"))
    assert log.measured == {"boom": "mA", "stick": "Nm"}
    check_same(log, 1e-14)


def test_a_bag_names_what_may_be_asked_for(tmp_path: Path) -> None:
    path = bag(tmp_path / "b", BAGS["commands"][0])
    with pytest.raises(AccordError, match=r"--map effort/boom=/crane/commands\[0\]"):
        read_log(path, JOINTS, {})
    with pytest.raises(
        AccordError, match="no hip among boom, stick of /joint_states: --names PREFIX"
    ):
        read_log(path, ("hip",), {})
