"""The codecs against rosbags and rclpy, which know the message formats independently."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from roboaccord import cdr
from roboaccord.bag.contact_markers import read_arrows
from roboaccord.contract.checks import tick_time
from roboaccord.contract.contact import ContactPoint
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.description.solids import Surface
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
COUNTS = (0, 1, 2, 7, 21)  # even and odd, because alignment differs
finite = st.floats(allow_nan=False, width=64)
times = st.integers(0, 10**13).map(lambda ns: ns / 1e9)


def names(count: int) -> list[str]:
    return [f"joint_{i:02d}" for i in range(1, count + 1)]


def random_state(count: int, time: float = 1.234) -> RobotState:
    rng = np.random.default_rng(count)
    return RobotState(
        time, *rng.normal(size=(3, count)), rng.normal(size=3), rng.normal(size=4),
        rng.normal(size=6),
    )  # fmt: skip


def message(kind: str, *fields: Any) -> Any:
    return STORE.types[kind](*fields)


def header(time: float, frame: str = "") -> Any:
    moment = message("builtin_interfaces/msg/Time", *cdr.stamp(time))
    return message("std_msgs/msg/Header", moment, frame)


def raw(made: Any) -> bytes:
    return bytes(STORE.serialize_cdr(made, made.__msgtype__))


def joint_state(state: RobotState, joints: list[str], frame: str = "") -> Any:
    fields = (header(state.time, frame), joints, state.q, state.qd, state.effort)
    return message("sensor_msgs/msg/JointState", *fields)


def joint_trajectory(time: float, joints: list[str], *efforts: Any) -> Any:
    none = np.zeros(0)
    zero = message("builtin_interfaces/msg/Duration", 0, 0)
    points = [
        message("trajectory_msgs/msg/JointTrajectoryPoint", none, none, none, effort, zero)
        for effort in efforts
    ]
    return message("trajectory_msgs/msg/JointTrajectory", header(time), joints, points)


def odometry(state: RobotState, frame: str, child: str) -> Any:
    point = message("geometry_msgs/msg/Point", *state.position)
    turn = message("geometry_msgs/msg/Quaternion", *state.orientation)
    linear = message("geometry_msgs/msg/Vector3", *state.twist[:3])
    angular = message("geometry_msgs/msg/Vector3", *state.twist[3:])
    pose = message("geometry_msgs/msg/Pose", point, turn)
    twist = message("geometry_msgs/msg/Twist", linear, angular)
    return message(
        "nav_msgs/msg/Odometry",
        header(state.time, frame),
        child,
        message("geometry_msgs/msg/PoseWithCovariance", pose, np.zeros(36)),
        message("geometry_msgs/msg/TwistWithCovariance", twist, np.zeros(36)),
    )


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("frame", ["", "world"])
def test_joint_state_bytes_are_those_of_rosbags(count: int, frame: str) -> None:
    state = random_state(count)
    made = cdr.JointStateCodec(names(count), frame).encode(state)
    assert made == raw(joint_state(state, names(count), frame))


@pytest.mark.parametrize("count", COUNTS)
def test_joint_trajectory_bytes_are_those_of_rosbags(count: int) -> None:
    effort = random_state(count).effort
    made = cdr.EffortCodec(names(count)).encode(1.234, effort)
    assert made == raw(joint_trajectory(1.234, names(count), effort))


@pytest.mark.parametrize("frames", [("odom", "base_link"), ("a", "bc"), ("", "")])
def test_odometry_bytes_are_those_of_rosbags(frames: tuple[str, str]) -> None:
    state = random_state(3)
    assert cdr.OdometryCodec(*frames).encode(state) == raw(odometry(state, *frames))


def test_small_message_bytes_are_those_of_rosbags() -> None:
    moment = message("builtin_interfaces/msg/Time", *cdr.stamp(2.5))
    assert cdr.encode_clock(2.5) == raw(message("rosgraph_msgs/msg/Clock", moment))
    assert cdr.encode_string("a µ") == raw(message("std_msgs/msg/String", "a µ"))
    assert cdr.encode_bool(True) == raw(message("std_msgs/msg/Bool", True))
    linear = message("geometry_msgs/msg/Vector3", 1.0, 2.0, 3.0)
    angular = message("geometry_msgs/msg/Vector3", 4.0, 5.0, 6.0)
    six = np.arange(1.0, 7.0)
    wrench = message("geometry_msgs/msg/Wrench", linear, angular)
    stamped = message("geometry_msgs/msg/WrenchStamped", header(2.5, "odom"), wrench)
    assert cdr.encode_wrench(2.5, six) == raw(stamped)


def test_event_bytes_are_those_of_rosbags() -> None:
    event = Event(1.5, "impact", "link_1-ground", 0.1)
    value = message("diagnostic_msgs/msg/KeyValue", "impulse", "0.1")
    fields = (0, "impact", "link_1-ground", "snake", [value])
    status = message("diagnostic_msgs/msg/DiagnosticStatus", *fields)
    array = message("diagnostic_msgs/msg/DiagnosticArray", header(1.5), [status])
    assert cdr.encode_events([event], "snake") == raw(array)
    assert cdr.decode_events(raw(array)) == [event]


def test_events_of_a_step_share_a_message() -> None:
    """A status of another time than the message's shows it, in a value that others can read."""
    events = [Event(1.5, "a", "x", 0.1), Event(1.5, "b", "y"), Event(2.000000007, "c", "z", 3.0)]
    data = cdr.encode_events(events, "snake")
    assert cdr.decode_events(data) == events
    found = STORE.deserialize_cdr(data, "diagnostic_msgs/msg/DiagnosticArray")
    times = [[v.value for v in status.values if v.key == "time"] for status in found.status]
    assert times == [[], [], ["2.000000007"]]


def marker(number: int, kind: int, action: int, **given: Any) -> Any:
    """Make a marker in the frame odom at 2.5 s, its fields in the order of the definition."""
    rgba = message("std_msgs/msg/ColorRGBA", *given.get("rgba", (0.0,) * 4))
    points = [message("geometry_msgs/msg/Point", *p) for p in given.get("points", ())]
    point = message("geometry_msgs/msg/Point", *given.get("at", (0.0,) * 3))
    turn = message("geometry_msgs/msg/Quaternion", 0.0, 0.0, 0.0, 1.0)
    scale = message("geometry_msgs/msg/Vector3", *given.get("scale", (0.0,) * 3))
    empty = np.zeros(0, np.uint8)
    texture = message("sensor_msgs/msg/CompressedImage", header(0.0), "", empty)
    return message(
        "visualization_msgs/msg/Marker",
        header(given.get("time", 2.5), "odom"), given.get("ns", "contacts"), number, kind, action,
        message("geometry_msgs/msg/Pose", point, turn), scale, rgba,
        message("builtin_interfaces/msg/Duration", 0, 0), False, points, [],
        "", texture, [], "", "", message("visualization_msgs/msg/MeshFile", "", empty), False,
    )  # fmt: skip


def test_contacts_are_markers_that_replace_all_before() -> None:
    """50 N make an arrow of 10 cm; one without force has 3 cm, the largest 50 cm."""
    at, normal = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.6, 0.8])
    touch = [ContactPoint(("a", "b"), at, normal, force, 1e-4) for force in (50.0, 0.0, 1e9)]
    markers = [marker(0, 0, 3)]
    lengths = 0.1, 0.03, 0.5
    for i, length in enumerate(lengths):
        ball, arrow = (0.012, 0.012, 0.012), (0.006, 0.014, 0.02)
        markers += [
            marker(2 * i, 2, 0, at=at, scale=ball, rgba=(0.9, 0.1, 0.1, 1.0)),
            marker(2 * i + 1, 0, 0, points=[at, at + length * normal], scale=arrow,
                   rgba=(1.0, 0.6, 0.0, 1.0)),
        ]  # fmt: skip
    for count in (0, 1, 3):
        array = message("visualization_msgs/msg/MarkerArray", markers[: 1 + 2 * count])
        assert cdr.encode_contacts(2.5, touch[:count]) == raw(array)
        seen, (arrows,) = read_arrows([raw(array)])
        assert seen.tolist() == [2.5]
        ends = [[at, at + length * normal] for length in lengths[:count]]
        assert np.array_equal(arrows, np.reshape(ends, (-1, 2, 3)))


def test_surfaces_are_lists_of_triangles() -> None:
    """A square is two triangles, counter-clockwise as its corners are."""
    square = np.array([[0.0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]])
    triangles = marker(
        0, 11, 0, time=0.0, ns="ground", scale=(1.0, 1.0, 1.0), rgba=(0.5, 0.25, 1.0, 1.0),
        points=square[[0, 1, 2, 0, 2, 3]],
    )  # fmt: skip
    surface = Surface("ground", square, ((0, 1, 2, 3),), np.array([0.5, 0.25, 1.0]))
    array = message("visualization_msgs/msg/MarkerArray", [triangles])
    assert cdr.encode_surfaces([surface]) == raw(array)


@given(time=times, values=st.lists(st.tuples(finite, finite, finite), max_size=9))
def test_states_survive_exactly(time: float, values: list[tuple[float, float, float]]) -> None:
    q, qd, effort = np.array(values, dtype=float).reshape(-1, 3).T.copy()
    codec = cdr.JointStateCodec(names(len(values)))
    got = codec.decode(codec.encode(RobotState(time, q, qd, effort)))
    assert got[0] == time
    for mine, sent in zip(got[1:], (q, qd, effort), strict=True):
        assert mine.tobytes() == sent.tobytes()


@given(time=times, values=st.lists(finite, min_size=13, max_size=13))
def test_base_survives_exactly(time: float, values: list[float]) -> None:
    numbers, none = np.array(values), np.zeros(0)
    base = (numbers[:3], numbers[3:7], numbers[7:])
    codec = cdr.OdometryCodec()
    got = codec.decode(codec.encode(RobotState(time, none, none, none, *base)))
    assert got[0] == time
    assert np.concatenate(got[1:]).tobytes() == numbers.tobytes()


@given(time=times, kind=st.text("abc_ é"), impulse=finite)
def test_events_strings_and_clocks_survive_exactly(time: float, kind: str, impulse: float) -> None:
    event = Event(time, kind, kind + "x", impulse)
    assert cdr.decode_events(cdr.encode_events([event, event], "robot")) == [event, event]
    assert cdr.decode_string(cdr.encode_string(kind)) == kind
    assert cdr.CdrReader(cdr.encode_clock(time), "Clock").time() == time


@given(tick=st.integers(0, 10**8), period_ns=st.integers(1, 10**9))
def test_tick_times_survive_exactly(tick: int, period_ns: int) -> None:
    time = tick_time(tick % (10**15 // period_ns), period_ns)
    assert cdr.unstamp(*cdr.stamp(time)) == time


@pytest.mark.parametrize("count", [0, 5])
@given(order=st.permutations(range(5)), frame=st.sampled_from(["", "map"]))
def test_foreign_order_is_sorted_by_name(order: list[int], frame: str, count: int) -> None:
    """Of five joints in any order, all or none are the robot's."""
    state, joints = random_state(5), names(5)
    mixed = RobotState(1.0, state.q[order], state.qd[order], state.effort[order])
    shuffled = [joints[i] for i in order]
    codec, message = cdr.JointStateCodec(joints[:count]), raw(joint_state(mixed, shuffled, frame))
    for got in (codec.decode(message), codec.decode(message)):  # the second knows the layout
        for mine, sent in zip(got[1:], (state.q, state.qd, state.effort), strict=True):
            np.testing.assert_array_equal(mine, sent[:count])
    command = raw(joint_trajectory(1.0, shuffled, state.effort[order]))
    np.testing.assert_array_equal(cdr.EffortCodec(joints).decode(command)[1], state.effort)


def test_padding_and_what_follows_a_message_may_hold_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fill the padding as other writers do, and see that the fast path takes the message."""
    joints = ["a", "bcd", "ef"]
    state = random_state(3)
    codec, efforts = cdr.JointStateCodec(joints), cdr.EffortCodec(joints)
    monkeypatch.setattr(codec, "_decode_by_item", None)
    monkeypatch.setattr(efforts, "_decode_by_item", None)
    zeros = codec.encode(state)
    filled = bytearray(zeros)
    filled[17:20] = b"xyz"  # behind the frame, whose length is at 12 and whose end is at 16
    filled[30:32] = b"xy"  # behind the name "a" at 28
    got = codec.decode(bytes(filled) + b"tail")
    np.testing.assert_array_equal(got[3], state.effort)
    command = bytearray(efforts.encode(1.0, state.effort))
    command[17:20] = b"xyz"
    np.testing.assert_array_equal(efforts.decode(bytes(command) + b"t")[1], state.effort)


def test_foreign_odometry_frames_are_accepted() -> None:
    state = random_state(3)
    got = cdr.OdometryCodec().decode(raw(odometry(state, "world", "chassis")))
    np.testing.assert_array_equal(got[1], state.position)
    np.testing.assert_array_equal(got[3], state.twist)


def test_decoded_arrays_are_writable_copies() -> None:
    codec = cdr.JointStateCodec(names(3))
    data = codec.encode(random_state(3))
    first = codec.decode(data)[1]
    first[:] = 7.0
    np.testing.assert_array_equal(codec.decode(data)[1], random_state(3).q)


def test_nan_efforts_pass_for_the_loop_to_refuse() -> None:
    codec = cdr.EffortCodec(names(2))
    assert math.isnan(codec.decode(codec.encode(0.0, np.array([math.nan, 1.0])))[1][0])


def test_wrong_joint_states_name_the_joint() -> None:
    joints, state = names(21), random_state(21)
    codec = cdr.JointStateCodec(joints)
    short = RobotState(0.0, state.q[:20], state.qd[:20], state.effort[:20])
    with pytest.raises(AccordError, match=r"^joint_21 is missing in a JointState$"):
        codec.decode(raw(joint_state(short, joints[:20])))
    uneven = RobotState(0.0, state.q, state.qd[:0], state.effort)
    with pytest.raises(AccordError, match="joint_01 has no velocity"):
        codec.decode(raw(joint_state(uneven, joints)))
    swapped = RobotState(0.0, state.q, state.qd[:20], np.zeros(22))
    with pytest.raises(AccordError, match="joint_21 has no velocity"):
        codec.decode(raw(joint_state(swapped, joints)))
    with pytest.raises(AccordError, match="cut off"):
        codec.decode(codec.encode(state)[:-9])
    with pytest.raises(AccordError, match="little-endian"):
        codec.decode(b"\0\0" + codec.encode(state)[2:])


def test_wrong_commands_name_the_joint() -> None:
    joints, codec = names(3), cdr.EffortCodec(names(3))
    zeros = np.zeros(3)
    cases = {
        "joint_03 is missing": joint_trajectory(0.0, joints[:2], zeros[:2]),
        "joint_04 in a JointTrajectory is not a joint": joint_trajectory(0.0, names(4), np.ones(4)),
        "0 points for joint_01": joint_trajectory(0.0, joints),
        "2 points": joint_trajectory(0.0, joints, zeros, zeros),
        "joint_02 has no effort": joint_trajectory(0.0, joints, zeros[:1]),
        "1 effort values too many after joint_03": joint_trajectory(0.0, joints, np.zeros(4)),
    }
    for text, wrong in cases.items():
        with pytest.raises(AccordError, match=text) as caught:
            codec.decode(raw(wrong))
        assert "\n" not in str(caught.value)
