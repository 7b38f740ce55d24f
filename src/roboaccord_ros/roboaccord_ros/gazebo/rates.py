"""Rates at the start, set in the state of a paused world.

A joint takes `JointVelocityReset` once. A free base takes a velocity command, which Gazebo sets to
0 after each iteration and leaves in place, so that the next one would stop the base: it must be
taken away before, and a paused world iterates every millisecond. No time passes meanwhile: so it
is set and taken away until the base, asked for its velocity, has it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from roboaccord.contract import Array, LockstepError
from roboaccord.gazebo import LEVEL
from roboaccord.numerics import quaternion_matrix
from roboaccord.scenario import Setup

from roboaccord_ros.gazebo.transport import Message, Server, message

ATTEMPTS = 500
GAP = 5e-4  # s between setting and taking away: half an iteration
DIGITS = 1e-5  # Gazebo tells components to six digits


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
    told = robot.part_of("base_link")
    turn = quaternion_matrix(setup.initial.orientation)
    arm = robot.read(told, ["Pose"])[:3]
    wanted = np.concatenate([turn @ (twist[:3] + np.cross(twist[3:], arm)), turn @ twist[3:]])
    zero = _text(np.zeros(3))
    probes = {"WorldLinearVelocity": zero, "WorldAngularVelocity": zero}
    for _ in range(ATTEMPTS):
        server.control(state=_state({**given, robot.model: commands, told: probes}))
        time.sleep(GAP)
        server.control(state=_state({robot.model: commands}, remove=True))
        if _near(Entities(server, setup.robot.name).read(told, probes), wanted):
            # Of two requests between two iterations the later one counts: it asks for both.
            server.control(state=_state({robot.model: commands, told: probes}, remove=True))
            return
    raise LockstepError(f"Gazebo does not take initial.twist of {setup.scenario.name}")


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
        """Return something that a link carries, a visual say: it moves with the link."""
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
        """Return a component of an entity as Gazebo tells it, empty where there is none."""
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
    """Return whether a velocity is as wanted; one that is not told yet has no numbers."""
    if found.shape != wanted.shape:
        return False
    return bool(np.abs(found - wanted).max() < DIGITS * np.abs(wanted).max())
