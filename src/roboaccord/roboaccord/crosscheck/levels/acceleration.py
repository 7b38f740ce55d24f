"""Level `acceleration`: an engine's model against its description, and its accelerations.

`check_model` compares what the engine reports, masses, inertias, limits and all other properties,
with the robot's description (its URDF), and checks that a state that is set is read back, both to
round-off. `check_acceleration` compares accelerations at random states with those of the reference,
the analytical model; no time stepping is involved. Conformance suites of robots and engines
(testing/) call both, too.

To compare another property of joints, add a field to `JointProperties` (engines/model.py) and its
name to JOINT_FIELDS. READ_BACK_STATES may be tuned. Names of the checks are keys of summary.json
and stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from roboaccord.contract.outcome import Code, Finding, Reason, because
from roboaccord.contract.results import Quantity, unit_of
from roboaccord.contract.state import Array
from roboaccord.crosscheck import round_off
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.drawn import draw_states
from roboaccord.crosscheck.level import Entry, Level, Rows, listed
from roboaccord.crosscheck.round_off import ROUND_OFF
from roboaccord.engines import differences
from roboaccord.engines.base import engine_parts
from roboaccord.engines.differences import Difference, compare_value
from roboaccord.engines.model import WORLD, JointProperties, Properties, intended_properties
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

# Number of random states that are set and read back: a wrong sensor shows in each of them.
READ_BACK_STATES = 10
# Fields of JointProperties that are compared by value; axis and limits have rules of their own.
JOINT_FIELDS = ("origin", "damping", "friction", "armature")


@dataclass(frozen=True)
class ModelCheck:
    """Differences of an engine's model from its description.

    Args:
        total, reference: mass of all links in the engine and in the reference [kg].
        differences: properties that differ by more than round-off or the tolerance of masses.
    """

    total: Annotated[float, Quantity("kg", "mass of all links")]
    reference: Annotated[float, Quantity("kg", "mass of all links of the reference")]
    differences: tuple[Difference, ...]


def check_model(
    setup: Setup, reference: Simulator, engine: Simulator, tolerance: float
) -> ModelCheck:
    """Compare masses, limits and all other properties of an engine's model.

    Args:
        setup: robot and scenario.
        reference: simulator with the right masses and effort limits.
        engine: simulator to compare.
        tolerance: relative tolerance of masses.
    """
    expected, actual = dict(reference.masses()), dict(engine.masses())
    expected.pop(WORLD, None)
    actual.pop(WORLD, None)
    allowed = round_off.of_properties(engine.rounding)
    # Collect comparisons of all properties, each with its error and the allowed one.
    masses = _masses(expected, actual, max(tolerance, allowed))
    compared = [*masses, *_effort_limits(reference, engine)]
    for part in engine_parts(engine):
        compared += _properties(intended_properties(part.intended), part.properties(), allowed)
    compared += _read_back(setup, engine, allowed)
    # Keep the first excess of each quantity and place, masses first, then by size.
    unique = {(d.quantity, d.where): d for d in reversed(compared) if d.error > d.allowed}
    named = sorted(unique.values(), key=lambda d: (d.quantity != "mass", d.quantity, -d.error))
    merged = tuple(_merge(named, len(actual), len(engine.joints)))
    return ModelCheck(sum(actual.values()), sum(expected.values()), merged)


def _masses(
    expected: dict[str, float], actual: dict[str, float], tolerance: float
) -> Iterator[Difference]:
    """Yield comparisons of the masses of all links, also of links that only one model has."""
    for name in {**expected, **actual}:
        masses = expected.get(name, 0.0), actual.get(name, 0.0)
        if any(masses):
            yield differences.compare_mass(name, *masses, tolerance)


def _effort_limits(reference: Simulator, engine: Simulator) -> Iterator[Difference]:
    """Yield comparisons of the effort limits of all joints [N m]."""
    limits = zip(engine.joints, reference.effort_limits, engine.effort_limits, strict=True)
    for name, expected, actual in limits:
        scale = max(abs(expected), 1.0)
        difference = compare_value("effort limit", name, expected, actual, ROUND_OFF, scale)
        yield replace(difference, how=because(Code.INSTEAD, have=actual, want=expected))


def _properties(expected: Properties, actual: Properties, allowed: float) -> Iterator[Difference]:
    """Yield comparisons of links, joints and gravity; a missing joint is a difference."""
    for name, link in expected.links.items():
        yield from differences.compare_link(name, link, actual.links.get(name), allowed)
    for name, joint in expected.joints.items():
        if name in actual.joints:
            yield from _joint(name, joint, actual.joints[name], allowed)
        else:
            yield Difference("joint", name, np.inf, allowed, because(Code.MISSING))
    scale = float(np.linalg.norm(expected.gravity)) or 1.0
    yield compare_value("gravity", "", expected.gravity, actual.gravity, allowed, scale)


def _joint(
    name: str, expected: JointProperties, actual: JointProperties, allowed: float
) -> Iterator[Difference]:
    """Yield comparisons of a joint: axis, limits and JOINT_FIELDS."""
    yield differences.compare_axis(name, expected.axis, actual.axis, allowed)
    yield differences.compare_limits(name, expected.limits, actual.limits, allowed)
    for field in JOINT_FIELDS:
        values = getattr(expected, field), getattr(actual, field)
        yield compare_value(field, name, *values, allowed, unit=unit_of(JointProperties, field))


def _read_back(setup: Setup, engine: Simulator, allowed: float) -> Iterator[Difference]:
    """Yield differences between a state that is set and the state read back."""
    for state, _ in draw_states(setup, READ_BACK_STATES, setup.scenario.seed):
        read = engine.reset(state)
        angle_errors = np.abs(read.q - state.q)
        for joint in np.flatnonzero(angle_errors > allowed):
            error = float(angle_errors[joint])
            how = because(Code.READS, size=error, unit="rad")
            yield Difference("sensor", engine.joints[joint], error, allowed, how)
        # A quaternion and its negative are the same orientation.
        signed = (state.orientation, -state.orientation)
        twist_errors = np.abs(read.twist - state.twist)
        errors = {
            "rates of joints": np.abs(read.qd - state.qd).max(initial=0.0),
            "orientation of base_link": min(np.abs(read.orientation - q).max() for q in signed),
            "angular velocity of base_link": twist_errors[3:].max(),
        }
        if setup.base.travels:
            errors["position of base_link"] = np.abs(read.position - state.position).max()
            errors["linear velocity of base_link"] = twist_errors[:3].max()
        for name, error in errors.items():
            if error > allowed:
                how = because(Code.READS, size=float(error))
                yield Difference("sensor", name, float(error), allowed, how)


def _merge(excesses: Sequence[Difference], links: int, joints: int) -> Iterator[Difference]:
    """Yield differences; equal ones of every link or every joint become a single one.

    Args:
        excesses: differences beyond what is allowed.
        links, joints: numbers of them.
    """
    by_text: dict[tuple[str, str], list[Difference]] = {}  # by quantity and wording
    for difference in excesses:
        how = str(difference.how.to_json())
        by_text.setdefault((difference.quantity, how), []).append(difference)
    for (quantity, _), equal_differences in by_text.items():
        is_of_links = quantity in ("mass", "inertia", "centre")
        count, every = (links, "every link") if is_of_links else (joints, "every joint")
        if len(equal_differences) == count > 1:
            yield replace(equal_differences[0], where=every)
        else:
            yield from equal_differences


NO_MODEL = ModelCheck(0.0, 0.0, ())  # where the model is not compared


@dataclass(frozen=True)
class AccelerationCheck:
    """Errors of accelerations at random states, and of the model.

    Args:
        max: largest relative error; None where accelerations are not compared.
        states: number of states.
        reason: why accelerations are not compared.
        model: differences of the engine's model from the description.
        floor: relative error that round-off explains in single precision, else 0.
    """

    max: Annotated[float | None, Quantity("1", "relative error at random states", form=".1e")]
    states: int
    reason: Reason | None = None
    model: ModelCheck = NO_MODEL
    floor: Annotated[float, Quantity("1", "what round-off explains", form=".1e")] = 0.0


def check_acceleration(
    setup: Setup, reference: Simulator, engine: Simulator, states: int, seed: int
) -> AccelerationCheck:
    """Compare the accelerations of joints and base at random states.

    The error of a state is relative to its largest acceleration, separately of joints and base.

    Args:
        setup: robot and scenario.
        reference: simulator of the analytical model.
        engine: simulator to compare.
        states: number of random states.
        seed: of the random states and efforts.
    """
    if not setup.joints and not setup.base.moves:
        return AccelerationCheck(None, 0, because(Code.NOTHING_CAN_MOVE))
    largest = floor = 0.0
    last_fault = max((fault.time for fault in setup.faults), default=0.0)
    for drawn, effort in draw_states(setup, states, seed):
        state = replace(drawn, time=last_fault) if last_fault else drawn  # after all faults
        expected = reference.acceleration(state, effort)
        accelerations = engine.acceleration(state, effort)
        if expected is None or accelerations is None:
            return AccelerationCheck(None, 0, because(Code.KINEMATIC))
        largest = max(largest, relative(accelerations.joints, expected.joints))
        if setup.base.moves:
            largest = max(largest, relative(accelerations.base, expected.base))
        for part in engine_parts(engine):
            floor = max(floor, round_off.of_accelerations(part, state, effort, expected))
    return AccelerationCheck(largest, states, floor=floor)


def relative(values: Array, expected: Array) -> float:
    """Return the largest difference over the largest expected value; infinite for NaN."""
    return differences.relative_at(values, expected)[0]


class AccelerationLevel(Level[AccelerationCheck]):
    """Judge the model by its differences, and accelerations by their largest relative error."""

    name = "acceleration"
    title = "Level 1: model and accelerations"
    of_motion = False
    substitute = "one_step"

    def measure(self, case: CheckCase) -> AccelerationCheck:
        """Compare the engine's model and accelerations with the reference's."""
        spec, pair = case.setup.scenario.crosscheck, (case.reference, case.simulator)
        check = check_acceleration(case.setup, *pair, spec.states, case.setup.scenario.seed)
        return replace(check, model=check_model(case.setup, *pair, spec.tolerances.mass))

    def judge(self, check: AccelerationCheck, tolerances: Tolerances) -> Finding:
        """Return `outside` for any difference of the model, or an acceleration beyond tolerance."""
        model, limit = check.model, tolerances.acceleration + check.floor
        is_beyond = check.max is not None and not check.max <= limit  # also for NaN
        totals = {"total": model.total, "reference": model.reference}
        reasons = [
            because(Code.MODEL, quantity=d.quantity, where=d.where, how=d.how, **totals)
            for d in model.differences
        ]
        if is_beyond:
            reasons.append(because(Code.ACCELERATION, error=check.max, allowed=limit))
        if model.differences:
            first = model.differences[0]
            property_ = {"quantity": first.quantity, "where": first.where}
            return Finding.outside(*reasons, **property_, size=first.finite)
        if is_beyond:
            return replace(Finding.outside(*reasons, size=check.max), unexplained=True)
        if check.max is None and check.reason:
            return replace(Finding.within(check.reason), stands_in=True)
        return Finding.within()

    def rows(self, check: AccelerationCheck) -> Rows:
        """Return the largest relative error, the masses, and the properties that differ."""
        names = [" ".join((d.quantity, d.where, d.text)) for d in check.model.differences]
        return {
            "largest error, relative": Entry(check.max, "1", ".1e"),
            **({"round-off explains": Entry(check.floor, "1", ".1e")} if check.floor else {}),
            "states": Entry(check.states),
            "total": Entry(check.model.total, "kg", ".6g"),
            "reference": Entry(check.model.reference, "kg", ".6g"),
            "off": listed(names),
        }
