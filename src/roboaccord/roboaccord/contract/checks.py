"""Checks of what controllers and simulators hand over: commands, states, efforts, and of times.

The limits MOST, FAST, EARLY, LASTING and RUNAWAY_SPEED may be tuned. FAST, EARLY and LASTING decide
that a run diverges (test_evidence), FAST also that the log of a robot does. `tick_time` and the
order of operations in it are fixed: times of ticks are part of the hash of a run, and equal ROS
time stamps. `check_state` and `check_command` run at every tick: keep their fast path, a sum of
squares, first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from roboaccord.contract.errors import AccordError, DivergedError
from roboaccord.contract.state import Array, Command, RobotState

NANOSECONDS = 1_000_000_000  # in a second: the resolution of ROS time stamps
MOST = 1_000_000_000  # steps: at 1 ms more than eleven days
ROUND_OFF = 1e-7  # s: far below any control period, far above the round-off of a time
WHOLE = 1e-9  # relative: 0.3 s over 0.1 s is a whole number of steps in spite of round-off
FAST = 100.0  # rad/s, m/s: 955 revolutions a minute, beyond the joints of robots
EARLY = 20  # fast samples of a joint that are looked at; later, efforts at their limits bound it
LASTING = 3  # samples in a row: an angle that wraps round is fast in one alone
RUNAWAY_SPEED = 1e6  # rad/s: far beyond any mechanism, and its square far below overflow


def count_steps(duration: float, step: float, what: str) -> int:
    """Return how many times `step` fits in `duration`.

    Raises:
        AccordError: if it does not fit a whole number of times, at least once.
    """
    if not (math.isfinite(duration) and step > 0 and duration <= MOST * step):
        raise AccordError(f"{what}: {duration:g} s over {step:g} s is not a whole number of steps")
    count = round(duration / step)
    if count < 1 or abs(count * step - duration) > WHOLE * max(duration, step):
        raise AccordError(f"{what}: {duration:g} s is not a whole multiple of {step:g} s")
    return count


def check_positive(
    values: Mapping[str, float], refuse: Callable[[str], Exception] = ValueError
) -> None:
    """Refuse the first of some values, by name, that is not positive and finite."""
    for name, value in values.items():
        if not 0.0 < value < math.inf:
            raise refuse(f"{name} is {value:g}, and must be positive")


def tick_time(tick: int, period_ns: int) -> float:
    """Return the time of a control tick [s], exactly as a ROS time stamp gives it back."""
    return tick * period_ns / NANOSECONDS


def clip_efforts(effort: Array, limits: Array) -> Array:
    """Return efforts clipped to plus and minus their limits (n,) [N m]."""
    # Two ufuncs: np.clip costs four times as much on arrays this small.
    return np.asarray(np.minimum(np.maximum(effort, -limits), limits))


def check_switches(command: Command, state: RobotState, who: str) -> None:
    """Refuse a command that sets a switch which the robot does not have.

    Raises:
        AccordError: naming the controller, the switch and the time.
    """
    for name in command.switches:
        if name not in state.switches:
            available = ", ".join(state.switches) or "none"
            when = f"t = {state.time:.6f} s"
            raise AccordError(f"{who} sets switch {name} at {when}; available: {available}")


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
        given = f"{who} gave {count} efforts at t = {time:.6f} s"
        raise AccordError(f"{given}, the robot has {len(joints)} joints{missing}")
    if len(joints) and not np.isfinite(effort).all():
        bad = int(np.flatnonzero(~np.isfinite(effort))[0])
        raise AccordError(f"{who} gave effort {effort[bad]} for {joints[bad]} at t = {time:.6f} s")


def divergence(joints: Sequence[str], time: Array, rates: Array) -> str:
    """Return in words from when on a motion diverges, and by which joint; "" where it does not.

    A joint diverges if it is faster than FAST and if, in most of its first fast samples, its rate
    changes by more than itself until the next sample, as where held efforts throw it to and fro. A
    rate that grows steadily diverges only where `check_state` refuses it: the joint may be driven,
    or its log be in degrees.

    Args:
        joints: names, n of them.
        time: (k,) [s].
        rates: (k, n) [rad/s, m/s].
    """
    if len(time) < LASTING or not np.size(rates):
        return ""
    speeds = np.lib.stride_tricks.sliding_window_view(np.abs(rates), LASTING, axis=0).min(axis=2)
    fast, last = speeds > FAST, len(speeds)
    thrown = fast & (np.abs(np.diff(rates, axis=0))[:last] > np.abs(rates)[:last])
    early = fast & (fast.cumsum(axis=0) <= EARLY)
    diverges = 2 * (thrown & early).sum(axis=0) > early.sum(axis=0)
    first = np.where(diverges, fast.argmax(axis=0), last)
    at, joint = int(first.min()), int(first.argmin())
    if at == last:
        return ""
    comes = f"{joints[joint]} comes to {np.abs(rates[:, joint]).max():.2g} rad/s or m/s"
    return f"the motion diverges from t = {time[at]:g} s: {comes}"


def check_state(state: RobotState, joints: Sequence[str], engine: str) -> None:
    """Refuse a state that is not finite, or whose joints are faster than RUNAWAY_SPEED.

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
