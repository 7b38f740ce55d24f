"""Hulls and what they weigh: by theory, by trimesh, and as `look --shapes` makes them."""

import numpy as np
import pytest
import trimesh
import yaml
from packbot.contact.collisions import read_hull
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


def inertia(hull, mass):
    """Return the inertia of uniform density about the centre of volume (3, 3)."""
    second = mass * (hull.moments - np.outer(hull.centre, hull.centre))
    return np.trace(second) * np.eye(3) - second


def test_any_hull_by_trimesh():
    rng = np.random.default_rng(4)
    for _ in range(20):
        points = rng.normal(size=(rng.integers(5, 40), 3)) * rng.uniform(0.1, 2.0, 3) + [1, 0, 2]
        hull = Hull.around(points)
        other = trimesh.Trimesh(hull.vertices, hull.faces, process=False)
        assert other.is_watertight and other.is_winding_consistent
        assert hull.volume == pytest.approx(trimesh.convex.convex_hull(points).volume, rel=1e-9)
        assert hull.centre == pytest.approx(other.center_mass, rel=1e-9)
        found = inertia(hull, hull.volume)
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


@pytest.mark.parametrize(
    ("file", "line"),
    [("dent.obj", "dent.obj is not convex: a face lies"), ("none.obj", "cannot read ")],
)
def test_what_is_no_hull_is_told_in_one_line(complaint, tmp_path, file, line):
    cube = Hull.around(box_corners(np.ones(3)))
    dented = np.concatenate([cube.vertices, [[0.5, 0.0, 0.0]]])
    dented[-1, 0] -= 0.1  # a face pulled in
    face = next(i for i, f in enumerate(cube.faces) if (cube.vertices[f][:, 0] > 0).all())
    a, b, c = cube.faces[face]
    faces = np.concatenate([np.delete(cube.faces, face, axis=0), [(a, b, 8), (b, c, 8), (c, a, 8)]])
    write_obj(Hull(dented, faces), tmp_path / "dent.obj", "a box with a dent")
    assert line in complaint(["look", "--distances", "--set", f"terrain.hulls.rock.file={file}"])


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
