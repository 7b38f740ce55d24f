"""Level 1: properties of an engine's model by the description, accelerations by the reference.

Properties of joints that are compared may be added: a field of `JointProperties` (engines) and its
name to OF_JOINTS. READ_BACK may be tuned. ROUND_OFF stays at round-off; tolerances of masses and
accelerations are set in the scenario. The order in which `draw_states` draws is fixed: scheme.py
and the conformance suites draw by it, and another order gives other figures.

The reference is the analytical model. Accelerations are compared at random states, without time
stepping.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from roboaccord.contract.results import Quantity, unit_of
from roboaccord.contract.state import Array, RobotState
from roboaccord.crosscheck.differences import (
    Difference,
    compare_axis,
    compare_limits,
    compare_link,
    compare_mass,
    compare_value,
    relative_at,
)
from roboaccord.engines.base import engine_parts
from roboaccord.engines.model import (
    WORLD,
    JointProperties,
    Properties,
    intended_properties,
)
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

ROUND_OFF = 1e-12  # relative, and of lengths [m], angles [rad] and unit vectors
READ_BACK = 10  # states that are set and read back
OF_JOINTS = ("origin", "damping", "friction", "armature")  # fields of a joint's properties


@dataclass(frozen=True)
class ModelCheck:
    """Hold total masses and the differences of an engine's model."""

    total: Annotated[float, Quantity("kg", "mass of all links")]
    reference: Annotated[float, Quantity("kg", "mass of all links of the reference")]
    differences: tuple[Difference, ...]


def check_model(
    setup: Setup, reference: Simulator, engine: Simulator, tolerance: float
) -> ModelCheck:
    """Compare masses, limits and all other properties of an engine's model.

    Args:
        setup: robot and scenario.
        reference: whose masses and effort limits are right.
        engine: to be compared.
        tolerance: relative, of masses.
    """
    expected, found = dict(reference.masses()), dict(engine.masses())
    expected.pop(WORLD, None)
    found.pop(WORLD, None)
    differences = [*_masses(expected, found, tolerance), *_effort_limits(reference, engine)]
    for part in engine_parts(engine):
        differences += _properties(intended_properties(part.intended), part.properties())
    differences += _read_back(setup, engine)
    unique = {(d.quantity, d.where): d for d in reversed(differences) if d.error > d.allowed}
    named = sorted(unique.values(), key=lambda d: (d.quantity != "mass", d.quantity, -d.error))
    total, target = sum(found.values()), sum(expected.values())
    return ModelCheck(total, target, tuple(_merge(named, len(found), len(engine.joints))))


def _masses(
    expected: dict[str, float], found: dict[str, float], tolerance: float
) -> Iterator[Difference]:
    """Yield the masses of all links, those that only one of both has among them."""
    for name in {**expected, **found}:
        want, have = expected.get(name, 0.0), found.get(name, 0.0)
        if want or have:
            yield compare_mass(name, want, have, tolerance)


def _effort_limits(reference: Simulator, engine: Simulator) -> Iterator[Difference]:
    limits = zip(engine.joints, reference.effort_limits, engine.effort_limits, strict=True)
    for name, want, have in limits:
        whole = max(abs(want), 1.0)
        found = compare_value("effort limit", name, want, have, ROUND_OFF, whole)
        yield replace(found, text=f"{have:.6g}, in the reference {want:.6g}")


def _properties(want: Properties, have: Properties) -> Iterator[Difference]:
    for name, link in want.links.items():
        yield from compare_link(name, link, have.links.get(name), ROUND_OFF)
    for name, joint in want.joints.items():
        if name in have.joints:
            yield from _joint(name, joint, have.joints[name])
        else:
            yield Difference("joint", name, np.inf, ROUND_OFF, "missing")
    size = float(np.linalg.norm(want.gravity)) or 1.0
    yield compare_value("gravity", "", want.gravity, have.gravity, ROUND_OFF, size)


def _joint(name: str, want: JointProperties, have: JointProperties) -> Iterator[Difference]:
    yield compare_axis(name, want.axis, have.axis, ROUND_OFF)
    yield compare_limits(name, want.limits, have.limits, ROUND_OFF)
    for own in OF_JOINTS:
        values, unit = (getattr(want, own), getattr(have, own)), unit_of(JointProperties, own)
        yield compare_value(own, name, *values, ROUND_OFF, unit=unit)


def _read_back(setup: Setup, engine: Simulator) -> Iterator[Difference]:
    """Yield differences between a state that is set and the state read back."""
    for state, _ in draw_states(setup, READ_BACK, setup.scenario.seed):
        seen = engine.reset(state)
        off = np.abs(seen.q - state.q)
        for joint in np.flatnonzero(off > ROUND_OFF):
            size = float(off[joint])
            text = f"reads {size:.2g} rad off"
            yield Difference("sensor", engine.joints[joint], size, ROUND_OFF, text)
        turn = min(np.abs(seen.orientation - s * state.orientation).max() for s in (1.0, -1.0))
        twist, moved = np.abs(seen.twist - state.twist), np.abs(seen.position - state.position)
        base = {
            "rates of joints": np.abs(seen.qd - state.qd).max(initial=0.0),
            "orientation of base_link": turn,
            "angular velocity of base_link": twist[3:].max(),
            "position of base_link": setup.base.travels * moved.max(),
            "linear velocity of base_link": setup.base.travels * twist[:3].max(),
        }
        for what, size in zip(base, map(float, base.values())):
            if size > ROUND_OFF:
                yield Difference("sensor", what, size, ROUND_OFF, f"reads {size:.2g} off")


def _merge(found: Sequence[Difference], links: int, joints: int) -> Iterator[Difference]:
    """Yield differences, those of every link or joint by the same amount as one."""
    kinds: dict[tuple[str, str], list[Difference]] = {}
    for difference in found:
        kinds.setdefault((difference.quantity, difference.text), []).append(difference)
    for (quantity, _), same in kinds.items():
        of_links = quantity in ("mass", "inertia", "centre")
        count = links if of_links else joints
        if len(same) == count > 1:
            every = "every link" if of_links else "every joint"
            yield replace(same[0], where=every)
        else:
            yield from same


@dataclass(frozen=True)
class AccelerationCheck:
    """Hold the largest relative error over the states; None, with the reason, if kinematic."""

    max: Annotated[float | None, Quantity("1", "relative error at random states", form=".1e")]
    states: int
    reason: str | None = None


def draw_any(setup: Setup, rng: np.random.Generator) -> tuple[RobotState, Array]:
    """Return a state with joints within their limits and the base where it can go, and efforts."""
    joints = {joint.name: joint for joint in setup.tree.moving}
    lower = 0.95 * np.array([max(joints[n].lower, -np.pi) for n in setup.joints])
    upper = 0.95 * np.array([min(joints[n].upper, np.pi) for n in setup.joints])
    n = len(setup.joints)
    motion = setup.base.draw(setup.initial, rng)
    q, qd = rng.uniform(lower, upper), rng.normal(size=n)
    state = RobotState(0.0, q, qd, np.zeros(n), *motion)
    return state, rng.uniform(-1.0, 1.0, n) * np.minimum(setup.effort_limits, 1.0)


def draw_states(setup: Setup, count: int, seed: int) -> Iterator[tuple[RobotState, Array]]:
    """Yield random states and efforts, alike for one seed."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        yield setup.robot.draw_state(setup, rng, index) or draw_any(setup, rng)


def check_acceleration(
    setup: Setup, reference: Simulator, engine: Simulator, states: int, seed: int
) -> AccelerationCheck:
    """Compare the accelerations of joints and base at random states.

    The error of a state is relative to its largest acceleration, joints and base apart.
    """
    if not setup.joints and not setup.base.moves:
        return AccelerationCheck(None, 0, "nothing can move")
    worst = 0.0
    last = max((fault.time for fault in setup.faults), default=0.0)
    for drawn, effort in draw_states(setup, states, seed):
        state = replace(drawn, time=last) if last else drawn  # when all have failed
        expected = reference.acceleration(state, effort)
        found = engine.acceleration(state, effort)
        if expected is None or found is None:
            return AccelerationCheck(None, 0, "the reference is kinematic")
        worst = max(worst, relative(found.joints, expected.joints))
        if setup.base.moves:
            worst = max(worst, relative(found.base, expected.base))
    return AccelerationCheck(worst, states)


def relative(found: Array, expected: Array) -> float:
    """Return the largest difference over the largest expected value; infinite for NaN."""
    return relative_at(found, expected)[0]
