"""The description for Gazebo, whose joints start where a scenario starts them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from roboaccord.contract.state import IDENTITY, ORIGIN
from roboaccord.description.tree import Tree
from roboaccord.gazebo.form import own_collisions, start_at
from roboaccord.gazebo.obj_files import with_normals
from roboaccord.numerics.rotations import matrix_rpy, rpy_matrix

KINDS = ("revolute", "continuous", "prismatic", "fixed")


def random_tree(rng: np.random.Generator, count: int) -> str:
    """Return the URDF of a tree of joints of every kind, right angles among their origins."""
    text = "<robot name='tree'><link name='base_link'/>"
    for i in range(count):
        parent = f"link_{rng.integers(i)}" if i and rng.random() < 0.7 else "base_link"
        axis, origin = rng.normal(size=3), rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        turn = rng.choice([0.0, 0.5 * np.pi, -0.5 * np.pi, rng.uniform(-3, 3)], size=3)
        if i % 3 == 0:  # pitch joints, which reach 90 degrees exactly
            axis, turn = np.array([0.0, -1.0, 0.0]), np.zeros(3)
        words = [" ".join(repr(float(value)) for value in row) for row in (origin, turn, axis)]
        kind = KINDS[i % 4]
        limit = "<limit lower='-2.5' upper='1.5' effort='1' velocity='1'/>"
        text += f"""<link name='link_{i}'/><joint name='joint_{i}' type='{kind}'>
            <parent link='{parent}'/><child link='link_{i}'/>
            <origin xyz='{words[0]}' rpy='{words[1]}'/><axis xyz='{words[2]}'/>
            {limit if kind in ("revolute", "prismatic") else ""}</joint>"""
    return text + "</robot>"


@pytest.mark.parametrize("seed", range(5))
def test_less_the_start_it_is_the_same_robot(seed: int) -> None:
    """The offset robot at q - q0 is the given one at q, and so are its limits."""
    rng = np.random.default_rng(seed)
    urdf = random_tree(rng, 24)
    tree = Tree.parse(urdf)
    joints = tuple(joint.name for joint in tree.moving)
    start = rng.uniform(-3.0, 3.0, len(joints))
    start[::3] = 0.5 * np.pi
    turned = Tree.parse(start_at(urdf, dict(zip(joints, start, strict=True))))
    q = rng.uniform(-3.0, 3.0, (10, len(joints)))
    given = tree.forward(joints, q, ORIGIN, IDENTITY)
    made = turned.forward(joints, q - start, ORIGIN, IDENTITY)
    for one, other in zip(given, made, strict=True):
        assert other == pytest.approx(one, abs=1e-13)
    assert np.abs(given[0] - tree.forward(joints, q - start, ORIGIN, IDENTITY)[0]).max() > 1.0
    limits = {j.name: np.array([j.lower, j.upper]) for j in tree.moving}
    for joint, at in zip(turned.moving, start, strict=True):
        assert [joint.lower, joint.upper] == pytest.approx(limits[joint.name] - at)


def test_without_a_start_the_text_stays_as_it_is() -> None:
    urdf = random_tree(np.random.default_rng(0), 4)
    assert start_at(urdf, {"joint_0": 0.0}) is urdf


@pytest.mark.parametrize("near", [0.0, 1e-15, 1e-12, 1e-9, 1e-6, -1e-8])
def test_angles_of_a_rotation_are_exact_about_a_right_angle(near: float) -> None:
    for sign in (1.0, -1.0):
        rotation = rpy_matrix(0.7, sign * (0.5 * np.pi + near), -1.9)
        assert rpy_matrix(*matrix_rpy(rotation)) == pytest.approx(rotation, abs=2e-15)


def test_a_mesh_without_normals_gets_those_of_its_faces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pyramid, one of whose faces has four corners; its own file stays as it is."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    given = tmp_path / "pyramid.obj"
    given.write_text(
        "# five corners\nv 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 1 1 3\n"
        "f 4 3 2 1\nf 1/1 2/2 5/3\nf 2 3 5\nf 3 4 5\nf 4 1 5\n"
    )
    urdf = f"<robot><visual><mesh filename='file://{given}'/></visual></robot>"
    copied = with_normals(urdf)
    path = Path(ET.fromstring(copied).find("visual/mesh").attrib["filename"][len("file://") :])  # type: ignore[union-attr]
    rows = [line.split() for line in path.read_text().splitlines()]
    points = np.array([row[1:] for row in rows if row[0] == "v"], float)
    normals = np.array([row[1:] for row in rows if row[0] == "vn"], float)
    faces = [[word.split("//") for word in row[1:]] for row in rows if row[0] == "f"]
    assert len(faces) == 6
    inside = np.array([1.0, 1.0, 1.0])
    for face in faces:
        corners = points[[int(v) - 1 for v, _ in face]]
        (at,) = {int(n) - 1 for _, n in face}
        assert np.linalg.norm(normals[at]) == pytest.approx(1.0)
        assert (corners - corners[0]) @ normals[at] == pytest.approx(0.0, abs=1e-15)
        assert normals[at] @ (corners[0] - inside) > 0.0  # outward
    assert with_normals(copied) == copied  # what has normals stays
    assert path != given


def test_collisions_are_named_after_their_links() -> None:
    urdf = """<robot name="r"><link name="arm"><collision name="tube"/><collision name="arm_end"/>
        <collision/></link></robot>"""
    named = [e.get("name") for e in ET.fromstring(own_collisions(urdf)).iter("collision")]
    assert named == ["arm_tube", "arm_end", None]
