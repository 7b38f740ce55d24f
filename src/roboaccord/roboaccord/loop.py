"""The deterministic loop: state out, command in, step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from roboaccord.errors import AccordError, DivergedError, LockstepError
from roboaccord.interfaces import Controller, Observer, Simulator
from roboaccord.state import Array, Command, RobotState, Target
from roboaccord.trajectory import Event, Trajectory
from roboaccord.watch import START_TIMEOUT, TIMEOUT, Silence, Watch, line_of, starting

NANOSECONDS = 1_000_000_000
UNWATCHED = Watch(math.inf)
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


def no_command(time: float, timeout: float) -> LockstepError:
    """Return the error for a controller that does not answer the state of `time` [s]."""
    return LockstepError(
        f"no command for t = {time:.6f} s from the controller within {timeout:g} s"
    )


def reset_controller(controller: Controller, seed: int, timeout: float = START_TIMEOUT) -> None:
    """Reset a controller.

    Raises:
        AccordError: if the controller, which may be a user's, raises or takes too long.
    """
    with starting(f"{type(controller).__name__}.reset", timeout):
        controller.reset(seed)


def ask_controller(
    controller: Controller,
    state: RobotState,
    target: Target | None,
    joints: Sequence[str],
    watch: Watch = UNWATCHED,
) -> Command:
    """Return a controller's command, checked; it does not change when the controller's arrays do.

    Args:
        controller: is asked.
        state, target: what it is given, read-only.
        joints: joint names.
        watch: ends a call that takes too long.

    Raises:
        AccordError: if the controller, which may be a user's, raises, takes too long or gives no
            valid command.
    """
    who = type(controller).__name__
    watch.calls += 1
    try:
        command = controller.update(state, target)
    except AccordError:
        raise
    except Silence:
        raise no_command(state.time, watch.timeout) from None
    except BaseException as error:
        raise AccordError(f"{who} {line_of(error)} at t = {state.time:.6f} s") from error
    finally:
        watch.calls += 1
    if not isinstance(command, Command):
        raise AccordError(
            f"{who} gave {type(command).__name__} and no Command at t = {state.time:.6f} s"
        )
    command = command.copy()
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
    effort = np.asarray(command.effort)
    for name, vector in (("wrench", command.wrench), ("twist", command.twist)):
        if vector is not None and not (np.shape(vector) == (6,) and np.isfinite(vector).all()):
            raise AccordError(f"{who} gave a {name} that is not six numbers at t = {time:.6f} s")
    # A sum of squares is finite only where every effort is, and costs a fifth of looking at each.
    if effort.shape == (len(joints),) and math.isfinite(effort.dot(effort)):
        return
    if effort.shape != (len(joints),):
        count = effort.size
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
    timeout: float = TIMEOUT,
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
        timeout: how long the controller may take for an answer [s of wall time].

    Raises:
        AccordError: for periods that do not divide, a controller that raises or takes too long, or
            a command that is not valid.
        DivergedError: when the simulation leaves the finite numbers.
    """
    ticks = count_steps(duration, control_period, "duration over control period")
    count_steps(control_period, simulator.physics_step, "control period over physics step")
    period_ns = round(control_period * NANOSECONDS)
    reset_controller(controller, seed, max(START_TIMEOUT, timeout))
    state = simulator.reset(initial)
    states = [state]
    events: list[Event] = []
    commands: list[Command] = []
    for observer in observers:
        observer.on_state(state)
    with Watch(timeout) as watch:
        for tick in range(1, ticks + 1):
            command = ask_controller(controller, state, target, simulator.joints, watch)
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
    state = simulator.step(command, period)
    time = tick_time(tick, period_ns)
    if state.time != time:
        state = replace(state, time=time)
    check_state(state, simulator.joints, simulator.name)
    return state
