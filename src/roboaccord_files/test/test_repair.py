"""Repairs of a URDF: certain ones alone, nothing else in the text touched, no number invented."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from roboaccord.cli.main import run
from roboaccord.description.urdf_file import UrdfFile, read_urdf
from roboaccord_files.parity.bench import Bench
from roboaccord_files.parity.repaired import Repaired, repair, robot_properties, with_text
from roboaccord_files.repair.edits import applied, changes
from roboaccord_files.repair.find import find_traps
from test_parity import DATA, TEN, examine, installed, need, status

ARM = """<?xml version='1.0' encoding="utf-8"?>
<!-- an arm; <link name="no link"> -->
<robot name = 'arm'
       xmlns:xacro="http://wiki.ros.org/xacro">\r
  <link name="base"><inertial><mass value="4.0"/>
    <inertia ixx="0.030" iyy='0.050' izz="0.060" ixy="0" ixz="0.0" iyz="0"/></inertial></link>
  <link name="upper_arm">
    <inertial>
      <origin xyz="0.0100 0.02  0.1"/>
      <mass value="2."/>   <!-- kg -->
      <inertia ixx="0.0100"  iyy="2e-2" izz="0.025" ixy="0.001" ixz="0" iyz="0" />
    </inertial>
  </link>
  <link name="camera" />
  <link name='hand'><inertial><mass value="1"/><inertia iyz="0" ixz="0" ixy="0"
    izz="0.004" iyy="0.003" ixx="0.002"/></inertial></link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper_arm"/><axis xyz="0 0  1.0"/>
    <limit lower="-1.50" upper="1.2" effort="10" velocity="1"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper_arm"/><child link="hand"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 0.3"/><limit lower="-1" upper="1" effort="10" velocity="1"/>
  </joint>
  <joint name="mount" type="fixed"><parent link="hand"/><child link="camera"/></joint>
</robot>
"""
INERTIA = 'ixx="0.0100"  iyy="2e-2" izz="0.025" ixy="0.001"'
CAUSES = {
    "duplicate joint name", "joint and link share a name", "non-physical inertia", "axis length",
    "rounded inertia", "zero principal moment", "0 kg link with an inertia", "mass negative",
    "missing inertial", "0 kg link in the middle", "massless moving link", "number blanks",
    "0 kg link fixed to others", "limits missing", "limits of a continuous joint", "limits swapped",
    "limit in degrees", "duplicate link name", "mimic",
}  # fmt: skip


def file_of(text: str) -> UrdfFile:
    """Return a file that is nowhere but here."""
    return UrdfFile(Path("arm.urdf"), "arm", text, {})


def repaired(old: str = "", new: str = "") -> tuple[str, Repaired]:
    """Return the arm with something changed, and its repair, whatever readers make of it."""
    assert old in ARM
    text = ARM.replace(old, new, 1)
    return text, repair(file_of(text), CAUSES - {"missing inertial"})


CERTAIN = [
    ('izz="0.025"', 'izz=" 0.025 "', 'izz="0.025"'),
    ('xyz="0 0  1.0"', 'xyz="0 -3 4"', 'xyz="0 -0.6 0.8"'),
    ('ixx="0.0100"', 'ixx="-0.0100"', 'ixx="0.01"'),
    ('lower="-1" upper="1"', 'upper="-1" lower="1"', 'upper="1" lower="-1"'),
    ('<joint name="elbow" type="revolute">', '<joint name="elbow" type="continuous">', None),
    ('joint name="elbow"', 'joint name="hand"', 'joint name="hand_joint"'),
    ('joint name="elbow"', 'joint name="shoulder"', 'joint name="shoulder_2"'),
]


@pytest.mark.parametrize(("old", "new", "written"), CERTAIN)
def test_a_certain_repair_changes_nothing_else(old: str, new: str, written: str | None) -> None:
    """The text is that of the file, but for the attributes at fault."""
    text, found = repaired(old, new)
    kept = text.replace('lower="-1" upper="1" ', "")
    want = ARM.replace(old, written, 1) if written else kept
    assert found.data.decode() == want and not found.needs


UNKNOWN = [
    ('mass value="2."', 'mass value="-0.1"', "mass of upper_arm"),
    ('<mass value="2."/>', "", "mass of upper_arm"),
    (re.search(r"<inertial>\n.*?</inertial>", ARM, re.S)[0], "", "mass and inertia of upper_arm"),  # type: ignore[index]
    ('ixx="0.0100"', 'ixx="0.1"', "inertia of upper_arm"),
    ('ixy="0.001"', 'ixy="0.1"', "inertia of upper_arm"),
    (INERTIA, 'ixx="-0.01" iyy="-0.02" izz="-0.025" ixy="0"', "inertia of upper_arm"),
    (INERTIA, 'ixx="-0.01" iyy="0.02" izz="0.035" ixy="0"', "inertia of upper_arm"),
    ('lower="-1.50" upper="1.2"', 'lower="1.2" upper="-1.5"', "lower and upper limit of shoulder"),
    ('lower="-1.50" upper="1.2"', "", "lower and upper limit of shoulder"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "number"), UNKNOWN)
def test_a_number_that_nobody_knows_is_asked_for(old: str, new: str, number: str) -> None:
    """The text stays as it is, byte for byte."""
    text, found = repaired(old, new)
    assert found.needs == (f"needs your number: {number}",)
    assert found.data.decode() == text and found.diff == ""


def test_a_rounded_inertia_is_raised_by_its_rounding() -> None:
    """Short by 5e-10 of the largest moment: one entry changes, by less than 2e-9 of that."""
    values = "0.01", "0.02", "0.030000000015"
    new = 'ixx="{}" iyy="{}" izz="{}" ixy="0"'.format(*values)
    _, found = repaired(INERTIA, new)
    inertia = ET.fromstring(found.data).find("link[@name='upper_arm']/inertial/inertia")
    assert inertia is not None
    now = [inertia.attrib[key] for key in ("ixx", "iyy", "izz")]
    xx, yy, zz = map(float, now)
    assert now[1:] == [*values[1:]]
    assert 0.0 < zz - yy - 0.01 < xx - 0.01 < 2e-9 * zz
    assert "upper_arm: rounded inertia" in found.diff and not found.needs


@given(
    moments=st.tuples(*[st.floats(1e-4, 1.0)] * 3),
    product=st.floats(-1e-2, 1e-2),
    scale=st.sampled_from([-1.0, 1.0, 10.0]),
    mass=st.sampled_from(["1", "0", "-2", " 3 "]),
    axis=st.tuples(*[st.integers(-3, 3)] * 3).filter(any),
)
@settings(max_examples=100, deadline=None)
def test_numbers_that_the_diff_does_not_name_stay(
    moments: tuple[float, ...], product: float, scale: float, mass: str, axis: tuple[int, ...]
) -> None:
    """Words of the text outside of the diff's lines are unchanged, and repaired twice is once."""
    xx, yy, zz = moments
    text = ARM.replace(INERTIA, f'ixx="{scale * xx!r}" iyy="{yy!r}" izz="{zz!r}" ixy="{product!r}"')
    text = text.replace('"2."', f'"{mass}"').replace("0 0  1.0", " ".join(map(str, axis)))
    found = repair(file_of(text), CAUSES)
    rows = [row for row in found.diff.splitlines() if not row.startswith(("---", "+++", "@@"))]
    gone, come = ([row[1:] for row in rows if row.startswith(sign)] for sign in "-+")
    before, after = Counter(text.split("\n")), Counter(found.data.decode().split("\n"))
    assert Counter(gone) == before - after
    assert Counter(come) == after - before
    tags = [t for t in re.findall(r'\w+="[^"]*"', "\n".join(gone)) if t not in "\n".join(come)]
    assert {t.partition("=")[0] for t in tags} <= {"ixx", "iyy", "izz", "value", "xyz"}
    masses = [re.findall(r'mass value="\s*(.*?)\s*"', t) for t in (text, found.data.decode())]
    assert [m for m in masses[1] if m != "0"] == [m for m in masses[0] if m != "0"]
    again = repair(file_of(found.data.decode()), CAUSES)
    assert again.data == found.data and again.needs == found.needs
    assert all(not trap.certain for trap in find_traps(found.data.decode()))


@given(st.sampled_from([path.name for path in sorted(DATA.glob("*.urdf"))]))
@settings(max_examples=10, deadline=None)
def test_no_repair_leaves_the_text(name: str) -> None:
    """Byte for byte; so does an edit that changes nothing."""
    data = (DATA / name).read_bytes()
    assert repair(read_urdf(DATA / name), ()).data == data
    assert applied(data, changes(data, [("none", lambda top: None)])) == data


@pytest.mark.parametrize("head", [b"\xef\xbb\xbf", b'<?xml version="1.0" encoding="latin-1"?>\n'])
def test_encodings_and_namespaces_stay(tmp_path: Path, head: bytes) -> None:
    """A byte-order mark, Latin-1 and a default namespace are in the file that is written."""
    body = ARM.partition("?>\n")[2].replace("an arm;", "\u00e9").replace("0 0  1.0", "0 0 2")
    if b"latin" not in head:
        body = body.replace("<robot ", '<robot xmlns="http://ros.org" ')
    data = head + body.encode("latin-1" if b"latin" in head else "utf-8")
    (tmp_path / "arm.urdf").write_bytes(data)
    found = repair(read_urdf(tmp_path / "arm.urdf"), {"axis length"})
    assert found.data == data.replace(b"0 0 2", b"0 0 1")


def test_of_a_xacro_file_the_expanded_text_is_repaired(tmp_path: Path) -> None:
    """What its macros made is written, and not what stands in the file."""
    pytest.importorskip("xacro")
    base = '<link name="base">'
    text = ARM.replace(base, f'<xacro:property name="l" value="2"/>{base}')
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(text.replace("0 0  1.0", "0 0 ${l}"), encoding="utf-8")
    file = read_urdf(path)
    found = repair(file, {"axis length"})
    assert found.data.decode() == file.text.replace("0 0 2", "0 0 1") != file.text


def test_elements_in_entities_are_written_out(tmp_path: Path) -> None:
    """Their tags are not where they stand, so that the text is made anew."""
    text = ARM.partition("?>\n")[2].replace('xyz="0 1 0"/>', 'xyz="0 2 0"/>&more;')
    limit = '<dynamics damping="1"/>'
    path = tmp_path / "arm.urdf"
    path.write_text(f"<!DOCTYPE robot [<!ENTITY more '{limit}'>]>\n{text}", encoding="utf-8")
    found = repair(read_urdf(path), {"axis length"})
    top = ET.fromstring(found.data)
    assert [axis.get("xyz") for axis in top.iter("axis")] == ["0 0  1.0", "0 1 0"]
    assert top.find("joint/dynamics") is not None


@pytest.mark.skipif(not shutil.which("patch"), reason="patch is not installed")
def test_the_diff_is_one_that_patch_takes(tmp_path: Path) -> None:
    """From the file as shipped to the file written, without a line break at its end too."""
    text = (
        ARM.rstrip("\n")
        .replace("0 0  1.0", "0 0 2")
        .replace("</joint>\n</robot>", "</joint></robot>")
    )
    text = text.replace('link="camera"/></joint>', 'link="camera"/><axis xyz="2 0 0"/></joint>')
    text = text.replace('name="mount" type="fixed"', 'name="mount" type="prismatic"')
    found = repair(file_of(text), CAUSES)
    (tmp_path / "arm.urdf").write_bytes(text.encode())
    words = ["patch", "--binary", "-p1", "-d", str(tmp_path)]
    subprocess.run(words, input=found.diff.encode(), check=True, capture_output=True)
    assert (tmp_path / "arm.urdf").read_bytes() == found.data != text.encode()
    assert "joint shoulder: axis length" in found.diff


def test_a_body_is_that_of_two_points() -> None:
    """By hand: 1 kg and 3 kg, 2 m apart: m1 m2 / (m1 + m2) d^2 about two axes, 0 about a third."""
    point = '<inertial><mass value="{}"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/>'
    links = "".join(
        f'<link name="{n}">{point.format(m)}</inertial></link>' for n, m in (("a", 1), ("b", 3))
    )
    joint = '<joint name="j" type="fixed"><origin xyz="0 0 2" rpy="1 0 0"/><parent link="a"/>'
    text = f'<robot name="r">{links}{joint}<child link="b"/></joint></robot>'
    body = robot_properties(Bench(file_of(text)).tree)
    assert (body.mass, body.reach) == (4.0, 2.0)
    assert body.moments == pytest.approx((0.0, 3.0, 3.0), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", TEN)
def test_repair_keeps_the_robot(name: str) -> None:
    """What has all its numbers is read alike; mass, inertia and reach are those of the file."""
    file = read_urdf(DATA / f"{name}.urdf")
    found = repair(file, {*TEN[name].values(), "limits missing"})
    now = with_text(file, found.data)
    before, after = (robot_properties(Bench(each).tree) for each in (file, now))
    assert (before.mass, before.reach) == (after.mass, after.reach)
    assert np.allclose(before.moments, after.moments, rtol=1e-9, atol=0.0)
    assert now.text.count("<mimic") == file.text.count("<mimic")
    if not found.needs:
        assert {status(examine(Bench(now), engine)) for engine in installed()} == {"same"}


CHAINS = {
    "A:m B:-:A": "", "A:m B:-:A C:-:B": "C", "A:m B:-:A C:-:B D:-:C": "D", "A:m B:-:A C:-:A": "",
    "R:- A:m:R": "", "R:- A:-:R B:m:R": "A", "R:- C:-:R B:m:R": "", "A:m B:-:A C:-:B D:m:B": "C",
    "A:m B:-:A C:-:B D:m:C": "", "A:m B:-:A C:m:B:y": "B", "R:- M:m:R:y": "R",
    "A:m B:-:A C:-:B M:m:C:y": "C", "A:m B:-:A D:m:B M:m:B:y": "",
}  # fmt: skip
"""Links by name, `m` with a mass, and what they are fixed to, or turn on about y."""


@pytest.mark.parametrize("spec", CHAINS)
def test_zeros_are_written_where_all_engines_read_them(spec: str) -> None:
    """With what is asked for, all engines read alike what is written of links without inertial."""
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    body = f'<inertial><mass value="1"/>{inertia}</inertial>'
    text = ""
    for word in spec.split():
        name, kind, *parent = word.split(":")
        text += f'<link name="{name}">{body if kind == "m" else ""}</link>\n'
        if parent:
            kind = "revolute" if parent[1:] else "fixed"
            text += f'<joint name="j{name}" type="{kind}"><origin xyz="1 0 0"/><axis xyz="0 1 0"/>'
            text += f'<parent link="{parent[0]}"/><child link="{name}"/>'
            text += '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>\n'
    found = repair(file_of(f'<robot name="r">\n{text}</robot>'), CAUSES)
    lacking = CHAINS[spec]
    want = (f"needs your number: mass and inertia of {lacking}",) if lacking else ()
    assert found.needs == want
    given = found.data.decode().replace(
        f'<link name="{lacking}">', f'<link name="{lacking}">{body}'
    )
    for engine in installed():
        assert status(examine(Bench(file_of(given)), engine)) == "same", engine


@pytest.mark.slow
def test_the_command_asks_for_a_mass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit status 1, the number in all three places, and the robot before and after."""
    need("mujoco")
    path, out, page = (tmp_path / name for name in ("arm.urdf", "out.urdf", "p.html"))
    text = ARM.replace('value="2."', 'value="-0.1"').replace("0 0  1.0", "0 0 2")
    path.write_bytes(text.encode())
    words = f"parity {path} --engines mujoco --repair {out} --page {page}"
    assert run([*words.split(), "--json"]) == 1
    (robot,) = json.loads(capsys.readouterr().out)["robots"]
    line = "needs your number: mass of upper_arm"
    assert robot["repair"]["needs"] == [line]
    assert set(robot["repair"]) == {"diff", "needs", "before", "after"}
    assert robot["repair"]["before"] == robot["repair"]["after"]
    assert robot["repair"]["before"]["mass"] == pytest.approx(4.9)
    assert robot["repair"]["before"]["reach"] == pytest.approx(0.3)
    assert out.read_bytes() == text.replace("0 0 2", "0 0 1").encode()
    assert run(words.split()) == 1
    for message in (capsys.readouterr().out, page.read_text("utf-8")):
        assert line in message
        assert "reach 0.3 m" in message and "joint shoulder: axis length" in message
