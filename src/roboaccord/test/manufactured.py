"""Manufactured motions: an exact answer for any model, without a run of a reference.

A motion is chosen, and inverse dynamics gives the forces that make it: the method of manufactured
solutions [Roache 1998]. They are held over each physics step h, which makes an error of order 2,
so schemes of a higher order show that one. With errors e(h) = e_0 + a h^p + ..., the differences
e(h) - e(h/2) give the order p whatever e_0 is, and extrapolation gives e_0: what is left at a step
of 0 is not time stepping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated

import numpy as np
from chosen_motion import Follower
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Engine
from roboaccord.contract.outcome import Outcome, Verdict
from roboaccord.contract.results import Json, Quantity, by_fields
from roboaccord.contract.state import Array
from roboaccord.crosscheck.extrapolation import STEPS, estimates, remainder_over_time
from roboaccord.engines import REFERENCE, name_of, spec
from roboaccord.engines.base import engine_parts
from roboaccord.engines.model import EngineModel
from roboaccord.engines.spec import EngineSpec
from roboaccord.numerics.ranking import first_largest, ranked
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup

HELD = 2  # order of the error that held forces make
LONGEST = 0.5  # s, of the motion: five times the feedback's time
MOST = 1000  # physics steps of it
CLEAR = 10.0  # floors: a difference below has no order
SHARE = 0.01  # of the largest difference: a coordinate with less is not asked for its order
ENOUGH = 0.9  # of the expected order
SETTLED = 0.1  # difference of orders at two steps from which on they are one
NEAR = 0.3  # rad or m: an error up to which all are judged
EARLIEST = 3  # samples to be judged
FAR_OFF = "it needs a far smaller physics step, or the model is badly wrong, as in a sign"
NO_STEP = "it grows as the step falls, as with noise or lost steps"
SMALLER = "halve the physics step, by --set physics_step or one more --refine"

Largest = Annotated[list[float], Quantity("rad", "largest error, by physics step; slides in m")]


@dataclass(frozen=True)
class Coordinate:
    """Hold what was found of one coordinate.

    Args:
        where: joint, or axis of base_link.
        unit: of its errors.
        error: largest, by physics step.
        order: of convergence, from the differences of the errors; None below the floor.
        left: at a step of 0.
        bound: of what time stepping and round-off explain of it.
    """

    where: str
    unit: str
    error: Largest
    order: Annotated[float | None, Quantity("1", "order of convergence")]
    left: Annotated[float, Quantity("rad", "left at a step of 0")]
    bound: Annotated[float, Quantity("rad", "what time stepping explains of it")]

    def used(self) -> float:
        """Return what is left, as a part of the bound."""
        return self.left / self.bound


@dataclass(frozen=True, kw_only=True)
class FollowedMotion:
    """Hold how one model of an engine follows its manufactured motion.

    Args:
        engine, version: of the engine.
        model: which, of a robot that has several; "" where there is one.
        dt: physics steps, each the control period of its run.
        error: largest of any coordinate, by physics step.
        expected_order: of the engine's scheme under held forces.
        orders: least and largest of the coordinates that count; none below the floor.
        left, bound, where: of the coordinate with the largest remainder of those outside their
            bounds; of the one nearest to its bound where none is.
        missing: the outermost joints at which forces are missing, where it is outside.
        outcome: the judgement.
        reason: why it is not within.
        coordinates: one by one.
    """

    engine: str
    version: str = ""
    model: str = ""
    dt: Annotated[list[float], Quantity("s", "physics step")] = field(default_factory=list)
    error: Largest = field(default_factory=list)
    expected_order: int = HELD
    orders: Annotated[list[float], Quantity("1", "order of convergence")] = field(
        default_factory=list
    )
    left: Annotated[float | None, Quantity("rad", "left at a step of 0")] = None
    bound: Annotated[float | None, Quantity("rad", "what time stepping explains of it")] = None
    where: str = ""
    missing: list[str] = field(default_factory=list)
    outcome: Outcome = "not_judged"
    reason: str = ""
    coordinates: list[Coordinate] = field(default_factory=list)


@dataclass(frozen=True)
class Manufactured:
    """Hold what was found of a robot, or file, in engines.

    Args:
        robot, scenario: names.
        duration: of the motions.
        models: one by one.
    """

    robot: str
    scenario: str
    duration: Annotated[float, Quantity("s", "of the motion")]
    models: list[FollowedMotion]

    @property
    def verdict(self) -> Verdict | None:
        """Fail where a model is outside; None where there is nothing to judge."""
        outcomes = {each.outcome for each in self.models} - {"does_not_apply"}
        if not outcomes:
            return None
        if "outside" in outcomes:
            return "fail"
        return "undecided" if "not_judged" in outcomes else "pass"

    def to_json(self) -> Mapping[str, Json]:
        """Return it with the verdict."""
        return {**by_fields(self), "verdict": self.verdict}


def check_manufactured(
    setup: Setup,
    engines: Sequence[Engine],
    *,
    refine: int,
    done: Callable[[str, float], None] = lambda engine, dt: None,
) -> Manufactured:
    """Let engines follow a manufactured motion of each model of a robot, at dt, dt/2, dt/4, ...

    Contact, joint faults and limits of efforts are left out; friction and force laws act.

    Args:
        setup: robot and scenario.
        engines: by name or specification; the reference is left out.
        refine: number of physics steps.
        done: is called with engine and physics step after each run.
    """
    step = setup.scenario.physics_step
    count = min(LONGEST / step, MOST, setup.scenario.duration / step)
    length = max(round(count), 1) * step
    steps = [step / 2**i for i in range(refine)]
    found = list[FollowedMotion]()
    for engine in {name_of(e): e for e in engines if e != REFERENCE}.values():
        found += _of_engine(setup, spec(engine), steps, length, done)
    return Manufactured(setup.robot.name, setup.scenario.name, length, found)


def _of_engine(
    setup: Setup,
    engine: EngineSpec,
    steps: Sequence[float],
    length: float,
    done: Callable[[str, float], None],
) -> Iterator[FollowedMotion]:
    """Yield what is found of each model of a robot in an engine."""
    try:
        models = models_of(setup, engine)
    except AccordError as error:
        if engine.changes:  # an error that cannot be built in is not a finding
            raise
        reason = str(error).removeprefix(f"{engine.name}: ")
        yield FollowedMotion(engine=engine.name, outcome="does_not_apply", reason=reason)
        return
    for model in models:
        name = name_of_model(setup, model) if len(models) > 1 else ""
        try:
            follower = Follower(setup, model, length)
        except AccordError as error:
            yield FollowedMotion(
                engine=engine.name, model=name, outcome="does_not_apply", reason=str(error)
            )
            continue
        yield replace(_check(follower, model, engine, steps, done), model=name)


def _check(
    follower: Follower,
    model: EngineModel,
    engine: EngineSpec,
    steps: Sequence[float],
    done: Callable[[str, float], None],
) -> FollowedMotion:
    """Run a model at every physics step, and judge its errors."""
    errors, every = list[Array](), 1
    for step in steps:
        simulator = engine.complete(engine.simulate(replace(model, physics_step=step)))
        errors.append(follower.follow(simulator)[every - 1 :: every])
        every *= 2
        done(engine.name, step)
    about = FollowedMotion(
        engine=engine.name,
        version=" ".join([engine.describe(simulator.version), *engine.changes]),
        dt=list(steps),
        expected_order=min(simulator.order, HELD),
    )
    near = near_of(errors)
    early = [each[:near] for each in errors]
    found = judge(about, follower.names, early, follower.floor(), far=near < len(errors[0]))
    if found.outcome == "not_judged" and near < len(errors[0]):
        least = follower.least_step()
        if steps[-1] > least:
            more = f"; joint friction alone needs less than {least:.1g} s"
            return replace(found, reason=found.reason + more)
    if found.outcome != "outside" or not _is_left(found):
        return found
    joints, alone = follower.missing_at(*estimates(early, found.expected_order), steps[0])
    if not joints:
        return found
    outer = ", ".join(joints)
    at = f"an effort is missing at {outer} alone" if alone else f"forces are missing out to {outer}"
    return replace(found, missing=joints, reason=f"{found.reason}; {at}")


def models_of(setup: Setup, engine: EngineSpec) -> list[EngineModel]:
    """Return the models of a robot in an engine as they are meant, without what is left out.

    Raises:
        AccordError: where the engine does not take the robot, or the robot has no models.
    """
    try:
        simulator = make_simulator(setup, engine)
    except AccordError:
        if setup.contact is None:
            raise
        simulator = make_simulator(without_contact(setup), engine)
    parts = engine_parts(simulator)
    if not parts:
        raise AccordError("this engine has no model of the robot that could follow a motion")
    return [
        replace(
            part.intended, contact=None, contact_events=False, faults=(),
            effort_limits=np.full(len(part.joints), np.inf),
        )
        for part in parts
    ]  # fmt: skip


def without_contact(setup: Setup) -> Setup:
    """Return a setup whose links pass through each other, as those of an engine without contact."""
    return Setup.of(make_scenario({**setup.scenario.data(), "friction": {"law": "none"}}))


def name_of_model(setup: Setup, model: EngineModel) -> str:
    """Return which of several models one is: by the joints it has beside the robot's, or base."""
    more = [name for name in model.joints if name not in setup.joints]
    return f"held at {', '.join(more)}" if more else f"{model.base} base"


def near_of(errors: Sequence[Array]) -> int:
    """Return the number of samples before one of the runs (k, c) is far from the motion."""
    far = np.array([~(np.abs(each) < NEAR).all(axis=1) for each in errors]).any(axis=0)
    return int(np.argmax(far)) if far.any() else len(errors[0])


def judge(
    about: FollowedMotion,
    names: Mapping[str, str],
    errors: Sequence[Array],
    floor: Array,
    *,
    far: bool = False,
) -> FollowedMotion:
    """Return what is found, with its judgement.

    Args:
        about: engine, steps and expected order.
        names: of the c coordinates, with their units.
        errors: (k, c) at the same times, from the largest step to the smallest.
        floor: of round-off (c,).
        far: whether the errors that follow are left out: nothing is within then.
    """
    if len(errors[0]) < EARLIEST:
        return replace(about, reason=f"the engine departs from the motion at once: {FAR_OFF}")
    sizes = np.array([np.abs(each).max(axis=0) for each in errors])
    about = replace(about, error=sizes.max(axis=1).tolist())
    if len(errors) < STEPS:
        return replace(about, reason=f"{STEPS} physics steps are needed: --refine {STEPS}")
    orders = orders_of(errors, floor)
    found = list[Coordinate]()
    for i, (name, unit) in enumerate(names.items()):
        own = [each[:, [i]] for each in errors]
        left = remainder_over_time(own, about.expected_order, floor[i])
        order = None if np.isnan(orders[-1, i]) else float(orders[-1, i])
        found.append(Coordinate(name, unit, sizes[:, i].tolist(), order, left.size, left.bound))
    over = [each for each in found if each.left > each.bound]
    size = (lambda each: -each.left) if over else (lambda each: -each.used())
    named = ranked(over or found, size)[0]
    known = [each.order for each in found if each.order is not None]
    about = replace(
        about, coordinates=found, left=named.left, bound=named.bound, where=named.where,
        orders=[min(known), max(known)] if known else [],
    )  # fmt: skip
    outcome, reason = judged(about, orders, named)
    if far and outcome == "within":
        outcome, reason = "not_judged", f"the engine departs from the motion: {SMALLER}"
    return replace(about, outcome=outcome, reason=reason)


def orders_of(errors: Sequence[Array], floor: Array) -> Array:
    """Return the orders of the coordinates (steps - 2, c) from three steps each.

    NaN where the differences of the errors are near the floor, or so small beside the largest that
    their leading power of the step need not be that of the scheme.
    """
    apart = np.array([np.abs(a - b).max(axis=0) for a, b in pairwise(errors)])
    least = np.maximum(CLEAR * floor, SHARE * apart.max(axis=1, keepdims=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log2(apart[:-1] / apart[1:])
    return np.where(apart[1:] > least[1:], found, np.nan)


def judged(about: FollowedMotion, orders: Array, named: Coordinate) -> tuple[Outcome, str]:
    """Return the outcome of what is found, and its reason.

    The order is looked at first: only in the asymptotic range is extrapolation meaningful. A
    lower order than expected is an error of the engine where two more steps confirm it.
    """
    expected = about.expected_order
    low = np.flatnonzero(orders[-1] < ENOUGH * expected)
    if low.size:
        at = int(low[first_largest(-orders[-1, low])])
        name, order = about.coordinates[at].where, orders[-1, at]
        text = f"{name} has order {order:.2f}, expected {expected}"
        if len(orders) > 1 and abs(order - orders[-2, at]) < SETTLED:
            return "outside", text
        return "not_judged", f"{text}: {SMALLER if order > 0.0 else NO_STEP}"
    if _is_left(about):
        return "outside", (
            f"{named.where} keeps {named.left:.2g} {named.unit} at a step of 0, of which time "
            f"stepping explains only {named.bound:.2g}"
        )
    return "within", ""


def _is_left(about: FollowedMotion) -> bool:
    """Return whether more is left at a step of 0 than time stepping explains."""
    return about.left is not None and about.bound is not None and about.left > about.bound
