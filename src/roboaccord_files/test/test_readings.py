"""Parity of files of several kinds: folders, formats of engines, mimics, few joints, scripts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from roboaccord.cli.main import run
from roboaccord.description.urdf_file import UrdfFile
from roboaccord_files.parity.bench import Bench
from roboaccord_files.parity.door import targets_of
from roboaccord_files.parity.files import find_files, read_source
from roboaccord_files.rules.find import findings
from test_formats import ARM, LEG, LEGS, QUADRUPED, read
from test_interpreted import chain, interpreted
from test_mimic import LEADS, text
from test_parity import examine


@interpreted
@pytest.mark.slow
def test_engines_read_files_of_few_joints_alike(tmp_path: Path) -> None:
    for n in range(4):
        (tmp_path / f"chain{n}.urdf").write_text(chain(n))
    assert run(["parity", str(tmp_path)]) == 0
    assert run(["parity", str(tmp_path), "--base", "fixed"]) == 0


def test_a_script_without_a_guard_has_the_same_verdict(tmp_path: Path) -> None:
    """Processes that are started do not run a user's script again."""
    (tmp_path / "mine.py").write_text(
        'import roboaccord as ra\nprint(ra.parity("arm.urdf", engines=["mujoco"]).verdict)\n'
    )
    (tmp_path / "arm.urdf").write_text("""<robot name="arm"><link name="a"/><link name="b">
<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
</inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="5" velocity="2"/></joint></robot>""")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True, check=True,
        env=environment,
    )  # fmt: skip
    assert done.stdout == "pass\n", done.stderr


def test_engines_that_hold_it_otherwise_are_named() -> None:
    found = examine(Bench(UrdfFile(Path("r.urdf"), "r", text(LEADS))), "dart")
    assert [cause.quantity for cause in found.causes] == ["mimic"]
    assert found.causes[0].before is not None
    assert found.causes[0].before > 0.1  # of what the constraint has


def test_parity_of_a_folder_takes_its_robots_alone(tmp_path):
    """Not the scene that includes one, nor defaults, nor what is no robot; repaired to URDFs."""
    body = QUADRUPED.format("")
    (tmp_path / "dog.xml").write_text(body)
    (tmp_path / "dog.urdf").write_text('<robot name="dog"><link name="a"/></robot>')
    scene = '<include file="dog.xml"/><worldbody><geom type="plane" size="1 1 1"/></worldbody>'
    (tmp_path / "scene.xml").write_text(f"<mujoco>{scene}</mujoco>")
    (tmp_path / "defaults.xml").write_text("<mujoco><default/></mujoco>")
    (tmp_path / "package.xml").write_text("<package><name>dog</name></package>")
    (tmp_path / "broken.xml").write_text("<mujoco>")
    found = find_files(tmp_path, {})
    assert [each.path.name for each in found] == ["dog.urdf", "dog.xml"]
    targets = targets_of(tmp_path / "out", found, tmp_path)
    assert [path.name for path in targets] == ["dog.urdf", "dog.xml.urdf"]
    assert "trunk" in read_source(found[1]).text


def test_a_robot_of_mjcf_has_no_errors_by_the_rules(tmp_path: Path) -> None:
    file = read(tmp_path, QUADRUPED.format("".join(LEG.format(*leg) for leg in LEGS)))
    assert not [each for each in findings(file) if each.severity == "error"]


def test_a_finding_has_its_line_in_the_mjcf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ARM.format(' range="-1 2" damping=".3"', "", "").replace('"j"', '"the joint"')
    Path("arm.xml").write_text(given.replace("<joint", "\n<joint"))
    assert run(["check", "arm.xml"]) == 0
    shown = capsys.readouterr()
    assert "arm.xml:2: warning" in shown.out and "name-characters" in shown.out
    assert "<mujoco> read by mujoco" in shown.err


def test_files_of_robots_and_worlds_are_checked_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each by its own check; the worse of both is the status."""
    monkeypatch.chdir(tmp_path)
    Path("arm.urdf").write_text('<robot name="r"><link name="the link"/></robot>')
    Path("flat.sdf").write_text('<sdf version="1.9"><world name="w"><nonsense/></world></sdf>')
    assert run(["check", "arm.urdf", "flat.sdf"]) == 1
    shown = capsys.readouterr().out
    assert "name-characters" in shown and "world/gravity: must be stated" in shown
    assert run(["check", "arm.urdf", "--models", ".", "--models", "no_such"]) == 0
    assert run(["check", "flat.sdf", "--mass", "2"]) == 2
    assert "--mass belongs to check FILE" in capsys.readouterr().err


def test_a_folder_of_models_has_those_with_joints(tmp_path: Path) -> None:
    """No world, and no model that stands."""
    pytest.importorskip("pydrake")
    pytest.importorskip("roboaccord_drake")
    model, link = '<sdf version="1.9"><model name="m">{}</model></sdf>', '<link name="{}"/>'
    joint = '<joint name="shoulder" type="revolute"><parent>base</parent><child>upper</child>'
    arm = model.format(
        f"{link.format('base')}{link.format('upper')}{joint}<axis><xyz>0 0 1</xyz></axis></joint>"
    )
    (tmp_path / "model.sdf").write_text(arm)
    world = arm.replace("<model", '<world name="w"><model').replace("</model>", "</model></world>")
    (tmp_path / "world.sdf").write_text(world)
    (tmp_path / "shelf.sdf").write_text(model.format(link.format("shelf")))
    (found,) = find_files(tmp_path, {})
    assert found.path.name == "model.sdf"
    assert 'name="shoulder"' in read_source(found).text
