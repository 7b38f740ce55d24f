"""Hulls and what they weigh: by theory, by trimesh, and as the tool makes them of any files."""

import json

import numpy as np
import pytest
import trimesh
import yaml
from packbot.contact.collisions import read_hull
from packbot.contact.hulls import make_bodies, read_shapes
from packbot.contact.solids import (
    Hull,
    box_corners,
    prism_corners,
    shape_vertices,
    write_obj,
    write_shapes,
)
from roboaccord.contract.errors import AccordError
from roboaccord.description.resources import share
from roboaccord.numerics.rotations import rpy_matrix
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

# Mass [kg], centre [m] and inertia there [kg m^2] of the links, as the robot's facts print them.
# These have .00064 as the gripper's first moment of inertia: palm and fingers sum to .000635.
LINKS = """
turret_link   2.15  0     0      .0502  .00631  .00490  .00490
link1_link    2.00  .3448 .0128  0      .00242  .0602   .0611
link2_link    1.90  .3597 -.0111 0      .00192  .0745   .0752
link3_link    1.20  .3925 0      0      .00068  .0275   .0275
tilt_link     .30   0     0      0      .000265 .000125 .000265
pan_link      .80   .0213 0      .0412  .00133  .00143  .00176
gripper_link  .79   .0673 0      0      .000635 .00208  .00236
"""

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


def test_committed_files_are_those_that_the_command_makes(tmp_path):
    """To round-off: sines differ in the last digit from one machine to another."""
    write_shapes(tmp_path)
    made, kept = (yaml.safe_load((folder / "config" / "hulls.yaml").read_text())
                  for folder in (tmp_path, share("packbot")))  # fmt: skip
    assert made.keys() == kept.keys() == shape_vertices().keys()
    for name, figures in made.items():
        assert figures == pytest.approx(kept[name], rel=1e-12, abs=1e-15)
        new, old = (read_hull(folder / "meshes" / f"{name}.obj")
                    for folder in (tmp_path, share("packbot")))  # fmt: skip
        assert np.allclose(new.vertices, old.vertices, rtol=0, atol=1e-15)
        assert (new.faces == old.faces).all()


def test_box_and_prism_by_their_closed_forms():
    """Of a regular polygon the mean of x^2 + y^2 is r^2/6 (2 + cos 2 pi/n)."""
    a, b, c = 0.3, 0.2, 0.5
    box = Hull.around(box_corners(np.array([a, b, c])) + np.array([1.0, -2.0, 0.5]))
    assert box.volume == pytest.approx(a * b * c, rel=1e-12)
    assert box.centre == pytest.approx([1.0, -2.0, 0.5], rel=1e-12)
    expected = 12.0 / 12.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    assert np.allclose(box.inertia(12.0), expected, rtol=0, atol=1e-12)
    n, r, h = 12, 0.07, 0.4
    prism = Hull.around(prism_corners("z", r, h, n))
    polar = r * r / 6.0 * (2.0 + np.cos(2.0 * np.pi / n))
    across = 0.5 * polar + h * h / 12.0
    assert prism.volume == pytest.approx(0.5 * n * r * r * np.sin(2.0 * np.pi / n) * h, rel=1e-12)
    assert np.allclose(prism.inertia(3.0), 3.0 * np.diag([across, across, polar]), atol=1e-14)


def test_any_hull_by_trimesh():
    rng = np.random.default_rng(4)
    for _ in range(20):
        points = rng.normal(size=(rng.integers(5, 40), 3)) * rng.uniform(0.1, 2.0, 3) + [1, 0, 2]
        hull = Hull.around(points)
        other = trimesh.Trimesh(hull.vertices, hull.faces, process=False)
        assert other.is_watertight and other.is_winding_consistent
        assert hull.volume == pytest.approx(trimesh.convex.convex_hull(points).volume, rel=1e-9)
        assert hull.centre == pytest.approx(other.center_mass, rel=1e-9)
        found = hull.inertia(hull.volume)
        assert np.allclose(found, other.moment_inertia, rtol=1e-9, atol=1e-9 * np.trace(found))


def test_links_weigh_what_the_facts_print():
    tree = Setup.of(load_scenario("packbot", "packbot", "collapse")).tree
    links = {link.name: link for link in tree.links}
    for name, *printed in map(str.split, LINKS.split("\n")[1:-1]):
        link = links[name]
        found = [link.mass, *link.centre, *np.diag(link.inertia)]
        for value, text in zip(found, printed, strict=True):
            half = 0.5 * 10.0 ** -len(text.partition(".")[2]) if "." in text else 1e-15
            assert value == pytest.approx(float(text), abs=1.001 * half), name
    assert sum(link.mass for link in tree.links) == pytest.approx(68 * 0.45359237, abs=0.05)


def test_hulls_of_any_description(figures, source, tmp_path):
    """Each kind of shape by theory; polyhedra inside of round ones are smaller by their fit."""
    words = ["hulls", str(source), "--out", str(tmp_path / "made"), "--density", "500"]
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
    assert accord_here(["packbot", "hulls", str(source), *out]) == 0
    message = capsys.readouterr()
    (line,) = message.err.splitlines()
    assert line.startswith("accord: warning: ring of hand is far from convex: it fills ")
    assert len(json.loads(message.out)["links"]["hand"]["hulls"]) == 3
    assert accord_here(["packbot", "hulls", str(source), "--whole", *out[:2]]) == 0
    message = capsys.readouterr()
    assert "pair of hand is far from convex" in message.err
    assert "trunk" in message.out and "an OBJ of each hull" in " ".join(message.out.split())


def test_a_folder_of_meshes(accord_here, capsys, source):
    """Each is a link; what a mesh with a hole fills of its hull is not known."""
    box = Hull.around(box_corners(np.array([1.0, 2.0, 3.0])))
    write_obj(Hull(box.vertices, box.faces[:-1]), source.parent / "open.obj", "a face is missing")
    folder = str(source.parent)
    assert accord_here(["packbot", "hulls", folder, "--out", f"{folder}/made", "--json"]) == 0
    message = capsys.readouterr()
    assert "open of open is not closed: its fit is not known" in message.err
    links = json.loads(message.out)["links"]
    assert list(links) == ["open", "ring", "two"]
    (hull,) = links["open"]["hulls"]
    assert hull["fit"] is None and hull["volume"] == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("hulls none.urdf", "cannot read none.urdf: No such file"),
        ("hulls broken.urdf", "broken description broken.urdf: "),
        ("hulls bare.urdf", "bare.urdf has no collision shape"),
        ("hulls cone.urdf", "cone.urdf: l_1: cone is not a box, cylinder, sphere or mesh"),
        ("hulls lost.urdf", "no mesh lost.stl"),
        ("hulls flat", "leaf has no hull with a volume"),
        ("hulls torn", "cannot read torn/bad.obj: a face names a vertex that is not there"),
        ("hulls . --density -1", "--density is -1, and must be positive"),
        ("hulls flat --mass leaf", "--mass takes LINK=KG"),
        ("distance --set terrain.hulls.rock.file=dent.obj", "dent.obj is not convex: a face lies"),
        ("distance --set terrain.hulls.rock.file=none.obj", "cannot read "),
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
    cube = Hull.around(box_corners(np.ones(3)))
    dented = np.concatenate([cube.vertices, [[0.5, 0.0, 0.0]]])
    dented[-1, 0] -= 0.1  # a face pulled in
    face = next(i for i, f in enumerate(cube.faces) if (cube.vertices[f][:, 0] > 0).all())
    a, b, c = cube.faces[face]
    faces = np.concatenate([np.delete(cube.faces, face, axis=0), [(a, b, 8), (b, c, 8), (c, a, 8)]])
    write_obj(Hull(dented, faces), tmp_path / "dent.obj", "a box with a dent")
    assert line in complaint(words.split())


def test_flat_faces_are_cut_alike_however_qhull_cuts_them():
    """From points in any order, with round-off: fans from the first corner of each face."""
    rng = np.random.default_rng(6)
    prism = prism_corners("x", 0.03, 0.4, 12)
    hull = Hull.around(prism)
    for _ in range(5):
        order = rng.permutation(len(prism))
        other = Hull.around(prism[order] * (1.0 + 1e-16 * rng.normal(size=prism.shape)))
        assert len(other.faces) == len(hull.faces) == 2 * 10 + 12 * 2
        starts = {tuple(sorted(order[face])) for face in other.faces}
        assert len(starts) == 44
    with pytest.raises(AccordError, match="has no hull with a volume"):
        Hull.around(prism[:12], "a disc")
