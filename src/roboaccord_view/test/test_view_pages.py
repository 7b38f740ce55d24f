"""Pages of the browser view in headless Chromium: what is seen is where projection puts it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageFilter
from roboaccord.contract.state import IDENTITY
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.description.solids import Surface
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.run.loop import make_simulator, simulate
from roboaccord.scenario.camera import Camera
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.setup import Setup
from roboaccord_view.drawing.raster import Canvas, Mesh
from roboaccord_view.player import Player
from roboaccord_view.posing import view_robot
from roboaccord_view.push import KIND
from roboaccord_view.second import SecondRun

pytest.importorskip("viser", reason="viser is not installed")

from browser import Page, browser
from roboaccord_view.live import LiveView, open_stage
from roboaccord_view.stage import Stage
from running import setup_of

PATIENCE = 90.0  # s of wall time
GREY = np.full(3, 0.5)
ALONG = np.array([1.0, 0.0, 0.0])
BARE = """document.head.append(Object.assign(document.createElement('style'), {textContent:
    'body * {visibility: hidden !important} canvas {visibility: visible !important}'}))"""
CLICK = """[...document.querySelectorAll('button')].filter(b => b.textContent == '{}')
    .map(b => b.click()).length"""
FOCUS = """(s => { s?.focus(); return s != null && document.activeElement == s; })(
    document.querySelector('[role=slider]'))"""
COLOURED = 30  # between the largest and the least of red, green and blue


def resting(setup: Setup, shift: float = 0.0, events: tuple[Event, ...] = ()) -> Trajectory:
    """Return two samples of the initial state, the base shifted along x [m]."""
    first = setup.initial
    moved = [replace(first, time=t, position=first.position + shift * ALONG) for t in (0.0, 1.0)]
    return Trajectory.from_states(setup.joints, moved, events)


@contextmanager
def page_of(stage: Stage, folder: Path) -> Iterator[Page]:
    """Open the page of a stage, the scene alone, and wait until its robot is seen."""
    try:
        if "grid" in stage.nodes:
            stage.nodes["grid"].visible = False
        stage.server.scene.configure_default_lights(cast_shadow=False)
        with browser(folder / "chromium", (640, 420)) as page:
            page.open(f"{stage.url}/?fixedDpr=1")  # or it draws coarser on a slow machine
            wait_until(page, lambda: bool(stage.server.get_clients()))
            wait_until(page, lambda: client(stage).camera.image_width > 0)
            page.run(BARE)  # whatever of it appears later, too
            wait_until(page, lambda: (np.ptp(page.picture(), axis=2) > COLOURED).sum() > 100)
            yield page
            assert not page.problems
    finally:
        stage.close()


def client(stage: Stage):
    return next(iter(stage.server.get_clients().values()))


def wait_until(page: Page, done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, "the page does not answer"
        page.go_on(0.1)


def click(page: Page, button: str) -> None:
    wait_until(page, lambda: page.run(CLICK.format(button)) == 1)


def still(page: Page) -> NDArray[np.int64]:
    """Return what is seen once nothing changes any more."""
    end = time.monotonic() + PATIENCE
    before = page.picture()
    while time.monotonic() < end:
        page.go_on(0.4)
        now = page.picture()
        if np.array_equal(now, before):
            return now.astype(np.int64)
        before = now
    raise AssertionError("the page does not come to rest")


def camera_of(stage: Stage) -> Camera:
    """Return the page's camera: viser's axes are right, down and forward, its angle vertical."""
    seen = client(stage).camera
    size = int(seen.image_width), int(seen.image_height)
    axes = quaternion_matrix(np.roll(seen.wxyz, -1)).T
    return Camera(np.array(seen.position), axes, 0.5 * size[1] / np.tan(0.5 * seen.fov), *size)


def silhouette(camera: Camera, solids: list) -> NDArray[np.bool_]:
    """Return the pixels (height, width) that meshes cover, drawn by the films' rasteriser."""
    canvas = Canvas(camera)
    canvas.draw(Mesh.join([Surface("", v, [tuple(f) for f in faces], GREY) for v, faces in solids]))
    return canvas.owner >= 0


def covered(page: Page, nodes) -> NDArray[np.bool_]:
    """Return the pixels that change when nodes of the scene are hidden."""
    shown = still(page)
    for node in nodes:
        node.visible = False
    wait_until(page, lambda: not np.array_equal(page.picture(), shown))
    hidden = still(page)
    for node in nodes:
        node.visible = True
    wait_until(page, lambda: not np.array_equal(page.picture(), hidden))
    return (np.abs(shown - hidden).max(axis=2)) > 8


def misplaced(seen: NDArray[np.bool_], expected: NDArray[np.bool_], but: object = False) -> float:
    """Return the share of the pixels expected that are missing, or seen elsewhere.

    The outermost pixel of a silhouette, which the browser smooths, is either's; so are those `but`.
    """
    wide, narrow = (
        np.asarray(Image.fromarray(255 * expected.astype(np.uint8)).filter(form(3))) > 0
        for form in (ImageFilter.MaxFilter, ImageFilter.MinFilter)
    )
    wrong = (seen & ~wide) | (narrow & ~seen)
    return float((wrong & ~np.asarray(but)).sum() / expected.sum())


@pytest.mark.slow
def test_a_robot_of_meshes_stands_where_the_camera_sees_it(tmp_path: Path) -> None:
    """The Packbot has 20 meshes; it fills its silhouette, and the shelf fills its own."""
    setup = setup_of("packbot", "shelf")
    stage = open_stage(setup, 18480)
    with page_of(stage, tmp_path) as page:
        camera, angles = camera_of(stage), dict(zip(setup.joints, setup.initial.q, strict=True))
        origins, turns = stage.robot.forward((angles, setup.initial.position, IDENTITY))
        shapes = stage.robot.parsed.shapes
        assert len(shapes) >= 20
        solids = [(s.vertices @ turns[s.link].T + origins[s.link], s.faces) for s in shapes]
        seen = covered(page, stage.robot.frames.values())
        expected = silhouette(camera, solids)
        shelf = setup.robot.surroundings(setup).values()
        boards = silhouette(camera, shelf)
        found = covered(page, [stage.nodes[f"solid_{i + 1}"] for i in range(len(shelf))])
    assert min(expected.sum(), boards.sum()) > 1000
    assert misplaced(seen, expected, boards) < 0.01
    assert misplaced(found, boards, expected) < 0.01


@pytest.mark.slow
def test_terrain_lies_where_the_camera_sees_it(tmp_path: Path) -> None:
    setup = setup_of("voxel_sphere", "bowl")
    stage = open_stage(setup, 18490)
    relief = setup.robot.surroundings(setup)["terrain"]
    with page_of(stage, tmp_path) as page:
        expected = silhouette(camera_of(stage), [relief])
        seen = covered(page, [stage.nodes["terrain"]])
        ball = covered(page, stage.robot.frames.values())
    assert expected.sum() > 0.05 * expected.size
    assert misplaced(seen, expected, ball) < 0.01
    assert ball.sum() > 100  # the ball lies in the bowl
    assert not (ball & ~expected).any(), np.argwhere(ball & ~expected)


@pytest.mark.slow
def test_a_click_steps_by_one_sample_and_events_can_be_jumped_to(tmp_path: Path) -> None:
    setup = setup_of("snake", "serpenoid")
    states = [replace(setup.initial, time=0.001 * i) for i in range(2001)]
    events = (Event(0.5, "joint_stop", "joint_03"), Event(1.25, "impact", "joint_04", 0.2))
    stage = open_stage(setup, 18500)
    player = Player(stage, Trajectory.from_states(setup.joints, states, events))
    with page_of(stage, tmp_path) as page:
        click(page, "▶")
        wait_until(page, lambda: not player._play.value)
        assert player._now == pytest.approx(0.001, abs=1e-12)
        click(page, "▶▶")
        wait_until(page, lambda: player._now > 0.01)
        assert player._now == pytest.approx(0.001 + 1.0 / 30.0)
        player._stop_at(player._events["1.2500 s impact joint_04, 0.2 N s"])
        player.advance(0.0)
        wait_until(page, lambda: "1.2500 s" in page.run("JSON.stringify([...document."
                   "querySelectorAll('input')].map(i => i.value))"))  # fmt: skip


@pytest.mark.slow
def test_two_motions_are_shown_at_one_time_with_their_distance(tmp_path: Path) -> None:
    """A ghost 0.3 m ahead covers the pixels of the robot moved there."""
    setup = setup_of("snake", "serpenoid")
    stage = open_stage(setup, 18510)
    second = SecondRun(resting(setup, 0.3), setup.urdf())
    player = Player(stage, resting(setup), beside=[second])
    player.show(0.5)
    assert player._others[0].distance.value == "0.300000"
    with page_of(stage, tmp_path) as page:
        ghost = player._others[0].figure
        pose = ghost.forward(({}, setup.initial.position + 0.3 * ALONG, IDENTITY))
        shapes = ghost.parsed.shapes
        solids = [(s.vertices @ pose[1][s.link].T + pose[0][s.link], s.faces) for s in shapes]
        expected = silhouette(camera_of(stage), solids)
        seen = covered(page, ghost.frames.values())
        robot = covered(page, stage.robot.frames.values())
    assert misplaced(seen, expected, robot) < 0.01


@pytest.mark.slow
def test_a_link_is_pushed_from_the_page(tmp_path: Path) -> None:
    """The run waits while it is paused; one step later the push of 10 N over 0.2 s is an event."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    setup = setup_of("snake", "serpenoid", "duration=0.01")
    stage = open_stage(setup, 18520)
    live = LiveView(setup, stage=stage)
    live._play.value = False
    simulator = live.wrap(make_simulator(setup, "mujoco"))
    done: list[Trajectory] = []

    def run() -> None:
        done.append(
            simulate(
                simulator=simulator, controller=make_controller(setup), initial=setup.initial,
                duration=setup.scenario.duration, control_period=setup.scenario.control_period,
                observers=(live,),
            )
        )  # fmt: skip

    thread = threading.Thread(target=run)
    with page_of(stage, tmp_path) as page:
        thread.start()
        wait_until(page, lambda: live._pace._due > 0.0)
        click(page, "push")
        wait_until(page, lambda: len(simulator._requests) == 1)
        click(page, "▶")
        wait_until(page, lambda: live._latest.time > 0.0)
        assert live._latest.time == setup.scenario.control_period
        assert thread.is_alive()
        live._play.value = True
        thread.join()
        live.close()
    (trajectory,) = done
    (event,) = [e for e in trajectory.events if e.kind == KIND]
    assert (event.time, event.subject) == (0.0, simulator.links[0])
    assert event.impulse == pytest.approx(2.0)


@pytest.mark.slow
def test_its_own_page_poses_a_robot_and_another_page_does_not(tmp_path: Path) -> None:
    """By the keys of a slider, wherever the page was opened; another view's page is a stranger."""
    setup = setup_of("snake", "serpenoid")
    stage, other = view_robot(setup, 18530, "0.0.0.0"), open_stage(setup, 18540)
    controls = stage.server.gui._gui_input_handle_from_uuid.values()
    slider = next(control for control in controls if hasattr(control, "max"))
    port = stage.server.get_port()
    try:
        with browser(tmp_path / "chromium", (640, 420)) as page:
            for host, key in ("localhost", "End"), ("127.0.0.1", "Home"):
                end = {"End": slider.max, "Home": slider.min}[key]
                page.open(f"http://{host}:{port}")
                wait_until(page, lambda: page.run(FOCUS) is True)
                page.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key)
                wait_until(page, lambda end=end: slider.value == end)
            page.open(f"{other.url}/none")
            wait_until(page, lambda: page.run("document.readyState") == "complete")
            page.run(f"s = new WebSocket('ws://127.0.0.1:{port}', 'viser-v1')")
            wait_until(page, lambda: page.run("s.readyState") == 3)  # CLOSED
            assert "403" in page.problems[-1]
    finally:
        stage.close()
        other.close()
