"""Hulls of any robot, `look --hulls`: by theory, by trimesh, and what makes none."""

import json

import numpy as np
import pytest
import trimesh
import yaml
from packbot.contact.collisions import read_hull
from packbot.contact.solids import Hull, box_corners, write_obj
from roboaccord.numerics.rotations import rpy_matrix
from roboaccord_studies.packbot.hulls import make_bodies, read_shapes

URDF = """
<robot name="any">
  <link name="trunk">
    <collision name="plank">
      <origin xyz="1 2 3" rpy="0.3 -0.4 0.5"/><geometry><box size="0.4 0.2 0.1"/></geometry>
    </collision>
    <collision><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision>
    <collision><geometry><sphere radius="0.2"/></geometry></collision>
  </link>
  <link name="hand">
    <collision name="pair">
      <geometry><mesh filename="two.stl" scale="2 2 -2"/></geometry>
    </collision>
    <collision name="ring">
      <geometry><mesh filename="package://any/ring.ply"/></geometry>
    </collision>
  </link>
  <link name="ghost"/>
</robot>
"""


@pytest.fixture
def source(tmp_path):
    """A URDF with every kind of shape, and its meshes: two balls in one file, and a ring."""
    balls = [trimesh.creation.icosphere(2, r).apply_translation((x, 0, 0))
             for r, x in ((0.1, 0.0), (0.2, 1.0))]  # fmt: skip
    trimesh.util.concatenate(balls).export(tmp_path / "two.stl")
    trimesh.creation.torus(1.0, 0.1, 48, 16).export(tmp_path / "ring.ply")
    path = tmp_path / "any.urdf"
    path.write_text(URDF)
    return path


def test_hulls_of_any_description(figures, source, tmp_path):
    """Each kind of shape by theory; polyhedra inside of round ones are smaller by their fit."""
    words = ["look", "--hulls", str(source), "--out", str(tmp_path / "made"), "--density", "500"]
    links = figures([*words, "--mass", "hand=7"])["links"]
    assert list(links) == ["trunk", "hand"]
    trunk, hand = links["trunk"], links["hand"]
    plank, cylinder, ball = trunk["hulls"]
    assert plank["volume"] == pytest.approx(0.4 * 0.2 * 0.1) and plank["fit"] == pytest.approx(1)
    assert plank["centre"] == pytest.approx([1, 2, 3])
    for hull, volume in ((cylinder, np.pi * 0.1**2 * 0.5), (ball, 4 / 3 * np.pi * 0.2**3)):
        assert hull["volume"] * hull["fit"] == pytest.approx(volume)
        assert 1.0 < hull["fit"] < 1.05
        assert hull["centre"] == pytest.approx([0, 0, 0], abs=2e-4)
    assert trunk["mass"] == pytest.approx(500 * trunk["volume"])
    corners = box_corners(np.array([0.4, 0.2, 0.1])) @ rpy_matrix(0.3, -0.4, 0.5).T + [1, 2, 3]
    assert trunk["box"]["upper"] == pytest.approx(corners.max(axis=0))
    assert trunk["box"]["lower"] == pytest.approx([-0.2, -0.2, -0.25], abs=5e-3)
    assert hand["mass"] == 7 and len(hand["hulls"]) == 3  # the two balls are not connected
    assert hand["hulls"][1]["centre"] == pytest.approx([2, 0, 0], abs=1e-6)
    r = 0.1  # of the ring, 1 m about; its hull is a disc and the outer half of it
    filled = 2 * np.pi**2 * r**2 / (np.pi * 2 * r + np.pi**2 * r**2 + 4 / 3 * np.pi * r**3)
    assert [hull["fit"] for hull in hand["hulls"][:2]] == pytest.approx([1, 1])
    assert hand["hulls"][2]["fit"] == pytest.approx(filled, rel=0.03)
    kept = yaml.safe_load((tmp_path / "made" / "hulls.yaml").read_text())
    assert kept == links
    files = [hull["file"] for link in links.values() for hull in link["hulls"]]
    assert len({*files}) == len(files) == 6
    for link in links.values():
        for hull in link["hulls"]:
            assert read_hull(tmp_path / "made" / hull["file"]).volume == hull["volume"]


def test_inertia_of_a_link_is_that_of_its_parts(source):
    """By trimesh's parallel axes, hull by hull."""
    shapes = [shape for shape in read_shapes(source) if shape.link == "trunk"]
    (body,) = make_bodies(shapes, density=500.0, masses={})
    parts = [trimesh.Trimesh(hull.vertices, hull.faces, process=False) for hull in body.hulls]
    about = sum(500.0 * part.moment_inertia_frame(trimesh.transformations.translation_matrix(
        body.centre)) for part in parts)  # fmt: skip
    assert np.allclose(body.inertia, about, rtol=1e-9, atol=1e-9 * np.trace(about))
    weight = sum(part.volume for part in parts)
    assert body.centre == pytest.approx(sum(p.volume * p.center_mass for p in parts) / weight)


def test_a_mesh_that_is_far_from_convex_is_told(accord_here, capsys, source, tmp_path):
    out = ["--out", str(tmp_path / "made"), "--json"]
    assert accord_here(["packbot", "look", "--hulls", str(source), *out]) == 0
    message = capsys.readouterr()
    (line,) = message.err.splitlines()
    assert line.startswith("accord: warning: ring of hand is far from convex: it fills ")
    assert len(json.loads(message.out)["links"]["hand"]["hulls"]) == 3
    assert accord_here(["packbot", "look", "--hulls", str(source), "--whole", *out[:2]]) == 0
    message = capsys.readouterr()
    assert "pair of hand is far from convex" in message.err
    assert "trunk" in message.out and "an OBJ of each hull" in " ".join(message.out.split())


def test_a_folder_of_meshes(accord_here, capsys, source):
    """Each is a link; what a mesh with a hole fills of its hull is not known."""
    box = Hull.around(box_corners(np.array([1.0, 2.0, 3.0])))
    write_obj(Hull(box.vertices, box.faces[:-1]), source.parent / "open.obj", "a face is missing")
    folder = str(source.parent)
    words = ["packbot", "look", "--hulls", folder, "--out", f"{folder}/made", "--json"]
    assert accord_here(words) == 0
    message = capsys.readouterr()
    assert "open of open is not closed: its fit is not known" in message.err
    links = json.loads(message.out)["links"]
    assert list(links) == ["open", "ring", "two"]
    (hull,) = links["open"]["hulls"]
    assert hull["fit"] is None and hull["volume"] == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("look --hulls none.urdf", "cannot read none.urdf: No such file"),
        ("look --hulls broken.urdf", "broken description broken.urdf: "),
        ("look --hulls bare.urdf", "bare.urdf has no collision shape"),
        ("look --hulls cone.urdf", "cone.urdf: l_1: cone is not a box, cylinder, sphere or mesh"),
        ("look --hulls lost.urdf", "no mesh lost.stl"),
        ("look --hulls flat", "leaf has no hull with a volume"),
        ("look --hulls torn", "cannot read torn/bad.obj: a face names a vertex that is not there"),
        ("look --hulls . --density -1", "--density is -1, and must be positive"),
        ("look --hulls flat --mass leaf", "--mass takes LINK=KG"),
    ],
)
def test_what_makes_no_hull_is_told_in_one_line(complaint, tmp_path, words, line):
    (tmp_path / "broken.urdf").write_text("<robot")
    (tmp_path / "bare.urdf").write_text("<robot/>")
    link = "<robot><link name='l'><collision><geometry>{}</geometry></collision></link></robot>"
    (tmp_path / "cone.urdf").write_text(link.format("<cone radius='1'/>"))
    (tmp_path / "lost.urdf").write_text(link.format("<mesh filename='lost.stl'/>"))
    for name, text in (("flat/leaf", "f 1 2 3\n"), ("torn/bad", "f 1 2 9\n")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / f"{name}.obj").write_text(f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{text}")
    assert line in complaint(words.split())
