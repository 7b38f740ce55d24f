"""The generator: volumes against their integrals, derivatives against differences, expressions."""

import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from voxel_sphere.terrain.expressions import expression
from voxel_sphere.terrain.filling import fill_below, sphere
from voxel_sphere.terrain.generate import surface_parts
from voxel_sphere.terrain.sheets import Sheet
from voxel_sphere.terrain.surfaces import SURFACES, make_surface
from voxel_sphere.terrain.workspace import open_workspace

N, R = 50, 5.0


def content(volume):
    """Return what a volume holds [voxels]."""
    return volume.sum(dtype=float) / 255


CAP = 5 * R * (1 - np.sqrt(1 - 0.9**2))  # depth of the bowl of radius 5 r with its rim at 0.9
VOLUMES = {
    "plane": (2 * R * N**2, None),
    "incline": (3 * R * N**2, None),  # its middle is at 3 r
    "sinusoid": (2 * R * N**2, None),  # two whole waves
    "bowl": ((R + CAP) * N**2 - np.pi * CAP**2 * (5 * R - CAP / 3), None),
    "saddle": (3 * R * N**2, None),
    "ramp": (2.75 * R * N**2, (N - 6 * R) * N * 6.5 * R),
    "tunnel": (5 * R * N**2 - np.pi / 2 * (3 * R) ** 2 * N,) * 2,
    "arena": (2 * R * N**2, (N**2 - (7 * R) ** 2) * 5 * R),
}


@pytest.mark.parametrize("name", SURFACES)
def test_the_volume_is_the_integral(name):
    """Each voxel is rounded to 1/255, and round edges to 1/16 of a column: one part in 2000."""
    parts = surface_parts(make_surface(name, N, R), N)
    for part, expected in zip(parts, VOLUMES[name]):
        assert content(part.volume) == pytest.approx(expected, rel=5e-4)
    assert len(parts) == sum(volume is not None for volume in VOLUMES[name])


def test_the_sphere_is_where_the_source_has_it():
    """Its lowest point at (n/2, n/2, 0); content and centre of a ball, to the grey's rounding."""
    volume = sphere(N, R)
    total = content(volume)
    assert total == pytest.approx(4 / 3 * np.pi * R**3, rel=2e-3)
    middle = [
        (volume.sum(axis=axes) / 255 @ (np.arange(N) + 0.5)) / total
        for axes in ((1, 2), (0, 2), (0, 1))
    ]
    assert middle == pytest.approx([N / 2, N / 2, R], abs=2e-3)
    assert volume[:, :, 0].any() and not volume[:, :, 10:].any()
    with pytest.raises(AccordError, match="larger than the grid"):
        sphere(N, 26.0)


def test_binary_voxels_are_those_whose_centre_is_inside():
    surface = make_surface("arena", N, R, turn_deg=30.0)
    ground, walls = (part.volume for part in surface_parts(surface, N, binary=True))
    x, y, z = np.indices((N, N, N)) + 0.5
    turned = [np.cos(np.pi / 6) * (x - 25) + np.sin(np.pi / 6) * (y - 25)]
    turned += [np.cos(np.pi / 6) * (y - 25) - np.sin(np.pi / 6) * (x - 25)]
    assert ((ground == 255) == (z < 10)).all()
    assert ((walls == 255) == ((np.maximum(*np.abs(turned)) > 17.5) & (z < 25))).all()
    assert set(np.unique(walls)) == {0, 255}


def test_a_callable_of_ones_own():
    """For z = 10 + x/10 the column over x in [i, i + 1] holds 10 + (i + 0.5)/10."""
    volume = fill_below(lambda x, y: 10 + x / 10, N)
    columns = volume.sum(axis=2, dtype=float) / 255
    assert columns == pytest.approx(10 + (np.arange(N)[:, None] + 0.5) / 10 + np.zeros(N), abs=0.01)


def test_a_tube_of_a_parametric_sheet():
    """A sheet is behind its front: a tube of inner radius 12 and thickness 6, 30 high."""

    def tube(s, t):
        return 25 + 12 * np.cos(t), 25 + 12 * np.sin(t), s

    volume = Sheet(tube, (10.0, 40.0), (0.0, 2 * np.pi), 6.0).fill(N)
    assert content(volume) == pytest.approx(np.pi * (18**2 - 12**2) * 30, rel=5e-3)
    x, y = np.indices((N, N)) + 0.5
    beyond = np.abs(np.hypot(x - 25, y - 25) - 15) > 3.9
    assert not volume[beyond].any()
    outward = Sheet(tube, (10.0, 40.0), (2 * np.pi, 0.0), 6.0).fill(N)
    assert content(outward) == pytest.approx(np.pi * (12**2 - 6**2) * 30, rel=5e-3)


def test_a_sheet_fills_a_column_by_its_thickness_over_the_cosine():
    """The grey of a tilted face is a ramp 1/cos wide, which whole voxels sum to within 0.02."""
    slope = np.tan(np.deg2rad(20))
    sheet = Sheet(lambda s, t: (s, t, 20 + slope * (s - 25)), (0.0, 50.0), (0.0, 50.0), 6.0)
    columns = sheet.fill(N).sum(axis=2, dtype=float)[5:-5, 5:-5] / 255
    assert columns == pytest.approx(6.0 / np.cos(np.deg2rad(20)), abs=2 * 0.02 + 4 / 255)
    assert columns.mean() == pytest.approx(6.0 / np.cos(np.deg2rad(20)), abs=0.005)
    x, y, z = np.random.default_rng(2).uniform(10, 40, (3, 300))
    above = (z - 20 - slope * (x - 25)) * np.cos(np.deg2rad(20))
    near = (above > -7) & (above < 1)
    expected = np.maximum(above, -6 - above)[near]
    assert sheet.distance(x[near], y[near], z[near]) == pytest.approx(expected, abs=1e-6)


def test_expressions():
    x, y = np.random.default_rng(1).uniform(0.1, 2.0, (2, 50))
    f = expression(
        "2*r + min(x, y, 1)^2 - where(x < y, sqrt(abs(-x)), atan2(y, x)) % 3", "xy", {"r": 5.0}
    )
    expected = 10 + np.minimum(np.minimum(x, y), 1) ** 2
    expected -= np.where(x < y, np.sqrt(x), np.arctan2(y, x)) % 3
    assert f(x, y) == pytest.approx(expected)
    assert expression("pi", "xy", {})(x, y).shape == x.shape


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('id')", "x.real", "x[0]", "lambda: 1", "[x]", "open", "True",
        "'a'", "x = 1", "x if y else 1", "sin", "sin()", "sin(x, y)", "where(x, y)", "sin(x=1)",
        "x and y",
        "1 < x < 2", "1j", "f'{x}'", "", "(" * 900 + "x" + ")" * 900, "-" * 999 + "x", "x" * 2000,
        "x\0", "sin(*[x])", "z",
    ],
)  # fmt: skip
def test_nothing_else_is_an_expression(text):
    with pytest.raises(AccordError):
        expression(text, "xy", {"n": 50.0})


def test_make_and_what_it_leaves_behind(figures, tmp_path):
    """The recipe gives the same surface again, with the defaults that were not named."""
    found = figures("make arena --turn-deg 30 --n 50 --out t")
    assert found["volumes"] == ["arena", "arena_walls"] and found["radius"] == 5.0
    figures("make --height '2*r + 0.3*r*sin(2*pi*x/(5*r))' --name waves --n 50 --out t")
    tube = "'n/2 + 3*r*cos(t)' 'n/2 + 3*r*sin(t)' s --s r 5*r --t 0 2*pi"
    figures(f"make --xyz {tube} --kind walls --n 50 --out t")
    workspace = open_workspace(tmp_path / "t")
    assert workspace.names("walls") == ["arena_walls", "walls"]
    recipe = workspace.settings.recipe("arena")
    assert recipe == {"surface": "arena", "parameters": {"turn_deg": 30.0}}
    same = fill_below(make_surface("sinusoid", N, R).height, N)
    assert np.abs(workspace.volume("waves").astype(int) - same).max() <= 1
    assert workspace.radius == pytest.approx(5.0, abs=0.01)
    listed = figures("list t")
    assert {row["name"] for row in listed["volumes"]} == {"Sphere_robot", *workspace.names()}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("make", "give one of"), ("make plane --height x", "give one of"),
        ("make hill", "no surface hill; available: arena, bowl"),
        ("make plane --angle-deg 3", "plane has no parameter angle_deg"),
        ("make --height 'x + z'", "'z' in the expression 'x + z' is not known"),
        ("make --height 'x +'", "cannot read the expression"),
        ("make --height '9^9^9^9^9'", "not a finite number"),
        ("make --height '1/(x - x)'", "not a finite number"),
        ("make --height '-3'", "the height goes from -3 to -3 voxels"),
        ("make --height 20 --base 2", "--base belongs to voxel-sphere make SURFACE"),
        ("make --height 20 --kind walls", "--kind belongs to voxel-sphere make with --xyz"),
        ("make incline --angle-deg 60 --n 50", "the height goes from"),
        ("make bowl --rim 1", "rim is 1"), ("make sinusoid --wavelength 0", "wavelength is 0"),
        ("make arena --half-width 4 --turn-deg 45", "the corners of an arena"),
        ("make plane --n 300", "n is 300; grids are of 8 to 256 voxels"),
        ("make plane --size-workspace 1.5", "size_workspace is 1.5"),
        ("make plane --voxel-size 0", "voxel_size is 0"),
        ("make plane --n 50 --out Bitmaps_20", "is a folder for another n than 50"),
        ("make plane --name ../up", "is not a name for a volume"),
        ("make plane --name Sphere_robot", "is not a name for a volume"),
        ("make --xyz s t 1/0", "not finite numbers"), ("make --xyz s s s", "has no area"),
        ("make --xyz '1e6*s' t 3", "far larger than the grid"),
        ("make --xyz '300 + s' t 3", "nowhere in the grid"),
        ("make --xyz s t 3 --s 1 1", "--s goes from 1 to 1"),
        ("make --xyz s t 3 --thickness 0", "thickness is 0"),
        ("make --xyz s t 3 --kind roof", "--kind is one of"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_leaves_nothing(words, line, complaint, tmp_path):
    out = "" if "--out" in words else " --out t"
    assert line in complaint(f"{words}{out} --json")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_taken_is_one_line(complaint, figures, tmp_path):
    figures("make plane --n 20 --out t")
    before = sorted(tmp_path.rglob("*"))
    assert "is there already" in complaint("make plane --n 20 --out t")
    assert "one sphere and one scale" in complaint("make bowl --n 20 --size-workspace 8 --out t")
    (tmp_path / "file").write_text("")
    assert "file is a file, not a folder" in complaint("make plane --n 20 --out file")
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "file"])
