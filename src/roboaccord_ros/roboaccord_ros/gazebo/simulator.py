"""Gazebo as a simulator (Simulator), by a server in this process (in_process.py).

Nothing here is to be tuned; what a setup asks of Gazebo may be added in `_advance`. Fixed: a run
must be that of a launch, bit for bit (test_a_run_is_that_of_a_launch_bit_for_bit). Without Gazebo,
tests ask recorded answers (test/gazebo_answers.py): after a change in the sequence of calls, record
them anew. `order` is that of DART's scheme.

A state that is set takes effect in the step that follows; a run from the scenario's start has a
server of its own, so that it does not depend on what was before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from roboaccord.contract import (
    NO_SWITCHES,
    Acceleration,
    AccordError,
    Array,
    Command,
    Event,
    Fault,
    RobotState,
)
from roboaccord.gazebo import LEVEL, base_in_gazebo, expand_for_gazebo, is_level, print_sdf
from roboaccord.numerics import quaternion_matrix
from roboaccord.scenario import Setup
from roboaccord.simulators import Simulator, StopWatch

from roboaccord_ros.gazebo.faults import GazeboFaults
from roboaccord_ros.gazebo.in_process import InProcess
from roboaccord_ros.gazebo.world import LevelBase, World, refuse_start


class GazeboSimulator(Simulator):
    """Advance a setup in Gazebo (Simulator).

    Args:
        setup: robot and scenario.
        version: of Gazebo.
        contacts: with what the robot touches the ground; see `contact_shapes`.
        world: another one than the scenario's or terrain's; see `World.of`.
        physics: another engine than DART; see `populate`.

    Attributes:
        world: where the robot is put.

    Raises:
        AccordError: without Gazebo's bindings, or for a setup that Gazebo cannot run.
    """

    name, order = "gz", 1

    def __init__(
        self, setup: Setup, version: str, contacts: str = "", world: str = "", physics: str = ""
    ) -> None:
        refuse_start(setup)
        self.world, self._physics = World.of(setup, world), physics
        super().__init__(setup.joints, setup.effort_limits, self.world.physics_step)
        self.version = f"{version} {physics}".rstrip()
        self._setup, self._level = setup, is_level(setup, contacts)
        self._urdf = expand_for_gazebo(setup, contacts, started=False)
        if not self._level and base_in_gazebo(setup.scenario) != "fixed":
            self.unplaced = "Gazebo cannot set the state of a free base"
        self._names = [*setup.joints, *(LEVEL if self._level else ())]
        self._level_base = LevelBase(setup.initial)
        self._faults_here = GazeboFaults(setup)
        self._odometry = setup.robot.gazebo.odometry(setup)
        self._stops = StopWatch.of(setup.tree, setup.joints)
        self._server: InProcess | None = None
        self._other: InProcess | None = None
        self._next: RobotState | None = None
        self._origin = setup.initial
        self._farthest = 0.0  # joint from 0 in the last state [rad or m]

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link as SDFormat, which Gazebo reads it by, has it [kg]."""
        model = print_sdf(self._urdf).find("model")
        assert model is not None
        found = {e.attrib["name"]: e.findtext("inertial/mass", "0") for e in model.iterfind("link")}
        ours = [link.name for link in self._setup.tree.links if link.name in found]
        return {name: float(found[name]) for name in ours}

    def fail(self, fault: Fault) -> None:
        self._faults_here.ask(fault)

    def load(self) -> None:
        self._running()

    def serve_window(self) -> None:
        """Serve a window until the next step, where nothing steps."""
        self._running().pauses.serve()

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def _start(self, state: RobotState) -> None:
        self._faults_here = GazeboFaults(self._setup)
        elsewhere = self.unplaced and state is not self._origin
        if self._server is not None and (self._server.steps or elsewhere):
            self.close()
        if self.unplaced:
            self._origin = state
        self._place(state)

    def _place(self, state: RobotState) -> None:
        self._next = replace(state, effort=np.array(state.effort))
        self._stops.reset(state.q)
        if self._odometry:
            self._odometry.reset(state)

    def _running(self) -> InProcess:
        if self._server is None:
            self._server = self._serve(self._origin)
        return self._server

    def _serve(self, start: RobotState) -> InProcess:
        robot, switches = self._setup.robot.name, [*self._setup.initial.switches]
        world, urdf, names, based = self.world, self._urdf, self._names, not self._level
        return InProcess(world, robot, start, urdf, names, switches, self._physics, based=based)

    def _read(self) -> RobotState:
        if self._next is not None:
            return replace(self._next, time=self._time, effort=self._effort)
        return self._found

    def _advance(self, command: Command, duration: float) -> None:
        if command.twist is not None:
            raise AccordError("gz: a base cannot be moved by a twist: use the reference")
        faults, server, effort = self._faults_here, self._server or self._running(), self._effort
        placed = None if self._next is None else self._coordinates(self._next)
        if faults.possible:
            before = self.state()
            self._events += faults.act(before)
            self._effort = faults.commanded(command)
            effort = faults.held(before, self._effort)
        switches = self._switched(server, command)
        wrench = () if command.wrench is None else (command.wrench,)
        answer = server.step(effort, self._steps, placed, *wrench)
        self._next = None
        after = self._state_of(*answer)
        after = replace(after, switches=switches) if switches else after
        after = self._odometry.follow(after) if self._odometry else after
        self._found = faults.seen(after) if faults.possible else after

    def _switched(self, server: InProcess, command: Command) -> Mapping[str, bool]:
        """Ask for what is to be done before a step; return the switches that hold from then on."""
        begins = self._next is not None and bool(self.unplaced)
        if not (self._setup.initial.switches or begins):
            return NO_SWITCHES
        before = self.state()
        now = {**before.switches, **command.switches}
        changes = {n: bool(on) for n, on in now.items() if before.switches[n] is not bool(on)}
        for name, on in sorted(changes.items(), key=lambda item: item[1]):
            kind = name.rpartition("_")[0] + ("_on" if on else "_off")
            self._events.append(Event(before.time, kind, name))
        if self._next is None:
            if changes:
                server.pauses.add(server.pauses.switch(changes))
        elif self.unplaced:
            server.begin(self._coordinates(self._next), self._next.twist, now)
        return before.switches if not changes else now

    def _note(self, before: RobotState, after: RobotState) -> None:
        if self._stops.any or self._farthest >= self._stops.nearest:
            for joint in self._stops.see(after.q):
                self._events.append(self._stops.event(joint, after.time))

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration | None:
        """Return what one step makes of the rates; None where something may touch."""
        touches = self._setup.force_law is not None or self._setup.contact is not None
        if touches or self.unplaced:
            return None
        placed = self._coordinates(state)
        _, qd, _, _ = self._probe().step(effort, 1, placed)
        rates = np.array(qd[: len(self.joints)])
        return Acceleration(np.zeros(6), (rates - state.qd) / self.physics_step)

    def _probe(self) -> InProcess:
        """Return a server whose state belongs to nobody."""
        if self._other is None:
            self._other = self._serve(self._setup.initial)
        return self._other

    def _coordinates(self, state: RobotState) -> tuple[Array, Array]:
        """Return Gazebo's coordinates and rates of a state (n,), with those of a level base.

        Raises:
            AccordError: for a base that cannot be put there.
        """
        initial = self._origin
        q, qd = state.q, state.qd
        if self._level:
            base, rates = self._level_base.coordinates(state)
            return np.concatenate([q, base]), np.concatenate([qd, rates])
        if not self.unplaced:
            return q, qd
        for name in ("position", "orientation", "twist"):
            if not np.array_equal(getattr(state, name), getattr(initial, name)):
                raise AccordError(f"gz: {self.unplaced}")
        return q, qd

    def _state_of(
        self, q: list[float], qd: list[float], pose: list[float], twist: list[float]
    ) -> RobotState:
        """Return a state of Gazebo's coordinates and rates, and of its base in the world.

        All are plain floats, and one state is made of them: a run waits for this at every step.
        """
        n = len(self.joints)
        if self._level:
            position, orientation, moves = self._level_base.base(*q[n:], *qd[n:])
        else:
            position, orientation = np.array(pose[:3]), np.array(pose[3:])
            turn, rates = quaternion_matrix(orientation), np.array(twist)
            moves = np.concatenate([rates[:3] @ turn, rates[3:] @ turn])
        q = q[:n]
        self._farthest = max(map(abs, q), default=0.0)
        joints = np.array(q), np.array(qd[:n]), self._effort
        return RobotState(self._time, *joints, position, orientation, moves)
