"""The field of a volume against the closed form that the volume was made from."""

import closed_fields as closed
import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from voxel_sphere.rolling.distance import STAGE_COUNT, distance_grids
from voxel_sphere.rolling.field import GRID, Field, _cell, sample, turning
from voxel_sphere.terrain.filling import fill_below
from voxel_sphere.terrain.surfaces import make_surface

N, R = 60, 6.0


@pytest.fixture(scope="module")
def wave():
    """Return a sinusoid's field from voxels, and in closed form."""
    volume = fill_below(make_surface("sinusoid", N, R).height, N)
    return Field.build(volume, R), closed.wave(2 * R, 0.3 * R, 5 * R, radius=R, size=N)


@pytest.fixture(scope="module")
def bowl():
    """Return a bowl's field from voxels, and in closed form."""
    volume = fill_below(make_surface("bowl", N, R, bowl_radius=5.0).height, N)
    middle = (N / 2, N / 2, 6 * R)
    return Field.build(volume, R), closed.bowl(middle, 5 * R, radius=R, size=N)


def centres(closed):
    """Return centres of a sphere that touches, all over the middle of the grid."""
    rng = np.random.default_rng(7)
    return [closed.place(*(N / 2 + 2.2 * R * rng.uniform(-1, 1, 2))) for _ in range(60)]


@pytest.mark.parametrize(("name", "normal", "gap"), [("wave", 2.0, 0.05), ("bowl", 0.5, 0.05)])
def test_normals_and_distances(name, normal, gap, request):
    """Half a degree is 0.05 r on the 6 r across the grid; waves take off more, but back and forth.

    The slices are grey, so that a twentieth of a voxel can be seen in them.
    """
    built, closed = request.getfixturevalue(name)
    for centre in centres(closed):
        cosine = np.clip(built.normal(centre) @ closed.normal(centre), -1.0, 1.0)
        assert np.degrees(np.arccos(cosine)) < normal
        assert abs(built.distance(centre) - R) < gap


def test_a_coordinate_that_is_no_number_is_read_inside_the_grid():
    """What is interpolated there is no number either."""
    places = {-9.0: 0, 0.5: 0, 2.4: 1, 2.6: 2, 3.5: 2, 9.0: 2, np.nan: 0}
    assert [_cell(4, u)[0] for u in places] == [*places.values()]
    grid = np.ones((4, 4, 4, 4), dtype=np.float32)
    assert np.isnan(np.hstack(sample((GRID, np.zeros(7), grid), 1.0, np.nan, 1.0))).all()


def test_where_the_distance_does_not_change_there_is_no_normal():
    grid = np.zeros((4, 4, 4, 4), dtype=np.float32)
    grid[..., 0] = 3.0
    field = Field(radius=1.0, size=4.0, kind=GRID, params=np.zeros(7), grid=grid)
    assert field.distance((2.0, 1.5, 2.2)) == 3.0
    assert field.normal((2.0, 1.5, 2.2)).tolist() == [0.0, 0.0, 0.0]


def curvature(field, point):
    """Return the ground's principal curvatures (2,) [1/voxel] below a centre, hollow positive.

    The centre's own surface, at the distance r, has k / (1 - r k).
    """
    n = field.normal(point)
    side = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    side /= np.linalg.norm(side)
    frame = np.stack([side, np.cross(n, side)])
    shape = -np.stack([frame @ turning(field.arrays, *point, *t) for t in frame], axis=1)
    own = np.linalg.eigvalsh(0.5 * (shape + shape.T))
    return own / (1.0 + field.radius * own)


def test_curvature(bowl, wave):
    """Of a bowl 1 / (5 r) in both directions; of a trough -a k^2 sin and 0, by the closed form."""
    built, closed = bowl
    bottom = (N / 2, N / 2)
    assert curvature(closed, closed.place(*bottom)) * R == pytest.approx([0.2, 0.2])
    aside = (N / 2 + R, N / 2 - R)  # at the bottom the slices are a voxel's step apart
    assert curvature(built, built.place(*aside)) * R == pytest.approx([0.2, 0.2], abs=0.02)
    trough = wave[1].place(0.75 * 5 * R, N / 2)
    assert curvature(wave[1], trough) * R == pytest.approx([0.0, 0.3 * (2 * np.pi / 5) ** 2])


@pytest.mark.parametrize("kind", ["plane", "bowl", "cylinder", "wave", "voxels"])
def test_turning_is_the_normals_derivative(kind, bowl, wave):
    fields = {
        "plane": closed.plane((30, 30, 12), (0.1, -0.2, 1.0), radius=R, size=N),
        "bowl": bowl[1],
        "cylinder": closed.cylinder((0, 30, 30), (1, 0.2, 0), 18, radius=R, size=N),
        "wave": wave[1],
        "voxels": bowl[0],
    }
    field, v = fields[kind], np.array([0.3, -0.8, 0.5])
    centre, step = field.place(27.0, 33.0), 1e-5
    change = field.normal(centre + step * v) - field.normal(centre - step * v)
    assert turning(field.arrays, *centre, *v) == pytest.approx(change / (2 * step), abs=1e-9)


def test_a_thin_sheet_still_carries():
    """A sheet of one voxel is too thin to be smoothed; its field is that of its voxels."""
    sheet = np.zeros((N, N, N), dtype=bool)
    sheet[:, :, 12] = True
    centre = Field.build(sheet, R).place(N / 2, N / 2)
    assert centre[2] == pytest.approx(13.0 + R, abs=0.5)  # the top of the voxel, within a half


def test_two_floors():
    """Without a height the sphere lies on the lower floor, with one on the floor near it."""
    volume = np.zeros((N, N, N), dtype=bool)
    volume[:, :, :6] = volume[:, :, 30:36] = True
    field = Field.build(volume, R)
    assert field.place(30, 30)[2] == pytest.approx(12.0, abs=0.1)
    assert field.place(30, 30, 41.7)[2] == pytest.approx(42.0, abs=0.1)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ((30, 30, 45.0), "in the air"),
        ((30, 30, 19.0), "inside the ground"),
        ((70, 30), "outside the workspace"),
    ],
)
def test_wrong_starts(start, words):
    with pytest.raises(AccordError, match=words):
        closed.plane((0, 0, 20), (0, 0, 1), radius=R, size=N).place(*start)


def test_wrong_volumes():
    with pytest.raises(AccordError, match="empty"):
        Field.build(np.zeros((8, 8, 8), dtype=bool), 2.0)
    with pytest.raises(AccordError, match="full"):
        Field.build(np.ones((8, 8, 8), dtype=bool), 2.0)
    half = np.zeros((8, 8, 8), dtype=bool)
    half[:, :, :4] = True
    with pytest.raises(AccordError, match="radius of 5 voxels"):
        Field.build(half, 5.0)
    with pytest.raises(AccordError, match="no ground under"):
        Field.build(~half, 2.0).place(4.0, 4.0)


def test_each_stage_of_a_field_is_told_of():
    counted = []
    solid = fill_below(make_surface("plane", 30, 3.0).height, 30)
    distance_grids(solid, 3.0, done=counted.append)
    assert sum(counted) == STAGE_COUNT
