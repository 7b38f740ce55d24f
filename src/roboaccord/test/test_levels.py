"""A level that is not in the tree: shown by its rows, excused and given a tolerance by its name."""

from __future__ import annotations

from dataclasses import dataclass
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
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.levels import LEVELS
from roboaccord.crosscheck.motion import CheckCase
from roboaccord.crosscheck.report import Report
from roboaccord.crosscheck.run import run_crosscheck
from roboaccord.report import render_report
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup

pytest.importorskip("mujoco", reason="MuJoCo is not installed")
pytest.importorskip("monkeybot", reason="the monkeybot is not installed")
ALLOWED = 1e3  # J, where the scenario states none


@dataclass(frozen=True)
class Work:
    """Hold the work of the efforts over a run."""

    engine: float
    reference: float


def work_of(run: Trajectory) -> float:
    """Return the work of the efforts [J]."""
    return float((run.effort[1:] * np.diff(run.q, axis=0)).sum())


class WorkLevel(Level[Work]):
    """Compare the work with the reference's."""

    name = "work_done"
    title = "Work of the efforts"

    def measure(self, case: CheckCase) -> Work:
        return Work(work_of(case.run), work_of(case.runs.shown("reference")))

    def judge(self, check: Work, tolerances: Tolerances) -> Finding:
        off = abs(check.engine - check.reference)
        allowed = tolerances.level.get(self.name, ALLOWED)
        if off <= allowed:
            return Finding.within()
        why = because("work_differs", off=off, allowed=allowed)
        return Finding.outside(why, quantity="work", where="elbow", size=off)

    def rows(self, check: Work) -> Rows:
        return {"of the engine": Entry(check.engine, "J", ".6e"), "known": Entry("yes")}


class WorkBeforeLevel(Level[float]):
    """Have what another level measured, and nothing to show."""

    name = "twice"

    def measure(self, case: CheckCase) -> float:
        return 2.0 * float(case.checks["work_done"].engine)

    def judge(self, check: float, tolerances: Tolerances) -> Finding:
        return Finding.does_not_apply()


def checked(out: Path, *changes: str) -> Report:
    """Check 20 ms of a swing with both levels beside those of the tree."""
    short = ["crosscheck.duration=0.02", "crosscheck.states=2", *changes]
    setup = Setup.of(load_scenario("monkeybot", "monkeybot", "swing", short))
    levels = [WorkLevel(), WorkBeforeLevel()]
    return run_crosscheck(setup, ["mujoco"], refine=1, out=out, levels=levels)


TIGHT = "crosscheck.tolerances.level.work_done=1e-30"


def test_it_appears_everywhere_by_its_rows_alone(tmp_path: Path) -> None:
    report = checked(tmp_path, TIGHT)
    work = report.checks["work_done"]["mujoco"]
    assert work.engine == work_of(report.trajectories["mujoco"]) != work.reference
    assert report.checks["twice"] == {"mujoco": 2.0 * work.engine}
    assert [*report.levels][-2:] == ["work_done", "twice"]
    assert set(report.levels) < {level.name for level in LEVELS} | {"work_done", "twice"}
    found = report.levels.work_done["mujoco"]
    assert (found.outcome, found.codes) == ("outside", ("work_differs",))
    assert (found.quantity, found.where, found.level) == ("work", "elbow", "work_done")
    figure, head = f"{work.engine:.6e}", "of the engine [J]"
    assert report.rows["work_done"]["mujoco"]["of the engine"] == Entry(work.engine, "J", ".6e")
    reason = f"mujoco: work differs: off {found.size:.4g}, allowed 1e-30"
    assert reason in report.reasons and report.verdict == "fail"
    console, page = Console(width=200, file=StringIO(), record=True), render_report(report)
    console.print(*shown_of(report), sep="\n")
    for shown in (console.export_text(), page):
        for word in ("Work of the efforts", "work done", figure, "yes", "work differs"):
            assert word in shown, word
    assert head in page and "1e-30" in page
    data: Any = report.to_json()
    assert data["levels"]["work_done"]["mujoco"]["codes"] == ["work_differs"]
    assert data["levels"]["twice"]["mujoco"]["outcome"] == "does_not_apply"
    assert data["rows"]["work_done"] == {"mujoco": {"of the engine": work.engine, "known": "yes"}}
    assert data["verdict"] == "fail"


def test_a_scenario_excuses_it_and_allows_it_more(tmp_path: Path) -> None:
    """Then it counts no more; and a name that no level has is refused."""
    excuse = "crosscheck.excuse={work_done: {mujoco: it warms up}}"
    report = checked(tmp_path / "excused", TIGHT, excuse)
    found = report.levels.work_done["mujoco"]
    assert (found.outcome, found.excuse, report.excused) == ("excused", "it warms up", 1)
    assert any("work_done excused: it warms up (work differs" in line for line in report.remarks)
    assert not any("work differs" in line for line in report.reasons) and report.verdict != "fail"
    wide = f"crosscheck.tolerances.level.work_done={2.0 * (found.size or 0.0)!r}"
    assert checked(tmp_path / "wide", wide).levels.work_done["mujoco"].outcome == "within"
    for key in ("tolerances.level={work_dome: 1}", "excuse={work_dome: {mujoco: it warms up}}"):
        with pytest.raises(AccordError, match="did you mean work_done"):
            checked(tmp_path / "no", f"crosscheck.{key}")
