"""What `accord packbot figures` and `dynamics` print and draw."""

from pathlib import Path

import numpy as np
import pytest
from drawn_figures import keep_figures
from packbot.model.parameters import JOINTS


def test_accelerations_balance_the_bias(figures):
    """No efforts are given: inertia times acceleration takes it all."""
    found = figures("dynamics --q shoulder=1.2,elbow1=-0.8 --qd 0 0.1 0 0 0 0 0".split())
    assert set(found) == {"joints", "qdd", "mass_matrix", "bias", "options"}
    residual = np.array(found["mass_matrix"]) @ found["qdd"] + found["bias"]
    assert np.abs(residual).max() < 1e-11


def test_a_state_outside_the_limits_is_told(complaint):
    line = complaint("dynamics --q 0 9 0 0 0 0 0".split())
    assert "shoulder: 9 rad is outside its limits, -0.35 to 3.4" in line


@pytest.mark.slow
def test_figures_come_as_files(tmp_path, figures, monkeypatch):
    shown = keep_figures(monkeypatch)
    data = figures(["figures", "--out", str(tmp_path), "--duration", "0.3"])
    names = {Path(file).name for file in data["files"]}
    assert {f"figure_{number}.svg" for number in (1, 2, 3, 5, 6, 7, 8, 9, 10)} <= names
    assert {path.name for path in tmp_path.glob("[!.]*")} == names
    page = (tmp_path / "index.html").read_text()
    assert page.count("<img") == len(shown) == len(list(tmp_path.glob("*.svg")))
    assert "http" not in page.replace("http://www.w3.org", "")
    assert {note.get_text() for note in shown["figure_2"].axes[0].texts} >= set(JOINTS)
    rows = (tmp_path / "figure_5.csv").read_text().splitlines()[1:]
    jumps = np.abs(np.diff(np.array([row.split(",") for row in rows], float), axis=0)).max(axis=0)
    # In overlap the vector jumps by the angle between two faces; 5 mm apart it does not jump.
    assert jumps[1] == pytest.approx(30.0, abs=0.1) and jumps[3] < 1.0
