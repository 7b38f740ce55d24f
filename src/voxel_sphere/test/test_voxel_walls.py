"""Walls: the law of reflection, the paths off them and along them, corners, and what ends a run."""

import json

import closed_fields as closed
import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from voxel_sphere.rolling.contacts import cluster_numbers, touching_patches
from voxel_sphere.rolling.field import Field
from voxel_sphere.rolling.motion import Roller, roll
from voxel_sphere.rolling.walls import reflected, spin_for, split, tangent
from voxel_sphere.terrain.filling import fill_below, fill_inside
from voxel_sphere.terrain.generate import Part, write_workspace
from voxel_sphere.terrain.surfaces import make_surface

pytestmark = pytest.mark.thorough

N, R = 60, 6.0
FLOOR = 2 * R


@pytest.fixture(scope="module")
def arena():
    """Return volumes of an arena 7 r wide, ground and walls apart, and their fields."""
    surface = make_surface("arena", N, R)
    volumes = fill_below(surface.height, N), fill_inside(surface.walls, N)
    return *volumes, *(Field.build(volume, R) for volume in volumes)


def test_reflection_is_the_law_of_reflection():
    v, m = np.array([3.0, 1.0, 0.0]), np.array([-1.0, 0.0, 0.0])
    assert reflected(v, [m]) == pytest.approx([-3.0, 1.0, 0.0])
    corner = [m, np.array([0.0, -1.0, 0.0])]
    assert reflected(v, corner) == pytest.approx([-3.0, -1.0, 0.0])
    half = np.sqrt(0.75)  # a wedge of 60 degrees sends it straight back, by its three images
    wedge = [np.array([-0.5, half, 0.0]), np.array([-0.5, -half, 0.0])]
    assert reflected(np.array([1.0, 0.0, 0.0]), wedge) == pytest.approx([-1.0, 0.0, 0.0])


def test_what_rolls_with_a_velocity():
    """The ball's r w x n is v, and w_z as it was, on any slope that is a graph."""
    n = np.array([0.3, -0.2, 0.9])
    n /= np.linalg.norm(n)
    v = np.cross(n, [1.0, 2.0, 0.5])
    w = spin_for(v, n, 7.0, np.array([0.0, 0.0, 0.4]))
    assert 7.0 * np.cross(w, n) == pytest.approx(v)
    assert w[2] == pytest.approx(0.4)


def test_head_on_it_goes_away_from_a_second_wall():
    v, m, n = np.array([-1.0, 0, 0]), np.array([-1.0, 0, 0]), np.array([0, 0, 1.0])
    for side in (1.0, -1.0):
        assert tangent(v, m, n, np.array([0, side, 0])) == pytest.approx([0, side, 0])


def test_off_and_along_a_wall(arena):
    """It meets the wall 2.5 r from the middle, rolls r/5 off, then parallel to it."""
    *_, ground, walls = arena
    path = roll(Roller(ground, walls=walls, centre=ground.place(30, 30)), (-0.5, 1, 0), 3.6, 200)
    assert [event.kind for event in path.events] == ["wall", "parallel"]
    hit, turned = (np.array(event.centre) for event in path.events)
    assert hit == pytest.approx([30 + 2.5 * R, 30 + 1.25 * R, FLOOR + R], abs=0.01 * R)
    assert np.linalg.norm(turned - hit) == pytest.approx(0.2 * R)
    assert (turned - hit)[:2] @ [1, 2] == pytest.approx(0.0, abs=0.002 * R)
    assert np.ptp(path.centre[path.time > path.events[1].time, 0]) < 1e-3 * R
    assert path.omega[-1, 0] == pytest.approx(-np.sqrt(1.25), rel=1e-4)  # no speed is lost


def test_reflected_only(arena):
    *_, ground, walls = arena
    path = roll(
        Roller(ground, walls=walls, centre=ground.place(30, 30), after="reflected"),
        (-0.5, 1, 0),
        3.0,
    )
    assert path.omega[-1] == pytest.approx([-0.5, -1.0, 0.0], abs=0.01)


def test_a_corner(arena):
    """Straight into the corner it comes straight back, within 3 degrees for each of its walls."""
    *_, ground, walls = arena
    path = roll(
        Roller(ground, walls=walls, centre=ground.place(30, 30), after="reflected"), (-1, 1, 0), 4.0
    )
    assert path.status == "done"
    assert path.events[0].centre[:2] == pytest.approx([45, 45], abs=0.05 * R)
    back = path.omega[-1] @ [1, -1, 0] / np.sqrt(2) / np.linalg.norm(path.omega[-1])
    assert np.degrees(np.arccos(back)) < 2 * 3.0


def test_commanded_against_a_wall(arena):
    """Commanded into the wall every millisecond, it neither sinks in nor leaves the ground."""
    *_, ground, walls = arena
    roller = Roller(ground, walls=walls, centre=ground.place(40, 30))
    for tick in range(1500):
        roller.advance((0.0, 1.0 + 1e-6 * tick, 0.0), 1e-3)
    assert roller.status == "done" and 44.0 < roller.centre[0] < 45.1
    assert roller.centre[2] == pytest.approx(FLOOR + R, abs=0.01 * R)


def test_a_whole_workspace_is_split(arena):
    """Ground and walls in one volume hit and turn where they do apart."""
    ground_volume, wall_volume, ground, walls = arena
    floor, sides = split(np.maximum(ground_volume, wall_volume))
    apart, whole = (
        roll(Roller(a, walls=b, centre=(30, 30, FLOOR + R)), (-0.5, 1, 0), 3.6, 100)
        for a, b in ((ground, walls), (Field.build(floor, R), Field.build(sides, R)))
    )
    assert [event.kind for event in apart.events] == ["wall", "parallel"]
    assert [event.kind for event in whole.events] == ["wall", "parallel"]
    for one, other in zip(whole.events, apart.events):
        assert one.centre == pytest.approx(other.centre, abs=0.05 * R)
    assert whole.omega[-1] == pytest.approx(apart.omega[-1], abs=0.05)


def test_ground_alone_has_no_walls():
    wave = fill_below(make_surface("sinusoid", N, R).height, N)
    assert split(wave)[1] is None


def test_contacts_are_patches(arena):
    *_, walls = arena
    (one,) = touching_patches(walls, np.array([45.0, 30.0, 18.0]))
    assert one.normal == pytest.approx([-1, 0, 0], abs=0.01)
    assert one.point == pytest.approx([51, 30, 18], abs=0.1)
    assert len(touching_patches(walls, np.array([45.0, 45.0, 18.0]))) == 2
    assert list(cluster_numbers(np.array([[0.0, 0, 0], [5, 0, 0], [1, 0, 0], [2, 0, 0]]), 1.5)) == [
        0, 1, 0, 0,
    ]  # fmt: skip


@pytest.fixture(scope="module")
def niche():
    """Return the walls of a corner under a ceiling that just clears the sphere."""
    top = FLOOR + 2 * R + 0.25
    return fill_inside(lambda x, y, z: np.minimum(np.minimum(45.0 - x, 45.0 - y), top - z), N)


def test_more_contacts_than_the_theory_allows(niche):
    """Two walls and the ceiling at once."""
    ground = closed.plane((30, 30, FLOOR), (0, 0, 1), radius=R, size=N)
    path = roll(
        Roller(ground, walls=Field.build(niche, R), centre=(30, 30, FLOOR + R)), (-1, 1, 0), 6.0
    )
    assert path.status == "too_many_contacts" and path.failed
    # In an edge between walls the grid's distance is up to half a voxel short.
    assert path.centre[-1, :2] == pytest.approx([39.0, 39.0], abs=0.1 * R)


def test_no_wall_normal():
    """A ceiling parallel to a slope cannot turn the path in the plane of the slope."""
    up = np.array([0.0, -0.2, 1.0]) / np.hypot(0.2, 1.0)
    ground = closed.plane((30, 30, FLOOR), up, radius=R, size=N)
    near = -up + np.array([-0.03, 0.0, 0.0])  # it comes down slowly towards +x
    ceiling = closed.plane((40, 30, FLOOR + 2.05 * R), near, radius=R, size=N)
    path = roll(Roller(ground, walls=ceiling, centre=ground.place(20, 30)), (0, 1, 0), 6.0)
    assert path.status == "no_wall_normal"


def test_a_start_in_a_wall(arena):
    *_, ground, walls = arena
    with pytest.raises(AccordError, match="inside a wall"):
        Roller(ground, walls=walls, centre=ground.place(50, 30))


@pytest.fixture
def workspace(figures):
    """Make an arena where the commands run."""
    figures("make arena --n 40 --out .")


def test_the_command(workspace, figures, tmp_path):
    found = figures("roll . --omega 0 1 --time 2 --start 20 20 --out path.csv")
    assert list(found)[:8] == [
        "centre", "contact", "orientation", "montana", "chart", "radius", "events", "status",
    ]  # fmt: skip
    assert found["centre"] == pytest.approx([28, 20, 12], abs=0.1)
    assert found["orientation"] == pytest.approx([0, np.sin(1), 0, np.cos(1)])
    assert len(found["montana"]) == 5
    rows = (tmp_path / found["path"]).read_text().splitlines()
    assert len(rows) == 502 and rows[0].startswith("time_s,x,y,z,")


def test_normalised(workspace, figures):
    found = figures("roll . --omega 0 2 --start 5 5 --normalised")
    assert "time" not in found["options"]
    assert "time" in figures("roll . --omega 0 2 --start 20 20")["options"]
    assert found["radius"] == pytest.approx(1.0)
    assert found["centre"] == pytest.approx([7, 5, 3], abs=0.03)
    assert np.shape(found["path"]) == (501, 3)


@pytest.mark.parametrize("scheme", ["local_plane", "as_described"])
def test_other_schemes(scheme, workspace, figures):
    found = figures(f"roll . --omega 0 1 --time 1 --start 20 20 --scheme {scheme}")
    assert found["centre"][:2] == pytest.approx([24, 20], abs=1.0)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--omega 0 1 --scheme euler", "no scheme euler"),
        ("--omega 0 1 --start 3 20", "inside a wall"),
        ("--omega 0 1 --start-z 5", "inside the ground"),
        ("--omega 0 1 --time 0", "must be positive"),
        ("--omega 0 1 --step 0", "step is 0"),
        ("--omega nan 1", "--omega: nan is not a number"),
        ("--omega 0 1 --after sideways", "parallel or reflected"),
        ("--omega 0 1 --out path.txt", ".csv or .npz"),
        ("--omega 0 1 --samples 0", "samples"),
        ("--omega 0 1 --surface moon", "no volume moon"),
        ("--omega 0 1 --surface=", "no volume without a name"),
        (
            "--omega 0 1 --scheme as_described --step 1",
            "--step belongs to voxel-sphere roll --scheme exact",
        ),
    ],
)
def test_a_mistake_is_one_line(words, line, workspace, complaint):
    assert line in complaint(f"roll . {words} --json")


def test_a_failed_run_is_saved(arena, niche, accord_here, capsys, tmp_path):
    """Exit status 1, the figures on stdout, the path on disk, one line on stderr."""
    parts = [Part("floor", "surface", arena[0]), Part("niche_walls", "walls", niche)]
    folder = write_workspace(tmp_path, N, parts).path
    file = tmp_path / "ended.npz"
    words = f"voxel-sphere roll {folder} --omega -1 1 --time 6 --json --out {file}"
    assert accord_here(words.split()) == 1
    message = capsys.readouterr()
    assert json.loads(message.out)["status"] == "too_many_contacts"
    assert len(message.err.splitlines()) == 1
    assert np.load(file)["status"] == "too_many_contacts"
