"""Runs read from bags: our own, unfinished ones, and those of `ros2 bag record`.

A bag is a recording of ROS 2: messages of topics with time stamps, in one or more files. `read_run`
reads the messages (content.py), checks them against damage and against the recorded hash, and
returns a `BagRun`: the motion as a `Trajectory` with one row for each control tick, commands, and
what the bag states about the run. A trajectory is read back bit for bit (test_bag, test_damage), so
nothing may be smoothed or corrected here. `play` passes a bag to an observer instead, state by
state. `BagRun.setup` must not open any file that a bag names (test_bag_is_data).

A further field of a run gets a default and is filled in `run_of`. Keys of `to_json` stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from roboaccord.bag import topics as names
from roboaccord.bag.content import Content
from roboaccord.bag.folder import bag_files, scan_of
from roboaccord.bag.records import McapScan
from roboaccord.bag.resampling import SLACK
from roboaccord.cdr.codecs import EffortCodec, JointStateCodec, OdometryCodec, read_body
from roboaccord.cdr.messages import decode_events, decode_string, decode_wrench
from roboaccord.contract import AccordError, Array, Event, Observer, RobotState, Trajectory
from roboaccord.contract.results import Json, Signals, to_json
from roboaccord.scenario import Setup, recorded_setup


class Commands(NamedTuple):
    """Commands of a run: times of the states that they answer (k,) [s], and values (k, m).

    The values are efforts [N m], wrenches [N, N m] or twists [m/s, rad/s]; their field is called
    `effort` in any case.
    """

    time: Array
    effort: Array


FACTS = ("scenario", "versions", "engine", "engine_version", "transport")  # fields of `BagRun`
NO_COMMANDS = Commands(np.zeros(0), np.zeros((0, 0)))


@dataclass(frozen=True, kw_only=True)
class BagRun(Signals):
    """A run that was read from a bag.

    Args:
        robot: name in the topics; "" where they have no namespace.
        trajectory: states at the control ticks, and events.
        bodies: names of the free bodies, in the order of `trajectory.bodies`.
        has_base: whether the bag has the motion of the base; otherwise it stays at the origin.
        commands: commanded efforts (k, n) [N m], with the time of the state that each answers.
        wrenches: commanded wrenches on the base (k, 6) [N, N m], likewise; empty for most robots.
        twists: commanded twists (k, 6) [m/s, rad/s], likewise.
        findings: faults that the controller detected, in order of time.
        scenario: as plain data; empty for a foreign bag.
        engine, engine_version, transport: of the run; "" for a foreign bag.
        controller: name and hash of a user's own controller; "" for the scenario's.
        versions: of the software of the run.
        urdf: the description, or "".
        contacts: messages with contacts, for `bag.contact_markers.read_arrows`.
        sha256: hash of the trajectory that was recorded with it; None for an incomplete run.
        complete: whether the files were closed properly.
    """

    robot: str = ""
    trajectory: Trajectory
    bodies: tuple[str, ...] = ()
    has_base: bool = True
    commands: Commands = NO_COMMANDS
    wrenches: Commands = NO_COMMANDS
    twists: Commands = NO_COMMANDS
    findings: tuple[Event, ...] = ()
    scenario: Mapping[str, Any] = field(default_factory=dict)
    engine: str = ""
    engine_version: str = ""
    transport: str = ""
    controller: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    urdf: str = ""
    contacts: Sequence[bytes] = ()
    sha256: str | None = None
    complete: bool = True

    def setup(self, changes: Sequence[str] = ()) -> Setup:
        """Return the robot in its scenario, without opening files; see `recorded_setup`.

        Args:
            changes: `KEY=VALUE` of the scenario.
        """
        return recorded_setup(self.scenario, self.robot, self.urdf, changes)

    def to_json(self) -> dict[str, Json]:
        """Return facts of the run; the motion is only in `trajectory`."""
        motion = self.trajectory
        fields = "robot engine engine_version transport complete sha256 scenario versions".split()
        return {
            **{name: to_json(getattr(self, name)) for name in fields},
            "joints": motion.joints,
            "samples": len(motion),
            "duration": float(motion.time[-1] - motion.time[0]),
            "events": to_json(motion.events),
        }


def read_run(bag: Path) -> BagRun:
    """Read a run from its folder, or a bag or one of its files, MCAP or sqlite3, finished or not.

    An unfinished bag, or one without checksums, is read with a warning in the log.

    Raises:
        AccordError: if it is not a bag, is damaged, or holds no joint states.
    """
    return checked_run(Content.of(bag))


def checked_run(content: Content) -> BagRun:
    """Return the run in the content of a bag, checked as by `read_run`."""
    check_whole(content.bag, content.scans)
    run = run_of(content)
    if content.hashes and content.hashes != {run.trajectory.sha256()}:
        states = f"the {len(run.trajectory)} states that it holds"
        damage = f"{content.bag} is damaged: {states} do not have the hash stored with them"
        raise AccordError(f"{damage}; accord recover {content.bag} keeps what can be read")
    content.log_doubts()
    return run


def check_whole(bag: Path, scans: Sequence[McapScan]) -> None:
    """Refuse files that were read and are damaged before the end of their data.

    Raises:
        AccordError: naming the place of the damage, and a remedy.
    """
    for scan in scans:
        if scan.damage and not scan.data_complete:
            remedy = f"accord recover {bag} keeps what is before"
            raise AccordError(f"{scan.path} is damaged {scan.damage}; {remedy}")


def run_of(content: Content) -> BagRun:
    """Return the run in the messages of a bag, damaged or not.

    Raises:
        AccordError: if there are no joint states, or a message cannot be decoded.
    """
    robot = content.robot
    facts = content.facts()
    states = content.states(facts)
    base = content.base(facts, states.time)
    position, orientation, twist = np.split(base.values, (3, 7), axis=1)
    efforts = content.commands(names.EFFORTS, EffortCodec(states.joints).decode)
    wrenches = content.commands(names.WRENCH, decode_wrench)
    twists = content.commands(names.TWIST, decode_wrench)
    trajectory = Trajectory(
        joints=states.joints,
        time=base.time,
        q=states.q[base.states],
        qd=states.qd[base.states],
        effort=states.effort[base.states],
        position=position,
        orientation=orientation,
        twist=twist,
        events=tuple(content.events()),
        switches=content.switches(facts, base.time),
        wrench=_by_row(wrenches, base.time),
        commanded=_by_row(efforts, base.time, math.nan),
        bodies=np.stack([*base.bodies.values()], axis=1) if base.bodies else None,
    )
    in_namespace = content.raw(f"{content.namespace}/{names.DESCRIPTION}")
    descriptions = in_namespace or content.raw(f"/{names.DESCRIPTION}")
    return BagRun(
        robot=robot,
        trajectory=trajectory,
        bodies=tuple(base.bodies),
        has_base=base.is_recorded,
        commands=_as_arrays(efforts, len(states.joints)),
        wrenches=_as_arrays(wrenches, 6),
        twists=_as_arrays(twists, 6),
        findings=tuple(content.events(names.FINDINGS)),
        **{name: facts[name] for name in FACTS if name in facts},
        controller=str(facts.get("controller", "")),
        urdf=decode_string(descriptions[-1]) if descriptions else "",
        contacts=content.raw(f"/{robot}/{names.CONTACTS}"),
        sha256=next(iter(content.hashes), None),
        complete=content.complete,
    )


def _by_row(
    commands: Sequence[tuple[float, Array]], time: Array, missing: float = 0.0
) -> Array | None:
    """Return commands (k, m) as rows of a trajectory with k samples; None where there are none.

    A row has the command of the interval that ends at its time, which answered the state before.

    Args:
        commands: time of the answered state [s] and values (m,) of each command.
        time: of the states (k,) [s].
        missing: value in rows without a command.
    """
    if not commands:
        return None
    by_row = np.full((len(time), len(commands[0][1])), missing)
    indices = np.searchsorted(time, [answered for answered, _ in commands])
    for index, (answered, values) in zip(indices, commands, strict=True):
        if index + 1 < len(time) and time[index] - answered < SLACK:
            by_row[index + 1] = values
    return by_row


def _as_arrays(commands: Sequence[tuple[float, Array]], width: int) -> Commands:
    """Return (time, values) pairs as arrays; `width` is the number of values of a command."""
    values = np.array([values for _, values in commands]).reshape(len(commands), width)
    return Commands(np.array([time for time, _ in commands]), values)


def play(bag: Path, setup: Setup, observer: Observer) -> None:
    """Pass the states and events of a bag to an observer, in the order of the recording.

    Joint states, odometry and free bodies with the same time stamp make a state, in any order; one
    without the others is left out. Switches change by events, from the state after an event on.

    Raises:
        AccordError: if it is not a bag, or is damaged.
    """
    for file in bag_files(bag):
        scan = scan_of(file)
        # The file is read twice, as an event of a switch may be recorded after later states.
        switchings = _switchings(scan_of(file), setup) if setup.initial.switches else []
        _play_file(scan, setup, observer, switchings)
        if scan.damage and not scan.data_complete:
            raise AccordError(f"{scan.path} is damaged {scan.damage}")


def _play_file(scan: McapScan, setup: Setup, observer: Observer, switchings: list[Event]) -> None:
    """Pass the states and events of one file to an observer.

    Args:
        scan: reader of the file.
        setup: robot and scenario.
        observer: called with each event and state.
        switchings: events of switches in order of time; those that have taken effect are removed.
    """
    namespace = f"/{setup.robot.name}"
    states, odometry = f"{namespace}/{names.STATES}", f"{namespace}/{names.ODOMETRY}"
    body_topic = f"{namespace}/{names.BODIES}"
    decoders: dict[str, Callable[[bytes], Any]] = {
        states: JointStateCodec(setup.joints).decode,
        odometry: OdometryCodec().decode,
        body_topic: read_body,  # motion and name
    }
    # Joint states, odometry and bodies that wait for each other: by topic, or body, decoded
    # messages by time.
    bodies = setup.body_names
    waiting: dict[str, dict[float, Any]] = {name: {} for name in (states, odometry, *bodies)}
    switches = dict(setup.initial.switches)
    for message in scan.messages():
        topic, data = scan.channels[message.channel].topic, message.data
        if topic == f"{namespace}/{names.EVENTS}":
            for event in decode_events(data):
                observer.on_event(event)
        elif topic in decoders:
            time, *values = decoders[topic](data)
            waiting.get(values[-1] if topic == body_topic else topic, {})[time] = values
            if all(time in by_time for by_time in waiting.values()):
                q, qd, effort = waiting[states][time]
                position, orientation, twist = waiting[odometry][time]
                moved = np.array([waiting[name][time][0] for name in bodies])
                # Both topics are in order: an older message can no longer arrive.
                for by_time in waiting.values():
                    by_time.clear()
                while switchings and switchings[0].time < time - SLACK:
                    switching = switchings.pop(0)
                    switches = {**switches, switching.subject: switching.kind.endswith("_on")}
                base = position, orientation, twist
                state = RobotState(time, q, qd, effort, *base, switches)
                observer.on_state(replace(state, bodies=moved) if bodies else state)


def _switchings(scan: McapScan, setup: Setup) -> list[Event]:
    """Return the events of switches in a file, in order of time."""
    topic = f"/{setup.robot.name}/{names.EVENTS}"
    switches = setup.initial.switches
    events = list[Event]()
    for message in scan.messages():
        if scan.channels[message.channel].topic == topic:
            events += decode_events(message.data)
    events.sort(key=lambda event: event.time)
    return [e for e in events if e.subject in switches and e.kind.endswith(("_on", "_off"))]
