"""A robot of a file whose joints would stand still is moved by its check."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from roboaccord.contract.outcome import Code
from roboaccord.door.checks import crosscheck
from roboaccord.robots.excitation import excited
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.scenario.setups import load_setup

FALLING = Path(__file__).parent / "data" / "urdf" / "TwoDofs.urdf"
LINK = """<link name="{name}"><inertial><mass value="1"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
SLIDE = """<joint name="{name}" type="prismatic"><parent link="base"/><child link="{child}"/>
<axis xyz="{axis}"/><limit lower="{lower}" upper="{upper}" effort="100" velocity="5"/></joint>"""


def setup_of(folder: Path, text: str, changes: tuple[str, ...] = ()) -> Setup:
    path = folder / "gantry.urdf"
    path.write_text(f'<robot name="gantry"><link name="base"/>{text}</robot>')
    return load_setup(str(path), "", changes)


def slide(axis: str, lower: float = 0.0, upper: float = 2.0) -> str:
    joint = SLIDE.format(name="slide", child="car", axis=axis, lower=lower, upper=upper)
    return LINK.format(name="car") + joint


def test_a_level_slide_starts_from_the_middle_of_its_range(tmp_path: Path) -> None:
    """The middle of 0 to 2 m is 1 m; efforts are drawn by the seed, and are not 0."""
    setup, notes = excited(setup_of(tmp_path, slide("1 0 0")))
    assert [note.code for note in notes] == [Code.EXCITED]
    assert setup.initial.q == pytest.approx([1.0], abs=1e-15)
    assert setup.scenario.controller["name"] == "random"


def test_what_the_user_places_stays(tmp_path: Path) -> None:
    setup, notes = excited(setup_of(tmp_path, slide("1 0 0"), ("initial.q.slide=0.25",)))
    assert notes and setup.initial.q == pytest.approx([0.25], abs=1e-15)


@pytest.mark.parametrize(("axis", "changes"), [("0 0 1", ()), ("1 0 0", ("controller.name=sine",))])
def test_what_moves_is_left_alone(tmp_path: Path, axis: str, changes: tuple[str, ...]) -> None:
    """Gravity moves a slide along z; a controller is the user's."""
    setup = setup_of(tmp_path, slide(axis), changes)
    assert excited(setup) == (setup, [])


def test_joints_that_rest_while_their_base_falls_are_moved() -> None:
    """Gravity alone would show nothing of the joints of a robot in free fall."""
    assert excited(load_setup(str(FALLING), "", ("base=free",)))[1]


@pytest.mark.slow
def test_a_sound_engine_is_within_as_it_falls_and_moves(tmp_path: Path) -> None:
    """DART cuts off the turn of a free base at 2e-12 rad, 2e-11 J here, when it is read."""
    pytest.importorskip("dartpy")
    setup = load_setup(str(FALLING), "", ("base=free", "crosscheck.duration=0.1"))
    report = crosscheck(setup, engines=["dart"], out=tmp_path / "out")
    assert report.verdict == "pass"
    assert report.levels.energy["dart"].outcome == "within"


def test_a_check_of_a_robot_at_rest_finds_a_wrong_mass(tmp_path: Path) -> None:
    """Of a gantry at rest nothing would show; the report says what was changed."""
    pytest.importorskip("mujoco")
    from roboaccord.falsify import parse_perturbation, wrap

    wrong = wrap("mujoco", perturbations=[parse_perturbation("mujoco:mass:car=1.01")])
    changes = ("crosscheck.duration=0.05",)
    setup = setup_of(tmp_path, slide("1 0 0"), changes)
    report = crosscheck(setup, engines=[wrong], out=tmp_path / "out")
    assert report.verdict == "fail"
    assert Code.EXCITED in [note.code for note in report.notes]
    assert np.ptp(report.trajectories["mujoco"].q) > 0.0


def test_where_nothing_can_move_the_verdict_is_undecided(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "block.urdf"
    path.write_text(f'<robot name="block">{LINK.format(name="base")}</robot>')
    setup = load_setup(str(path), "", ("crosscheck.duration=0.05",))
    assert not make_simulator(setup).joints
    report = crosscheck(setup, engines=["mujoco"], out=tmp_path / "out")
    assert report.verdict == "undecided"
    assert Code.NOTHING_CAN_MOVE in report.levels.trajectory["mujoco"].codes
