"""`make speed`: its figures as JSON, and the table that it writes into a page."""

import json
import subprocess
import sys

import pytest
from workspace import ROOT

pytestmark = pytest.mark.slow


def test_rates_are_measured_in_turns_and_written_into_the_page(tmp_path):
    page = tmp_path / "speed.md"
    page.write_text("before\n<!-- table of make speed -->\nold\n<!-- end of the table -->\nafter\n")
    command = "-m benchmarks.speed --only rolling --repeats 2 --json --page".split()
    done = subprocess.run(
        [sys.executable, *command, page], cwd=ROOT, capture_output=True, text=True, check=True
    )
    report = json.loads(done.stdout)
    voxels, rollers = report["rows"]
    assert len(voxels["ours"]) == len(voxels["peer"]) == 2
    ratios = [a / b for a, b in zip(voxels["ours"], voxels["peer"], strict=True)]
    assert min(ratios) <= voxels["ratio"][1] <= max(ratios)
    assert min(ratios) > 50.0  # a compiled step against one of numpy and a search tree
    assert rollers["peer"] == [] and rollers["ratio"] is None
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert voxels["name"] in text and report["machine"]["processor"] in text
