"""The notebook runs from top to bottom and has its outputs; `.ci/wheels.py` runs it, too."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from workspace import ROOT

NOTEBOOK = ROOT / "examples" / "first_steps.ipynb"


@pytest.mark.slow
@pytest.mark.thorough
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A standing wave gives next to no propulsion, and MuJoCo agrees with the reference."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    monkeypatch.chdir(tmp_path)
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    page = ModuleType("notebook_page")
    monkeypatch.setitem(sys.modules, page.__name__, page)
    for cell in cells:
        if cell["cell_type"] == "code":
            code = compile("".join(cell["source"]), cell["id"], "exec")
            exec(code, vars(page))  # noqa: S102 - the notebook's own
    assert page.report.verdict == "pass"
    assert [change.key for change in page.change.changes] == ["friction.mu_along"]
    speed = page.own.metrics["speed"]
    assert abs(speed) < 0.1
    shown = ["".join(out["data"]["text/plain"]) for c in cells for out in c.get("outputs", [])]
    assert len(shown) == 7 and str(page.change) == shown[2]
    assert float(shown[-1]) == pytest.approx(speed, rel=1e-6)
