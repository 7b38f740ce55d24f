"""Level 1: model properties of an engine compared with the description."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from roboaccord.contract.state import Array, RobotState
from roboaccord.crosscheck.acceleration import draw_states
from roboaccord.engines.base import engine_parts
from roboaccord.engines.properties import WORLD, Properties, intended_properties
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

ROUND_OFF = 1e-12  # relative, and of lengths [m], angles [rad] and unit vectors
READ_BACK = 10  # states that are set and read back


@dataclass(frozen=True)
class Difference:
    """Hold one quantity of an engine's model that differs.

    Args:
        quantity: mass, inertia, centre, length, axis, gravity, damping, friction, limit, ...
        where: link or joint; "" where there is one of it.
        text: how much it is off.
        size: relative, or in the quantity's unit.
    """

    quantity: str
    where: str
    text: str
    size: float


@dataclass(frozen=True)
class ModelCheck:
    """Hold total masses [kg] and the differences of an engine's model."""

    total: float
    reference: float
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
    unique = {(d.quantity, d.where): d for d in reversed(differences)}
    named = sorted(unique.values(), key=lambda d: (d.quantity != "mass", d.quantity, -d.size))
    total, target = sum(found.values()), sum(expected.values())
    return ModelCheck(total, target, tuple(_merge(named, len(found), len(engine.joints))))


def _masses(
    expected: dict[str, float], found: dict[str, float], tolerance: float
) -> Iterator[Difference]:
    """Yield links that weigh another mass, those that only one of both has among them."""
    for name in {**expected, **found}:
        mine, other = found.get(name, 0.0), expected.get(name, 0.0)
        if abs(mine - other) <= tolerance * max(mine, other):
            continue
        if not other:
            text = f"{mine:.4g} kg, in the reference nothing"
            yield Difference("mass", name, text, 1.0)
        else:
            off = mine / other - 1.0
            yield Difference("mass", name, f"{100 * off:+.3g} % off", abs(off))


def _effort_limits(reference: Simulator, engine: Simulator) -> Iterator[Difference]:
    for name, mine, other in zip(
        engine.joints, engine.effort_limits, reference.effort_limits, strict=True
    ):
        if mine != other and abs(mine - other) > ROUND_OFF * max(abs(other), 1.0):
            text = f"{mine:.6g}, in the reference {other:.6g}"
            yield Difference("effort limit", name, text, abs(mine - other))


def _properties(want: Properties, have: Properties) -> Iterator[Difference]:
    for name, link in want.links.items():
        if name not in have.links:
            if link.mass:
                yield Difference("mass", name, f"missing: {link.mass:.4g} kg", 1.0)
            continue
        other = have.links[name]
        inertia = float(np.abs(link.inertia).max(initial=0.0)) or 1.0
        yield from _off("mass", name, link.mass, other.mass, link.mass or 1.0)
        yield from _off("inertia", name, link.inertia, other.inertia, inertia)
        if link.mass:
            yield from _off("centre", name, link.centre, other.centre)
    for name, joint in want.joints.items():
        if name not in have.joints:
            yield Difference("joint", name, "missing", 1.0)
            continue
        seen = have.joints[name]
        yield from _off("length", name, joint.origin, seen.origin)
        yield from _off("axis", name, joint.axis, seen.axis)
        yield from _off("limit", name, joint.limits, seen.limits)
        yield from _off("damping", name, joint.damping, seen.damping)
        yield from _off("friction", name, joint.friction, seen.friction)
        yield from _off("armature", name, joint.armature, seen.armature)
    size = float(np.linalg.norm(want.gravity)) or 1.0
    yield from _off("gravity", "", want.gravity, have.gravity, size)


UNITS = {
    "centre": "m",
    "length": "m",
    "limit": "rad",
    "damping": "N m s/rad",
    "friction": "N m",
    "armature": "kg m^2",
}


def _off(
    quantity: str, where: str, want: Array | float, have: Array | float, unit: float = 1.0
) -> Iterator[Difference]:
    """Yield the difference, in terms of `unit`, where it is more than round-off."""
    one, two = np.atleast_1d(want), np.atleast_1d(have)
    with np.errstate(invalid="ignore"):  # limits at infinity
        apart = np.where(one == two, 0.0, np.abs(one - two)) / unit
    size = float(np.nan_to_num(apart, nan=np.inf).max(initial=0.0))
    if size <= ROUND_OFF:
        return
    if quantity == "axis":
        angle = float(np.degrees(np.arccos(np.clip(one @ two, -1.0, 1.0))))
        text = f"{angle:.3g} degrees off" if angle > 0.01 else f"{np.radians(angle):.2g} rad off"
    elif quantity in UNITS:
        text = f"{size:.2g} {UNITS[quantity]} off"
    else:
        text = f"{100 * size:.3g} % off"
    yield Difference(quantity, where, text, size)


def _read_back(setup: Setup, engine: Simulator) -> Iterator[Difference]:
    """Yield differences between a state that is set and the state read back."""
    for state, _ in draw_states(setup, READ_BACK, setup.scenario.seed):
        seen = engine.reset(state)
        off = np.abs(seen.q - state.q)
        for joint in np.flatnonzero(off > ROUND_OFF):
            size = float(off[joint])
            yield Difference("sensor", engine.joints[joint], f"reads {size:.2g} rad off", size)
        for what, size in _base_off(seen, state, setup.scenario.base).items():
            if size > ROUND_OFF:
                yield Difference("sensor", what, f"reads {size:.2g} off", size)


def _base_off(seen: RobotState, state: RobotState, base: str) -> dict[str, float]:
    moves = base in ("planar", "free")  # a ball in a bearing has its place by odometry
    turn = min(np.abs(seen.orientation - s * state.orientation).max() for s in (1.0, -1.0))
    return {
        "rates of joints": float(np.abs(seen.qd - state.qd).max(initial=0.0)),
        "orientation of base_link": float(turn),
        "angular velocity of base_link": float(np.abs(seen.twist[3:] - state.twist[3:]).max()),
        "position of base_link": moves * float(np.abs(seen.position - state.position).max()),
        "linear velocity of base_link": moves
        * float(np.abs(seen.twist[:3] - state.twist[:3]).max()),
    }


def _merge(found: Sequence[Difference], links: int, joints: int) -> Iterator[Difference]:
    """Yield differences, those of every link or joint by the same amount as one."""
    kinds: dict[tuple[str, str], list[Difference]] = {}
    for difference in found:
        kinds.setdefault((difference.quantity, difference.text), []).append(difference)
    for (quantity, text), same in kinds.items():
        of_links = quantity in ("mass", "inertia", "centre")
        count = links if of_links else joints
        if len(same) == count > 1:
            every = "every link" if of_links else "every joint"
            yield Difference(quantity, every, text, same[0].size)
        else:
            yield from same
