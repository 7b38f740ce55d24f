"""Level `scheme`: an engine against its twin, tick by tick from the engine's own states.

The twin (engines/twin.py) has our equations of motion under the engine's scheme and step. Nothing
is left to time stepping, so that the difference is judged by round-off alone. That is measured: by
twins all of whose numbers are changed by a rounding, and by what the engine itself loses of a state
that is set and read back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Finding, outside
from roboaccord.contract.results import Quantity, Seconds
from roboaccord.contract.state import Array, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.engines.spec import EngineSpec
from roboaccord.engines.twin import ROUNDING, Twin, twin_of
from roboaccord.numerics.rotations import (
    quaternion_matrix,
    quaternion_product,
    rotation_vector,
)
from roboaccord.run.factory import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

SAFETY = 50.0  # times what one rounding of each number makes of a tick, for the many of an engine
SAMPLED = 40  # ticks at which round-off is measured: the worst half of them, and others evenly
SHAKEN = (1, 2)  # seeds
LOSS = 1e-9  # relative: an engine that loses more of a state is not excused by it
BASE = ("position", "orientation", "linear velocity", "angular velocity")


@dataclass(frozen=True)
class NoTwin:
    """Hold why there is no twin to compare with."""

    reason: str


@dataclass(frozen=True)
class SchemeCheck:
    """Hold the largest difference of a tick from the twin, as a multiple of its floor.

    Args:
        error, floor: that difference, and what round-off explains, in the unit of the coordinate.
        quantity, where: the coordinate, and its joint or link.
        time: when the tick begins.
        judged: number of ticks that are compared.
        left_out: number of ticks with an event, a contact, or a joint at its stop.
    """

    error: Annotated[float, Quantity("", "largest difference of a tick from the twin")]
    floor: Annotated[float, Quantity("", "what round-off explains of it")]
    quantity: str
    where: str
    time: Seconds
    judged: int
    left_out: int


class Ticks(NamedTuple):
    """Hold the differences of a run from the twin.

    Args:
        chosen: number of each tick (k,).
        errors: by coordinate (k, 2 n + 12).
    """

    chosen: NDArray[np.int64]
    errors: Array


def check_scheme(setup: Setup, engine: EngineSpec, run: Trajectory) -> SchemeCheck | NoTwin:
    """Compare every tick of an engine's run with its twin's."""
    try:
        twin = make_simulator(setup, twin_of(engine))
    except AccordError as error:
        return NoTwin(str(error))
    free = np.flatnonzero(~left_out(run) & ~touching(setup, engine, run))
    found = compare(twin, run, free)
    if not len(found.chosen):
        return NoTwin("no tick is without an event, a contact or a joint at its stop")
    shaken = [make_simulator(setup, twin_of(engine, seed)) for seed in SHAKEN]
    lost = read_back(make_simulator(setup, engine), run, found.chosen)
    sizes = by_group(np.abs(found.errors))
    worst = np.argsort(-(sizes / sizes.max(axis=0).clip(min=1e-300)).max(axis=1))
    even = np.linspace(0, len(sizes) - 1, min(SAMPLED, len(sizes))).astype(int)
    sampled = np.unique([*worst[: SAMPLED // 2], *even])
    floor = measure_floor(twin, shaken, run, found.chosen[sampled]) + lost
    ratios = sizes / floor
    tick, group = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    within = groups(len(run.joints))[group]
    column = within[int(np.argmax(np.abs(found.errors[tick, within])))]
    return SchemeCheck(
        error=float(np.abs(found.errors[tick, column])),
        floor=float(floor[group]),
        quantity=names(run.joints)[column][0],
        where=names(run.joints)[column][1],
        time=float(run.time[found.chosen[tick]]),
        judged=len(sizes),
        left_out=len(run) - 1 - len(sizes),
    )


def judge_scheme(engine: str, check: SchemeCheck | NoTwin) -> Finding:
    """Judge by round-off alone."""
    if isinstance(check, NoTwin):
        return Finding("scheme", engine, "does_not_apply", f"no twin: {check.reason}")
    if check.error <= check.floor:
        return Finding("scheme", engine, "within")
    text = (
        f"{check.quantity} of {check.where} differs by {check.error:.2g} in the tick at "
        f"t = {check.time:g} s from our equations under the engine's own scheme, and round-off "
        f"explains {check.floor:.1g}"
    )
    return outside("scheme", engine, text, where=check.where)


def compare(twin: Simulator, run: Trajectory, ticks: NDArray[np.int64]) -> Ticks:
    """Compare ticks of a run with the twin's; those in which its joints stop are left out."""
    chosen, errors = [], []
    for i, after in predicted(twin, run, ticks):
        if not any(part.stopped for part in twin.parts() if isinstance(part, Twin)):
            chosen.append(i)
            errors.append(difference(run.state(i + 1), after))
    return Ticks(np.array(chosen, int), np.array(errors))


def predicted(
    twin: Simulator, run: Trajectory, ticks: NDArray[np.int64]
) -> Iterator[tuple[int, RobotState]]:
    """Yield ticks of a run and the states in which a twin ends them."""
    for i in ticks.tolist():
        twin.reset(run.state(i))
        yield i, twin.step(run.command(i), float(round(run.time[i + 1] - run.time[i], 9)))
    twin.take_events()


def measure_floor(
    twin: Simulator, shaken: list[Simulator], run: Trajectory, ticks: NDArray[np.int64]
) -> Array:
    """Return what round-off makes of a tick, by group of coordinates (6,)."""
    plain = [state for _, state in predicted(twin, run, ticks)]
    found = [ROUNDING * np.maximum(by_group(np.abs(vector(run))).max(axis=0), 1.0)]
    for other in shaken:
        pairs = zip(plain, predicted(other, run, ticks), strict=True)
        apart = np.array([difference(one, two) for one, (_, two) in pairs])
        found.append(by_group(np.abs(apart)).max(axis=0))
    return np.asarray(SAFETY * np.max(found, axis=0))


def read_back(engine: Simulator, run: Trajectory, ticks: NDArray[np.int64]) -> Array:
    """Return what an engine loses of a state that is set, by group of coordinates (6,)."""
    even = ticks[np.linspace(0, len(ticks) - 1, min(SAMPLED, len(ticks))).astype(int)]
    lost = np.array([difference(run.state(i), engine.reset(run.state(i))) for i in even.tolist()])
    size = LOSS * np.maximum(by_group(np.abs(vector(run))).max(axis=0), 1.0)
    return np.asarray(SAFETY * np.minimum(by_group(np.abs(lost)).max(axis=0), size))


def left_out(run: Trajectory) -> NDArray[np.bool_]:
    """Return in which ticks something happens that no scheme steps (k - 1,)."""
    out = np.zeros(len(run) - 1, dtype=bool)
    for event in run.events:
        at = np.searchsorted(run.time, event.time - 1e-9)
        out[max(at - 1, 0) : at + 1] = True
    for switch in run.switches.values():
        out |= np.diff(switch)
    return out


def touching(setup: Setup, engine: EngineSpec, run: Trajectory) -> NDArray[np.bool_]:
    """Return in which ticks something touches (k - 1,), by a repetition of the run."""
    out = np.zeros(len(run) + 1, dtype=bool)
    if setup.contact is None:
        return out[2:]
    simulator = make_simulator(setup, engine)
    simulator.reset(run.state(0))
    for i in range(len(run) - 1):
        simulator.step(run.command(i), float(round(run.time[i + 1] - run.time[i], 9)))
        out[i + 1] = bool(simulator.contacts())
    return out[:-2] | out[1:-1] | out[2:]


def difference(one: RobotState, other: RobotState) -> Array:
    """Return by how much two states differ (2 n + 12,)."""
    back = one.orientation * np.array([-1.0, -1.0, -1.0, 1.0])
    turned = rotation_vector(quaternion_matrix(quaternion_product(other.orientation, back)))
    straight, twist = other.position - one.position, other.twist - one.twist
    return np.concatenate([other.q - one.q, other.qd - one.qd, straight, turned, twist])


def vector(run: Trajectory) -> Array:
    """Return the numbers of a run's states as `difference` has them (k, 2 n + 12)."""
    turned = np.full((len(run), 3), np.pi)
    return np.column_stack([run.q, run.qd, run.position, turned, run.twist])


def groups(n: int) -> list[NDArray[np.int64]]:
    """Return the columns of angles, rates, position, orientation and both velocities."""
    ends = [0, n, 2 * n, *(2 * n + 3 * i for i in range(1, 5))]
    return [np.arange(a, b) for a, b in pairwise(ends)]


def by_group(sizes: Array) -> Array:
    """Return the largest of each group (k, 6)."""
    n = (sizes.shape[1] - 12) // 2
    return np.column_stack([sizes[:, g].max(axis=1, initial=0.0) for g in groups(n)])


def names(joints: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the names of the columns: a quantity, and its joint or link."""
    of_joints = [(what, joint) for what in ("position", "rate") for joint in joints]
    return [*of_joints, *((f"{what} along {a}", "base_link") for what in BASE for a in "xyz")]
