"""Checks of commands, states, efforts and times that controllers and simulators exchange.

`count_steps` checks that one period is a whole multiple of another. `check_command` and
`check_state` refuse values that are not finite. They run at every control tick of the loop
(run/loop.py): for speed they first test a sum of squares, and search for the wrong joint only if
that is not finite. `divergence` tells whether a recorded motion diverges although it is finite.

FAST_RATE, EARLY_SAMPLES and LASTING_SAMPLES decide whether a run diverges (test_evidence), and
FAST_RATE whether the log of a robot does. The order of operations in `tick_time` must stay, because
times of ticks are part of the hash of a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from roboaccord.contract.errors import AccordError, DivergedError
from roboaccord.contract.state import Array, Command, RobotState

NANOSECONDS = 1_000_000_000  # in a second; the resolution of ROS time stamps
MOST_STEPS = 1_000_000_000  # largest number of steps of a run: at 1 ms more than eleven days
# [s] Times that differ by less count as equal: far below any period, far above the 1 ns of stamps
# and the round-off that an engine's clock accumulates.
ROUND_OFF = 1e-7
# Largest relative deviation from a whole number of steps, such as that of 0.3 s / 0.1 s (1e-16). It
# is one step of the longest run, 1 / MOST_STEPS.
STEP_ROUND_OFF = 1e-9
FAST_RATE = 100.0  # [rad/s or m/s] by choice: 955 revolutions a minute, faster than robots' joints
# Number of the first samples above FAST_RATE of a joint that are judged. A rate that doubles from
# sample to sample is 1e8 rad/s by then; later rates are bounded by effort limits.
EARLY_SAMPLES = 20
# Number of consecutive samples above FAST_RATE; the wrap of an angle makes only one.
LASTING_SAMPLES = 3
RUNAWAY_SPEED = 1e6  # [rad/s] far beyond any mechanism; its square is far below overflow


def count_steps(duration: float, step: float, what: str) -> int:
    """Return the number of steps in a duration.

    Args:
        duration: [s].
        step: [s].
        what: beginning of the error message.

    Raises:
        AccordError: if the duration is not a whole number of steps, at least one.
    """
    if not (math.isfinite(duration) and step > 0 and duration <= MOST_STEPS * step):
        raise AccordError(f"{what}: {duration:g} s over {step:g} s is not a whole number of steps")
    count = round(duration / step)
    if count < 1 or abs(count * step - duration) > STEP_ROUND_OFF * max(duration, step):
        raise AccordError(f"{what}: {duration:g} s is not a whole multiple of {step:g} s")
    return count


def check_positive(
    values: Mapping[str, float], refuse: Callable[[str], Exception] = ValueError
) -> None:
    """Refuse values that are not positive and finite.

    Args:
        values: by name.
        refuse: makes the error that is raised for the first such value from its message.
    """
    for name, value in values.items():
        if not 0.0 < value < math.inf:
            raise refuse(f"{name} is {value:g}, and must be positive")


def tick_time(tick: int, period_ns: int) -> float:
    """Return the time of a control tick [s], equal to that of its ROS time stamp.

    Args:
        tick: number of periods since the start.
        period_ns: control period [ns].
    """
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
    # A sum of squares is finite only if every effort is, and is tested in a fifth of the time.
    if effort.shape == (len(joints),) and math.isfinite(effort.dot(effort)):
        return
    if effort.shape != (len(joints),):
        count = effort.size
        missing = f": {joints[count]} is missing" if count < len(joints) else ""
        shape = "" if effort.ndim == 1 else f" of shape {effort.shape}, not ({len(joints)},),"
        gave = f"{who} gave {count} efforts{shape} at t = {time:.6f} s"
        raise AccordError(f"{gave}, the robot has {len(joints)} joints{missing}")
    if len(joints) and not np.isfinite(effort).all():
        first_bad = int(np.flatnonzero(~np.isfinite(effort))[0])
        bad_effort = f"{effort[first_bad]} for {joints[first_bad]}"
        raise AccordError(f"{who} gave effort {bad_effort} at t = {time:.6f} s")


def divergence(joints: Sequence[str], time: Array, rates: Array) -> str:
    """Return a sentence that states from when on a motion diverges; "" if it does not.

    A joint diverges if it is faster than FAST_RATE and if, in most of its first EARLY_SAMPLES fast
    samples, its rate changes by more than its own size until the next sample: the effort of one
    control period reverses its motion. A rate that grows steadily does not count as divergence: the
    joint may be driven, or its log be in degrees.

    Args:
        joints: names, n of them.
        time: (k,) [s].
        rates: (k, n) [rad/s, m/s].
    """
    if len(time) < LASTING_SAMPLES or not np.size(rates):
        return ""
    # Whether a sample begins LASTING_SAMPLES fast ones (count, n), with count = k + 1 less of them.
    windows = np.lib.stride_tricks.sliding_window_view(np.abs(rates), LASTING_SAMPLES, axis=0)
    is_fast = windows.min(axis=2) > FAST_RATE
    count = len(is_fast)
    # Fast samples after which the rate changes by more than its size.
    is_reversed = is_fast & (np.abs(np.diff(rates, axis=0))[:count] > np.abs(rates)[:count])
    is_early = is_fast & (is_fast.cumsum(axis=0) <= EARLY_SAMPLES)
    # Joints that are reversed in most of their first fast samples, and the first to diverge.
    diverges = 2 * (is_reversed & is_early).sum(axis=0) > is_early.sum(axis=0)
    first_fast = np.where(diverges, is_fast.argmax(axis=0), count)  # `count` for the others
    joint = int(first_fast.argmin())
    first_sample = int(first_fast[joint])
    if first_sample == count:
        return ""
    comes = f"{joints[joint]} comes to {np.abs(rates[:, joint]).max():.2g} rad/s or m/s"
    return f"the motion diverges from t = {time[first_sample]:g} s: {comes}"


def check_state(state: RobotState, joints: Sequence[str], engine: str) -> None:
    """Refuse a state that is not finite, or whose joints are faster than RUNAWAY_SPEED.

    Raises:
        DivergedError: naming the engine, the time and the joint.
    """
    # A sum of squares is finite only if every number is, and is tested in a tenth of the time.
    speed_sq = float(state.qd.dot(state.qd))
    other_sq = float(state.q.dot(state.q) + state.position.dot(state.position))
    base_sq = float(state.twist.dot(state.twist))
    if speed_sq < RUNAWAY_SPEED**2 and math.isfinite(other_sq + base_sq):
        return
    is_bad = ~np.isfinite(state.q) | ~(np.abs(state.qd) < RUNAWAY_SPEED)
    joint = joints[int(np.flatnonzero(is_bad)[0])] if is_bad.any() else "the base"
    where = f"at t = {state.time:.6f} s, first at {joint}"
    raise DivergedError(f"{engine} diverged {where}; try a smaller physics step")
