"""`accord check FILE` with files that ask for trust, and in every locale."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from roboaccord.cli.main import run
from roboaccord.description.xacro_file import TRUST
from roboaccord_files.gazebo.check import check_file
from roboaccord_files.gazebo.files import is_robot
from roboaccord_files.gazebo.schema import schema_folder
from roboaccord_files.rules.find import findings
from slow_cases import late
from test_fence import EXPRESSIONS, link, robot
from test_output import accord

ROBOT = """<?xml version="1.0" encoding="utf-8"?>
<robot name="grün" xmlns:xacro="http://www.ros.org/wiki/xacro"><!-- – ü 機 -->
<link name="fuß"/></robot>
"""
LOCALES = {
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0"},
    "POSIX": {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
}


def test_trust_lets_a_file_do_all_and_ends_what_it_started(tmp_path: Path, monkeypatch) -> None:
    """Without a session of its own, a child ends with the process that expands."""
    marker, path = tmp_path / "marker", tmp_path / "a.xacro"
    begun = EXPRESSIONS["child that outlives"].replace(", start_new_session=True", "")
    text = robot(link("${" + EXPRESSIONS["lambda"] + "}") + link("${" + begun + "}"))
    path.write_text(text.replace("MARKER", str(marker)), encoding="utf-8")
    monkeypatch.setenv(TRUST, "0")
    assert run(["check", str(path)]) == 2
    assert not marker.exists()
    assert run(["check", str(path), "--trust"]) in (0, 1)
    assert os.environ[TRUST] == "1"  # for the processes that a command starts
    marker.unlink(missing_ok=True)
    time.sleep(1.5)
    assert not marker.exists()


@pytest.mark.parametrize("name", ["C", *late(*(name for name in LOCALES if name != "C"))])
@pytest.mark.parametrize("form", ["rö.urdf.xacro", pytest.param("rö.urdf", marks=pytest.mark.slow)])
def test_files_are_utf_8_whatever_the_locale(name: str, form: str, tmp_path: Path) -> None:
    """A file and its name are read, in the worker of xacro too, printed, and written."""
    (tmp_path / form).write_text(ROBOT, encoding="utf-8")
    words = ["check", form, "--sarif", "ö.sarif"]
    with accord(*words, cwd=tmp_path, **LOCALES[name]) as process:
        out, err = process.communicate()
    assert b"Traceback" not in out + err
    assert process.returncode in (0, 1), err
    written = (tmp_path / "ö.sarif").read_text(encoding="utf-8")
    assert "fuß" in json.dumps(json.loads(written), ensure_ascii=False)
    shown = "fu\\xdf" if "PYTHONIOENCODING" in LOCALES[name] else "fuß"
    assert shown in out.decode()


def test_a_robot_is_checked_by_rules_and_a_world_for_gazebo(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the root element, whatever stands beside it: broken, foreign, or of another version."""
    model = '<sdf version="{}"><model name="m"><link name="a"/>{}</model></sdf>'
    hinge = '<joint name="j" type="fixed"/>'
    texts = {
        "arm.xml": ('<mujoco model="arm"><worldbody/></mujoco>', True),
        "arm.sdf": (model.format("1.9", hinge), True),
        "model.sdf": (model.format("1.4", hinge), True),
        "arm.urdf": ('<robot name="r"><link name="base"/></robot>', True),
        "stone.sdf": (model.format("1.6", ""), False),
        "flat.sdf": ('<sdf version="1.9"><world name="w"/></sdf>', False),
    }
    (tmp_path / "model.config").write_text("\n<?xml version='1.0'?><model/>")
    (tmp_path / "package.xml").write_text("<<<<<<< HEAD")
    for name, (text, is_one) in texts.items():
        (tmp_path / name).write_text(text)
        assert is_robot(tmp_path / name) == is_one
    assert run(["check", str(tmp_path / "arm.urdf")]) == 0
    noted = capsys.readouterr().err
    assert "model.config: it is not XML" in noted and "package.xml: it is not XML" in noted
    (tmp_path / "model.config").write_text("<model><sdf version='1.6'>model.sdf</sdf></model>")
    assert run(["check", str(tmp_path / "arm.urdf")]) == 0
    assert "model.config beside it names model.sdf: not used" in capsys.readouterr().err
    assert check_file(tmp_path / "stone.sdf", [], ours=False) == []
    assert "sdf: version 1.6, and not 1.9" in check_file(tmp_path / "stone.sdf", [])


def test_a_version_that_sdformat_does_not_know_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not schema_folder():
        pytest.skip("sdformat's schema is not installed (sdformat-sdf)")
    (tmp_path / "new.sdf").write_text('<sdf version="1.99"><model name="m"/></sdf>')
    assert run(["check", str(tmp_path / "new.sdf")]) == 0
    assert "SDF 1.99 is not known to sdformat here" in capsys.readouterr().err


def test_what_gazebo_alone_does_counts_in_sdf_too(tmp_path: Path) -> None:
    """Gravity that is off, a spring, a plugin: on the lines of the links and joints in the SDF."""
    pytest.importorskip("pydrake")
    body = (
        "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
    )
    spring = "<dynamics><spring_stiffness>{}</spring_stiffness></dynamics>"
    model = (
        '<sdf version="1.6"><model name="m">\n<plugin name="p" filename="f"/>\n<link name="a">'
        + f'{body}</link>\n<link name="b">{body}<gravity>{{}}</gravity></link>\n'
        '<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz>'
        + f"{spring}</axis></joint></model></sdf>"
    )
    path = tmp_path / "arm.sdf"
    path.write_text(model.format("false", "3"))
    found = [(e.rule, e.line) for e in findings(path) if e.rule.startswith("gazebo")]
    assert found == [("gazebo-plugin", 1), ("gazebo-gravity", 4), ("gazebo-spring", 5)]
    path.write_text(model.format("true", "0"))
    assert [e.rule for e in findings(path) if e.rule.startswith("gazebo")] == ["gazebo-plugin"]
