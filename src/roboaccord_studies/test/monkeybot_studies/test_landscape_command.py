"""`accord monkeybot landscape`: what it writes, and what it refuses in one line."""

import re
from pathlib import Path

import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from roboaccord_studies.monkeybot.landscape import landscape_command
from roboaccord_studies.monkeybot.options import grid_of


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"w1": (0.0, 3.0, 1)}, "needs 2 at least"),
        ({"w1": (3.0, 0.0, 5)}, "must rise"),
        ({"w2": (8.0, float("nan"), 5)}, "must rise"),
        ({"torque": 0.0}, "torque is 0"),
        ({"limit": 0.0}, "must be positive"),
        ({"w1": (0.0, 3.0, 10_000), "w2": (8.0, 14.0, 10_000)}, "more than"),
        ({"w2": (0.0, 1.0, 4)}, "no start of this grid"),
        ({"folder": Path("/proc/none")}, "cannot write in"),
    ],
)
def test_what_makes_no_landscape_gives_one_line(wrong, line, tmp_path):
    """Errors of the user are one line, before the work where that can be."""
    small = {"w1": (0.5, 1.5, 4), "w2": (11.0, 12.0, 4), "folder": tmp_path}
    with pytest.raises((AccordError, ValueError), match=line) as caught:
        landscape_command(**{**small, **wrong})
    assert "\n" not in str(caught.value)


def test_files_hold_what_they_say(tmp_path):
    """The data reads back, with the torque, the parameters and versions that made it."""
    result = landscape_command(w1=(0.5, 1.5, 6), w2=(11.0, 12.0, 5), folder=tmp_path)
    assert result.data.gaits == 30
    with np.load(tmp_path / "landscape.npz") as data:
        assert data["error"].shape == data["switch_time"].shape == (6, 5)
        assert data["w1"].tolist() == grid_of(0.5, 1.5, 6, "w1").tolist()
        assert data["torque"] == 2.0
        named = dict(zip(data["parameter_names"], data["parameters"], strict=True))
        assert named["length_a"] == 0.61
        assert "numpy" in data["versions"][:, 0]
    page = (tmp_path / "landscape.html").read_text()
    assert "Plotly.react" in page
    assert "http" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
