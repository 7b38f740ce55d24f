"""Free bodies are drawn where they are: in films, on pages, and beside another run."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.scene import Scene
from roboaccord.description.solids import Surface, box
from roboaccord.numerics.rotations import quaternion_matrix, turn_quaternion
from roboaccord_view.drawing.waiting import is_moving
from roboaccord_view.film import Film
from roboaccord_view.motion import MovingRobot, resample
from roboaccord_view.player import Player
from roboaccord_view.second import SecondRun
from roboaccord_view.stage import Stage
from test_view import URDF, swing

CORNERS, FACES = box(np.array([0.2, 0.3, 0.4]))
CRATE = Surface("crate", CORNERS, FACES, np.array([0.0, 1.0, 0.0]), frame="crate")


def sliding() -> Trajectory:
    """Return an arm at rest before a crate that slides and turns."""
    run = swing()
    motions = [
        [1.0 + t, -1.0, 0.5, *turn_quaternion(np.array([0.0, 0.0, t])), *np.zeros(6)]
        for t in run.time
    ]
    return replace(run, q=0.0 * run.q, bodies=np.array(motions)[:, None])


def corners_at(motion: Array) -> Array:
    """Return the corners of the crate in a motion (13,)."""
    return CORNERS @ quaternion_matrix(motion[3:7]).T + motion[:3]


@pytest.mark.parametrize("i", [0, 5, 10])
def test_a_crate_covers_the_pixels_to_which_its_corners_project(i: int) -> None:
    """To a pixel, by edges that are smoothed."""
    run = sliding()
    film = Film(URDF, run, fps=10, size=(320, 240), surfaces=[CRATE], uncut=True)
    green = film.picture(i).astype(int)
    is_crate = (green[..., 1] > 90) & (green[..., 1] > 2 * green[..., 0] + 40)
    rows, columns = np.nonzero(is_crate)
    assert run.bodies is not None
    points = corners_at(run.bodies[10 * i, 0]) @ film._stance.turn.T
    pixels = film._stance.camera(i, film.size).project(points)
    low, high = pixels.min(axis=0), pixels.max(axis=0)
    assert [columns.min(), rows.min()] == pytest.approx(low, abs=1.5)
    assert [columns.max() + 1, rows.max() + 1] == pytest.approx(high, abs=1.5)
    without = Film(URDF, replace(run, bodies=None), fps=10, size=(320, 240), uncut=True)
    assert len(without._robot.shapes) == len(film._robot.shapes) - 1


def test_a_body_changes_neither_the_centre_of_mass_nor_the_tip() -> None:
    run, scene = sliding(), Scene.parse(URDF)
    alone, beside = MovingRobot(scene, run), MovingRobot(scene, run, [CRATE])
    assert beside.path().tolist() == alone.path().tolist() and beside.tip() is None
    swung = replace(run, q=swing().q, qd=swing().q)
    tips = [MovingRobot(scene, swung, bodies).tip() for bodies in ((), [CRATE])]
    assert tips[0] and tips[1] and tips[0].link == tips[1].link
    assert tips[0].offset.tolist() == tips[1].offset.tolist()


def test_resampled_bodies_take_the_short_way_round() -> None:
    run = sliding()
    assert run.bodies is not None
    signs = np.ones(run.bodies.shape)
    signs[1::2, :, 3:7] = -1.0
    found = resample(replace(run, bodies=signs * run.bodies), 0.025).bodies
    expected = resample(run, 0.025).bodies
    assert found is not None and expected is not None
    assert found == pytest.approx(expected) and found[3, 0, 0] == pytest.approx(1.075)
    assert np.linalg.norm(found[:, 0, 3:7], axis=1) == pytest.approx(1.0)


def test_a_film_does_not_cut_the_time_in_which_a_body_moves() -> None:
    run = resample(sliding(), 0.1)
    points = np.tile(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), (len(run), 1, 1))
    assert is_moving(run, points, 0.1).all()
    assert not is_moving(replace(run, bodies=None), points, 0.1).any()


def test_a_body_beside_has_the_colour_of_its_run() -> None:
    """Blue over the light ground, as its robot; the first run has none."""
    run = sliding()
    second = SecondRun(run, URDF).with_bodies([CRATE])
    film = Film(URDF, replace(run, bodies=None), fps=10, size=(320, 240), beside=[second])
    bare = Film(
        URDF, replace(run, bodies=None), fps=10, size=(320, 240), beside=[SecondRun(run, URDF)]
    )
    lost = bare.picture(0).astype(int) - film.picture(0)
    changed = np.abs(lost).max(axis=-1) > 25
    assert changed.sum() > 50 and (lost[changed].mean(axis=0)[[0, 2]] @ [1, -2] > 0.0)
    assert SecondRun(replace(run, bodies=None), URDF).with_bodies([CRATE]).bodies == []


def test_a_page_has_the_crate_at_the_time_of_its_slider() -> None:
    pytest.importorskip("viser")
    run = sliding()
    assert run.bodies is not None
    with closing(Stage(URDF, surfaces=[CRATE])) as stage:
        assert "crate" not in stage.nodes  # those stand still
        player = Player(stage, run, beside=[SecondRun(run, URDF).with_bodies([CRATE])])
        player.show(0.5)
        for figures in (stage.bodies, player._others[0]._bodies):
            (node,) = figures._nodes
            assert list(node.position) == pytest.approx([1.5, -1.0, 0.5])
            assert list(np.roll(node.wxyz, -1)) == pytest.approx(run.bodies[50, 0, 3:7])
