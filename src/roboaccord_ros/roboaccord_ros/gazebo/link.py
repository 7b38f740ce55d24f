"""Transport of efforts and step requests to Gazebo, in lockstep or free, and rates at the start.

SETTLE, CONNECTING, AT_THE_END, ATTEMPTS, GAP and WARN may be tuned; longer waits are safe. To send
something new to Gazebo, add a method to both links, for gz_adapter.py calls either. DIGITS and
`component_type` are fixed by Gazebo (test_gz_transport), and so is the order in which rates are set
at the start, which is explained below.

In lockstep the world is paused, and each command steps it by one control period; it goes over
Gazebo's own transport, for which Python bindings are needed. Free, the world runs by itself,
efforts go over the bridge, and act when they arrive.

Rates at the start are set in the state of a paused world. A joint takes `JointVelocityReset` once.
A free base takes a velocity command, which Gazebo sets to 0 after each iteration and leaves in
place, so that the next one would stop the base: it must be taken away before, and a paused world
iterates every millisecond. No time passes meanwhile: so it is set and taken away until the base,
asked for its velocity, has it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from subprocess import Popen
from typing import Any, TypeAlias

import numpy as np
import yaml
from rclpy.node import Node
from roboaccord.cdr import EffortCodec
from roboaccord.contract import AccordError, Array, LockstepError
from roboaccord.description import share
from roboaccord.gazebo import LEVEL
from roboaccord.numerics import quaternion_matrix
from roboaccord.scenario import Setup
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Empty

from roboaccord_ros.gazebo.bridge import World, set_running
from roboaccord_ros.gazebo.transport import Message, Server, message
from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.shell import Run

SETTLE = 0.5  # s from connection to first message; one sent at once can be lost
CONNECTING = 10.0  # s that Gazebo has to hear a topic for the first time
AT_THE_END = 0.5  # s that it has to take the last message
ATTEMPTS = 500
GAP = 5e-4  # s between setting and taking away: half an iteration
DIGITS = 1e-5  # Gazebo reports components to six digits


class FreeLink:
    """Send efforts over the bridge, to a world that runs from the first command on."""

    pauses = False

    def __init__(self, node: Node, setup: Setup, world: World) -> None:
        self._setup, self._world, self._codec = setup, world, EffortCodec(setup.joints)
        self._jointed = bool(setup.joints)
        self._publisher, self._send = graph.advertise(node, setup.robot.name, graph.GZ_EFFORTS)
        self._switches = {
            topic: node.create_publisher(Empty, f"{setup.robot.name}/{topic}", graph.DEEP)
            for topic in _switch_topics(setup)
        }
        self._started: Popen[str] | None = None

    def missing(self) -> str:
        """Return the first missing topic, or ""."""
        efforts = [self._publisher] if self._jointed else []
        for publisher in (*efforts, *self._switches.values()):
            if not publisher.get_subscription_count():
                return f"no bridge has subscribed to {publisher.topic_name}"
        return ""

    def start(self) -> None:
        """Give the robot in the paused world its rates at the start."""
        if any(self._setup.initial.qd) or any(self._setup.initial.twist):
            set_rates(Server(self._world.name), self._setup)

    def force(self, effort: Array) -> None:
        """Put efforts (n,) [N m] in force."""
        if self._jointed:
            self._send(self._codec.encode(0.0, effort))

    def push(self, wrench: Array) -> None:
        """Refuse a wrench."""
        raise AccordError("a wrench lasts one step of Gazebo: it needs lockstep:=true")

    def switch(self, name: str, on: bool) -> None:
        """Attach or detach; Gazebo confirms it on a topic of its own."""
        self._switches[f"gz/{name}/{graph.GZ_SWITCH[on]}"].publish(Empty())

    def go_on(self) -> None:
        """Let the world run, once."""
        if self._started is None:
            self._started = set_running(self._world)

    def deliver(self) -> None:
        """See everything delivered."""
        graph.deliver(self._publisher)


class LockstepLink:
    """Send efforts over Gazebo's transport, and step the paused world by control periods.

    Efforts, wrenches and switches are messages; the step is asked for when the server has handled
    them all. So a run is the same on a busy machine.

    Raises:
        AccordError: without the Python bindings of gz-transport 13.
    """

    pauses = True

    def __init__(self, setup: Setup, world: World) -> None:
        self._setup, self._server = setup, Server(world.name)
        self._wrenches = f"/world/{world.name}/wrench"
        self._base = f"{setup.robot.name}::base_link"
        self._steps = round(setup.scenario.control_period / world.physics_step)
        trajectory, self._joints = message("JointTrajectory"), setup.joints
        self._efforts = trajectory(joint_names=setup.joints, points=[{}])
        kinds = {graph.GZ_EFFORTS: trajectory} if setup.joints else {}
        kinds |= dict.fromkeys(_switch_topics(setup), message("Empty"))
        topics = _gazebo_topics(setup, kinds)
        self._publishers = {n: self._server.node.advertise(topics[n], kinds[n]) for n in kinds}
        self._topics = topics
        self._connected = 0.0

    def missing(self) -> str:
        """Return the first missing topic or service, or ""."""
        for name, publisher in self._publishers.items():
            if not publisher.has_connections():
                return f"nothing in Gazebo listens to {self._topics[name]}"
        self._connected = self._connected or time.monotonic()
        settled = time.monotonic() > self._connected + SETTLE
        return self._server.missing() if settled else "Gazebo was connected only now"

    def start(self) -> None:
        """Give the robot in the paused world its rates at the start."""
        set_rates(self._server, self._setup)

    def force(self, effort: Array) -> None:
        """Put efforts (n,) [N m] in force."""
        if not self._joints:
            return
        self._efforts.points[0].effort[:] = effort.tolist()
        self._publishers[graph.GZ_EFFORTS].publish(self._efforts)

    def push(self, wrench: Array) -> None:
        """Put a wrench (6,) [N, N m] on `base_link` for the next control period."""
        # A persistent one adds to the last; Gazebo carries out a clear in between only after both.
        if self._steps != 1:
            raise AccordError(
                "a wrench lasts one step of Gazebo: control_period must be the world's step"
            )
        kind = message("EntityWrench")
        if self._wrenches not in self._publishers:
            publisher = self._server.node.advertise(self._wrenches, kind)
            end = time.monotonic() + CONNECTING
            while not publisher.has_connections():
                if time.monotonic() > end:
                    raise LockstepError(f"nothing in Gazebo listens to {self._wrenches}")
                time.sleep(0.01)
            time.sleep(SETTLE)
            self._publishers[self._wrenches] = publisher
        force, torque = (dict(zip("xyz", part.tolist())) for part in (wrench[:3], wrench[3:]))
        entity = {"name": self._base, "type": "LINK"}
        self._publishers[self._wrenches].publish(
            kind(entity=entity, wrench={"force": force, "torque": torque})
        )

    def switch(self, name: str, on: bool) -> None:
        """Attach or detach; Gazebo confirms it on a topic of its own."""
        self._publishers[f"gz/{name}/{graph.GZ_SWITCH[on]}"].publish(message("Empty")())

    def go_on(self) -> None:
        """Let the world take the steps of a control period, after efforts are in force."""
        self._server.wait()
        self._server.control(steps=self._steps)

    def deliver(self) -> None:
        """See everything delivered."""
        with suppress(LockstepError):  # a server that has ended needs nothing more
            self._server.wait(AT_THE_END)


Link: TypeAlias = FreeLink | LockstepLink


def _switch_topics(setup: Setup) -> list[str]:
    names, turns = setup.initial.switches, graph.GZ_SWITCH.values()
    return [f"gz/{name}/{turn}" for name in names for turn in turns]


def _gazebo_topics(setup: Setup, names: Iterable[str]) -> dict[str, str]:
    """Return the names in Gazebo of topics of a robot, which its bridge file states."""
    file = share(setup.robot.package) / "config" / "bridge.yaml"
    entries: Sequence[dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    bridged = {entry["ros_topic_name"]: str(entry["gz_topic_name"]) for entry in entries}
    return {name: bridged[f"/{setup.robot.name}/{name}"] for name in names}


WARN = 10  # control periods; the gaits' tracking bears four

logger = logging.getLogger(__name__)


class Lateness:
    """Compare the time of the states that commands answer with the time of the world.

    Args:
        node, run: that host it.
        step: of the world's physics [s].
        period: of the commands [s].
        bound: how late a command may be [control periods]; 0 where the world waits.
    """

    def __init__(self, node: Node, run: Run, step: float, period: float, bound: int) -> None:
        self._step, self._period, self._bound = step, period, bound
        self._sum, self._count, self._worst = 0.0, 0, WARN
        self._now = 0.0
        if bound:  # states wait in a queue, of which the clock shows the end
            node.create_subscription(Clock, graph.CLOCK, run.guard(self._take), graph.NEWEST)

    @property
    def mean(self) -> float:
        """Mean lateness [physics steps]."""
        return self._sum / self._count if self._count else 0.0

    def see(self, stamp: float, seen: float) -> None:
        """Count a command.

        Args:
            stamp: of the state that it answers [s].
            seen: of the last state from the world [s].

        Raises:
            LockstepError: if it is later than the bound.
        """
        late = max(seen, self._now) - stamp
        self._sum, self._count = self._sum + round(late / self._step), self._count + 1
        periods = round(late / self._period)
        if not self._bound or periods <= self._worst:
            return
        self._worst = 2 * periods
        if periods > self._bound:
            raise LockstepError(
                f"the command for t = {stamp:.3f} s is {periods} control periods late, more than "
                f"{self._bound} (max_delay): Gazebo outruns its controller here; try lockstep:=true"
            )
        logger.warning(
            "the command for t = %.3f s acts %d control periods late; the gaits bear 4: "
            "try lockstep:=true",
            stamp, periods,
        )  # fmt: skip

    def _take(self, message: Clock) -> None:
        self._now = message.clock.sec + 1e-9 * message.clock.nanosec


def set_rates(server: Server, setup: Setup) -> None:
    """Give a robot in a paused world the rates at which its setup starts.

    Raises:
        LockstepError: if Gazebo does not take them.
    """
    qd, twist = setup.initial.qd, setup.initial.twist
    if not (np.any(qd) or np.any(twist)):
        return
    robot = Entities(server, setup.robot.name)
    vector = message("Double_V")
    rates = dict(zip(setup.joints, qd.tolist(), strict=True))
    level = ("Joint", LEVEL[0]) in robot.named
    if level:
        rates |= dict(zip(LEVEL, twist[[0, 1, 2, 5]].tolist(), strict=True))
    given = {
        robot.named["Joint", joint]: {"JointVelocityReset": vector(data=[rate]).SerializeToString()}
        for joint, rate in rates.items()
        if rate
    }
    if level or not np.any(twist):
        server.control(state=_state(given))
        return
    commands = {"AngularVelocityCmd": _text(twist[3:]), "LinearVelocityCmd": _text(twist[:3])}
    probed = robot.part_of("base_link")
    turn = quaternion_matrix(setup.initial.orientation)
    arm = robot.read(probed, ["Pose"])[:3]
    wanted = np.concatenate([turn @ (twist[:3] + np.cross(twist[3:], arm)), turn @ twist[3:]])
    zero = _text(np.zeros(3))
    probes = {"WorldLinearVelocity": zero, "WorldAngularVelocity": zero}
    for _ in range(ATTEMPTS):
        server.control(state=_state({**given, robot.model: commands, probed: probes}))
        time.sleep(GAP)
        server.control(state=_state({robot.model: commands}, remove=True))
        if _near(Entities(server, setup.robot.name).read(probed, probes), wanted):
            # Of two requests between two iterations the later one counts: it asks for both.
            server.control(state=_state({robot.model: commands, probed: probes}, remove=True))
            return
    what = f"Gazebo does not take initial.twist of {setup.scenario.name}"
    raise LockstepError(f"{what}: leave it out, or use sim:=dart")


class Entities:
    """The entities of a robot in a world: its model, links and joints.

    Args:
        server: has the robot in its world.
        robot: name of the model.

    Raises:
        LockstepError: if there is none.
    """

    def __init__(self, server: Server, robot: str) -> None:
        state = server.ask("state", message("Empty")(), "SerializedStepMap").state
        self._entities = state.entities
        models = [i for i, name in self._of("Model") if name == robot]
        if not models:
            raise LockstepError(f"Gazebo's world {server.world} has no model {robot}")
        self.model = models[0]
        self.named = {
            (kind, name): i
            for kind in ("Joint", "Link")
            for i, name in self._of(kind)
            if self._parent(i) == self.model
        }

    def part_of(self, link: str) -> int:
        """Return something that a link carries, such as a visual: it moves with the link."""
        entity = self.named["Link", link]
        return next(int(i) for i in self._entities if self._parent(i) == entity)

    def read(self, entity: int, kinds: Iterable[str]) -> Array:
        """Return components of an entity, as numbers, one after the other."""
        words = [self._part(entity, kind).decode().split() for kind in kinds]
        return np.array([float(word) for row in words for word in row])

    def _of(self, kind: str) -> Iterator[tuple[int, str]]:
        """Yield the entities that have a component, with their names."""
        for i in self._entities:
            if self._part(i, kind):
                yield i, self._part(i, "Name").decode()

    def _parent(self, entity: int) -> int:
        return int(self._part(entity, "ParentEntity") or -1)

    def _part(self, entity: int, kind: str) -> bytes:
        """Return a component of an entity as Gazebo reports it, empty where there is none."""
        number = component_type(kind)
        key = number - 2**64 if number >= 2**63 else number  # keys are signed there
        parts = self._entities[entity].components
        return bytes(parts[key].component) if key in parts else b""


def component_type(name: str) -> int:
    """Return the number of a type of component: FNV-1a of its name, 64 bits."""
    number = 0xCBF29CE484222325
    for byte in f"gz_sim_components.{name}".encode():
        number = ((number ^ byte) * 0x100000001B3) % 2**64
    return number


def _state(given: Mapping[int, Mapping[str, bytes]], *, remove: bool = False) -> Message:
    """Return components as a message, by entity and type."""
    return message("SerializedState")(
        entities=[
            {
                "id": entity,
                "components": [
                    {"type": component_type(kind), "component": data, "remove": remove}
                    for kind, data in components.items()
                ],
            }
            for entity, components in given.items()
        ]
    )


def _text(numbers: Array) -> bytes:
    return " ".join(repr(number) for number in numbers.tolist()).encode()


def _near(found: Array, wanted: Array) -> bool:
    """Return whether a velocity is as wanted; one that is not reported yet has no numbers."""
    if found.shape != wanted.shape:
        return False
    return bool(np.abs(found - wanted).max() < DIGITS * np.abs(wanted).max())
