"""Level `energy`: the rest of an engine's energy book, which must vanish with the physics step.

The rest over some control periods is what the book of the recorded run has. From the state in which
they begin the engine goes through them again, at its physics step, a half and a quarter of it: what
that changes is time stepping, and what it does not is energy from nowhere, or energy that nobody
accounts for. No reference is needed, nor a motion that repeats itself from other states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from roboaccord.contract.outcome import Finding, outside
from roboaccord.contract.results import Quantity, Seconds
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.convergence import link_centres
from roboaccord.crosscheck.energy import (
    UNMEASURED,
    EnergyBook,
    NoBook,
    Stored,
    integrate_law,
    law_of,
    net_work,
)
from roboaccord.crosscheck.extrapolation import SAFETY, has_settled, remainder_of_samples
from roboaccord.crosscheck.restarts import Way, engines_of, go, hidden_joints
from roboaccord.crosscheck.ticks import Index, at_stops, left_out
from roboaccord.engines.spec import EngineSpec
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.losses import CHANNELS, FRICTION, LawPower

SAMPLED = 40  # parts of a run: the worst half of them, and others evenly
ROUND_OFF = 1e-9  # s
EPSILON = 1e-13  # relative to the largest energy
SLOW = 1e-3  # m/s
ORDER = 2  # of the trapezoidal rule, by which losses are integrated


@dataclass(frozen=True)
class EnergyCheck:
    """Hold what is left of the rest of the book at a physics step of 0.

    Args:
        left, bound: rms over parts of the run, and what time stepping and round-off explain of it.
        worst: the rest there, where it is largest; below 0 where energy came from nowhere.
        time, length: when that part begins, and how long each is.
        sure: whether an excess is: in the asymptotic range, or beyond all that the steps change.
        step: the smallest physics step.
        unmeasured: channels of losses that nobody measures: then only gains are judged.
    """

    left: Annotated[float, Quantity("J", "rest at a physics step of 0", form=".2g")]
    bound: Annotated[float, Quantity("J", "what time stepping explains of it", form=".2g")]
    worst: Annotated[float, Quantity("J", "rest there, where it is largest", form=".2g")]
    time: Seconds
    length: Seconds
    sure: bool
    step: Seconds
    unmeasured: tuple[str, ...] = ()


def check_energy(
    setup: Setup, engine: EngineSpec, run: Trajectory, book: EnergyBook | NoBook
) -> EnergyCheck | NoBook:
    """Judge by what the physics step changes of the book of an engine's run.

    Parts in which nothing happens have the engine's order, and are judged by themselves: the others
    would hide them.
    """
    if isinstance(book, NoBook) or book.reason:
        return NoBook(book.reason or "")
    simulators = engines_of(setup, engine)
    hidden = hidden_joints(simulators[0])
    if hidden:
        return NoBook(f"the record lacks {hidden}, so nobody knows their energy")
    for simulator in simulators:
        simulator.meter()
    rough = left_out(run, setup.scenario.control_period) | at_stops(simulators[0], run)
    ends = np.searchsorted(run.time, book.time - ROUND_OFF)
    free = np.diff(np.concatenate([[0], np.cumsum(rough)])[ends]) == 0
    smooth = min(ORDER, simulators[0].order) if setup.contact is None else 1
    kinds = ((np.flatnonzero(free), smooth), (np.flatnonzero(~free), None))
    found = [
        _check_parts(setup, simulators, run, book, parts, order)
        for parts, order in kinds
        if len(parts)
    ]
    over = [each for each in found if each.left > each.bound]
    return max(over or found, key=lambda each: (each.sure, each.left / each.bound))


def _check_parts(
    setup: Setup,
    simulators: Sequence[Simulator],
    run: Trajectory,
    book: EnergyBook,
    parts: Index,
    order: int | None,
) -> EnergyCheck:
    """Check parts of a run, between samples of its book, by their numbers.

    Parts in which something happens have no order (None): steps explain what they change there.
    """
    rests = np.diff(book.rest)
    ends = np.searchsorted(run.time, book.time - ROUND_OFF)
    worst = parts[np.argsort(-np.abs(rests[parts]))[: SAMPLED // 2]]
    even = parts[np.linspace(0, len(parts) - 1, min(SAMPLED, len(parts))).astype(int)]
    chosen = np.unique([*worst, *even])
    found = np.empty((len(simulators), len(chosen)))
    for row, simulator in enumerate(simulators):
        stored = Stored(setup.tree, run.joints, setup.parameters.gravity, simulator.armature)
        for column, part in enumerate(chosen.tolist()):
            way = go(simulator, run, int(ends[part]), int(ends[part + 1]))
            found[row, column] = rest_of(setup, stored, way)
    errors = found - found[0] + rests[chosen]
    unmeasured = tuple(name for name in CHANNELS if book.how[name] == UNMEASURED)
    if unmeasured:
        errors = np.minimum(errors, 0.0)
    floor = floor_of(setup, run, book)
    left = remainder_of_samples([e[:, None] for e in errors], order or 1, floor)
    moved = float(np.sqrt(np.mean(np.abs(np.diff(errors, axis=0)).sum(axis=0) ** 2)))
    at = int(chosen[left.sample])
    explained = SAFETY * moved
    return EnergyCheck(
        left=left.size,
        bound=left.bound if order else max(left.bound, explained + float(floor[0])),
        worst=float(errors[-1, left.sample]),
        time=float(book.time[at]),
        length=float(book.time[at + 1] - book.time[at]),
        sure=(left.asymptotic and has_settled([*errors], order or 1)) or left.size > explained,
        step=simulators[-1].physics_step,
        unmeasured=unmeasured,
    )


def rest_of(setup: Setup, stored: Stored, way: Way) -> float:
    """Return the rest of the balance of an engine's way [J]."""
    before, after = (sum(stored.of(way.run.state(i))) for i in (0, -1))
    lost = sum(way.lost.values()) + sum(event.energy for event in way.run.events)
    law = law_of(setup)
    if FRICTION not in way.lost and law:
        power = LawPower(setup.tree, way.run.joints, law)
        lost += float(integrate_law(power, way.run)[-1])
    return float(net_work(way.run)[-1]) - (after - before) - lost


def floor_of(setup: Setup, run: Trajectory, book: EnergyBook) -> Array:
    """Return the round-off of a difference of the book's numbers (1,) [J].

    Heights are sums over the joints, so they have the round-off of distances. A robot that stands
    still has that of a slow motion.
    """
    masses = np.array([link.mass for link in setup.tree.links])
    mass = float(masses.sum())
    reach = np.linalg.norm(link_centres(setup.tree, run), axis=2).max(axis=0)
    height = float(masses @ reach) * abs(setup.parameters.gravity)
    items = (book.kinetic, book.net_work, book.potential, *(getattr(book, c) for c in CHANNELS))
    largest = max(float(np.abs(item).max()) for item in items)
    return np.array([EPSILON * max(largest, height, 0.5 * mass * SLOW**2)])


def judge_energy(engine: str, check: EnergyCheck | NoBook) -> Finding:
    """Judge: what is left at a physics step of 0 is outside."""
    if isinstance(check, NoBook):
        return Finding("energy", engine, "does_not_apply", check.reason)
    if check.left <= check.bound:
        names = " and ".join(check.unmeasured)
        reason = f"only gains are judged: nobody measures {names}" if names else ""
        return Finding("energy", engine, "within", reason)
    what = "gains" if check.worst < 0.0 else "loses"
    text = (
        f"the energy book keeps a rest of {check.left:.2g} J (rms in {1e3 * check.length:g} ms) at "
        f"a physics step of 0, time stepping explains {check.bound:.2g} J; from "
        f"t = {check.time:g} s on it {what} {abs(check.worst):.2g} J that no channel has"
    )
    if not check.sure:
        text += f": a physics step of {1e3 * check.step:g} ms is too large to tell why"
        return Finding("energy", engine, "not_judged", text)
    return outside("energy", engine, text, "energy", f"t = {check.time:g} s")
