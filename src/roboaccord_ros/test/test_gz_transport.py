"""What the adapter reports of Gazebo's bindings that are missing, and of commands that are late."""

from __future__ import annotations

import importlib
import logging
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from roboaccord.contract.errors import AccordError, LockstepError
from roboaccord_ros.gazebo.link import Lateness, component_type
from roboaccord_ros.gazebo.transport import load


@pytest.mark.parametrize(
    ("module", "lacks", "message"),
    [
        ("gz.transport13", "gz", "ros-jazzy-gz-transport-vendor"),
        ("gz.msgs10.empty_pb2", "gz.msgs10", "ros-jazzy-gz-msgs-vendor"),
        ("gz.msgs10.empty_pb2", "google", "python3-protobuf"),
        ("gz.msgs10.empty_pb2", "google.protobuf", "python3-protobuf"),
    ],
)
def test_what_is_missing_is_called_by_its_name(module, lacks, message, monkeypatch):
    def fail(name):
        raise ModuleNotFoundError(f"No module named {lacks!r}", name=lacks)

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(AccordError, match=message) as caught:
        load(module)
    assert "\n" not in str(caught.value)


def test_messages_of_another_protobuf_are_named(monkeypatch):
    def fail(name):
        raise TypeError("Descriptors cannot be created directly.\nIf this call came from ...")

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(
        AccordError, match=r"gz\.msgs10\.empty_pb2 cannot be loaded: Descriptors can"
    ):
        load("gz.msgs10.empty_pb2")


def test_the_number_of_a_component_is_fnv_1a():
    """Of 64 bits; the offset basis is that of the empty text."""
    by_hand = 0xCBF29CE484222325
    for letter in "gz_sim_components.Name":
        by_hand = (by_hand ^ ord(letter)) * 1099511628211 % (1 << 64)
    assert component_type("Name") == by_hand


@pytest.fixture
def late(graph):
    """Make a watch over commands each millisecond, and tell it the time of the world."""
    watch = Lateness(graph.node("gz_adapter"), graph.run, 0.0005, 0.001, 200)

    def tell(now):
        watch._take(SimpleNamespace(clock=SimpleNamespace(sec=0, nanosec=round(1e9 * now))))

    return watch, tell


def test_late_commands_are_told_at_once_and_end_the_run_beyond_the_bound(late, caplog):
    watch, tell = late
    with caplog.at_level(logging.WARNING):
        for k in range(5):
            tell(0.004 + k * 0.001)
            watch.see(k * 0.001, k * 0.001)
        assert not caplog.records  # four periods, which the gaits bear
        assert watch.mean == 8.0  # physics steps
        for now in (0.111, 0.112, 0.150):
            tell(now)
            watch.see(0.1, 0.1)
        assert [record.args for record in caplog.records] == [(0.1, 11), (0.1, 50)]
    tell(0.301)
    with pytest.raises(LockstepError, match="201 control periods late, more than 200"):
        watch.see(0.1, 0.1)


def test_states_that_come_late_count_too(late):
    watch, _ = late
    with pytest.raises(LockstepError, match="300 control periods late"):
        watch.see(0.0, 0.3)


def test_where_the_world_waits_nothing_is_late(graph):
    watch = Lateness(graph.node("gz_adapter"), graph.run, 0.001, 0.001, 0)
    watch.see(0.0, 5.0)
    assert watch.mean == 5000.0
