"""Control periods of a run one by one: predictions of their ends, and differences of states.

The columns and groups below are fixed: every level indexes by them, and `difference`, `vector`,
`groups` and `names` must agree. ROUND_OFF and RESOLVED may be tuned with care: they decide which
ticks `left_out` and `kinks` take out of the judgement.

A state's numbers stand in 2 n + 12 columns of six groups: positions and rates of the n joints, and
position, orientation, linear and angular velocity of the base.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.state import Array, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.engines.base import EngineSimulator, engine_parts
from roboaccord.numerics.rotations import quaternion_product, quaternion_vector
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.stop_watch import RELEASE

Index = NDArray[np.int64]
ROUND_OFF = 1e-9  # s
RESOLVED = 4.0  # steps that it takes across the width of dry friction
BASE = ("position", "orientation", "linear velocity", "angular velocity")


def predicted(
    simulator: Simulator, run: Trajectory, ticks: Index, late: int = 0, more: int = 0
) -> tuple[Trajectory, NDArray[np.bool_]]:
    """Return the states in which a simulator ends ticks of a run (k).

    Args:
        simulator: is put in each state.
        run: recorded.
        ticks: numbers of those to take (k,).
        late: physics steps at the start of each under the efforts of the tick before.
        more: physics steps that each has more.

    Returns:
        the ends, and in which ticks a joint of a twin has been about to be at its stop (k,).
    """
    starts, held = run.at(ticks), run.at(ticks + 1)
    step = simulator.physics_step
    lasting = [round(run.period(i) + more * step, 9) for i in ticks.tolist()]
    if not late:
        return simulator.predict(starts, (held, lasting))
    early, before = late * step, replace(held, effort=starts.effort)
    rest = [round(each - early, 9) for each in lasting]
    return simulator.predict(starts, (before, [early] * len(ticks)), (held, rest))


def left_out(run: Trajectory, period: float) -> NDArray[np.bool_]:
    """Return in which ticks something happens that no scheme steps, or a state is missing (k - 1,).

    Args:
        run: recorded.
        period: of control [s].
    """
    out = np.abs(np.diff(run.time) - period) > ROUND_OFF
    for event in run.events:
        at = np.searchsorted(run.time, event.time - 1e-9)
        out[max(at - 1, 0) : at + 1] = True
    for switch in run.switches.values():
        out |= np.diff(switch)
    return out


def kinks(simulator: Simulator, run: Trajectory, step: float) -> NDArray[np.bool_]:
    """Return in which ticks dry friction turns round within few physics steps (k - 1,).

    No scheme keeps its order there, so that they are events. A hinge of the model that is not a
    joint of the run turns the base.
    """
    out = np.zeros(len(run) - 1, dtype=bool)
    part_of_tick = step / np.diff(run.time)
    for part in simulator.parts():
        law = part.intended.friction if isinstance(part, EngineSimulator) else None
        if law is None or not law.any_dry:
            continue
        width = law.speed if law.stiction is None else min(law.speed, law.stribeck_speed)
        dry = law.constant if law.stiction is None else law.stiction
        for joint in (name for name, most in zip(part.joints, dry, strict=True) if most > 0.0):
            known = joint in run.joints
            rates = run.qd[:, [run.joints.index(joint)]] if known else run.twist[:, 3:]
            low, high = (f(rates[:-1], rates[1:]) for f in (np.minimum, np.maximum))
            fast = (high - low) * part_of_tick[:, None] > width / RESOLVED
            out |= ((low <= 0.0) & (high >= 0.0) & fast).any(axis=1)
    return out


def at_stops(simulator: Simulator, run: Trajectory) -> NDArray[np.bool_]:
    """Return in which ticks a joint is at its stop, where they begin or end (k - 1,)."""
    out = np.zeros(len(run), dtype=bool)
    for part in engine_parts(simulator):
        limits = {joint.name: (joint.lower, joint.upper) for joint in part.tree.moving}
        for name, q in zip(run.joints, run.q.T, strict=True):
            lower, upper = limits.get(name, (-np.inf, np.inf))
            out |= (q < lower + RELEASE) | (q > upper - RELEASE)
    return out[1:] | out[:-1]


def difference(one: RobotState | Trajectory, other: RobotState | Trajectory) -> Array:
    """Return by how much two states, or samples one by one, differ (2 n + 12,), (k, 2 n + 12)."""
    back = one.orientation * np.array([-1.0, -1.0, -1.0, 1.0])
    turned = quaternion_vector(quaternion_product(other.orientation.T, back.T).T)
    straight, twist = other.position - one.position, other.twist - one.twist
    parts = [other.q - one.q, other.qd - one.qd, straight, turned, twist]
    return np.concatenate(parts, axis=-1)


def vector(run: Trajectory) -> Array:
    """Return the numbers of a run's states as `difference` has them (k, 2 n + 12)."""
    turned = np.full((len(run), 3), np.pi)
    return np.column_stack([run.q, run.qd, run.position, turned, run.twist])


def groups(n: int) -> list[Index]:
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
