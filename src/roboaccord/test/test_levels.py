"""A level that is not in the tree: shown by its rows, excused and given a tolerance by its name."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from roboaccord.cli.levels import shown_of
from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Finding, because
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.levels import LEVELS
from roboaccord.crosscheck.report import Report
from roboaccord.crosscheck.run import run_crosscheck
from roboaccord.report import render_report
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup

pytestmark = pytest.mark.thorough
pytest.importorskip("mujoco", reason="MuJoCo is not installed")
pytest.importorskip("monkeybot", reason="the monkeybot is not installed")
ALLOWED = 1e3  # rad, where the scenario states none


def travel_of(run: Trajectory) -> float:
    """Return how far the joints go, together [rad]."""
    return float(np.abs(np.diff(run.q, axis=0)).sum())


class TravelLevel(Level[tuple[float, float]]):
    """Compare how far the joints go with the reference's."""

    name = "joint_travel"
    title = "Travel of the joints"

    def measure(self, case: CheckCase) -> tuple[float, float]:
        return (travel_of(case.run), travel_of(case.runs.shown("reference")))

    def judge(self, check: tuple[float, float], tolerances: Tolerances) -> Finding:
        off = abs(check[0] - check[1])
        allowed = tolerances.level.get(self.name, ALLOWED)
        if off <= allowed:
            return Finding.within()
        why = because("travel_differs", off=off, allowed=allowed)
        return Finding.outside(why, quantity="travel", where="elbow", size=off)

    def rows(self, check: tuple[float, float]) -> Rows:
        return {"of the engine": Entry(check[0], "rad", ".6e"), "known": Entry("yes")}


class TwiceLevel(Level[float]):
    """Have what another level measured, and nothing to show."""

    name = "twice"

    def measure(self, case: CheckCase) -> float:
        return 2.0 * float(case.checks["joint_travel"][0])

    def judge(self, check: float, tolerances: Tolerances) -> Finding:
        return Finding.does_not_apply()


def checked(out: Path, *changes: str) -> Report:
    """Check 20 ms of a swing with both levels beside those of the tree."""
    short = ["crosscheck.duration=0.02", "crosscheck.states=2", *changes]
    setup = Setup.of(load_scenario("monkeybot", "monkeybot", "swing", short))
    levels = [TravelLevel(), TwiceLevel()]
    return run_crosscheck(setup, ["mujoco"], refine=1, out=out, levels=levels)


TIGHT = "crosscheck.tolerances.level.joint_travel=1e-30"


def test_it_appears_everywhere_by_its_rows_alone(tmp_path: Path) -> None:
    report = checked(tmp_path, TIGHT)
    travel, reference = report.checks["joint_travel"]["mujoco"]
    assert travel == travel_of(report.trajectories["mujoco"]) != reference
    assert report.checks["twice"] == {"mujoco": 2.0 * travel}
    assert [*report.levels][-2:] == ["joint_travel", "twice"]
    assert set(report.levels) < {level.name for level in LEVELS} | {"joint_travel", "twice"}
    finding = report.levels.joint_travel["mujoco"]
    assert (finding.outcome, finding.codes) == ("outside", ("travel_differs",))
    assert (finding.quantity, finding.where, finding.level) == ("travel", "elbow", "joint_travel")
    figure, head = f"{travel:.6e}", "of the engine [rad]"
    assert report.rows["joint_travel"]["mujoco"]["of the engine"] == Entry(travel, "rad", ".6e")
    reason = f"mujoco: travel differs: off {finding.size:.4g}, allowed 1e-30"
    assert reason in report.reasons and report.verdict == "fail"
    console, page = Console(width=200, file=StringIO(), record=True), render_report(report)
    console.print(*shown_of(report), sep="\n")
    for shown in (console.export_text(), page):
        for word in ("Travel of the joints", "joint travel", figure, "yes", "travel differs"):
            assert word in shown, word
    assert head in page and "1e-30" in page
    data: Any = report.to_json()
    assert data["levels"]["joint_travel"]["mujoco"]["codes"] == ["travel_differs"]
    assert data["levels"]["twice"]["mujoco"]["outcome"] == "does_not_apply"
    assert data["rows"]["joint_travel"] == {"mujoco": {"of the engine": travel, "known": "yes"}}
    assert data["verdict"] == "fail"


def test_a_scenario_excuses_it_and_allows_it_more(tmp_path: Path) -> None:
    """Then it counts no more; and a name that no level has is refused."""
    excuse = "crosscheck.excuse={joint_travel: {mujoco: it warms up}}"
    report = checked(tmp_path / "excused", TIGHT, excuse)
    finding = report.levels.joint_travel["mujoco"]
    assert (finding.outcome, finding.excuse, report.excused) == ("excused", "it warms up", 1)
    assert any(
        "joint_travel excused: it warms up (travel differs" in line for line in report.remarks
    )
    assert not any("travel differs" in line for line in report.reasons) and report.verdict != "fail"
    wide = f"crosscheck.tolerances.level.joint_travel={2.0 * (finding.size or 0.0)!r}"
    assert checked(tmp_path / "wide", wide).levels.joint_travel["mujoco"].outcome == "within"
    for key in ("tolerances.level={joint_travl: 1}", "excuse={joint_travl: {mujoco: it warms up}}"):
        with pytest.raises(AccordError, match=r"did you mean crosscheck.*joint_travel"):
            checked(tmp_path / "no", f"crosscheck.{key}")
