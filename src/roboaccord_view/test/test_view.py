"""The picture is what pinhole algebra gives, the GIF moves, and a missing extra is reported."""

from __future__ import annotations

import base64
import io
import math
import shutil
import socket
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import roboaccord as ra
from PIL import Image
from roboaccord.bag.second_robot import Look
from roboaccord.cli.main import run
from roboaccord.contract import plugins
from roboaccord.contract.errors import AccordError
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.report import Report
from roboaccord.description.materials import BLUE
from roboaccord.description.scene import VISUAL, Scene
from roboaccord.description.solids import TERRAIN, Surface, box
from roboaccord.door import setup_of
from roboaccord.report.portrait import DRAW, picture_of
from roboaccord.scenario.camera import Camera
from roboaccord.scenario.surroundings import EARTH
from roboaccord_view.door import setup_to_pose
from roboaccord_view.drawing.ground import GRID_COLOUR, GROUND_COLOUR, PATH_COLOUR, draw_ground
from roboaccord_view.drawing.raster import TO_LIGHT, Canvas, Mesh
from roboaccord_view.film import Film
from roboaccord_view.film_files import write_gif, write_mp4
from roboaccord_view.motion import MovingRobot, outline, resample
from roboaccord_view.options import FilmOptions, Page, parse_size
from roboaccord_view.posing import slider_range, view_robot
from roboaccord_view.second import SecondRun
from roboaccord_view.show import write_films
from roboaccord_view.stage import Stage
from roboaccord_view.stance import SIDE_MARGIN, Stance, over_terrain, smoothed, stance_of

URDF = """<robot name="arm">
  <material name="red"><color rgba="0.8 0.2 0.1 1"/></material>
  <link name="world"/>
  <joint name="base_joint" type="fixed"><parent link="world"/><child link="base_link"/></joint>
  <link name="base_link">
    <visual><geometry><cylinder radius="0.2" length="0.1"/></geometry></visual>
  </link>
  <joint name="elbow" type="revolute">
    <parent link="base_link"/><child link="arm_link"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3"/>
  </joint>
  <link name="arm_link">
    <inertial><mass value="1"/></inertial>
    <visual>
      <origin xyz="0.5 0 0.1"/><geometry><box size="1 0.1 0.1"/></geometry>
      <material name="red"/>
    </visual>
    <visual><geometry><sphere radius="0.1"/></geometry></visual>
  </link>
</robot>"""


def swing(joint: str = "elbow") -> Trajectory:
    time = np.linspace(0.0, 1.0, 101)
    column = np.sin(3.0 * time)[:, None]
    return Trajectory(
        joints=(joint,), time=time, q=column, qd=0 * column, effort=0 * column,
        position=np.zeros((101, 3)), orientation=np.tile([0.0, 0.0, 0.0, 1.0], (101, 1)),
        twist=np.zeros((101, 6)),
    )  # fmt: skip


def test_cube_corner_projects_where_pinhole_algebra_says() -> None:
    camera = Camera.aim(np.zeros(3), np.array([0.0, -1.0, 0.0]), 4.0, math.radians(90), (800, 600))
    corners, _ = box(np.full(3, 2.0))
    near = corners[(corners == [1, -1, 1]).all(axis=1)][0]
    # Focal length 400 px; the corner is 1 m right and 1 m up, 3 m ahead of the eye at y = -4.
    assert camera.project(near) == pytest.approx([400 + 400 / 3, 300 - 400 / 3])


def swung(along: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of a bar of 1 m that goes along y, or x, and turns in that plane and z."""
    angle = np.linspace(0.0, 6.0, len(along))
    ends = np.zeros((len(along), 2, 3))
    ends[:, :, axis] = along[:, None]
    ends[:, 1, axis] += np.sin(angle)
    ends[:, 1, 2] = -np.cos(angle)
    return ends, ends.mean(axis=1)


BANDS = 0.1, 0.2


def seen_by(stance: Stance, points: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return where points (t, m, 3) are in a film's pictures (t, m, 2), in parts of their sides."""
    cameras = [stance.camera(i, size) for i in range(len(stance.target))]
    seen = [c.project(p @ stance.turn.T) for c, p in zip(cameras, points, strict=True)]
    return np.array(seen) / size


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shift", [0.0, 2.0, 60.0])
@pytest.mark.parametrize("size", [(720, 404), (404, 720)])
def test_all_of_a_motion_is_in_the_picture_and_fills_it(
    axis: int, shift: float, size: tuple[int, int]
) -> None:
    """No vertex is outside at any time, or behind what is written.

    Opposite edges are touched, so that the camera is as near as can be. Only the long way is
    followed.
    """
    points, centre = swung(np.linspace(0.0, shift, 200), axis)
    stance = stance_of(points, centre, 25, size[0] / size[1], BANDS)
    seen = seen_by(stance, points, size)
    low, high = np.array([SIDE_MARGIN, BANDS[0]]), np.array([1.0 - SIDE_MARGIN, 1.0 - BANDS[1]])
    slack = np.array([seen.min(axis=(0, 1)) - low, high - seen.max(axis=(0, 1))])
    assert slack.min() > -1e-9 and slack.max(axis=0).min() < 1e-9
    assert (np.ptp(stance.target, axis=0).max() > 1e-9) == (shift > 10)


def test_motion_on_a_wall_is_seen_from_its_front() -> None:
    """On the picture y goes to the right and z up; so does it where nothing moves on a wall."""
    points, centre = swung(np.linspace(0.0, 2.0, 50), axis=1)
    resting = np.tile(points[:1], (50, 1, 1)), np.tile(centre[:1], (50, 1))
    for (ends, middle), wall in (((points, centre), False), (resting, True)):
        stance = stance_of(ends, middle, 25, 16 / 9, wall=wall)
        axes = np.tile([[0.0, 0, 0], [0, 0.1, 0], [0, 0, 0.1]], (50, 1, 1))
        origin, right, up = seen_by(stance, axes, (720, 405))[0] * (720, 405)
        assert right[0] > origin[0] + 1 and abs(right[1] - origin[1]) < 1
        assert up[1] < origin[1] - 1


def test_motion_over_ground_is_not_taken_for_one_on_a_wall() -> None:
    """A robot that jumps as it goes along x, one that goes along y on a level, one that falls."""
    points, _centre = swung(np.linspace(0.0, 2.0, 50), axis=0)
    flat = swung(np.linspace(0.0, 2.0, 50), axis=1)[0] * [0.0, 1.0, 0.0]
    fallen = points[:1] - np.linspace(0.0, 2.0, 50)[:, None, None] * [0.0, 0.0, 1.0]
    for each in (points, flat, fallen):
        assert (stance_of(each, each.mean(axis=1), 25, 16 / 9).turn == np.eye(3)).all()


def test_the_outline_of_a_shape_holds_all_of_it() -> None:
    """Of a fine ball the outermost vertices in 192 directions miss at most 2 % of the radius."""
    turn = np.random.default_rng(0).normal(size=(5000, 3))
    ball = turn / np.linalg.norm(turn, axis=1)[:, None]
    seen = outline(ball)
    assert len(seen) <= 192
    assert (ball @ ball[:200].T).max(axis=0) == pytest.approx(
        (seen @ ball[:200].T).max(axis=0), abs=0.02
    )


def test_a_shelf_does_not_hide_the_tip() -> None:
    """A board between the usual camera and the arm: it is seen from elsewhere; beside it is not."""
    board, faces = box(np.array([3.0, 0.05, 2.0]))
    places = (board + np.array([0.0, y, 0.5]) for y in (3.0, -1.5))
    boards = (Surface("solid_1", place, faces, EARTH) for place in places)
    usual, behind = (Film(URDF, swing(), size=(160, 90), surfaces=[each]) for each in boards)
    assert behind._times_hidden(usual._stance) > 0 == behind._times_hidden(behind._stance)
    assert (usual._stance.direction != behind._stance.direction).any()


def test_the_nearer_solid_hides_the_farther_in_any_order() -> None:
    camera = Camera.aim(np.zeros(3), np.array([0.0, -1.0, 0.0]), 6.0, math.radians(60), (80, 60))
    vertices, faces = box(np.full(3, 1.0))
    red, green = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    near = Surface("near", vertices - [0, 1, 0], faces, red)
    far = Surface("far", vertices * 1.2 + [0, 1, 0], faces, green)
    for order in ([near, far], [far, near]):
        canvas = Canvas(camera)
        canvas.draw(Mesh.join(order))
        assert canvas.depths[30, 40] == pytest.approx(1 / 4.5)  # of the near one's face
        assert canvas.paint[canvas.owner[30, 40]].tolist()[1:] == [0, 0]
        assert canvas.paint[canvas.owner[30, 40], 0] > 0


def test_a_canvas_is_cleared_before_the_next_picture() -> None:
    camera = Camera.aim(np.zeros(3), np.array([0.0, -1.0, 0.0]), 6.0, math.radians(60), (80, 60))
    cube = Mesh.join([Surface("", *box(np.full(3, 1.0)), np.ones(3))])
    canvas, fresh = Canvas(camera), Canvas(camera)
    for shift in (1.0, -1.0):
        canvas.draw(cube.at(cube.points + np.array([shift, 0.0, 0.0])))
    fresh.draw(cube.at(cube.points - np.array([1.0, 0.0, 0.0])))
    assert (canvas.owner == fresh.owner).all() and (canvas.depths == fresh.depths).all()


def test_a_cube_covers_its_silhouette() -> None:
    """Seen along y from 4 m, focal length 40 px, the front of 1 m at 3.5 m is 40 / 3.5 px wide."""
    camera = Camera.aim(np.zeros(3), np.array([0.0, -1.0, 0.0]), 4.0, math.radians(90), (80, 60))
    canvas = Canvas(camera)
    canvas.draw(Mesh.join([Surface("", *box(np.full(3, 1.0)), np.ones(3))]))
    side = 40.0 / 3.5
    inside = [i for i in range(80) if abs(i + 0.5 - 40.0) < 0.5 * side]
    assert np.flatnonzero((canvas.owner >= 0).any(axis=0)).tolist() == inside
    assert (canvas.owner >= 0).sum() == len(inside) ** 2


@pytest.mark.parametrize("floor", [0.0, -2.0])
def test_grid_lines_lie_where_the_camera_sees_them(floor: float) -> None:
    """Straight down from 4 m, the line x = 1 m is 1/4 of the focal length right of the middle.

    Its ink is that of one to two pixels: it is seen, and thin.
    """
    direction = np.array([1e-6, 0.0, 1.0])  # and right is y, then
    target = np.array([0.0, 0.0, floor])
    camera = Camera.aim(target, direction, 4.0, math.radians(90), (800, 600))
    picture = draw_ground(camera, floor, 1.0)
    dark = picture[250, :, 0] < 220
    assert np.flatnonzero(dark).tolist() == [
        i for k in range(-4, 5) for i in (400 + 100 * k - 1, 400 + 100 * k) if 0 <= i < 800
    ]
    ink = (GROUND_COLOUR - picture[250, 390:410]).sum(axis=0) / (GROUND_COLOUR - GRID_COLOUR)
    assert (ink > 1.0).all() and (ink < 2.0).all()


def still(position: tuple[float, float, float]) -> Trajectory:
    """Return a ball at rest."""
    return Trajectory(
        (), np.zeros(1), *(np.zeros((1, 0)),) * 3, np.array([position]),
        np.array([[0.0, 0.0, 0.0, 1.0]]), np.zeros((1, 6)),
    )  # fmt: skip


BALL = """<robot name="ball"><link name="base_link"><inertial><mass value="1"/></inertial>
  <visual><geometry><sphere radius="0.1"/></geometry>
  <material name="red"><color rgba="1 0 0 1"/></material></visual></link></robot>"""


@pytest.mark.parametrize(("z", "seen"), [(0.1, True), (-0.3, False)])
def test_terrain_hides_what_is_behind_it_and_nothing_else(z: float, seen: bool) -> None:
    slab, faces = box(np.array([2.0, 2.0, 0.2]))
    terrain = Surface(TERRAIN, slab - [0.0, 0.0, 0.1], faces, EARTH)
    film = Film(BALL, still((0.0, 0.0, z)), surfaces=[terrain])
    picture = film.picture(0).astype(int)
    assert ((picture[..., 0] - picture[..., 2] > 100).sum() > 50) == seen


def test_a_second_robot_is_translucent_and_its_link_red_from_when_it_was() -> None:
    """Over light ground it takes the red of the picture while it is blue, and then the blue."""
    ball = replace(still((0.0, 0.0, 0.1)), time=np.zeros(1))
    motion = Trajectory.from_states((), [replace(ball.state(0), time=t) for t in (0.0, 0.5, 1.0)])
    looks = [Look(), Look(1.0, 0.2, link="base_link", since=0.5, line="base_link: mass")]
    aside = replace(motion, position=motion.position + np.array([0.3, 0.0, 0.0]))
    plain = Film(BALL, motion, fps=2, size=(160, 90))
    film = Film(BALL, motion, fps=2, size=(160, 90), beside=[SecondRun(aside, BALL, looks)])
    for i, red in ((0, False), (1, True), (2, True)):
        alone, both = (each.picture(i).astype(float)[25:] for each in (plain, film))
        changed = np.abs(both - alone).max(axis=-1) > 25.0
        assert changed.sum() > 50
        lost = (alone - both)[changed].mean(axis=0)
        assert (lost[2] > 2.0 * lost[0]) == red and (lost[0] > 2.0 * lost[2]) != red
    others = [SecondRun(aside, BALL, name="dart"), SecondRun(motion, BALL, name="mujoco")]
    several = Film(BALL, motion, fps=2, size=(160, 90), beside=others, name="reference")
    lines = [text for text, _ in several._legend(1)]
    assert lines == [
        "reference",
        "dart   centres of mass 300 mm apart",
        "mujoco   centres of mass less than 1 um apart",
    ]
    urdf = Look(opacity=0.4).paint(BALL)
    (shape,) = Scene.parse(urdf).shapes
    assert (tuple(shape.colour), shape.opacity) == (BLUE, 0.4)


def test_a_report_has_a_picture_of_the_robot_whose_farthest_link_is_red(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The arm of the MonkeyBot that swings is red, and no link where none is apart."""
    setup = setup_of("monkeybot", "swing", {"duration": 0.1})
    run = ra.run(setup, transport="direct", out=tmp_path).trajectory
    moved = replace(run, q=run.q + np.linspace(0.0, 0.1, len(run))[:, None])
    blank = dict.fromkeys(Report.__dataclass_fields__)
    entry = EntryPoint(DRAW, "roboaccord_view.portrait:draw_robot", "roboaccord.functions")
    monkeypatch.setattr(plugins, "entries", lambda group: {DRAW: entry})

    def drawn(other: Trajectory) -> tuple[str, int]:
        runs = {"reference": run, "dart": other}
        picture, caption = picture_of(Report(**{**blank, "trajectories": runs, "setup": setup}))
        data = base64.b64decode(picture.partition(",")[2])
        red, green, blue = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).T.astype(int)
        return caption, int(((red > 150) & (green < 60) & (blue < 60)).sum())

    caption, count = drawn(moved)
    assert "at 0.1 s in dart" in caption and count > 500
    assert drawn(run)[1] == 0


def test_a_ball_throws_its_shadow_on_terrain_where_the_light_says() -> None:
    """The shadow of a centre at height h lies h (LIGHT_x, LIGHT_y) / LIGHT_z beside its foot."""
    slab, faces = box(np.array([2.0, 2.0, 0.2]))
    terrain = Surface(TERRAIN, slab - [0.0, 0.0, 0.1], faces, EARTH)
    films = [
        Film(BALL, still((0.0, 0.0, z)), surfaces=[terrain])
        for z in (0.4, 50.0)  # the other one's shadow misses the slab
    ]
    with_it, without = (film.picture(0).astype(int) for film in films)
    stance = over_terrain(slab - [0.0, 0.0, 0.1], 1, 720 / 404)
    camera = stance.camera(0, (720, 404))
    spot = -0.4 * TO_LIGHT / TO_LIGHT[2] + [0.0, 0.0, 0.4]
    x, y = camera.project(spot).astype(int)
    assert with_it[y, x].sum() < 0.8 * without[y, x].sum()
    x, y = camera.project(-spot).astype(int)  # towards the light
    assert with_it[y, x].tolist() == without[y, x].tolist()


def test_all_of_a_terrain_is_seen() -> None:
    slab, _ = box(np.array([3.0, 1.0, 0.5]))
    for size in ((720, 404), (404, 720), (500, 500)):
        stance = over_terrain(slab, 1, size[0] / size[1])
        camera = stance.camera(0, size)
        seen = camera.project(slab)
        assert (seen > 0).all() and (seen < size).all()
        assert np.ptp(seen, axis=0).max() > 0.5 * min(size)


def test_gif_has_its_frames_and_moves(tmp_path: Path) -> None:
    path = tmp_path / "arm.gif"
    seen: list[tuple[int, int]] = []
    arm = Film(URDF, swing(), fps=10, size=(160, 90))
    write_gif(arm, path, lambda i, n: seen.append((i, n)))
    with Image.open(path) as film:
        assert len(arm) == film.n_frames == 11
        assert film.size == (160, 90)
        first = np.asarray(film.convert("RGB"))
        duration = film.info["duration"]
        colours = np.reshape(film.getpalette(), (-1, 3)).tolist()
        film.seek(5)
        later = np.asarray(film.convert("RGB"))
    assert duration == 100
    assert 50 < len(set(map(tuple, colours))) <= 64  # those of the 2^6 that the first picture has
    assert PATH_COLOUR.tolist() in colours
    assert seen[-1] == (11, 11)
    assert first.std() > 5
    assert np.abs(first.astype(int) - later).max() > 50
    drawn = arm.picture(5).astype(int)
    assert np.sqrt(((drawn - later) ** 2).mean()) < 4  # of 255: 62 colours of the picture's


def test_half_speed_has_twice_the_frames() -> None:
    assert len(Film(URDF, swing(), fps=5, size=(64, 64), speed=0.5)) == 11


@pytest.mark.skipif(not shutil.which("ffmpeg"), reason="ffmpeg is not on PATH")
def test_mp4_has_its_frames(tmp_path: Path) -> None:
    path = tmp_path / "arm.mp4"
    write_mp4(Film(URDF, swing(), fps=30, size=(160, 90)), path)
    printed = subprocess.run(
        ["ffmpeg", "-i", path, "-map", "0:v", "-f", "framemd5", "-"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert sum(not line.startswith("#") for line in printed.splitlines()) == 31
    assert "#dimensions 0: 160x90" in printed
    assert "#tb 0: 1/30" in printed


def test_mp4_without_ffmpeg_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(AccordError, match=r"^--mp4 needs ffmpeg.*apt-get install ffmpeg$"):
        write_mp4(Film(URDF, swing(), fps=5, size=(64, 64)), Path("no.mp4"))


@pytest.mark.parametrize(
    ("text", "size"), [("720x404", (720, 404)), ("1280", (1280, 720)), ("720", (720, 404))]
)
def test_a_size_is_read(text: str, size: tuple[int, int]) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "x", "720x", "x404", "-5x5", "7.5x4", "1x2x3", "big"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(AccordError, match="WIDTHxHEIGHT or WIDTH"):
        parse_size(text)


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ({"fps": 0.0}, "fps is 0"),
        ({"fps": -1.0}, "fps is -1"),
        ({"fps": math.nan}, "fps is nan"),
        ({"size": (12, 400)}, "size is 12x400"),
        ({"speed": 0.0}, "speed is 0"),
    ],
)
def test_figures_out_of_range_are_refused(option: dict[str, Any], reason: str) -> None:
    with pytest.raises(AccordError, match=reason):
        Film(URDF, swing(), **option)


def test_a_gif_is_not_faster_than_players_show_it(tmp_path: Path) -> None:
    with pytest.raises(AccordError, match="fps is 51"):
        write_gif(Film(URDF, swing(), fps=51, size=(64, 64)), tmp_path / "x.gif")


def test_the_speed_shown_is_that_of_the_centre_of_mass_and_0_at_rest() -> None:
    """The arm's mass sits in the elbow: omega x r of the base, turned, and 0 where it starts."""
    time = np.array([0.0, 0.01])
    twist = np.array([[0.0] * 6, [0.3, 0.0, 0.4, 0.0, 0.0, 2.0]])
    motion = Trajectory(
        ("elbow",), time, *(np.zeros((2, 1)),) * 3, np.zeros((2, 3)),
        np.tile([0.0, 0.0, 0.6, 0.8], (2, 1)), twist,
    )  # fmt: skip
    moved = URDF.replace('<axis xyz="0 0 1"/>', '<origin xyz="0 0.5 0"/><axis xyz="0 0 1"/>')
    # v + omega x r = (0.3 - 2 * 0.5, 0, 0.4)
    rates = MovingRobot(Scene.parse(moved), motion).speeds()
    assert rates[0] == 0.0 and rates[1] == pytest.approx(math.hypot(0.7, 0.4), rel=1e-6)


def test_resampling_takes_the_short_way_round() -> None:
    run = swing()
    turns = run.orientation.copy()
    turns[1::2] *= -1.0
    flipped = replace(run, orientation=turns)
    assert resample(flipped, 0.025).orientation == pytest.approx(resample(run, 0.025).orientation)


def test_camera_keeps_a_steady_pace_and_ignores_a_small_sway() -> None:
    pace = np.column_stack([np.linspace(0, 9, 100), np.zeros((100, 2))])
    assert smoothed(pace, 25) == pytest.approx(pace, abs=1e-9)
    bar = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    sway = 0.1 * pace[:, None] + bar
    assert np.ptp(stance_of(sway, sway.mean(axis=1), 25, 16 / 9).target, axis=0).max() == 0.0


def test_says_what_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(AccordError, match="no joint elbow"):
        Film(URDF, swing("shoulder"))
    with pytest.raises(AccordError, match="no box"):
        Scene.parse('<robot name="bare"><link name="base_link"/></robot>')
    with pytest.raises(AccordError, match="cannot write"):
        write_gif(Film(URDF, swing(), fps=1, size=(64, 64)), tmp_path / "no" / "x.gif")


OBJ = """v 0 0 0\nv 2 0 0\nv 0 3 0\nv 0 0 4\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"""
DENTED = OBJ.replace("f 2 3 4", "v 0.5 0.5 0.5\nf 2 3 5\nf 3 4 5\nf 4 2 5")


MISSING = "visual and collision shapes"


@pytest.mark.parametrize("collision", [False, True])
@pytest.mark.parametrize(
    ("text", "drawn", "kind"), [(OBJ, 4, VISUAL), (DENTED, 6, VISUAL), ("", 6, MISSING)]
)
def test_meshes_are_drawn_and_else_what_collides_and_which_is_said(
    text: str, drawn: int, kind: str, collision: bool, tmp_path: Path
) -> None:
    path = tmp_path / "mesh.obj"
    path.write_text(text)
    urdf = f"""<robot name="one"><link name="base_link">
      <visual><origin xyz="0 0 1"/>
        <geometry><mesh filename="file://{path}" scale="1 2 3"/></geometry></visual>
      <collision><geometry><box size="1 1 1"/></geometry></collision></link></robot>"""
    scene = Scene.parse(urdf, collision=collision)
    (shape,) = scene.shapes
    assert scene.kind == ("collision shapes" if collision else kind)
    if text and not collision:
        assert len(shape.faces) == drawn  # of the tetrahedron, dented or not
        assert shape.vertices[:4] == pytest.approx(
            np.array([[0, 0, 1], [2, 0, 1], [0, 6, 1], [0, 0, 13]])
        )
    else:
        assert (np.abs(shape.vertices) == 0.5).all()


def test_a_mesh_has_the_colours_of_its_file_unless_it_is_painted(tmp_path: Path) -> None:
    """A red and a blue part; white as the URDF has it where the file has none."""
    pytest.importorskip("trimesh")
    (tmp_path / "two.mtl").write_text("newmtl a\nKd 1 0 0\nnewmtl b\nKd 0 0 1\n")
    halves = OBJ.replace("f 1 3 2", "usemtl a\nf 1 3 2").replace("f 1 4 3", "usemtl b\nf 1 4 3")
    (tmp_path / "two.obj").write_text(f"mtllib two.mtl\n{halves}")
    (tmp_path / "plain.obj").write_text(OBJ)

    def colours(name: str, urdf: str = URDF) -> set[tuple[int, ...]]:
        mesh = f'<mesh filename="file://{tmp_path}/{name}.obj"/>'
        white = '<material name="w"><color rgba="1 1 1 1"/></material>'
        one = f"""<robot name="one"><link name="base_link"><visual><geometry>{mesh}</geometry>
          {white}</visual></link></robot>"""
        shapes = Scene.parse(Look().paint(one) if urdf is not URDF else one).shapes
        return {tuple(np.rint(255 * shape.colour).astype(int).tolist()) for shape in shapes}

    assert colours("two") == {(255, 0, 0), (0, 0, 255)}
    assert colours("plain") == {(255, 255, 255)}
    assert colours("two", "painted") == {tuple(round(255 * part) for part in BLUE)}


def test_both_sides_of_a_face_are_drawn() -> None:
    """Meshes from elsewhere need not be closed, nor their faces turned outwards."""
    camera = Camera.aim(np.zeros(3), np.array([0.0, -1.0, 0.0]), 6.0, math.radians(60), (80, 60))
    corners = np.array([[-1.0, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]])
    seen = []
    for face in ((0, 1, 2, 3), (3, 2, 1, 0)):
        canvas = Canvas(camera)
        canvas.draw(Mesh.join([Surface("", corners, (face,), np.ones(3))]))
        seen.append(canvas.owner >= 0)
    assert (seen[0] == seen[1]).all() and seen[0].sum() > 100


@pytest.mark.parametrize(
    ("given", "limits"),
    [
        ((-6.28, 6.28), (-6.28, 6.28)), ((3.5, 4.0), (3.5, 4.0)), ((0.0, 9.0), (0.0, 9.0)),
        ((-math.inf, math.inf), (-math.pi, math.pi)), ((-1e16, 1e16), (-math.pi, math.pi)),
        ((1.0, math.inf), (1.0, 1.0 + 2.0 * math.pi)), ((0.0, 0.0), (0.0, 1e-3)),
    ],
)  # fmt: skip
def test_a_slider_goes_through_what_its_joint_may(
    given: tuple[float, float], limits: tuple[float, float]
) -> None:
    """Its limits, also beyond half a turn; a turn where it has none. A slider needs a range."""
    assert slider_range(*given) == pytest.approx(limits)


def test_sliders_have_the_limits_of_the_file(tmp_path: Path) -> None:
    """Though the robot of a file is simulated without its stops."""
    pytest.importorskip("viser")
    other = """<joint name="second" type="continuous"><parent link="arm_link"/><child link="last"/>
      <axis xyz="0 0 1"/><limit lower="0" upper="0" effort="1" velocity="1"/></joint>"""
    mass = """<inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
    path = tmp_path / "arm.urdf"
    text = URDF.replace('<inertial><mass value="1"/></inertial>', mass)
    text = text.replace('upper="3"', 'upper="5" effort="1" velocity="1"')
    path.write_text(text.replace("</robot>", f"<link name='last'>{mass}</link>{other}</robot>"))
    with closing(view_robot(setup_to_pose(str(path)), 18560)) as stage:
        controls = stage.server.gui._gui_input_handle_from_uuid.values()
        found = {c.label: (c.min, c.max) for c in controls if hasattr(c, "max")}
    assert found == {"elbow [rad]": (-3.0, 5.0), "second [rad]": pytest.approx((-math.pi, math.pi))}


def test_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(AccordError, match="pip install viser") as caught:
        Stage(URDF)
    assert "\n" not in str(caught.value)


def reached(address: str, port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((address, port)) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is this machine on Linux alone")
@pytest.mark.parametrize(("host", "others"), [({}, False), ({"host": "0.0.0.0"}, True)])
def test_a_view_is_for_one_address_unless_asked(host: dict[str, str], others: bool) -> None:
    pytest.importorskip("viser")
    with closing(Stage(URDF, 18080, **host)) as stage:
        port = int(stage.url.rpartition(":")[2])
        assert stage.url == f"http://{host.get('host', '127.0.0.1')}:{port}"
        assert reached("127.0.0.1", port)
        assert reached("127.0.0.2", port) == others


@pytest.mark.parametrize("length", [0.5, 5.0])
def test_a_page_opens_with_all_of_the_robot_in_sight(length: float) -> None:
    """It is within the view, and fills it in width or height."""
    pytest.importorskip("viser")
    urdf = URDF.replace('size="1 0.1 0.1"', f'size="{2 * length} 0.1 0.1"')
    with closing(Stage(urdf)) as stage:
        camera = stage.server.initial_camera
        eye, middle = np.array(camera.position), np.array(camera.look_at)
        points = stage.robot.points(({}, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])))
    assert np.ptp(points, axis=0).max() > length
    away = float(np.linalg.norm(eye - middle))
    pinhole = Camera.aim(middle, eye - middle, away, camera.fov, (1, 1))
    seen = pinhole.project(points)
    assert seen.min() > 0.0 and seen.max() < 1.0
    assert np.ptp(seen, axis=0).max() > 0.9
    assert eye[2] > middle[2]  # from above the ground


def test_an_address_that_cannot_be_had_is_one_line() -> None:
    pytest.importorskip("viser")
    with pytest.raises(AccordError, match=r"^cannot listen on 192\.0\.2\.1: Cannot assign"):
        Stage(URDF, host="192.0.2.1")  # of no machine: RFC 5737


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "0.0.0.0"])
def test_who_lets_others_in_is_warned(host: str) -> None:
    lines = list[str]()
    closed = list[bool]()
    stage: Any = SimpleNamespace(url=f"http://{host}:8080", close=lambda: closed.append(True))
    with Page(host=host).shown(stage, lines.append):
        assert not closed
    warnings = ["warning: whoever reaches 0.0.0.0 on port 8080 can watch and steer"]
    expected = warnings if host == "0.0.0.0" else []
    assert lines == [*expected, f"open http://{host}:8080 in a browser; Ctrl-C ends the view"]
    assert closed


def test_a_second_bag_has_to_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["view", str(tmp_path), str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.replace("\n", "").endswith(f"no bag {tmp_path}/none")


def test_a_film_has_the_ending_of_its_format(tmp_path: Path) -> None:
    """What is in a file is what its name promises."""
    options = FilmOptions(gif=tmp_path / "snake.txt")
    with pytest.raises(AccordError, match=r"--gif takes a FILE.gif, not .*/snake.txt"):
        write_films([tmp_path / "bag"], options, 1.0, None, print, collision=False)


def test_a_robot_too_large_to_draw_is_one_line() -> None:
    """Found by the fuzzer: positions whose squares overflow."""
    bodies = [np.array([[[1e200, 0.0, 0.0]]])]
    with pytest.raises(AccordError, match="a robot of inf m cannot be drawn"):
        stance_of(bodies, np.zeros((1, 3)), 12.0, 1.5)
