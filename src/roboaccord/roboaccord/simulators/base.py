"""Base class of all simulators: what they share is here, the motion in the derived class.

A new simulator derives from `Simulator` and writes `_place`, `_advance`, `_read`, `_accelerate` and
`masses`; it needs no change here. `reset`, `step` and `state` stay final: clipping, faults and
events are the same for all (test_simulators). Public methods may be added, with a default that
suits every existing simulator, and go through `Proxy`, which test_simulators checks member by
member.

When a joint freezes, an impulse of its lock takes its rate. With the mass matrix M, and J the
joint's row of the unit matrix,

    v+ = v - M^-1 J' (J M^-1 J')^-1 J v,        energy taken (J v)' (J M^-1 J')^-1 (J v) / 2

which is the projection of v that is orthogonal in the metric of M: energy is never gained.

A proxy stands in front of another simulator, to which it hands over all that it does not change.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.checks import clip_efforts, count_steps
from roboaccord.contract.contact import ContactPoint, Index
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault
from roboaccord.contract.interfaces import Acceleration, AnySimulator
from roboaccord.contract.state import NO_SWITCHES, Array, Command, RobotState
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.simulators.joints import JointFaults, frozen, hold, weakened, without_loose
from roboaccord.simulators.losses import FRICTION, LossAccount

PERIOD = "control period over physics step"

Phase = tuple[Trajectory, Sequence[float]]
"""Samples whose efforts, wrenches and switches are held (k), and how long each is [s]; 0: never."""


class Ends(NamedTuple):
    """Hold the ends of many motions.

    Args:
        q, qd, position, orientation, twist: as of `Trajectory` (k, ...).
        stopped: in which of them a joint of a twin has been about to be at its stop (k,).
    """

    q: Array
    qd: Array
    position: Array
    orientation: Array
    twist: Array
    stopped: NDArray[np.bool_]


class Simulator(ABC):
    """Advance a robot in time with its own physics step.

    A simulator writes `_place`, `_advance` and `_read`, `_accelerate` and `masses`; one whose
    joints can freeze `lock`. It may write `_start` and `_note`, adds to `_events` and `_losses`,
    and finds the efforts in force in `_effort` and the number of physics steps in `_steps`.

    Args:
        joints: their names, in the order of every array; n of them.
        effort_limits: what efforts are clipped to (n,) [N m or N].
        physics_step: [s].
        faults: joints that fail, and when.
        hinges: joints that can fail.

    Attributes:
        name, version: of the engine.
        order: of convergence of the integrator in the physics step.
        channels: of energy losses that it can measure.
        armature: what rotors of the drives add to the inertia of the joints (n,) [kg m^2].
        spring: stiffness [N m/rad] and slack positions of springs in the joints (n,), or None.
        unplaced: why it can be put into the start of a scenario alone; "" where any state will do.
        stopped: whether a joint has been about to be at its stop since the last reset, of a twin.
        tighter: options by which a reference, whose steps follow from a tolerance, measures what
            that leaves; none of one that takes physics steps.
    """

    name: str
    version: str
    order: int
    channels: tuple[str, ...] = ()
    unplaced: str = ""
    stopped: bool = False
    tighter: Mapping[str, float] = MappingProxyType({})

    def __init__(
        self,
        joints: tuple[str, ...],
        effort_limits: Array,
        physics_step: float,
        *,
        faults: Sequence[Fault] = (),
        hinges: Collection[str] = (),
    ) -> None:
        self.joints, self.effort_limits = joints, effort_limits
        self.physics_step = physics_step
        self.armature = np.zeros(len(joints))
        self.spring: tuple[Array, Array] | None = None
        self._faults = JointFaults(faults, joints, hinges)
        self._losses, self._metered = LossAccount(*self.channels), False
        self._events = list[Event]()
        self._time, self._effort = 0.0, np.zeros(len(joints))  # of the state that `_read` returns
        self._state: RobotState | None = None
        self._period, self._steps = math.nan, 0

    def __init_subclass__(cls) -> None:
        """Refuse a class that goes around what none may forget."""
        for name in ("reset", "step", "state"):
            if name in vars(cls):
                raise TypeError(f"{cls.__name__}.{name}: write _place, _advance or _read instead")

    @final
    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`, its joints healed; return the state as the simulator has it."""
        for joint in frozen(self._faults.in_force):
            self.lock(joint, False)
        self._faults.restart(state.time)
        self._events.clear()
        self._losses.clear()
        self._time, self._effort = state.time, np.array(state.effort)
        self._start(state)
        self._state = self._read()
        return self._state

    @final
    def state(self) -> RobotState:
        """Return the present state."""
        if self._state is None:
            self._state = self._read()
        return self._state

    @final
    def step(self, command: Command, duration: float) -> RobotState:
        """Advance by `duration` [s], a whole number of physics steps, under a held command.

        Efforts are clipped to their limits, and those in force what the drives transmit.

        Raises:
            AccordError: for another duration, or a command that the simulator does not take.
        """
        if duration != self._period:
            self._steps = count_steps(duration, self.physics_step, PERIOD)
            self._period = duration
        effort = clip_efforts(command.effort, self.effort_limits)
        faults = self._faults
        if faults.possible:
            self._act()
            effort = faults.transmitted(command, effort, self.state())
        before = self._state or self.state()
        self._time = round(before.time + duration, 9)  # free of the sum's round-off
        self._effort = effort
        if not faults.possible:
            self._advance(command, duration)
            after = self._read()
        elif slipping := faults.slipping:
            self._slip(command, slipping)
            after = faults.seen(replace(self._read(), effort=effort))
        else:
            self._advance(command, duration)
            after = faults.seen(self._read())
        self._state = after
        self._note(before, after)
        return after

    @final
    def predict(self, starts: Trajectory, *phases: Phase) -> tuple[Trajectory, NDArray[np.bool_]]:
        """Return where many short motions end, each from a state of its own.

        They are those that `reset` gives, and `step` for each phase, to the last bit; many are one
        call of a kernel where the simulator has one. It must be reset before it goes on.

        Args:
            starts: states (k).
            phases: what acts, one after the other.

        Returns:
            the ends (k), and in which motions a joint of a twin has been about to stop (k,).

        Raises:
            AccordError: as `step` does.
        """
        if not len(starts):
            return starts, np.zeros(0, bool)
        efforts = [clip_efforts(held.effort, self.effort_limits) for held, _ in phases]
        counts = [self._counts(lasting) for _, lasting in phases]
        switched = any(held.switches or held.wrench is not None for held, _ in phases)
        found = None
        if not (switched or self._faults.possible):
            found = self._ends(starts, efforts, counts)
        if found is None:
            return self._one_by_one(starts, *phases)
        time, effort = starts.time.tolist(), starts.effort
        for (_, lasting), own, count in zip(phases, efforts, counts, strict=True):
            spans = zip(time, lasting, strict=True)
            time = [round(now + more, 9) if more else now for now, more in spans]
            effort = np.where(count[:, None] > 0, own, effort)
        *_, stopped = found
        return Trajectory(self.joints, np.array(time), *found[:2], effort, *found[2:5]), stopped

    def _counts(self, durations: Sequence[float]) -> Index:
        """Return the numbers of physics steps of durations (k,), 0 of one of 0 [s]."""
        step = self.physics_step
        known = {each: count_steps(each, step, PERIOD) if each else 0 for each in {*durations}}
        return np.array([known[each] for each in durations], int)

    def _one_by_one(
        self, starts: Trajectory, *phases: Phase
    ) -> tuple[Trajectory, NDArray[np.bool_]]:
        """Return what `predict` does, motion by motion."""
        states, stopped, parts = list[RobotState](), list[bool](), self.parts()
        for i in range(len(starts)):
            state = self.reset(starts.state(i))
            for held, lasting in phases:
                if lasting[i]:
                    state = self.step(held.held(i), lasting[i])
            states.append(state)
            stopped.append(any(part.stopped for part in parts))
        self.take_events()
        return Trajectory.from_states(self.joints, states), np.array(stopped, bool)

    def fail(self, fault: Fault) -> None:
        """Let a joint fail at the next control tick.

        Raises:
            AccordError: for anything but a hinge, or an angle, which is for the start.
        """
        self._faults.ask(fault)

    def take_events(self) -> Sequence[Event]:
        """Return the events since the last call or reset, in order of time."""
        if not self._events:
            return ()
        events = sorted(self._events, key=lambda event: event.time)
        self._events.clear()
        return events

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration | None:
        """Return the accelerations without contact, friction or stops; None if kinematic.

        The joints have failed that have at the time of the state.
        """
        if not self._faults.possible:
            return self._accelerate(state, effort)
        failed = self._faults.at(state.time)
        held = frozen(failed)
        qd = np.array(state.qd)
        qd[held] = 0.0
        with self._holding(held):
            effort = weakened(without_loose(effort, failed), failed)
            found = self._accelerate(replace(state, qd=qd), effort)
        if found is None:
            return None
        joints = np.array(found.joints)
        joints[held] = 0.0
        return Acceleration(found.base, joints)

    @abstractmethod
    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link as the simulator has it [kg]."""

    def contacts(self) -> Sequence[ContactPoint] | None:
        """Return the contacts in force at the present state; None where they are not known."""
        return None

    def meter(self) -> None:
        """Begin to measure losses by `channels`, which costs time and changes no motion."""
        self._metered = True

    def take_losses(self) -> Mapping[str, float]:
        """Return the energy taken since the last call or reset, by channel of `channels` [J].

        Nothing before `meter` was called.
        """
        return self._losses.take() if self._metered else {}

    def parts(self) -> Sequence[Simulator]:
        """Return the simulators of its models in an engine; none for equations of its own."""
        return ()

    def lock(self, joint: int, locked: bool) -> None:
        """Hold a joint rigidly, or let go of it."""
        raise AccordError(f"{self.name}: {self.joints[joint]} cannot be frozen here")

    @abstractmethod
    def _place(self, state: RobotState) -> None:
        """Go on from a state, of the present time."""

    @abstractmethod
    def _advance(self, command: Command, duration: float) -> None:
        """Move on from `state()` by a duration [s], under `_effort` and the rest of a command."""

    @abstractmethod
    def _read(self) -> RobotState:
        """Return the present state, with `_time` and `_effort`."""

    @abstractmethod
    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration | None:
        """Return the accelerations with the locks in force, without contact, friction or stops."""

    def _ends(
        self, starts: Trajectory, efforts: Sequence[Array], counts: Sequence[Index]
    ) -> Ends | None:
        """Return the ends of many motions by one kernel; None where there is none for them.

        Args:
            starts: states (k), without switches that change.
            efforts: in force, by phase (k, n) [N m].
            counts: of physics steps, by phase (k,).
        """
        return None

    def _start(self, state: RobotState) -> None:
        """Begin at a state; what has a memory forgets it."""
        self._place(state)

    def load(self) -> None:  # noqa: B027 (by default nothing)
        """Load what the first step would wait for, before the time of a run is measured."""

    def compile_all(self) -> None:  # noqa: B027 (by default nothing)
        """Compile also what few motions need, such as impacts, which must not halt real time."""

    def _note(self, before: RobotState, after: RobotState) -> None:  # noqa: B027 (by default nothing)
        """Make events of a step, or refuse its end."""

    def _warm_up(self, initial: RobotState, command: Command | None = None) -> None:
        """Compile the kernels here, outside the timed run, and not in the first tick."""
        self.reset(initial)
        self.step(command or Command(np.zeros(len(self.joints))), self.physics_step)
        self.reset(initial)

    def _act(self) -> None:
        """Bring into force what fails at the present tick."""
        faults, time = self._faults, self.state().time
        for joint, fault in faults.due(self.state()):
            impulse = energy = 0.0
            if fault.kind == "frozen":
                impulse, energy = self._freeze(joint)
            elif joint in faults.in_force:
                self.lock(joint, False)
            if faults.is_news(fault):
                kind, name = f"joint_{fault.kind}", self.joints[joint]
                self._events.append(Event(time, kind, name, impulse, energy, fault.size))

    def _slip(self, command: Command, brakes: Mapping[int, float]) -> None:
        """Move on by physics steps, each with the efforts of brakes that slip [N m], by joint.

        A step that ends a motion may gain I (h a)^2 / 8 of energy, with the inertia I of the joint
        and the acceleration a [rad/s^2] that the brake takes.
        """
        effort, end, count, held = self._effort, self._time, self._steps, [*brakes]
        start, most = self.state().time, np.array([*brakes.values()])
        self._steps = 1
        try:
            for k in range(count):
                before = self.state()
                found = self._accelerate(before, effort)
                assert found  # a robot with hinges is dynamic
                responses = np.array([self._response(before, j).joints[held] for j in held])
                change = found.joints[held] + before.qd[held] / self.physics_step
                braking = np.zeros(len(effort))
                braking[held] = hold(responses, change, most)
                self._effort = effort + braking
                self._time = end if k == count - 1 else start + (k + 1) * self.physics_step
                self._advance(command, self.physics_step)
                command = replace(command, switches=NO_SWITCHES)
                after = self._state = self._read()
                if FRICTION in self.channels:
                    self._losses.add(FRICTION, -float(braking @ (after.q - before.q)))
        finally:
            self._effort, self._steps = effort, count

    def _freeze(self, joint: int) -> tuple[float, float]:
        """Lock a joint; return the size of the impulse [N m s], and the energy taken [J]."""
        state = self.state()
        rate = float(state.qd[joint])
        if rate == 0.0:
            self.lock(joint, True)
            return 0.0, 0.0
        change = self._response(state, joint)
        impulse = -rate / float(change.joints[joint])
        qd = state.qd + impulse * change.joints
        qd[[joint, *frozen(self._faults.in_force)]] = 0.0
        jump = impulse * change.base.reshape(2, 3)
        twist = state.twist + (jump @ quaternion_matrix(state.orientation)).ravel()
        self.lock(joint, True)
        self._place(replace(state, qd=qd, twist=twist))
        self._state = None
        return abs(impulse), -0.5 * impulse * rate

    def _response(self, state: RobotState, joint: int) -> Acceleration:
        """Return the change of the velocities by an impulse of 1 N m s on a joint, M^-1 J'."""
        unit = np.eye(len(self.joints))[joint]
        up, down = (self._accelerate(state, sign * unit) for sign in (0.5, -0.5))
        assert up and down  # a robot with hinges is dynamic
        return Acceleration(up.base - down.base, up.joints - down.joints)

    @contextmanager
    def _holding(self, held: Sequence[int]) -> Iterator[None]:
        """Hold some joints, and no others, for a while."""
        now = frozen(self._faults.in_force)
        changes = [(j, j in held) for j in {*now, *held} if (j in held) is not (j in now)]
        try:
            for joint, locked in changes:
                self.lock(joint, locked)
            yield
        finally:
            for joint, locked in changes:
                self.lock(joint, not locked)


def check_simulator(made: AnySimulator, robot: str) -> Simulator:
    """Return what a robot has made.

    Raises:
        AccordError: where it does not derive from `Simulator`.
    """
    if not isinstance(made, Simulator):
        kind = type(made).__name__
        raise AccordError(f"robot {robot} makes a {kind}: derive it from roboaccord.Simulator")
    return made


class Proxy(Simulator):
    """Stand for a simulator; a subclass changes what goes in by `_advance`, what comes by `_read`.

    Args:
        simulator: to stand for.
    """

    def __init__(self, simulator: Simulator) -> None:
        self.name, self.version, self.order = simulator.name, simulator.version, simulator.order
        self.channels, self.unplaced = simulator.channels, simulator.unplaced
        super().__init__(simulator.joints, simulator.effort_limits, simulator.physics_step)
        self.armature, self.spring = simulator.armature, simulator.spring
        self._inner = simulator

    def fail(self, fault: Fault) -> None:
        self._inner.fail(fault)

    def load(self) -> None:
        self._inner.load()

    def compile_all(self) -> None:
        self._inner.compile_all()

    def take_events(self) -> Sequence[Event]:
        return [*super().take_events(), *self._inner.take_events()]

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration | None:
        return self._inner.acceleration(state, effort)

    def masses(self) -> Mapping[str, float]:
        return self._inner.masses()

    def contacts(self) -> Sequence[ContactPoint] | None:
        return self._inner.contacts()

    def meter(self) -> None:
        self._inner.meter()

    def take_losses(self) -> Mapping[str, float]:
        return self._inner.take_losses()

    def parts(self) -> Sequence[Simulator]:
        return self._inner.parts()

    def lock(self, joint: int, locked: bool) -> None:
        self._inner.lock(joint, locked)

    def _place(self, state: RobotState) -> None:
        self._inner.reset(state)

    def _advance(self, command: Command, duration: float) -> None:
        self._inner.step(command, duration)

    def _read(self) -> RobotState:
        return self._inner.state()

    _accelerate = acceleration
