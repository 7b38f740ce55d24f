"""Gazebo as a simulator of the core, by a server in this process (in_process.py).

GazeboSimulator translates between states of the core and joint coordinates of Gazebo. `order`, the
order of the integration scheme, is that of DART, Gazebo's usual physics engine.

How a run goes:

    1. `_start` begins it at a state, in a new server if the present one has stepped, so that it
       does not depend on what was run before.
    2. `_place` stores that state in `_pending`, for Gazebo sets a state only together with a step.
    3. The first `_advance` starts a server if there is none, with the robot at `_spawn_state`, and
       sends it the pending state and the efforts. Those that follow send efforts alone.
    4. `_read` returns the pending state, or the one after the last step, `_last_state`.

Gazebo cannot set pose and twist of a free base or body; `unplaced` of the base class is then the
reason. Such a run begins in a new server that puts robot and bodies at their start. A planar base
on spheres (`_is_level`) moves by the joints LEVEL instead (level.py), which are set as all others.

A run must be that of a launch, bit for bit (test_a_run_is_that_of_a_launch_bit_for_bit). Where
Gazebo is not installed, tests replay recorded answers (test/gazebo_answers.py); after a change in
the sequence of calls they must be recorded anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from roboaccord.contract import Acceleration, AccordError, Array, Command, Event, Fault, RobotState
from roboaccord.gazebo import LEVEL, base_in_gazebo, expand_for_gazebo, is_level, print_sdf
from roboaccord.numerics import quaternion_matrix
from roboaccord.scenario import Setup
from roboaccord.simulators import Simulator, StopWatch

from roboaccord_ros.gazebo.faults import GazeboFaults
from roboaccord_ros.gazebo.in_process import InProcess
from roboaccord_ros.gazebo.level import LevelBase
from roboaccord_ros.gazebo.world import World, refuse_start


class GazeboSimulator(Simulator):
    """Simulator that steps a setup in Gazebo.

    The base class calls `_start`, `_read`, `_advance`, `_note` and `_accelerate`. It keeps time and
    efforts in force (`_time`, `_effort`), and events and physics steps of a control period
    (`_events`, `_steps`).

    Args:
        setup: robot and scenario.
        version: version of Gazebo.
        contacts: name of the shapes that touch the ground, one of the robot's `contact_shapes`.
        world: name or file of the world; empty for that of the scenario or its terrain.
        physics: short name of a physics engine, or its library; empty for DART.

    Attributes:
        world: the world in which the robot runs.

    Raises:
        AccordError: without Gazebo's bindings, or for a setup that Gazebo cannot run.
    """

    name, order = "gz", 1

    def __init__(
        self, setup: Setup, version: str, contacts: str = "", world: str = "", physics: str = ""
    ) -> None:
        refuse_start(setup)
        self.world, self._physics = World.write(setup, world), physics
        super().__init__(setup.joints, setup.effort_limits, self.world.physics_step)
        self.version = f"{version} {physics}".rstrip()
        self._setup = setup
        self._is_level = is_level(setup, contacts)  # whether the base moves by LEVEL
        self._urdf = expand_for_gazebo(setup, contacts, started=False)
        if not self._is_level and base_in_gazebo(setup.scenario) != "fixed":
            self.unplaced = "Gazebo cannot set the state of a free base"
        if setup.bodies:
            self.unplaced = "Gazebo cannot set the state of free bodies"
            if physics not in ("", "dartsim"):
                raise AccordError(f"gz: in {physics} free bodies would have another friction")
        self._joint_names = [*setup.joints, *(LEVEL if self._is_level else ())]  # in Gazebo
        self._level_base = LevelBase(setup.initial)  # pose of the base by the joints LEVEL
        self._gazebo_faults = GazeboFaults(setup)  # failed joints, imitated by efforts
        self._odometry = setup.robot.gazebo.odometry(setup)  # of a base that cannot move; or None
        self._stops = StopWatch.of(setup.tree, setup.joints)  # makes events of joints at stops
        self._server: InProcess | None = None  # of the run
        # Another server, for `_accelerate`, which sets states without disturbing the run.
        self._acceleration_server: InProcess | None = None
        self._pending: RobotState | None = None  # state that the next step sets
        self._last_state = setup.initial  # after the last step
        self._spawn_state = setup.initial  # in which a new server puts the robot
        self._largest_coordinate = 0.0  # of a joint in the last state [rad or m]

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg], after its conversion to SDFormat."""
        model = print_sdf(self._urdf).find("model")
        assert model is not None
        elements = {element.get("name"): element for element in model.iterfind("link")}
        links = [link.name for link in self._setup.tree.links if link.name in elements]
        return {name: float(elements[name].findtext("inertial/mass", "0")) for name in links}

    def fail(self, fault: Fault) -> None:
        """Let a joint fail at the next control tick."""
        self._gazebo_faults.request(fault)

    def load(self) -> None:
        """Start the server, which else starts with the first step."""
        self._run_server()

    def serve_window(self) -> None:
        """Serve a window until the next step."""
        self._run_server().pauses.serve_window()

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def _start(self, state: RobotState) -> None:
        """Begin a run at a state, in a new server if the present one has stepped."""
        self._gazebo_faults = GazeboFaults(self._setup)
        if len(state.bodies) < len(self._setup.bodies):  # of a state without any
            state = replace(state, bodies=self._setup.initial.bodies)
        # `unplaced` is why a state cannot be set; then another start needs another server.
        is_moved = self.unplaced and state is not self._spawn_state
        if self._server is not None and (self._server.steps or is_moved):
            self.close()
        if self.unplaced:
            self._spawn_state = state
        self._place(state)

    def _place(self, state: RobotState) -> None:
        """Let the next step begin at a state."""
        self._pending = replace(state, effort=np.array(state.effort))
        self._stops.reset(state.q)
        if self._odometry:
            self._odometry.reset(state)

    def _run_server(self) -> InProcess:
        """Return the server of the run, and start it if there is none."""
        if self._server is None:
            self._server = self._make_server(self._spawn_state)
        return self._server

    def _make_server(self, start: RobotState) -> InProcess:
        """Return a new server with the robot in a start state."""
        robot, switches = self._setup.robot.name, [*self._setup.initial.switches]
        description = self._urdf, self._joint_names, switches, self._physics
        return InProcess(self.world, robot, start, *description, reads_base=not self._is_level)

    def _read(self) -> RobotState:
        """Return the present state: the one that was set last, or that after the last step."""
        if self._pending is not None:
            return replace(self._pending, time=self._time, effort=self._effort)
        return self._last_state

    def _advance(self, command: Command, duration: float) -> None:
        """Take the physics steps of a control period under a command."""
        if command.twist is not None:
            raise AccordError("gz: a base cannot be moved by a twist: use the reference")
        faults, server, effort = self._gazebo_faults, self._run_server(), self._effort
        pending = self._pending
        start = None if pending is None else self._coordinates(pending)
        if faults.possible:
            before = self.state()
            self._events += faults.bring_into_force(before)
            self._effort = faults.drive_efforts(command)
            effort = faults.efforts_with_locks(before, self._effort)
        switches = self._change_switches(server, command) if self._setup.initial.switches else {}
        if pending is not None and self.unplaced:  # free: all is set before the first step
            server.prepare_start(self._coordinates(pending), pending, switches)
        after = self._state_of_answer(*server.step(effort, self._steps, start, command.wrench))
        self._pending = None
        after = replace(after, switches=switches) if switches else after
        after = self._odometry.follow(after) if self._odometry else after
        self._last_state = faults.with_readings(after) if faults.possible else after

    def _change_switches(self, server: InProcess, command: Command) -> Mapping[str, bool]:
        """Let a running server change switches before its next step; return their new values."""
        before = self.state()
        commanded = {**before.switches, **command.switches}
        changes = {n: bool(on) for n, on in commanded.items() if before.switches[n] is not bool(on)}
        # Switches that are turned off come first, as the server changes them.
        for name, on in sorted(changes.items(), key=lambda item: item[1]):
            kind = name.rpartition("_")[0] + ("_on" if on else "_off")
            self._events.append(Event(before.time, kind, name))
        if changes and self._pending is None:
            server.pauses.add(server.pauses.set_switches(changes))
        return commanded if changes else before.switches

    def _note(self, before: RobotState, after: RobotState) -> None:
        """Report joints that have reached a stop."""
        if self._stops.any_stopped or self._largest_coordinate >= self._stops.free_range:
            for joint in self._stops.new_stops(after.q):
                self._events.append(self._stops.event(joint, after.time))

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration | None:
        """Return the change of rates in a step over its length; None where something may touch."""
        may_touch = self._setup.force_law is not None or self._setup.contact is not None
        if may_touch or self.unplaced:
            return None
        if self._acceleration_server is None:
            self._acceleration_server = self._make_server(self._setup.initial)
        _, qd, _, _ = self._acceleration_server.step(effort, 1, self._coordinates(state))
        rates = np.array(qd[: len(self.joints)])
        return Acceleration(np.zeros(6), (rates - state.qd) / self.physics_step)

    def _coordinates(self, state: RobotState) -> tuple[Array, Array]:
        """Return the joint coordinates and rates of a state in Gazebo, with those of a level base.

        Raises:
            AccordError: for a base or a body that Gazebo cannot place.
        """
        if self._is_level:
            base, rates = self._level_base.coordinates(state)
            return np.concatenate([state.q, base]), np.concatenate([state.qd, rates])
        if self.unplaced:
            for name in ("position", "orientation", "twist", "bodies"):
                if not np.array_equal(getattr(state, name), getattr(self._spawn_state, name)):
                    raise AccordError(f"gz: {self.unplaced}")
        return state.q, state.qd

    def _state_of_answer(
        self, q: list[float], qd: list[float], pose: list[float], twist: list[float]
    ) -> RobotState:
        """Return the state of an answer of the server (`Answer`).

        It makes the state at once from lists, for speed: a run waits for this at each step.
        """
        n = len(self.joints)
        level = self._level_base
        base = level.pose_and_twist(q[n:], qd[n:]) if self._is_level else _motion(pose, twist)
        q = q[:n]
        self._largest_coordinate = max(map(abs, q), default=0.0)
        joints = np.array(q), np.array(qd[:n]), self._effort
        state = RobotState(self._time, *joints, *base)
        indices = range(1, 1 + len(self._setup.bodies))
        bodies = [np.concatenate(_motion(pose[7 * i :], twist[6 * i :])) for i in indices]
        return replace(state, bodies=np.array(bodies)) if bodies else state


def _motion(pose: list[float], twist: list[float]) -> tuple[Array, Array, Array]:
    """Return position (3,), orientation (4,) and twist (6,) of the first of some links.

    Args:
        pose: position and quaternion of each link (7 l,).
        twist: linear, then angular, in the axes of the world (6 l,); the returned one is in the
            axes of the link.
    """
    position, orientation = np.array(pose[:3]), np.array(pose[3:7])
    rotation, rates = quaternion_matrix(orientation), np.array(twist[:6])
    return position, orientation, np.concatenate([rates[:3] @ rotation, rates[3:] @ rotation])
