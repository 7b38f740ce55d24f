"""Base class of all simulators: interface, limits of efforts, faults, events and losses.

A simulator advances a robot in time: our references (reference.py), engines (engines/base.py) and
robots with equations of their own. The control loop calls `step` once per control tick: a command
is constant for a duration, which is a whole number of physics steps.

`reset`, `step` and `state` are final, so that clipping, faults and events are the same for all
simulators (test_simulators). A new simulator derives from `Simulator` and implements the motion:
`_place`, `_advance`, `_read`, `_accelerate` and `masses`. How joints fail is in failing.py. Public
methods may be added, with a default that suits every existing simulator, and must be passed on by
`Proxy` (proxy.py).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, final

import numpy as np

from roboaccord.contract.checks import clip_efforts, count_steps
from roboaccord.contract.contact import ContactPoint, Index, Mask
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault
from roboaccord.contract.interfaces import Acceleration, AnySimulator
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.simulators.failing import FailingJoints
from roboaccord.simulators.faults import JointFaults, frozen, weakened, without_loose
from roboaccord.simulators.friction import JointFriction
from roboaccord.simulators.losses import LossAccount

PERIOD = "control period over physics step"  # in messages

# Commands (efforts, wrenches and switches of k samples), and the duration of each (k) [s].
Phase = tuple[Trajectory, Sequence[float]]


class Ends(NamedTuple):
    """Final states of k motions.

    Args:
        q, qd, position, orientation, twist: as of `Trajectory` (k, ...).
        stopped: whether a joint reached its stop in the motion, or was about to (k,). Only twins
            (our equations under an engine's integration method) notice that.
    """

    q: Array
    qd: Array
    position: Array
    orientation: Array
    twist: Array
    stopped: Mask


class Simulator(FailingJoints, ABC):
    """Advance a robot in time with its own physics step.

    A derived class implements `_place`, `_advance`, `_read`, `_accelerate` and `masses`; also
    `lock` if its joints can freeze. It may override `_start` and `_note`, and adds to `_events` and
    `_losses`. Available to it are the efforts in force, `_effort` (n,) [N m or N], the number of
    physics steps of a control tick, `_steps`, and the time of the state that `_read` is to return,
    `_time` [s].

    Args:
        joints: names, in the order of every array; n of them.
        effort_limits: largest efforts, to which commands are clipped (n,) [N m or N].
        physics_step: [s].
        faults: joints that fail, and when.
        hinges: names of the joints that can fail.

    Attributes:
        name, version: name and version of the engine.
        order: order of convergence of the integrator in the physics step.
        channels: channels of energy losses that it can measure.
        armature: reflected inertia of the drives' rotors (n,) [kg m^2].
        spring: stiffness [N m/rad] and slack positions of springs in the joints (n,), or None.
        joint_friction: friction of the joints in a reference that has any.
        unplaced: why `reset` accepts only the start of a scenario; "" if it accepts any state.
        stopped: of a twin, whether a joint reached its stop, or was about to, since the last reset.
        rounding: relative distance from 1 to the next number in its arithmetic.
        tighter: options with which a reference has a smaller error, if it chooses its steps by a
            tolerance; empty for one that takes physics steps.
        contact_bounds: largest residuals of its certificate of contact, by law, that a reference's
            own tolerances and round-off explain; of other laws they are not known.
    """

    version: str
    order: int
    unplaced: str = ""
    stopped: bool = False
    joint_friction: JointFriction | None = None
    rounding: float = 2.0**-52
    tighter: Mapping[str, float] = MappingProxyType({})
    contact_bounds: Mapping[str, float] = MappingProxyType({})

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
        self._losses = LossAccount(*self.channels)
        self._metered = False
        self._events = list[Event]()
        # Time [s] and efforts in force (n,) of the state that `_read` returns.
        self._time, self._effort = 0.0, np.zeros(len(joints))
        self._state: RobotState | None = None
        # Duration of the last control tick [s], and its number of physics steps.
        self._period, self._steps = math.nan, 0

    def __init_subclass__(cls) -> None:
        """Refuse a class that overrides a method which must be the same in all simulators."""
        for name in ("reset", "step", "state"):
            if name in vars(cls):
                raise TypeError(f"{cls.__name__}.{name}: write _place, _advance or _read instead")

    @final
    def reset(self, state: RobotState) -> RobotState:
        """Set the state, and repair all joints; return the state that the simulator then has."""
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
        """Advance by `duration` [s], a whole number of physics steps, under a constant command.

        Efforts are clipped to their limits. Those in force are the ones that drives transmit, which
        may have faults.

        Raises:
            AccordError: for any other duration, or a command that the simulator does not accept.
        """
        if duration != self._period:
            self._steps = count_steps(duration, self.physics_step, PERIOD)
            self._period = duration
        # Efforts in force: within the limits, and as drives with faults transmit them.
        effort = clip_efforts(command.effort, self.effort_limits)
        faults = self._faults
        if faults.possible:
            self._begin_faults()
            effort = faults.transmitted(command, effort, self.state())
        before = self._state or self.state()
        self._time = round(before.time + duration, 9)  # without the sum's round-off
        # The motion, and what failed encoders read after it.
        self._effort = effort
        brakes = faults.slipping if faults.possible else None
        if brakes:
            self._advance_braked(command, brakes)
            after = replace(self._read(), effort=effort)
        else:
            self._advance(command, duration)
            after = self._read()
        if faults.possible:
            after = faults.with_readings(after)
        self._state = after
        self._note(before, after)
        return after

    @final
    def predict(self, starts: Trajectory, *phases: Phase) -> tuple[Trajectory, Mask]:
        """Return the final states of many short motions, each from a state of its own.

        The results are those of `reset` and then `step` for each phase, to the last bit, but
        computed by one call of a kernel if the simulator has one. Afterwards it must be reset.

        Args:
            starts: states (k).
            phases: commands with durations, one after the other; a duration may be 0.

        Returns:
            The final states (k), and in which motions a joint of a twin reached its stop or was
            about to (k,).

        Raises:
            AccordError: as `step` does.
        """
        if not len(starts):
            return starts, np.zeros(0, bool)
        efforts = [clip_efforts(commands.effort, self.effort_limits) for commands, _ in phases]
        counts = [self._step_counts(durations) for _, durations in phases]
        only_efforts = not any(c.switches or c.wrench is not None for c, _ in phases)
        # The kernel knows neither other commands, nor faults, nor free bodies.
        ends = None
        if only_efforts and not self._faults.possible and starts.bodies is None:
            ends = self._ends(starts, efforts, counts)
        if ends is None:
            return self._predict_one_by_one(starts, *phases)
        times, last_effort = starts.time.tolist(), starts.effort
        for (_, durations), effort, count in zip(phases, efforts, counts, strict=True):
            spans = zip(times, durations, strict=True)
            times = [round(time + span, 9) if span else time for time, span in spans]
            last_effort = np.where(count[:, None] > 0, effort, last_effort)
        motion = ends.q, ends.qd, last_effort, ends.position, ends.orientation, ends.twist
        return Trajectory(self.joints, np.array(times), *motion), ends.stopped

    def _step_counts(self, durations: Sequence[float]) -> Index:
        """Return the number of physics steps in each of the durations [s] (k,); 0 for 0 s."""
        step = self.physics_step
        counts = {time: count_steps(time, step, PERIOD) if time else 0 for time in {*durations}}
        return np.array([counts[time] for time in durations], int)

    def _predict_one_by_one(self, starts: Trajectory, *phases: Phase) -> tuple[Trajectory, Mask]:
        """Return the results of `predict`, one motion after the other."""
        states, stopped = list[RobotState](), list[bool]()
        parts = self.parts()
        for i in range(len(starts)):
            state = self.reset(starts.state(i))
            for commands, durations in phases:
                if durations[i]:
                    state = self.step(commands.command_until(i), durations[i])
            states.append(state)
            stopped.append(any(part.stopped for part in parts))
        self.take_events()
        return Trajectory.from_states(self.joints, states), np.array(stopped, bool)

    def fail(self, fault: Fault) -> None:
        """Let a joint fail at the next control tick.

        Raises:
            AccordError: for a joint that is no hinge, or a fault with an angle, which only a fault
                at the start can have.
        """
        self._faults.request(fault)

    def take_events(self) -> Sequence[Event]:
        """Return the events since the last call or reset, in order of time."""
        if not self._events:
            return ()
        events = sorted(self._events, key=lambda event: event.time)
        self._events.clear()
        return events

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration | None:
        """Return the accelerations without contact, friction or stops; None if kinematic.

        Faults act as they do at the time of the state.
        """
        if not self._faults.possible:
            return self._accelerate(state, effort)
        failed = self._faults.acting_at(state.time)
        frozen_joints = frozen(failed)
        qd = np.array(state.qd)
        qd[frozen_joints] = 0.0
        with self._locking(frozen_joints):
            effort = weakened(without_loose(effort, failed), failed)
            acceleration = self._accelerate(replace(state, qd=qd), effort)
        if acceleration is None:
            return None
        joints = np.array(acceleration.joints)
        joints[frozen_joints] = 0.0
        return Acceleration(acceleration.base, joints)

    @abstractmethod
    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link as the simulator has it [kg]."""

    def contacts(self) -> Sequence[ContactPoint] | None:
        """Return the contacts in the present state; None if they are not known."""
        return None

    def contact_acceleration(self) -> Acceleration | None:
        """Return the accelerations under the forces of `contacts()` in the present state.

        None for a simulator whose forces act over a step: they are its change of velocities.
        """
        return None

    def meter(self) -> None:
        """Start to measure losses by channel, which costs time but does not change the motion."""
        self._metered = True

    def take_losses(self) -> Mapping[str, float]:
        """Return the energy lost since the last call or reset, by channel [J].

        It is empty until `meter` has been called.
        """
        return self._losses.take() if self._metered else {}

    def parts(self) -> Sequence[Simulator]:
        """Return the simulators of its models in an engine; none if it has its own equations."""
        return ()

    def lock(self, joint: int, locked: bool) -> None:
        """Lock a joint rigidly, or release it."""
        raise AccordError(f"{self.name}: {self.joints[joint]} cannot be frozen here")

    @abstractmethod
    def _place(self, state: RobotState) -> None:
        """Set the state and its time."""

    @abstractmethod
    def _advance(self, command: Command, duration: float) -> None:
        """Advance from `state()` by a duration [s], under `_effort` and the command."""

    @abstractmethod
    def _read(self) -> RobotState:
        """Return the present state, with `_time` and `_effort`."""

    @abstractmethod
    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration | None:
        """Return the accelerations with the locks in force, without contact, friction or stops."""

    def _ends(self, starts: Trajectory, efforts: list[Array], counts: list[Index]) -> Ends | None:
        """Return the final states of many motions by one kernel; None if it has none for them.

        Args:
            starts: states (k), without switches that change.
            efforts: in force, by phase (k, n) [N m].
            counts: numbers of physics steps, by phase (k,).
        """
        return None

    def _start(self, state: RobotState) -> None:
        """Begin at a state, without memory of the motion before."""
        self._place(state)

    def load(self) -> None:
        """Load everything for the first step, before the time of a run is measured."""

    def compile_all(self) -> None:
        """Compile all kernels, also those that few motions need: compiling halts real time."""

    def _note(self, before: RobotState, after: RobotState) -> None:
        """Record events of a step between two states, or refuse the second."""

    def _warm_up(self, initial: RobotState, command: Command | None = None) -> None:
        """Compile the kernels before the timed run instead of in its first tick."""
        self.reset(initial)
        self.step(command or Command(np.zeros(len(self.joints))), self.physics_step)
        self.reset(initial)


def check_simulator(simulator: AnySimulator, robot: str) -> Simulator:
    """Return the simulator that a robot has made.

    Raises:
        AccordError: if it does not derive from `Simulator`.
    """
    if not isinstance(simulator, Simulator):
        kind = type(simulator).__name__
        raise AccordError(f"robot {robot} makes a {kind}: derive it from roboaccord.Simulator")
    return simulator
