"""Terrain as files of other programs: meshes as wrong as reported, and worlds."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
import terrains
import trimesh
from roboaccord.contract.errors import AccordError
from roboaccord.gazebo.tool import sdformat_tool
from roboaccord_files.gazebo.check import check_file
from roboaccord_files.gazebo.schema import sdformat_problems
from roboaccord_studies.voxel_sphere.export import decimate
from roboaccord_studies.voxel_sphere.mesh_error import deviation, ground_of, middles
from robot_commands import commands_of
from slow_cases import late
from terrains import as_trimesh, upper
from voxel_sphere.terrain.mesh import mesh_file, terrain_mesh
from voxel_sphere.terrain.surfaces import SURFACES, make_surface
from voxel_sphere.terrain.workspace import Terrain

pytestmark = pytest.mark.thorough

N, R = 50, 5.0
figures, complaint = commands_of("voxel-sphere", quiet=True)
TOOL = sdformat_tool()


def exact(surface):
    """Return the signed distance to ground and walls of a surface."""
    ground, walls = ground_of(surface), surface.walls
    return lambda *at: ground(*at) if walls is None else np.minimum(ground(*at), walls(*at))


def terrain_of(name, n=50, *, binary=False, **parameters):
    """Return a terrain, and the distance to its closed form."""
    known = exact(make_surface(name, n, n / 10, **parameters))
    return terrains.terrain_of(name, n, binary=binary, **parameters), known


@pytest.mark.parametrize(
    ("name", "n", "binary"),
    [
        *((name, 100, False) for name in SURFACES),
        *late(*((name, 100, True) for name in ("incline", "bowl", "arena"))),
    ],
)
def test_every_mesh_is_right_to_a_tenth_of_a_voxel(name, n, binary):
    terrain, known = terrain_of(name, n, binary=binary)
    assert deviation(terrain_mesh(terrain), terrain, known).mean_error < 0.1


def test_the_error_is_the_distance_from_the_plane():
    """An incline has a distance that needs no closed form of ours: (p - q) . normal."""
    n, angle = 60, np.deg2rad(20)
    terrain, known = terrain_of("incline", n, angle_deg=20.0)
    mesh = terrain_mesh(terrain)
    points = upper(mesh, n, 10)
    off = (points - [n / 2, n / 2, 3 * n / 10]) @ [-np.sin(angle), 0, np.cos(angle)]
    found = deviation(mesh, terrain, known)
    assert np.abs(off).max() <= found.max_error
    assert np.abs(off).mean() == pytest.approx(found.mean_error, abs=0.01)
    facets = mesh.corners[(np.abs(mesh.corners.mean(axis=1) - n / 2) < n / 2 - 10).all(axis=1)]
    normals = np.cross(facets[:, 1] - facets[:, 0], facets[:, 2] - facets[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    cosine = normals @ [-np.sin(angle), 0, np.cos(angle)] / areas
    turned = np.rad2deg(np.arccos(np.minimum(cosine, 1)))
    assert np.average(turned, weights=areas) < 1.6  # deg; facts of a Gaussian, raw voxels have 18


def test_slices_of_others_are_measured_against_themselves():
    """A block of whole voxels has its half level on their faces, so its mesh is right there."""
    solid = np.zeros((40, 40, 40), np.uint8)
    solid[:, :, :17] = 255
    terrain = Terrain(40, 4.0, 0.01, solid, grey=False)
    found = deviation(terrain_mesh(terrain), terrain, None)
    assert found.against == "slices" and found.max_error == pytest.approx(0.0, abs=1e-5)
    raised = Terrain(40, 4.0, 0.01, np.roll(solid, 1, axis=2) | solid, grey=False)
    assert deviation(terrain_mesh(raised), terrain, None).mean_error == pytest.approx(1.0, abs=1e-5)


def test_decimation_states_its_error():
    """Points at random on the few triangles are no farther off than reported, but for its grid."""
    terrain, known = terrain_of("bowl", 100)
    full = terrain_mesh(terrain)
    fewer = decimate(full, 5000)
    assert len(fewer.faces) <= 5000 and as_trimesh(fewer).is_watertight
    message, before = deviation(fewer, terrain, known), deviation(full, terrain, known)
    assert before.mean_error < message.mean_error < 0.1
    points, _ = trimesh.sample.sample_surface(as_trimesh(fewer), 20_000, seed=1)
    points = points[(np.abs(points - 50) < 45).all(axis=1)]
    plan = np.hypot(*(points[:, :2] - 50).T)
    bowl = points[plan < 40]
    off = np.abs(np.linalg.norm(bowl - [50, 50, 60], axis=1) - 50)
    assert off.max() < message.max_error and off.mean() < 0.1
    with pytest.raises(AccordError, match="100 triangles at least"):
        decimate(full, 50)


@pytest.mark.parametrize("order", [1, 2, 5])
def test_parts_of_a_triangle_are_even(order):
    """order^2 different middles, whose mean is the triangle's."""
    points = middles(order)
    assert len(np.unique(points.round(9), axis=0)) == order**2
    assert points.sum(axis=1) == pytest.approx(1.0) and points.min() > 0
    assert points.mean(axis=0) == pytest.approx(1 / 3)


@pytest.mark.parametrize("ending", [".stl", ".obj", ".ply", ".glb"])
def test_files_are_in_metres(tmp_path, ending):
    mesh = terrain_mesh(terrain_of("plane", 20)[0])
    (tmp_path / f"terrain{ending}").write_bytes(mesh_file(mesh, ending[1:], 0.05))
    read = trimesh.load(tmp_path / f"terrain{ending}", force="mesh")
    assert read.bounds == pytest.approx(np.array([[0, 0, 0], [1, 1, 0.2]]), abs=1e-6)
    assert read.volume == pytest.approx(mesh.volume * 0.05**3, rel=1e-5)


def test_mesh_command(figures, tmp_path):
    figures("make sinusoid --n 50 --out t")
    found = figures("mesh t --out files/t.stl --decimate 3000 --heights files/t.npy")
    assert {"triangles", "watertight", "volume", "mean_error", "max_error"} <= found.keys()
    assert found["against"] == "closed form" and found["watertight"] is True
    assert found["triangles"] <= 3000 < found["before"]["triangles"]
    assert found["mean_error"] < 0.1
    read = trimesh.load(tmp_path / "files" / "t.stl")
    assert len(read.faces) == found["triangles"]
    assert read.volume * 1e6 == pytest.approx(found["volume"], rel=1e-4)
    x = np.arange(50) + 0.5
    heights = np.load(tmp_path / "files" / "t.npy")
    assert heights[:, 7] == pytest.approx(0.1 + 0.015 * np.sin(2 * np.pi * x / 25), abs=2e-4)


def test_world_command(figures, tmp_path):
    figures("make arena --n 30 --out t")
    model, world = figures("world t --out gz --friction 0.8")["files"]
    models = [tmp_path / "gz" / "models"]
    for path in (tmp_path / world, tmp_path / model / "model.sdf"):
        assert check_file(path, models) == []
        assert not TOOL or sdformat_problems(TOOL, path, models) == []
    tree = ET.parse(tmp_path / model / "model.sdf")
    uris = [element.text for element in tree.iter("uri")]
    assert uris == ["meshes/terrain.stl", "meshes/terrain.obj"]  # what is touched, and what is seen
    whole, seen = (trimesh.load(tmp_path / model / uri) for uri in uris)
    assert whole.bounds == pytest.approx(np.array([[0, 0, 0], [0.3, 0.3, 0.15]]), abs=0.005)
    assert seen.bounds == pytest.approx(whole.bounds, abs=1e-4)
    assert len(seen.faces) < len(whole.faces)  # its bottom is left out
    assert seen.visual.uv == pytest.approx(seen.vertices[:, :2], abs=1e-3)
    assert [element.text for element in tree.iter("mu")] == ["0.8"]
    uri = ET.parse(tmp_path / world).find("world/include/uri").text
    assert uri == f"model://{tmp_path.joinpath(model).name}"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("mesh t --out a.stp", "its name must end with .glb or .obj"),
        ("mesh t --out a.stl --heights a.txt", "its name must end with .npy"),
        ("mesh t --out a.stl --surface hill", "no volume hill; available:"),
        ("mesh t --out a.stl --workspace tunnel --walls tunnel_walls", "name it alone"),
        ("mesh t --out a.stl --decimate 4", "100 triangles at least"),
        ("mesh t --out a.stl --heights a.npy", "not a height field"),
        ("mesh t --out t/Bitmaps_20/workspace.yaml/a.stl", "cannot write"),
        ("world t --out gz --detector fcl", "one of ode, bullet, not fcl"),
        ("world t --out gz --name a/b", "not a name for a world"),
        ("world t --out gz --friction -1", "friction is -1"),
        ("world t --out t/Bitmaps_20/workspace.yaml", "is a file, not a folder"),
    ],
)
def test_a_wrong_mesh_is_one_line_and_leaves_nothing(words, line, complaint, figures, tmp_path):
    figures("make tunnel --n 20 --out t")
    before = sorted(tmp_path.rglob("*"))
    assert line in complaint(words)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_world_that_is_there_is_kept(complaint, figures):
    figures("make plane --n 20 --out t")
    figures("world t --out gz")
    assert "is there already" in complaint("world t --out gz")
    figures("world t --out gz --force")


@pytest.mark.parametrize("name", SURFACES)
def test_the_distance_vanishes_on_the_height_and_grows_by_one(name):
    """Off the ground along its normal, which is that of the differences of the height."""
    surface, h = make_surface(name, N, R), 1e-4
    x, y = np.random.default_rng(5).uniform(0.4 * N, 0.6 * N, (2, 200))
    f, distance = surface.height, exact(surface)
    z, p = f(x, y), (f(x + h, y) - f(x - h, y)) / (2 * h)
    q = (f(x, y + h) - f(x, y - h)) / (2 * h)
    step = 1e-4 / np.sqrt(1 + p**2 + q**2)
    assert distance(x, y, z) == pytest.approx(0.0, abs=1e-9)
    assert distance(x - p * step, y - q * step, z + step) == pytest.approx(1e-4, rel=1e-4)
