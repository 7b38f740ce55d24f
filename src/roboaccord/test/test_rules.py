"""Rules for a URDF: planted faults are found, on their line, and a sound robot has none."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from roboaccord.cli.main import run
from roboaccord.description.rules import RULES, explain, findings
from roboaccord.description.source import parse_lines
from roboaccord.description.urdf_file import read_urdf
from roboaccord.report.sarif import sarif

BODY = '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
SOUND = f"""<robot name="arm">
  <link name="base">
    <inertial><mass value="2"/>{BODY}</inertial>
  </link>
  <link name="upper">
    <collision><origin xyz="0 0 0.2"/><geometry><box size="0.1 0.1 0.4"/></geometry></collision>
    <inertial>
      <origin xyz="0 0 0.2"/>
      <mass value="1.5"/>
      <inertia ixx="0.02" iyy="0.02" izz="0.005" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <link name="fore">
    <inertial><mass value="1"/>{BODY}</inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <origin xyz="0 0 0.1" rpy="0 0 1.57"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/>
    <dynamics damping="0.1"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/>
    <child link="fore"/>
    <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="10" velocity="1"/>
  </joint>
  <transmission name="t"><joint name="elbow"/></transmission>
  <link name="tool">
    <inertial><mass value="1"/>{BODY}</inertial>
  </link>
  <joint name="weld" type="fixed">
    <parent link="base"/>
    <child link="tool"/>
  </joint>
</robot>
"""
ENDS = '<limit lower="-2" upper="2" effort="10" velocity="1"/>'
FAULTS = [
    ('mass value="1.5"', 'mass value="0,5"', "number-invalid", 9),
    ('mass value="1.5"', 'mass value="-0.1"', "mass-negative", 9),
    ('mass value="1.5"', 'mass value="150000"', "mass-unit", 7),
    ('mass value="1.5"', 'mass value="0"', "0-kg-link-with-an-inertia", 5),
    ('izz="0.005" ixy="0"', 'izz="0.005" ixy=" 0 "', "number-blanks", 10),
    ('ixx="0.02" iyy="0.02" izz="0.005"', 'ixx="20" iyy="20" izz="5"', "inertia-unit", 7),
    ('ixx="0.02" iyy="0.02"', 'ixx="0.02" iyy="0.2"', "non-physical-inertia", 5),
    ('<origin xyz="0 0 0.2"/>\n', '<origin xyz="0 0 200"/>\n', "centre-of-mass-unit", 7),
    ('<origin xyz="0 0 0.1"', '<origin xyz="0 0 100"', "length-unit", 19),
    ('<origin xyz="0 0 0.1"', '<origin xyz="0 0.1"', "number-count", 19),
    ('rpy="0 0 1.57"', 'rpy="0 0 90"', "angle-unit", 19),
    ('axis xyz="0 0 1"', 'axis xyz="0 0 0"', "axis-zero", 20),
    ('axis xyz="0 0 1"', 'axis xyz="0 0 2"', "axis-length", 20),
    ('lower="-1" upper="1"', 'lower="1" upper="-1"', "limits-swapped", 21),
    ('lower="-1" upper="1"', 'lower="-90" upper="90"', "limit-in-degrees", 16),
    ('lower="-1" upper="1" effort="10"', 'lower="-1" upper="1" effort="0"', "effort-zero", 21),
    ('"1" effort="10" velocity="1"', '"1" effort="10" velocity="0"', "velocity-zero", 21),
    ('damping="0.1"', 'damping="-0.1"', "damping-negative", 16),
    (ENDS, ENDS + '<mimic joint="wrist"/>', "mimic-unknown", 28),
    (ENDS, ENDS + '<mimic joint="elbow"/>', "mimic-cycle", 24),
    ('name="shoulder" type="revolute"', 'name="shoulder" type="hinge"', "joint-type", 16),
    ('<parent link="base"/>', '<parent link="bass"/>', "link-unknown", 16),
    ('<child link="fore"/>', '<child link="upper"/>', "link-loop", 24),
    ('<parent link="base"/>', '<parent link="fore"/>', "link-loop", 5),
    ('joint name="elbow"/>', 'joint name="ellbow"/>', "reference-unknown", 30),
    ("<transmission", '<gazebo reference="hand"/><transmission', "reference-unknown", 30),
    ('link name="base"', 'link name="the base"', "name-characters", 2),
    ('<box size="0.1 0.1 0.4"/>', '<mesh filename="no.stl"/>', "mesh-missing", 6),
    ('<box size="0.1 0.1 0.4"/>', '<mesh filename="no.stl" scale="1 -1 1"/>', "mesh-mirrored", 6),
    ('joint name="elbow" type', 'joint name="shoulder" type', "duplicate-joint-name", 24),
]  # fmt: skip


def found_in(tmp_path, text):
    path = tmp_path / "arm.urdf"
    path.write_text(text, encoding="utf-8")
    return findings(read_urdf(path))


def test_a_sound_robot_has_no_findings(tmp_path):
    assert found_in(tmp_path, SOUND) == []


@pytest.mark.parametrize(("old", "new", "rule", "line"), FAULTS)
def test_a_planted_fault_is_found_on_its_line(tmp_path, old, new, rule, line):
    assert SOUND.count(old) >= 1
    found = found_in(tmp_path, SOUND.replace(old, new, 1))
    assert (rule, line) in [(each.rule, each.line) for each in found]
    assert all(each.severity == RULES[each.rule][0] and each.cure for each in found)


def test_a_robot_without_masses_says_so_in_one_line(tmp_path):
    top = ET.fromstring(SOUND)
    for link in top.findall("link"):
        for inertial in link.findall("inertial"):
            link.remove(inertial)
    found = found_in(tmp_path, ET.tostring(top, encoding="unicode"))
    assert "no-masses" in [each.rule for each in found]


def planted(example):
    """Return the sound robot with an example in the place of what it has of that kind."""
    top = ET.fromstring(SOUND)
    written = list(top)
    link, joint = top.find("link[@name='upper']"), top.find("joint[@name='shoulder']")
    for each in ET.fromstring(f"<all>{example}</all>"):
        if each.tag == "robot":
            top.attrib.update(each.attrib)
            continue
        name, homes = each.get("name"), (joint, link, link.find("inertial"))
        if each.tag in ("link", "joint"):
            same, home = [e for e in written if (e.tag, e.get("name")) == (each.tag, name)], top
        elif each.tag in ("gazebo", "transmission", "material"):
            same, home = [], top
        else:
            found = [(h, e) for h in homes for e in h.findall(each.tag)]
            home, same = (found[0][0], [found[0][1]]) if found else (joint, [])
            if each.tag in ("visual", "collision"):
                home = link
        if same and same[0] in home:
            home.remove(same[0])
        home.append(each)
    return ET.tostring(top, encoding="unicode")


@pytest.mark.parametrize("rule", RULES)
def test_the_example_of_a_rule_is_found_and_its_cure_is_not(tmp_path, rule):
    """Both sides of it, put into the sound robot."""
    bad, good = ({e.rule for e in found_in(tmp_path, planted(side))}
                 for side in (RULES[rule].bad, RULES[rule].good))  # fmt: skip
    assert rule in bad
    assert rule not in good


def test_two_numbers_that_are_wrong_hide_no_other_finding(tmp_path):
    """A number that is none ends no list."""
    text = SOUND.replace('mass value="1.5"', 'mass value="x"').replace("0 0 1.57", "0 0 90")
    assert {"number-invalid", "angle-unit"} <= {each.rule for each in found_in(tmp_path, text)}


def test_links_without_mass_that_carry_each_other_are_a_loop(tmp_path):
    """What looks for masses follows joints, which then never end."""
    joint = '<joint name="{0}" type="fixed"><parent link="{0}"/><child link="{1}"/></joint>'
    pair = joint.format("a", "b") + joint.format("b", "a")
    text = f'<robot name="r"><link name="a"/><link name="b"/>{pair}</robot>'
    assert "link-loop" in [each.rule for each in found_in(tmp_path, text)]


def test_lines_are_those_of_the_text():
    """Independently: each element's line holds its tag."""
    _, lines = parse_lines(SOUND)
    rows = SOUND.splitlines()
    assert all(f"<{element.tag}" in rows[line - 1] for element, line in lines.items())


def test_sarif_names_rule_level_and_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # annotations want the path from there
    found = found_in(tmp_path, SOUND.replace('axis xyz="0 0 1"', 'axis xyz="0 0 0"'))
    log = json.loads(sarif(found))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    (result,) = run["results"]
    assert (
        run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "axis-zero"
    )
    assert result["level"] == "error"
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "arm.urdf"}, "region": {"startLine": 20}}


def test_the_page_has_every_rule():
    """In the order of the table, with severity and words."""
    page = Path(__file__).parents[3] / "docs" / "rules.md"
    rows = [row for row in page.read_text(encoding="utf-8").splitlines() if row.startswith("| [`")]
    section = "../src/roboaccord/roboaccord/description/rules.md#"
    assert rows == [
        f"| [`{name}`]({section}{name}) | {rule.severity} | {rule.what} |"
        for name, rule in RULES.items()
    ]


def test_a_rule_is_told_in_a_dozen_lines(capsys):
    for rule, (severity, what, *_) in RULES.items():
        lines = explain(rule).splitlines()
        assert lines[:3] == [rule, "", f"{severity}: {what}."]
        assert len(lines) <= 14
    assert run(["check", "--explain", "axis-zero"]) == 0
    assert capsys.readouterr().out.startswith("axis-zero\n\nerror: an axis without a direction.")
    assert run(["check", "--explain", "axis-zer"]) == 2
    assert "did you mean axis-zero?" in capsys.readouterr().err


def test_what_every_engine_reads_alike_and_is_wrong_fails_the_parity(tmp_path, capsys):
    """Limits that are swapped change no acceleration; a rule finds them."""
    pytest.importorskip("mujoco")
    path = tmp_path / "arm.urdf"
    path.write_text(SOUND.replace('lower="-1" upper="1"', 'lower="1" upper="-1"'), encoding="utf-8")
    words = f"{path} --sarif {tmp_path}/arm.sarif --json"
    assert run(f"check {words}".split()) == 1
    alone = json.loads(capsys.readouterr().out)["findings"]
    assert [(each["rule"], each["line"]) for each in alone] == [("limits-swapped", 21)]
    assert run(f"parity {words} --engines mujoco".split()) == 1
    (robot,) = json.loads(capsys.readouterr().out)["robots"]
    assert robot["findings"] == alone
    assert json.loads((tmp_path / "arm.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
