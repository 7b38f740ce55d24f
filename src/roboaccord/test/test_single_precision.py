"""An engine in single precision: what it cannot show passes, and what it can is found and named."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.outcome import Code, Outcome
from roboaccord.contract.state import Array, RobotState
from roboaccord.crosscheck.report import Report
from roboaccord.crosscheck.run import run_crosscheck
from roboaccord.engines.deviations import ModelChange
from roboaccord.engines.model import EngineModel, Properties, intended_properties
from roboaccord.engines.spec import EngineSpec, Scheme
from roboaccord.engines.twin import Twin
from roboaccord.numerics import jit
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup, find_robot

SINGLE = np.float32
KERNELS = (
    "description.articulated",
    "description.bodies",
    "description.tuples",
    "numerics.cholesky",
    "numerics.runge_kutta",
)
SCHEME = Scheme("semi-implicit Euler")


def interpreted_slopes() -> Any:
    """Return the articulated-body algorithm as plain Python, in the arithmetic of its arrays."""
    names = [f"roboaccord.{name}" for name in KERNELS]
    compiled = {name: importlib.import_module(name) for name in names}
    for name in names:
        del sys.modules[name]
    try:
        with patch.object(jit, "kernel", lambda function: function):
            return importlib.import_module(names[0]).slopes
    finally:
        for name, module in compiled.items():  # also as attributes of their packages
            sys.modules[name] = module
            package, _, child = name.rpartition(".")
            setattr(sys.modules[package], child, module)


class SingleSimulator(Twin):
    """Semi-implicit Euler with all numbers in single precision; it reports the description's."""

    name, version = "single", "1.0"
    _compiles = False

    def __init__(self, model: EngineModel, changes: Sequence[ModelChange] = ()) -> None:
        self._slopes = interpreted_slopes()
        super().__init__(model, SCHEME, changes=changes)

    def _slope(self, x: Any, v: Array, *, loaded: bool = True) -> Array:
        tree, body, free, work = self._bodies.arrays
        y = self._bodies.state(x.q, v[6:], x.position, x.orientation, v[:6]).astype(SINGLE)
        effort = self._loads(x, x.rotation, v[:6], v[6:])[1] if loaded else self._acting
        effort, slope = effort.astype(SINGLE), np.zeros(y.shape, SINGLE)
        wrench, matrix = np.zeros(6, SINGLE), np.zeros((6, 6), SINGLE)
        numbers = body.astype(SINGLE), free, work.astype(SINGLE), y, effort, wrench, matrix
        self._slopes(tree, *numbers, wrench.copy(), slope)
        return slope[7 + len(effort) :]

    def _place(self, state: RobotState) -> None:
        super()._place(state)
        self._round()

    def _euler(self, h: float) -> None:
        super()._euler(SINGLE(h))
        self._round()

    def _round(self) -> None:
        """Round coordinates and rates."""
        self._x = self._x._replace(q=self._x.q.astype(SINGLE))
        self._v = self._v.astype(SINGLE)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        present, self._acting = self.state(), effort
        self._place(state)
        slope = self._slope(self._x, self._v, loaded=False).astype(float)
        self._place(present)
        return Acceleration(slope[:6], slope[6:])

    def properties(self) -> Properties:
        return intended_properties(self.intended)


def check(tmp_path: Path, *off: ModelChange) -> Report:
    """Return the cross-check of a swinging double pendulum in single precision."""
    single = EngineSpec(
        name="single",
        package="numpy",
        version=lambda: "1.0",
        simulator=lambda: partial(SingleSimulator, changes=off),  # type: ignore[arg-type,return-value]
        scheme=lambda model: SCHEME,
        precision="float32",
    )
    path = str(Path(__file__).parent / "data" / "urdf" / "double_pendulum_continuous.urdf")
    keys = (
        "base: fixed",
        "duration: 0.4",
        "control_period: 0.02",
        "initial: {q: {joint1: 0.7}, qd: {joint2: 1.0}}",
    )
    scenario = tmp_path / "swing.yaml"
    scenario.write_text("\n".join([f"robot: {path}", *keys, "crosscheck: {states: 5}"]))
    robot = find_robot(path)
    setup = Setup.of(load_scenario(robot.package, path, str(scenario)))
    return run_crosscheck(setup, [single], refine=3, out=tmp_path / "out")


def outcomes(report: Report) -> dict[str, Outcome]:
    """Return the outcome of each level."""
    return {level: findings["single"].outcome for level, findings in report.levels.items()}


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.0, 1e-8])
def test_what_single_precision_hides_passes_and_is_said(tmp_path: Path, size: float) -> None:
    """A sound engine, and a mass that is 1e-8 off: half of a rounding is 6e-8."""
    report = check(tmp_path, *([ModelChange("mass", "link2", 0, size)] if size else []))
    assert report.verdict == "pass"
    assert Outcome.OUTSIDE not in outcomes(report).values()
    (hidden,) = report.levels["scheme"]["single"].reasons
    assert hidden.code == Code.BELOW_SINGLE
    masses = [error.smallest for error in hidden.figures["of"] if error.parameter == "mass"]
    assert 1e-7 < min(masses) < 1e-3


@pytest.mark.slow
def test_an_error_above_single_precision_is_found_and_named(tmp_path: Path) -> None:
    """A mass that is 1e-3 off, which the engine does not report."""
    report = check(tmp_path, ModelChange("mass", "link2", 0, 1e-3))
    assert report.verdict == "fail"
    assert {level for level, outcome in outcomes(report).items() if outcome == Outcome.OUTSIDE} == {
        "acceleration", "scheme", "one_step", "trajectory", "energy",
    }  # fmt: skip
    finding = report.levels["scheme"]["single"]
    assert (finding.quantity, finding.where) == ("mass", "link2")
    explanations = [reason.figures["of"] for reason in finding.reasons if reason.code == Code.CAUSE]
    cause = explanations[0].cause
    assert cause.size == pytest.approx(1e-3, rel=0.1)
