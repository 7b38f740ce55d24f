"""Rules for a URDF: planted faults are found, on their line, and a sound robot has none."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml
from roboaccord.cli.main import run
from roboaccord.description.source import parse_lines
from roboaccord.description.urdf_file import read_urdf
from roboaccord_files.rules.find import findings
from roboaccord_files.rules.sarif import sarif
from roboaccord_files.rules.table import RULES, explain

PLANTED = Path(__file__).with_name("planted")
SOUND = (PLANTED / "arm.urdf").read_text(encoding="utf-8")
FAULTS = [
    (robot, *fault)
    for robot, faults in yaml.safe_load((PLANTED / "faults.yaml").read_text("utf-8")).items()
    for fault in faults
]


OF_THE_ROBOT = ("gazebo", "transmission", "material", "loop_joint", "mujoco")


def found_in(tmp_path, text):
    path = tmp_path / "arm.urdf"
    path.write_text(text, encoding="utf-8")
    return findings(read_urdf(path))


def test_sound_robots_have_nothing_but_notes():
    """Of those that mimic, float, or let Gazebo keep a joint."""
    found = {path.stem: findings(read_urdf(path)) for path in PLANTED.glob("*.urdf")}
    assert {name: [each.rule for each in rows] for name, rows in found.items()} == {
        "arm": [], "crane": ["gazebo-lumping"], "gripper": ["mimic"],
        "leg": ["floating-joint", "limits-without-0"], "rover": [],
    }  # fmt: skip


# Rules of no text of one robot, or of whole robots (test_plausible.py).
OF_FILES = (
    "file-unreadable", "description-differs", "density-alike", "mirrored-mass", "products-sign",
    "total-mass",
)  # fmt: skip


@pytest.mark.parametrize(("robot", "old", "new", "rule", "line", "cure"), FAULTS)
def test_a_planted_fault_is_found_on_its_line(tmp_path, robot, old, new, rule, line, cure):
    text = (PLANTED / f"{robot}.urdf").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "boom.obj").write_text((PLANTED / "boom.obj").read_text())
    found = found_in(tmp_path, text.replace(old, new, 1))
    (at,) = [each for each in found if (each.rule, each.line) == (rule, line)]
    assert at.severity == RULES[rule].severity
    assert cure in at.cure


def test_every_rule_has_a_planted_fault():
    """But those of whole robots, of no robots, and of two, which have own tests."""
    assert {*RULES} - {fault[3] for fault in FAULTS} == {
        "mimic", "gazebo-lumping", "no-masses", "robot-of-0-kg", *OF_FILES,
    }  # fmt: skip


def test_a_robot_without_masses_says_so_in_one_line(tmp_path):
    top = ET.fromstring(SOUND)
    for link in top.findall("link"):
        for inertial in link.findall("inertial"):
            link.remove(inertial)
    found = found_in(tmp_path, ET.tostring(top, encoding="unicode"))
    assert "no-masses" in [each.rule for each in found]


def planted(example):
    """Return the sound robot with an example in the place of what it has of that kind."""
    ET.register_namespace("drake", "http://drake.mit.edu")
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
        elif each.tag in OF_THE_ROBOT or each.tag.startswith("{"):
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


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in OF_FILES])
def test_the_example_of_a_rule_is_found_and_its_cure_is_not(tmp_path, rule):
    """Both sides of it, put into the sound robot."""
    bad, good = ({e.rule for e in found_in(tmp_path, planted(side))}
                 for side in (RULES[rule].wrong, RULES[rule].right))  # fmt: skip
    assert rule in bad and rule not in good


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
    (rule,) = run["tool"]["driver"]["rules"]
    assert "refuse the file" in rule["fullDescription"]["text"]
    assert RULES["axis-zero"].wrong in rule["help"]["text"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "axis-zero"
    assert result["level"] == "error"
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "arm.urdf"}, "region": {"startLine": 20}}


def test_the_page_has_every_rule():
    """In the order of the table."""
    table = Path(__file__).parents[3] / "docs" / "rules.md"
    subjects = table.read_text(encoding="utf-8").partition("\n## ")[0].splitlines()
    rows = [row for row in subjects if row.startswith("| ")]
    assert re.findall(r"`([0-9a-z-]+)`", "".join(rows)) == list(RULES)


def test_a_rule_is_told_in_a_dozen_lines(capsys):
    for rule, (severity, what) in ((n, (r.severity, r.what)) for n, r in RULES.items()):
        lines = explain(rule).splitlines()
        assert lines[:3] == [rule, "", f"{severity}: {what}."] and len(lines) <= 14
    assert run(["check", "--explain", "axis-zero"]) == 0
    assert capsys.readouterr().out.startswith("axis-zero\n\nerror: an axis without a direction.")
    assert run(["check", "--explain", "axis-zer"]) == 2
    assert "did you mean axis-zero?" in capsys.readouterr().err
    assert run(["check", "--explain", "all"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{rule}: {RULES[rule].severity}: " in listed for rule in RULES)


def test_a_finding_states_the_inequality_or_the_root_that_is_wrong(tmp_path):
    text = re.sub('ixx="[^"]*"', 'ixx="9"', SOUND, count=1)
    text = re.sub('iyy="[^"]*"', 'iyy="0.5"', text, count=1)
    text = re.sub('izz="[^"]*"', 'izz="0.25"', text, count=1)
    (found,) = [each for each in found_in(tmp_path, text) if each.severity == "error"]
    assert found.message.endswith(": 9 kg m^2 is more than 0.25 + 0.5")
    root = re.sub(r"(?s)<inertial>.*?</inertial>", "", SOUND, count=1)
    root = re.sub(r'(?s)  <link name="tool">.*</joint>', "", root)
    cures = [each.cure for each in found_in(tmp_path, root) if each.rule.startswith("0-kg")]
    assert ["name it world" in cure for cure in cures] == [True]


def test_the_cause_is_reported_and_not_its_consequence(tmp_path, capsys):
    """A child that is no link leaves its link a second root."""
    path = tmp_path / "arm.urdf"
    path.write_text(re.sub('<child link="[^"]*"', '<child link="nowhere"', SOUND, count=1))
    assert run(["run", str(path)]) == 2
    assert "its child nowhere is not a link" in capsys.readouterr().err


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


def test_what_is_said_of_several_links_is_one_line(tmp_path, capsys):
    """For people; `--json` has each."""
    box = '<visual><geometry><box size="0.1 0.1 0.3"/></geometry></visual>'
    text = SOUND
    for name in ("upper", "fore"):
        text = text.replace(f'<link name="{name}">', f'<link name="{name}">{box}')
    path = tmp_path / "arm.urdf"
    path.write_text(re.sub(r"<collision>.*</collision>", "", text))
    assert run(["check", str(path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count("touches nothing") == 1
    assert "link upper is drawn, and touches nothing; likewise link fore [no-coll" in shown
    assert [each.rule for each in findings(path)].count("no-collision") == 2


def test_a_rotor_that_is_missing_is_named_by_what_the_effort_would_do(tmp_path):
    """A servo with its gears in the effort alone: 10 N m on .012 kg at .05 m and 1e-6 kg m^2."""
    joint = (
        '<joint name="jaw" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="10" velocity="9"/></joint>'
    )
    body = (
        '<inertial><origin xyz="{} 0 .1"/><mass value=".012"/>'
        '<inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    drive = (
        '<transmission name="t"><joint name="jaw"/><actuator name="m">{}</actuator></transmission>'
    )
    text = f'<robot name="r"><link name="a"/><link name="b">{body}</link>{joint}{drive}</robot>'
    rotor = '<rotor_inertia value="1e-4"/>'
    for centre, inside, rates in ((0.05, "", ["3e+05"]), (0.1, "", []), (0.05, rotor, [])):
        found = found_in(tmp_path, text.format(centre, inside))
        named = [each.message for each in found if each.rule == "reduction-inertia"]
        assert [message.split()[9] for message in named] == rates
