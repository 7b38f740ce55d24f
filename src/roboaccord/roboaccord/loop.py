"""The deterministic loop: state out, command in, step."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from roboaccord.errors import AccordError, DivergedError
from roboaccord.interfaces import Controller, Observer, Simulator
from roboaccord.state import Array, Command, RobotState, Target
from roboaccord.trajectory import Event, Trajectory

NANOSECONDS = 1_000_000_000
RUNAWAY_SPEED = 1e6  # rad/s; far beyond any mechanism here, well before float64 overflows


def clip_efforts(effort: Array, limits: Array) -> Array:
    """Return efforts clipped to plus and minus their limits (n,) [N m]."""
    # Two ufuncs: np.clip costs four times as much on arrays this small.
    return np.asarray(np.minimum(np.maximum(effort, -limits), limits))


def count_steps(duration: float, step: float, what: str) -> int:
    """Return how many times `step` fits in `duration`.

    Raises:
        AccordError: if it does not fit a whole number of times, at least once.
    """
    if not (math.isfinite(duration) and step > 0):
        raise AccordError(f"{what}: {duration:g} s over {step:g} s is no number of steps")
    count = round(duration / step)
    if count < 1 or abs(count * step - duration) > 1e-9 * max(duration, step):
        raise AccordError(f"{what}: {duration:g} s is no whole multiple of {step:g} s")
    return count


def tick_time(tick: int, period_ns: int) -> float:
    """Return the time of a control tick [s], exactly as a ROS time stamp gives it back."""
    return tick * period_ns / NANOSECONDS


def ask_controller(
    controller: Controller, state: RobotState, target: Target | None, joints: Sequence[str]
) -> Command:
    """Return a controller's command, checked.

    Raises:
        AccordError: if the controller, which may be a user's, raises or gives no valid command.
    """
    who = type(controller).__name__
    try:
        command = controller.update(state, target)
    except AccordError:
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0]
        raise AccordError(
            f"{who} raised {type(error).__name__}: {reason} at t = {state.time:.6f} s"
        ) from error
    if not isinstance(command, Command):
        raise AccordError(
            f"{who} gave {type(command).__name__} and no Command at t = {state.time:.6f} s"
        )
    check_command(command, joints, who, state.time)
    check_switches(command, state, who)
    return command


def check_switches(command: Command, state: RobotState, who: str) -> None:
    """Refuse a command that sets a switch which the robot does not have.

    Raises:
        AccordError: naming the controller, the switch and the time.
    """
    for name in command.switches:
        if name not in state.switches:
            known = ", ".join(state.switches) or "none"
            raise AccordError(
                f"{who} sets switch {name} at t = {state.time:.6f} s; there is {known}"
            )


def check_command(command: Command, joints: Sequence[str], who: str, time: float) -> None:
    """Refuse a command with a missing, superfluous or non-finite effort, wrench or twist.

    Raises:
        AccordError: naming the controller, the joint and the time.
    """
    effort = command.effort
    for name in ("wrench", "twist"):
        vector = getattr(command, name)
        if vector is not None and not (np.shape(vector) == (6,) and np.isfinite(vector).all()):
            raise AccordError(f"{who} gave a {name} that is not six numbers at t = {time:.6f} s")
    # A sum of squares is finite only where every effort is, and costs a fifth of looking at each.
    if np.shape(effort) == (len(joints),) and math.isfinite(np.dot(effort, effort)):
        return
    if np.shape(effort) != (len(joints),):
        count = int(np.size(effort))
        missing = f": {joints[count]} is missing" if count < len(joints) else ""
        raise AccordError(
            f"{who} gave {count} efforts at t = {time:.6f} s, the robot has {len(joints)} joints"
            + missing
        )
    if len(joints) and not np.isfinite(effort).all():
        bad = int(np.flatnonzero(~np.isfinite(effort))[0])
        raise AccordError(f"{who} gave effort {effort[bad]} for {joints[bad]} at t = {time:.6f} s")


def check_state(state: RobotState, joints: Sequence[str], engine: str) -> None:
    """Refuse a state that is not finite, or that runs away.

    Raises:
        DivergedError: naming the engine, the time and the joint.
    """
    # A sum of squares finds any nan or inf at a tenth of the cost of looking at each.
    speed = float(state.qd.dot(state.qd))
    rest = float(state.q.dot(state.q) + state.position.dot(state.position))
    if speed < RUNAWAY_SPEED**2 and math.isfinite(rest + float(state.twist.dot(state.twist))):
        return
    where = ~np.isfinite(state.q) | ~(np.abs(state.qd) < RUNAWAY_SPEED)
    joint = joints[int(np.flatnonzero(where)[0])] if where.any() else "the base"
    raise DivergedError(
        f"{engine} diverged at t = {state.time:.6f} s, first at {joint}; try a smaller physics step"
    )


def simulate(
    *,
    simulator: Simulator,
    controller: Controller,
    initial: RobotState,
    duration: float,
    control_period: float,
    seed: int = 0,
    target: Target | None = None,
    observers: Sequence[Observer] = (),
) -> Trajectory:
    """Run a controller on a simulator, and return the motion at the control ticks.

    Args:
        simulator: any engine or the reference.
        controller: is reset with `seed` first.
        initial: the state to start from.
        duration: length of the run [s], a whole number of control periods.
        control_period: [s], a whole number of the simulator's physics steps.
        seed: for whatever is random in the controller.
        target: what the controller is asked for, constant over the run.
        observers: told of each state, command and event as they come.

    Raises:
        AccordError: for periods that do not divide, or a command that is not valid.
        DivergedError: when the simulation leaves the finite numbers.
    """
    ticks = count_steps(duration, control_period, "duration over control period")
    count_steps(control_period, simulator.physics_step, "control period over physics step")
    period_ns = round(control_period * NANOSECONDS)
    controller.reset(seed)
    state = simulator.reset(initial)
    states = [state]
    events: list[Event] = []
    commands: list[Command] = []
    for observer in observers:
        observer.on_state(state)
    for tick in range(1, ticks + 1):
        command = ask_controller(controller, state, target, simulator.joints)
        commands.append(command)
        for observer in observers:
            observer.on_command(state, command)
        state = advance(simulator, command, control_period, tick, period_ns)
        states.append(state)
        for event in simulator.take_events():
            events.append(event)
            for observer in observers:
                observer.on_event(event)
        for observer in observers:
            observer.on_state(state)
    return Trajectory.from_states(simulator.joints, states, events, commands)


def advance(
    simulator: Simulator, command: Command, period: float, tick: int, period_ns: int
) -> RobotState:
    """Step a simulator by one control period to the exact time of `tick`, and check the state."""
    new = simulator.step(command, period)
    state = RobotState(
        tick_time(tick, period_ns),
        new.q,
        new.qd,
        new.effort,
        new.position,
        new.orientation,
        new.twist,
        new.switches,
    )
    check_state(state, simulator.joints, simulator.name)
    return state
