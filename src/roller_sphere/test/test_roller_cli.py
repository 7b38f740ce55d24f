"""The roller sphere's commands, as a script calls them: keys of `--json`, errors, warnings."""

import json

import numpy as np
import pytest
from roboaccord.cli.main import main
from roller_sphere.model.rig import Rig
from workspace import accord, succeed

pytestmark = pytest.mark.thorough

PAPER = "--radius 1 --azimuth-deg 215 325 --latitude-deg 60 60"


def test_inverse_as_a_script_calls_it(tmp_path):
    """In a process of its own, with every option of the page; the facts' numbers at 20 degrees."""
    words = f"roller-sphere inverse {PAPER} --alpha-deg 20 -20 --speed 1 --heading-deg 90 --json"
    found = json.loads(succeed(accord(*words.split(), cwd=tmp_path)))
    assert list(found)[:5] == ["nu", "rho_deg", "omega", "slip", "lines"]
    assert found["nu"] == pytest.approx([-0.970824] * 2, abs=1e-6)
    assert found["slip"] == pytest.approx([0.332041, -0.332041], abs=1e-6)
    assert found["omega"] == pytest.approx([-1.0, 0.0, 0.0], abs=1e-12)
    assert found["rho_deg"] == pytest.approx(0.0, abs=1e-10)
    for line, height in zip(found["lines"], (-0.332041, 0.332041), strict=True):
        assert np.linalg.norm(line["direction"]) == pytest.approx(1.0)
        # (9): how far each line is from the plane of the contacts.
        pole = Rig.degrees(1.0, (215, 325), (60, 60), (20, -20)).pole
        assert np.dot(line["point"], pole) == pytest.approx(height, abs=1e-6)


def test_forward_undoes_inverse(figures):
    there = figures(f"inverse {PAPER} --alpha-deg 30 90 --speed 0.7 --heading-deg 300")
    nu = " ".join(map(repr, there["nu"]))
    back = figures(f"forward {PAPER} --alpha-deg 30 90 --nu {nu}")
    assert list(back)[:5] == ["speed", "heading_deg", "rho_deg", "omega", "slip"]
    assert [back["speed"], back["heading_deg"]] == pytest.approx([0.7, 300.0])
    for name in ("omega", "slip", "rho_deg"):
        assert back[name] == pytest.approx(there[name], abs=1e-12)


def test_rollers_one_by_one(figures):
    """Two as the three pairs have them, and three with the spin that three can have."""
    pairs = figures(f"inverse {PAPER} --alpha-deg 10 -10 --heading-deg 33")
    single = figures("inverse --roller 215 60 10 --roller 325 60 -10 --heading-deg 33")
    assert single.pop("options") != pairs.pop("options") and single == pairs
    rollers = "--roller 0 45 40 --roller 120 45 -40 --roller 240 45 90"
    three = figures(f"inverse {rollers} --speed 0.5 --heading-deg -90 --spin 2")
    assert three["omega"] == pytest.approx([0.5, 0.0, 2.0])
    back = figures(f"forward {rollers} --nu {' '.join(map(repr, three['nu']))}")
    assert [back["speed"], back["heading_deg"]] == pytest.approx([0.5, 270.0])


def test_a_nearly_degenerate_rig_is_warned_of_on_stderr(accord_here, capsys):
    words = f"roller-sphere inverse {PAPER} --json --alpha-deg".split()
    assert accord_here([*words, "38.9", "-38.9"]) == 0
    message = capsys.readouterr()
    assert json.loads(message.out)["condition"] == pytest.approx(707.6, abs=0.1)
    assert message.err.count("\n") == 1 and "condition number 707.6" in message.err
    assert accord_here([*words, "10", "-10"]) == 0
    assert capsys.readouterr().err == ""


def test_tables_for_people_have_units(capsys):
    """Without `--json`; the numbers are those of the facts."""
    for words in ("inverse --heading-deg 90", "forward --nu -0.9263493 -0.9263493"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", ["accord", "roller-sphere", *words.split()])
            with pytest.raises(SystemExit) as ended:
                main()
        assert ended.value.code in (0, None)
        message = capsys.readouterr().out
        assert "m/s" in message and "0.160859" in message


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("inverse --radius 0", "radius is 0 m, and must be positive"),
        ("inverse --radius nan", "--radius: nan is not a number"),
        ("inverse --latitude-deg 91 0", "latitude is 91 degrees, and must be within +-90"),
        ("inverse --alpha-deg 0 -100", "alpha is -100 degrees, and must be within +-90"),
        ("inverse --alpha-deg 38.9566 -38.9566", "the headings 90.0000 and 270.0000 degrees"),
        ("inverse --speed -1", "speed is -1 m/s, and must not be negative"),
        ("inverse --heading-deg inf", "--heading-deg: inf is not a number"),
        ("inverse --spin 1", "this rig of 2 rollers cannot spin the ball"),
        ("inverse --roller 1 2 3", "a rig has at least two rollers, not 1"),
        ("inverse --roller 1 2 --roller 3 4 5", "--roller takes azimuth, latitude and alpha"),
        ("inverse --roller 0 0 0 --roller 90 0 0 --roller 0 90 0", "contact 3 is at a pole"),
        ("forward --nu 0 0", "w_x = w_y = 0"),
        ("forward --nu 1", "1 roller speeds for 2 rollers"),
        ("forward --nu 1 nan", "--nu: 'nan' is not a number"),
        ("forward --nu one 2", "--nu: 'one' is not a number"),
        ("forward", "Missing option '--nu'"),
        ("figures --out /proc/none", "cannot write in /proc/none"),
    ],
)
def test_a_mistake_is_one_line(words, line, complaint):
    assert line in complaint(f"{words} --json")
