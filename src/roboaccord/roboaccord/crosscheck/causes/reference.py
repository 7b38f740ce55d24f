"""Control periods (ticks) of an engine's run, predicted by the reference with hypothetical errors.

This is the problem to explain (ticks.py) for engines without a twin; findings.py makes it by
`problem_and_bound`. The reference is the analytical model, not a simulation of links, so an error
of a link, a gear or a damper enters as the effort on the joints that it makes: by inverse dynamics
for links, which are known on a fixed base. Parameters of the reference itself, such as those of
ground friction, are changed directly; a new one needs no entry here, since `parameters_of` finds
it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from roboaccord.contract import AccordError, Array, Json, Trajectory
from roboaccord.crosscheck.causes.hypotheses import Hypothesis, Sizes
from roboaccord.crosscheck.causes.ticks import TickProblem
from roboaccord.crosscheck.columns import column_sizes
from roboaccord.crosscheck.extrapolation import SAFETY, STEPS, estimates
from roboaccord.crosscheck.ticks import Index
from roboaccord.description.inverse import inverse_dynamics
from roboaccord.description.tree import Tree
from roboaccord.engines.deviations import EVERY, OF_LINKS, ModelChange, deviating_tree
from roboaccord.run.loop import make_simulator
from roboaccord.scenario import Setup, make_scenario
from roboaccord.simulators.base import Simulator


@dataclass(frozen=True)
class ReferenceProblem(TickProblem):
    """Residuals of ticks predicted by a reference, which has parameters of its own.

    Args:
        key_prefix: first part of the scenario's keys of the parameters that are tried; "" for all.
    """

    key_prefix: str = ""

    def parameters(self) -> Iterator[Hypothesis]:
        """Yield errors that act as efforts on joints, and the reference's own parameters."""
        joints = [*self.run.joints, *([EVERY] if len(self.run.joints) > 1 else [])]
        yield from (Hypothesis(what, joint) for joint in joints for what in ("gear", "damping"))
        if self.setup.scenario.base == "fixed" and self.run.joints and not self.setup.tree.frame:
            links = [link.name for link in self.setup.tree.links[1:] if link.mass]
            yield from (Hypothesis(what, link) for link in links for what in OF_LINKS)
        yield from map(Hypothesis, self._numbers)

    @cached_property
    def _numbers(self) -> dict[str, float]:
        """Parameters of the reference, by scenario key."""
        return parameters_of(self.setup, self.key_prefix)

    @cached_property
    def _unlimited(self) -> Simulator:
        """The reference without effort limits: changed efforts may exceed them."""
        simulator = make_simulator(self.setup, physics_step=self.simulator.physics_step)
        simulator.effort_limits = np.full_like(simulator.effort_limits, np.inf)
        return simulator

    def with_errors(self, run: Trajectory, sizes: Sizes) -> tuple[Simulator, Trajectory]:
        """Return a reference with errors of given sizes, and the run with its changed efforts."""
        # Each error changes the efforts, the tree of links or the setup: of an error of a gear or a
        # damper the effort of the joint is that of the motor times the gear, less the damping.
        effort, setup, tree = run.effort, self.setup, self.setup.tree
        for hypothesis, size in sizes.items():
            is_concerned = np.array([hypothesis.where in (j, EVERY) for j in run.joints], float)
            size_by_joint = size * is_concerned
            if hypothesis.quantity == "gear":
                effort = effort * (1.0 + size_by_joint)
            elif hypothesis.quantity == "damping":
                mean_rates = np.vstack([run.qd[:1], 0.5 * (run.qd[:-1] + run.qd[1:])])
                effort = effort - size_by_joint * mean_rates
            elif hypothesis.quantity in OF_LINKS:
                tree = deviating_tree(tree, ModelChange(*hypothesis, size))
            else:
                number = self._numbers[hypothesis.quantity] * (1.0 + size)
                setup = with_parameter(setup, hypothesis.quantity, number) or setup
        # Links: the efforts that the motion needs with the described links, less the changed ones.
        if tree is not self.setup.tree:
            effort = effort - self._needed(run, tree) + self._needed(run, self.setup.tree)
        if setup is not self.setup:
            simulator = make_simulator(setup, physics_step=self.simulator.physics_step)
            return simulator, replace(run, effort=effort)
        return self._unlimited, replace(run, effort=effort)

    def _needed(self, run: Trajectory, tree: Tree) -> Array:
        """Return the efforts that the links need for the recorded motion of the ticks (k, n) [N m].

        By inverse dynamics in the middle of each tick; they stand at its end, as recorded ones do.
        """
        starts, ends = self.ticks, self.ticks + 1
        gravity = np.array([0.0, 0.0, -getattr(self.setup.parameters, "gravity", 0.0)])
        q, qd = (0.5 * (values[starts] + values[ends]) for values in (run.q, run.qd))
        qdd = (run.qd[ends] - run.qd[starts]) / (run.time[ends] - run.time[starts])[:, None]
        efforts = np.zeros_like(run.effort)
        efforts[ends] = inverse_dynamics(tree, run.joints, gravity, q, qd, qdd)
        return efforts


def problem_and_bound(
    setup: Setup, runs: Mapping[float, Trajectory], order: int, ticks: Index, key_prefix: str = ""
) -> tuple[ReferenceProblem, Array]:
    """Return the problem of ticks under the reference, and bounds of its rms residuals (2 n + 12,).

    The bounds are those of level `one_step`: time stepping, and the reference's own error.

    Args:
        setup: robot and scenario.
        runs: of the engine, by physics step.
        order: of its integrator.
        ticks: indices of the ticks to predict (k,).
        key_prefix: as of `ReferenceProblem`.
    """
    steps = sorted(runs, reverse=True)[-STEPS:]
    smallest_step = steps[-1]
    run = runs[smallest_step]
    reference = make_simulator(setup, physics_step=smallest_step)
    problem = ReferenceProblem(setup, reference, run, ticks, key_prefix=key_prefix)
    errors = [replace(problem, run=runs[step]).residuals() for step in steps]
    floor = np.finfo(float).eps * np.maximum(column_sizes(run), 1.0)
    if len(errors) < STEPS:
        unknown = replace(problem, rest=np.zeros_like(errors[-1]))
        return unknown, np.asarray(rms(errors[-1]) + floor)
    # The reference's own error: its change with the step.
    coarser_reference = make_simulator(setup, physics_step=steps[-2])
    floor = floor + rms(replace(problem, simulator=coarser_reference).residuals() - errors[-1])
    # What time stepping explains is taken from the residuals, and bounded (extrapolation.py).
    first, last = estimates(errors, order)
    bound = np.asarray(SAFETY * rms(last - first) + floor)
    return replace(problem, rest=errors[-1] - last), bound


def rms(values: Array) -> Array:
    """Return the root mean square of each column over ticks."""
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))


def parameters_of(setup: Setup, key_prefix: str = "") -> dict[str, float]:
    """Return the numbers of a setup that level 1 does not compare, by scenario key.

    Only keys that begin with `key_prefix` are tried, since each needs a description to be expanded.
    """
    compared, parameters = _compared_numbers(setup), {}
    for key, value in numbers_of(setup).items():
        if not key.startswith(key_prefix):
            continue
        changed = with_parameter(setup, key, value * 1.001)
        if changed is not None and np.array_equal(_compared_numbers(changed), compared):
            parameters[key] = value
    return parameters


def numbers_of(setup: Setup) -> dict[str, float]:
    """Return the numbers of a setup's friction and parameters that are not 0, by scenario key."""
    stated = setup.scenario.friction
    law = setup.robot.friction_laws.get(stated.get("law", ""))
    defaults = inspect.signature(law).parameters if law else {}
    friction = {name: stated.get(name, p.default) for name, p in defaults.items()}
    values = {f"friction.{name}": value for name, value in friction.items()}
    values |= {f"parameters.{name}": v for name, v in setup.parameters.as_dict().items()}
    return {key: value for key, value in values.items() if _is_finite_number(value)}


def _is_finite_number(value: Json) -> bool:
    """Return whether a value is a finite number other than 0."""
    return isinstance(value, float) and math.isfinite(value) and value != 0.0


def with_parameter(setup: Setup, key: str, value: float) -> Setup | None:
    """Return a setup with one number changed; None where that is not allowed."""
    data = setup.scenario.data()
    group, _, name = key.partition(".")
    data[group] = {**data[group], name: value}
    try:
        return Setup.of(make_scenario(data), setup.robot)
    except AccordError:
        return None


def _compared_numbers(setup: Setup) -> Array:
    """Return the numbers that level 1 compares directly."""
    tree = setup.tree
    links = [np.r_[k.mass, k.centre, k.inertia.ravel()] for k in tree.links]
    joints = [np.r_[j.position, j.rotation.ravel(), j.axis, j.lower, j.upper] for j in tree.joints]
    gravity = getattr(setup.parameters, "gravity", 0.0)
    return np.concatenate([*links, *joints, setup.effort_limits, [gravity]])
