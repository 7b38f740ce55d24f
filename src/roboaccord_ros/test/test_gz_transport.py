"""What is said of Gazebo's bindings that are missing, and the numbers of its components."""

from __future__ import annotations

import importlib

import pytest
from roboaccord.contract.errors import AccordError
from roboaccord_ros.gazebo.pauses import component_type
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
