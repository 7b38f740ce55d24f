"""What the engines share: commands in, states out, force laws in every physics step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from roboaccord.assembly import Setup
from roboaccord.description import Tree, expand
from roboaccord.errors import AccordError
from roboaccord.interfaces import Acceleration, LinkMotion
from roboaccord.kinematics import TreeKinematics
from roboaccord.loop import clip_efforts, count_steps
from roboaccord.state import Array, Command, RobotState
from roboaccord.trajectory import Event

STOP_MARGIN = 1e-6  # rad: a joint this close to its limit is counted as stopped by it


class EngineSimulator(ABC):
    """Advance a robot in an engine; subclasses hold the engine's own calls.

    Args:
        setup: robot and scenario.
        mass_scale: factors on the masses of links; a deliberate error for cross-checks.
    """

    name: str
    version: str
    order: int

    def __init__(self, setup: Setup, mass_scale: Mapping[str, float]) -> None:
        self.urdf = expand(setup, mass_scale)
        self.tree = Tree.parse(self.urdf)
        self.joints = setup.joints
        self.effort_limits = setup.effort_limits
        self.physics_step = setup.scenario.physics_step
        self.base = setup.scenario.base
        self._law = setup.force_law
        self._kinematics = TreeKinematics(self.tree, self.joints)
        names = self._kinematics.names
        self._links = np.array([names.index(n) for n in self._law.links] if self._law else [], int)
        self._forces, self._torques = np.zeros((2, len(names), 3))
        described = {joint.name: joint for joint in self.tree.moving}
        missing = [name for name in self.joints if name not in described]
        if missing:
            raise AccordError(f"joint {missing[0]} is missing in the description")
        self._lower = np.array([described[n].lower for n in self.joints]) + STOP_MARGIN
        self._upper = np.array([described[n].upper for n in self.joints]) - STOP_MARGIN
        self._stopped = np.zeros(len(self.joints), dtype=bool)
        self._time = 0.0
        self._effort = np.zeros(len(self.joints))
        self._events: list[Event] = []
        if self._law:  # compiles its kernels before the first tick
            rest = np.zeros(len(self.joints))
            self._law_efforts(rest, rest, np.zeros(3), np.eye(3), np.zeros(6))

    @abstractmethod
    def _place(self, state: RobotState) -> None:
        """Put the engine's model in a state."""

    @abstractmethod
    def _read(self) -> RobotState:
        """Return the engine's state, with the time and effort kept here."""

    @abstractmethod
    def _substeps(self, effort: Array, count: int) -> None:
        """Take physics steps under held efforts, with the force law in each."""

    @abstractmethod
    def acceleration(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations without contact, friction or stops."""

    @abstractmethod
    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link as the engine has it [kg]."""

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`, and return the state as the engine has it."""
        self._time = state.time
        self._effort = np.array(state.effort)
        self._events.clear()
        self._stopped[:] = self._at_stop(state.q)
        self._place(state)
        return self._read()

    def state(self) -> RobotState:
        """Return the present state."""
        return self._read()

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance by `duration` [s] under a held command, clipped to the effort limits."""
        count = count_steps(duration, self.physics_step, "control period over physics step")
        self._effort = clip_efforts(command.effort, self.effort_limits)
        self._substeps(self._effort, count)
        self._time += duration
        state = self._read()
        self._notice_stops(state)
        return state

    def take_events(self) -> Sequence[Event]:
        """Return the events since the last call: joints that came to their stops."""
        if not self._events:
            return ()
        events, self._events = self._events, []
        return events

    def _law_efforts(
        self, q: Array, qd: Array, position: Array, rotation: Array, twist: Array
    ) -> tuple[Array, Array]:
        """Return what the force law does: a wrench on the base and efforts on the joints.

        Takes the base's pose and its twist in the world; the wrench (6,), force first, is about
        the base's origin and in the world too.
        """
        assert self._law is not None
        m = self._kinematics.move(q, qd, position, rotation, twist)
        at = self._links
        self._forces[at], self._torques[at] = self._law.wrenches(
            LinkMotion(m.rotation[at], m.position[at], m.linear[at], m.angular[at])
        )
        return self._kinematics.efforts(self._forces, self._torques)

    def _at_stop(self, q: Array) -> Array:
        return np.asarray((q > self._upper) | (q < self._lower))

    def _notice_stops(self, state: RobotState) -> None:
        stopped = self._at_stop(state.q)
        for joint in np.flatnonzero(stopped & ~self._stopped):
            self._events.append(Event(self._time, "joint_stop", self.joints[int(joint)]))
        self._stopped = stopped
