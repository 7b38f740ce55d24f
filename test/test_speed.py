"""`make speed`: each row runs, its figures as JSON, and the table that it writes into a page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from workspace import ROOT

MODULES = {
    "gait": "scipy", "gazebo": "roboaccord_ros.gazebo.transport", "packbot": "coal",
    "rolling": "numpy", "snake": "mujoco", "ticks": "mujoco", "trees": "mujoco",
}  # fmt: skip
PAGE = "before\n<!-- table of make speed -->\nold\n<!-- end of the table -->\nafter\n"


def small(page: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Run rows once, small; return the exit status and the report."""
    page.write_text(PAGE)
    command = [sys.executable, "-m", "benchmarks.speed", "--small", "--json", *words]
    done = subprocess.run(
        [*command, "--page", page], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_every_row_runs_and_is_written_into_the_page(module: str, tmp_path: Path) -> None:
    peer = pytest.importorskip(MODULES[module])
    if module == "gazebo" and peer.installed_release().lacking():
        pytest.skip("Gazebo is not installed, or not for Python")
    status, report = small(tmp_path / "speed.md", "--only", module)
    if not report["rows"]:
        pytest.skip("no row can be measured here, such as without the collection of robots")
    assert [row["failure"] for row in report["rows"]] == [""] * len(report["rows"])
    assert status == 0
    text = (tmp_path / "speed.md").read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert report["machine"]["processor"] in text
    for row in report["rows"]:
        assert row["name"] in text and row["ours"][0] > 0.0
        pairs = [a / b for a, b in zip(row["ours"], row["peer"], strict=False)]
        assert not pairs or min(pairs) <= row["ratio"][1] <= max(pairs)


def test_every_module_of_rows_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks.speed import __main__ as speed

    assert [*MODULES] == speed.MODULES


def test_a_row_that_fails_is_a_line_and_the_others_keep_their_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where a peer's process fails, or a module comes to no further row."""
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks.speed import __main__ as speed
    from benchmarks.speed import rolling
    from benchmarks.speed.rows import Row

    def rows() -> Any:
        yield Row("good", "1/s", lambda: 2.0, lambda: 1.0, "a peer", target=1.0)
        yield Row("bad", "1/s", lambda: 1 / 0, None, "no peer")
        peer = [sys.executable, "-c", "import no_such_module"]
        run = subprocess.run
        bad = lambda: float(run(peer, check=True, capture_output=True, text=True).stdout)  # noqa: E731
        yield Row("bad peer", "1/s", lambda: 2.0, bad, "a process")
        raise SystemExit("no further robot")

    monkeypatch.setattr(rolling, "rows", rows)
    page = tmp_path / "speed.md"
    page.write_text(PAGE)
    words = ["speed", "--only", "rolling", "--repeats", "2", "--page", str(page)]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        speed.main()
    assert ended.value.code == 1
    table = capsys.readouterr().out
    lines = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    assert [line.split(" | ")[2] for line in lines[2:]] == ["2", "failed", "failed", "failed"]
    reasons = ["division by zero", "No module named 'no_such_module'", "no further robot"]
    assert all(reason in line for reason, line in zip(reasons, lines[3:], strict=True))
    assert "failed" in table and "good" in table
