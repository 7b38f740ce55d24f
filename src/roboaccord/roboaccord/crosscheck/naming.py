"""Fault identification: the cause of a difference, from what its error correlates with."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.results import Json, quantities
from roboaccord.contract.state import Array, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.acceleration import draw_states
from roboaccord.crosscheck.convergence import ConvergenceCheck
from roboaccord.crosscheck.differences import Name
from roboaccord.crosscheck.extrapolation import STEPS, estimates
from roboaccord.crosscheck.one_step import predict
from roboaccord.crosscheck.ticks import Index
from roboaccord.engines.properties import JointProperties
from roboaccord.run.factory import make_simulator
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

EXPLAINED = 0.9  # share of the squared error that one cause must explain to be named
ALIKE = 4.0  # times what the best leaves unexplained: such causes cannot be told from it
ROUND_OFF = 1e-3  # of the squared error, which nothing explains
LATE = 3  # control periods of delay that are tried
PROBE = 1e-3  # relative change of a parameter
EFFORT = 1e-3  # N m: by which efforts are changed to see what they do
STATES = 20
SAMPLES = 60  # a reference is run from each of them for every parameter
UNTOLD = "which of mass, inertia, centre, origin, axis or gravity it is cannot be told"


def name_acceleration(setup: Setup, reference: Simulator, engine: Simulator) -> Name:
    """Identify the cause of differing accelerations of equal models.

    The difference is put down to efforts on the joints, and these to the efforts commanded (a
    gear), to the rates (damping) or to the accelerations (reflected inertia), joint by joint.
    """
    drawn = list(draw_states(setup, STATES, 1))
    expected = [reference.acceleration(state, effort) for state, effort in drawn]
    rows = [_effort_error(reference, engine, s, e) for s, e in drawn]
    if any(row is None for row in rows) or not engine.joints:
        return Name(text=UNTOLD)
    found = np.array(rows)
    causes = {
        "gear": np.array(
            [np.minimum(np.abs(e), engine.effort_limits) * np.sign(e) for _, e in drawn]
        ),
        "damping": np.array([-state.qd for state, _ in drawn]),
        "armature": np.array([-a.joints for a in expected if a is not None]),
    }
    total = float((found**2).sum()) or 1.0
    best: dict[str, tuple[float, Array]] = {}
    for kind, cause in causes.items():
        norm = np.maximum((cause**2).sum(axis=0), np.finfo(float).tiny)
        factor = (cause * found).sum(axis=0) / norm
        best[kind] = 1.0 - float(((found - factor * cause) ** 2).sum()) / total, factor
    kind = max(best, key=lambda k: best[k][0])
    explained, factor = best[kind]
    if explained < EXPLAINED:
        return Name(text=UNTOLD)
    off = np.flatnonzero(np.abs(factor) > 0.1 * np.abs(factor).max())
    every = 1 < len(off) == len(factor)
    where = "every joint" if every else ", ".join(engine.joints[i] for i in off)
    size = float(factor[off[np.argmax(np.abs(factor[off]))]])
    known = quantities(JointProperties).get(kind)  # a gear is none: its part is in %
    amount = f"{size:.2g} {known.unit}" if known else f"{100 * size:+.2g} %"
    return Name(kind, where, f"{kind} of {where} is {amount} off")


def _effort_error(
    reference: Simulator, engine: Simulator, state: RobotState, effort: Array
) -> Array | None:
    """Return the efforts (n,) that would make the engine's accelerations of the reference's."""
    expected = reference.acceleration(state, effort)
    found = engine.acceleration(state, effort)
    if expected is None or found is None:
        return None
    columns = []
    for unit in np.eye(len(effort)):
        more = reference.acceleration(state, effort + EFFORT * unit)
        assert more is not None
        columns.append((_stack(more) - _stack(expected)) / EFFORT)
    error, *_ = np.linalg.lstsq(
        np.column_stack(columns), _stack(found) - _stack(expected), rcond=None
    )
    return np.asarray(error)


def _stack(acceleration: Acceleration) -> Array:
    return np.concatenate([acceleration.base, acceleration.joints])


def name_one_step(setup: Setup, runs: Mapping[float, Trajectory], order: int) -> Name:
    """Identify the cause of one-step errors where accelerations agree.

    Impacts and stops, if the error lies in the periods that have them; a delay, if late efforts
    take it away; else the parameters of friction and robot by which the reference errs likewise.
    """
    steps = sorted(runs, reverse=True)[-STEPS:]
    run, fine = runs[steps[-1]], make_simulator(setup, physics_step=steps[-1])
    samples = np.arange(len(run) - 1)
    error = _left(fine, runs, steps, order, samples)
    weight = error**2
    struck = _struck(run)
    if struck.any() and weight[struck].sum() > EXPLAINED * weight.sum():
        return _name_events(run)
    keep = _busiest(weight.sum(axis=1) * ~struck)
    error = error[keep]
    for late in range(1, LATE + 1):
        shifted = _left(fine, runs, steps, order, keep, late)
        if (shifted**2).sum() < (1.0 - EXPLAINED) * (error**2).sum():
            text = f"efforts act {late} control period{'s' * (late > 1)} late"
            return Name("delay", "", text)
    return _name_parameter(setup, steps[-1], run, keep, error)


def _left(
    fine: Simulator,
    runs: Mapping[float, Trajectory],
    steps: list[float],
    order: int,
    samples: Index,
    late: int = 0,
) -> Array:
    """Return the errors of one step (k, n + 6) at a physics step of 0."""
    errors = [predict(fine, runs[dt], samples, late).errors for dt in steps]
    return estimates(errors, order)[1] if len(errors) == STEPS else errors[-1]


def _struck(run: Trajectory) -> NDArray[np.bool_]:
    """Return which control periods hold an event (k - 1,)."""
    found = np.zeros(len(run) - 1, dtype=bool)
    for event in run.events:
        at = int(np.searchsorted(run.time, event.time + 1e-9)) - 1
        for near in (at - 1, at, at + 1):
            if 0 <= near < len(found):
                found[near] = True
    return found


def _name_events(run: Trajectory) -> Name:
    kinds = dict.fromkeys(event.kind for event in run.events)
    quantity = "stop" if [*kinds] == ["joint_stop"] else "impact"
    return Name(quantity, "", f"it lies in the periods with events: {', '.join(kinds)}")


def _busiest(weight: Array) -> Index:
    """Return the samples (k,) that hold most of the error, in order."""
    return np.sort(np.argsort(weight)[-SAMPLES:])


def _name_parameter(setup: Setup, dt: float, run: Trajectory, keep: Index, error: Array) -> Name:
    scale = np.sqrt(np.mean(error**2, axis=0)) + np.finfo(float).tiny
    scale = np.maximum(scale, scale.max() * 1e-3)
    target = (error / scale).ravel()
    base = predict(make_simulator(setup, physics_step=dt), run, keep).errors
    explained: dict[str, tuple[float, float]] = {}
    seen = _compared(setup)
    for key, value in numbers_of(setup).items():
        changed = _with(setup, key, value * (1.0 + PROBE))
        if changed is None or not np.array_equal(_compared(changed), seen):
            continue  # level 1 shows it
        moved = predict(make_simulator(changed, physics_step=dt), run, keep).errors
        column = ((moved - base) / scale).ravel()
        norm = float(column @ column)
        if not math.isfinite(norm) or norm < np.finfo(float).tiny:
            continue
        factor = float(column @ target) / norm
        left = target - factor * column
        # The reference with the parameter changed by this would do as the engine does.
        explained[key] = 1.0 - float(left @ left) / float(target @ target), -factor * PROBE
    if not explained:
        return Name(text="no parameter of the reference makes such an error")
    best = max(share for share, _ in explained.values())
    if best < EXPLAINED:
        text = f"no parameter of the reference explains more than {100 * best:.0f} % of it"
        return Name(text=text)
    most = ALIKE * (1.0 - best) + ROUND_OFF
    alike = [key for key, (share, _) in explained.items() if 1.0 - share <= most]
    alike.sort(key=lambda key: -explained[key][0])
    if len(alike) > 1:
        return Name(text=f"what is off cannot be told apart: {', '.join(alike[:6])}")
    key = alike[0]
    quantity, _, where = key.partition(".")
    return Name(quantity, where, f"it is as if {key} were {100 * explained[key][1]:+.2g} % off")


def numbers_of(setup: Setup) -> dict[str, float]:
    """Return the numbers of a setup's friction and parameters that are not 0, by scenario key."""
    given = {k: v for k, v in setup.scenario.friction.items() if k != "law"}
    robot = setup.robot
    law = {**robot.friction_laws, **robot.contacts}.get(setup.scenario.friction.get("law", ""))
    defaults = inspect.signature(law).parameters if law else {}
    found = {
        f"friction.{k}": v for k, p in defaults.items() if _number(v := given.get(k, p.default))
    }
    parameters = setup.parameters.as_dict().items()
    return found | {f"parameters.{k}": v for k, v in parameters if _number(v)}


def _number(value: Json) -> bool:
    return isinstance(value, float) and math.isfinite(value) and value != 0.0


def _with(setup: Setup, key: str, value: float) -> Setup | None:
    """Return a setup with one number changed; None where that is not allowed."""
    data = setup.scenario.data()
    group, _, name = key.partition(".")
    data[group] = {**data[group], name: value}
    try:
        return Setup.of(make_scenario(data))
    except AccordError:
        return None


def _compared(setup: Setup) -> Array:
    """Return what level 1 compares directly."""
    tree = setup.tree
    links = [np.r_[k.mass, k.centre, k.inertia.ravel()] for k in tree.links]
    joints = [np.r_[j.position, j.rotation.ravel(), j.axis, j.lower, j.upper] for j in tree.joints]
    gravity = getattr(setup.parameters, "gravity", 0.0)
    return np.concatenate([*links, *joints, setup.effort_limits, [gravity]])


def name_trajectory(run: Trajectory, check: ConvergenceCheck | None) -> Name:
    """Say when motions diverge; that does not identify the cause."""
    if check is None or check.since is None:
        return Name()
    near = ", ".join(describe_since(run, check.since))
    return Name(text=f"{near}; what is off cannot be told from whole trajectories")


def describe_since(run: Trajectory, since: float) -> Iterator[str]:
    """Yield when motions diverge, and which events are near."""
    yield f"it parts at t = {since:.4g} s"
    near = [e for e in run.events if abs(e.time - since) < 0.02]
    if near:
        yield f"near {near[0].kind} of {near[0].subject}"
