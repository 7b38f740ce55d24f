"""Playback of a bag in constant memory: states and events, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from roboaccord.bag import topics as names
from roboaccord.bag.folder import bag_files
from roboaccord.bag.foreign import scan_of
from roboaccord.bag.records import McapScan
from roboaccord.cdr import JointStateCodec, OdometryCodec, decode_events
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Observer
from roboaccord.contract.state import RobotState
from roboaccord.scenario.setup import Setup


def play(bag: Path, setup: Setup, observer: Observer) -> None:
    """Tell an observer of what a bag of one robot holds, in the order in which it was recorded.

    Joint states and odometry of one stamp make a state, whichever comes first; a state without its
    other half is left out. Switches are as at the start.

    Raises:
        AccordError: if it is no bag, or is damaged.
    """
    for file in bag_files(bag):
        scan = scan_of(file)
        _play(scan, setup, observer)
        if scan.damage and not scan.whole:
            raise AccordError(f"{scan.path} is damaged {scan.damage}")


def _play(scan: McapScan, setup: Setup, observer: Observer) -> None:
    states, odometry, events = (
        f"/{setup.robot.name}/{name}" for name in (names.STATES, names.ODOMETRY, names.EVENTS)
    )
    decode: dict[str, Callable[[bytes], Any]] = {
        states: JointStateCodec(setup.joints).decode,
        odometry: OdometryCodec().decode,
    }
    halves: dict[str, dict[float, Any]] = {states: {}, odometry: {}}
    switches = setup.initial.switches
    for topic, data in _messages(scan):
        if topic == events:
            for event in decode_events(data):
                observer.on_event(event)
        elif topic in halves:
            half = decode[topic](data)
            time = half[0]
            halves[topic][time] = half
            if all(time in waiting for waiting in halves.values()):
                _, q, qd, effort = halves[states][time]
                _, position, orientation, twist = halves[odometry][time]
                for waiting in halves.values():  # nothing older is waited for: both are in order
                    waiting.clear()
                observer.on_state(
                    RobotState(time, q, qd, effort, position, orientation, twist, switches)
                )


def _messages(scan: McapScan) -> Iterator[tuple[str, bytes]]:
    for message in scan.messages():
        yield scan.channels[message.channel].topic, message.data
