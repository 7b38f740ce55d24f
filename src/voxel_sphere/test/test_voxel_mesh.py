"""Terrain for the engines: closed and outward, or a height field."""

import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from slow_cases import late
from terrains import as_trimesh, terrain_of, upper
from voxel_sphere.terrain.filling import fill_below
from voxel_sphere.terrain.mesh import SMOOTH_SD, Mesh, height_field, import_optional, terrain_mesh
from voxel_sphere.terrain.surfaces import SURFACES, make_surface
from voxel_sphere.terrain.workspace import open_workspace

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    ("name", "n", "binary"),
    [
        *((name, 100, False) for name in SURFACES),
        *late(*((name, 100, True) for name in ("incline", "bowl", "arena"))),
    ],
)
def test_every_terrain_is_closed_and_outward(name, n, binary):
    """Closed, outward and content by trimesh, which knows nothing of ours."""
    terrain = terrain_of(name, n, binary=binary)
    mesh = terrain_mesh(terrain)
    other = as_trimesh(mesh)
    assert mesh.watertight and other.is_watertight and other.is_winding_consistent
    assert mesh.volume == pytest.approx(other.volume, rel=1e-9)
    # What is cut off round the edges of the grid is some 0.1 voxel^2 a voxel of edge.
    assert other.volume == pytest.approx(terrain.solid.sum(dtype=float) / 255, abs=0.3 * 24 * n)


def test_curved_ground_stays_where_it_is():
    """A Gaussian moves ground of radius R on both sides by sigma^2 / R; this one by much less."""
    n = 100
    points = upper(terrain_mesh(terrain_of("bowl", n)), n, 5)
    points = points[np.hypot(*(points[:, :2] - n / 2).T) < 35]
    outside = np.linalg.norm(points - [n / 2, n / 2, 60], axis=1) - n / 2
    assert abs(outside.mean()) < 0.25 * SMOOTH_SD**2 / (n / 2)


def test_a_hole_and_a_turned_triangle_are_found():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    whole = Mesh(corners, faces)
    assert whole.watertight and whole.volume == pytest.approx(1 / 6)
    assert Mesh(corners, faces[:, ::-1]).volume == pytest.approx(-1 / 6)
    assert not Mesh(corners, faces[:3]).watertight
    assert not Mesh(corners, np.concatenate([faces[:3], faces[3:, ::-1]])).watertight


@pytest.mark.parametrize("binary", [False, True])
def test_the_height_field(binary):
    """Heights of columns: exact to the grey's rounding, or as smooth as binary slices allow."""
    terrain = terrain_of("saddle", 100, binary=binary)
    field = height_field(terrain)
    x, y = np.meshgrid(*[np.arange(100) + 0.5] * 2, indexing="ij")
    expected = 30 + ((x - 50) ** 2 - (y - 50) ** 2) / 160
    inner = np.s_[10:-10, 10:-10]
    off = np.abs(field.heights / 0.01 - expected)[inner]
    assert off.max() < (0.25 if binary else 0.01)
    assert field.spacing == 0.01


def test_a_tunnel_is_no_height_field():
    with pytest.raises(AccordError, match="not a height field"):
        height_field(terrain_of("tunnel", 30))


def test_a_terrain_of_columns_and_one_of_slices_agree(figures, tmp_path):
    """The terrain read back is the one filled."""
    figures("make bowl --n 40 --out t")
    terrain = open_workspace(tmp_path / "t").terrain()
    assert (terrain.surface == fill_below(make_surface("bowl", 40, 4.0).height, 40)).all()
    assert terrain.grey


def test_what_meshes_need_is_named_where_it_is_missing():
    with pytest.raises(AccordError, match=r"^meshes need trimesh: pip install .* trimesh"):
        import_optional("no_such_module", "trimesh")
