"""Films point out failed joints, targets and findings, and leave out waiting."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import roboaccord as ra
from PIL import ImageDraw
from roboaccord.bag.reader import BagRun
from roboaccord.contract.fault import FOUND, REFUSED
from roboaccord.contract.state import Aim, Event
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.scene import Scene
from roboaccord_view.drawing.annotations import point_out
from roboaccord_view.drawing.failures import casing, failure_lines, failures
from roboaccord_view.drawing.waiting import shown_samples
from roboaccord_view.film import Film
from roboaccord_view.motion import MovingRobot
from roboaccord_view.second import SecondRun, names_of, runs_beside
from roboaccord_view.show import Recorded
from test_view import URDF

SIZE = 320, 180
ENGINES = "reference", "mujoco"
TIP = Aim("tip", "arm_link", np.array([1.0, 0.0, 0.1]))
REACH = Aim("tip", "arm_link", np.array([1.0, 0.0, 0.1]), np.array([0.0, 1.2, 0.3]))


def turned(angles: np.ndarray, step: float = 0.04, events: tuple[Event, ...] = ()) -> Trajectory:
    """Return a motion of the arm's elbow through angles (t,) [rad]."""
    count, column = len(angles), np.asarray(angles, dtype=float)[:, None]
    return Trajectory(
        ("elbow",), step * np.arange(count), column, np.gradient(column, step, axis=0),
        0.0 * column, np.zeros((count, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)),
        np.zeros((count, 6)), events,
    )  # fmt: skip


def pixels(film: Film, place: np.ndarray, picture: np.ndarray, around: int = 2) -> np.ndarray:
    """Return the colours around a place of the world in a picture (k, 3)."""
    x, y = film._stance.camera(0, film.size).project(place).round().astype(int)
    return picture[y - around : y + around + 1, x - around : x + around + 1].reshape(-1, 3)


def test_a_failed_joint_is_red_where_it_is_and_from_when_it_failed() -> None:
    """The ball of the elbow is grey before: red from 0.4 s on, in pixels at its place."""
    run = turned(np.linspace(0.0, 1.0, 26), events=(Event(0.4, "joint_frozen", "elbow"),))
    film = Film(URDF, run, size=SIZE)
    top = np.array([0.0, -0.06, 0.08])  # on the ball, towards the camera
    before, after = (pixels(film, top, film.picture(i)).astype(int) for i in (9, 10))
    assert (after[:, 0] > 2 * after[:, 1:].max(axis=1)).all()
    assert (before[:, 0] < 1.6 * before[:, 1]).all()


def test_a_target_is_marked_at_its_place_and_in_sight() -> None:
    """Green at the target, which lies beyond the robot; the end of a refused one is marked, too."""
    run = turned(np.linspace(0.0, 1.0, 26))
    refused = (Event(0.4, REFUSED, "out_of_reach"),)
    film = Film(URDF, run, size=SIZE, aim=REACH, findings=refused)
    assert REACH.target is not None
    end = np.array([np.cos(1.0), np.sin(1.0), 0.1])
    for i, marked in ((9, [REACH.target]), (10, [REACH.target, end])):
        camera, failed = film._stance.camera(i, film.size), list[Any]()
        places = [place for place, *_ in film._marks(camera, i, failed)]
        assert places == [pytest.approx(camera.project(each)) for each in marked]
        seen = pixels(film, REACH.target, film.picture(i), 4).astype(int)
        assert (seen[:, 1] - seen[:, 0] > 60).sum() > 15
    assert (np.array(places) > 0.0).all() and (np.array(places) < SIZE).all()
    away = 1e3 * np.linalg.norm([1.0, -1.2, -0.2])
    assert [text for text, _ in film._legend(0)] == [f"tip {away:.0f} mm from the target"]


def test_a_ghost_is_named_by_its_controller_and_its_distance_from_the_target() -> None:
    run = turned(np.linspace(0.0, 1.0, 26))
    ghost = SecondRun(turned(np.zeros(26)), URDF, name="reach")
    film = Film(URDF, run, size=SIZE, aim=REACH, beside=[ghost], name="recover")
    near = np.linalg.norm([np.cos(1.0), np.sin(1.0) - 1.2, -0.2])
    far = np.linalg.norm([1.0, -1.2, -0.2])
    assert [text for text, _ in film._legend(25)] == [
        f"recover   tip {1e3 * near:.0f} mm from the target",
        f"reach   tip {1e3 * far:.0f} mm from the target",
    ]


def test_distances_have_one_unit_and_end_with_the_run() -> None:
    """1 rad apart 13 % of a metre, 1e-8 rad a few nm, and of 12 of 26 samples no distance."""
    run = turned(np.linspace(0.0, 1.0, 26))
    near = SecondRun(replace(run, q=run.q + 1e-9), URDF, name="mujoco")
    short = SecondRun(turned(np.zeros(12)), URDF, name="dart")
    small = SecondRun(replace(run, q=run.q + 1e-4), URDF, name="drake")

    def legend(i: int, *others: SecondRun) -> list[str]:
        film = Film(URDF, run, size=SIZE, aim=TIP, beside=others, name="reference")
        return [text for text, _ in film._legend(i)]

    away = 1e3 * 2.0 * np.sin(0.5 * run.q[11, 0])
    assert legend(11, near, short, small) == [
        "reference",
        "mujoco   tip less than 1 um apart",
        f"dart   tip {away:.0f} mm apart",
        "drake   tip 0.1 mm apart",
    ]
    assert legend(12, near, short)[2] == "dart   ended at 0.4 s"
    assert legend(25, near, small)[2] == "drake   tip 100 um apart"


def test_the_last_figures_of_a_film_are_those_of_compare(tmp_path: Path) -> None:
    """A snake of 0.4 s in reference and MuJoCo: the distance, in its unit, and the speed."""
    runs = [
        ra.run("snake", "serpenoid", engine=engine, settings={"duration": 0.4, **more},
               transport="direct", out=tmp_path / engine)
        for engine, more in (("reference", {}), ("mujoco", {"friction.mu_across": 0.5}))
    ]  # fmt: skip
    recorded = Recorded.read([tmp_path / engine / "bag" for engine in ENGINES], None, print)
    film = Film(recorded.urdf, recorded.run.trajectory, fps=10, size=SIZE,
                beside=recorded.others, name=recorded.name)  # fmt: skip
    data = ra.compare(*runs).data
    first, other = (np.array([run[f"com/{axis}"].values[-1] for axis in "xyz"]) for run in data)
    apart = 1e3 * np.linalg.norm(other - first)
    assert 0.1 < apart < 100.0
    text = film._legend(len(film) - 1)[1][0]
    assert text.startswith("mujoco   centres of mass ") and text.endswith(" mm apart")
    assert float(text.split()[-3]) == pytest.approx(apart, rel=0.05)
    speed = data[0]["com/speed"].values[-1]
    assert f"speed of the centre of mass {speed:.2f} m/s" in film._line_below(len(film) - 1)


def test_runs_of_one_engine_are_told_apart_by_their_controllers() -> None:
    def run(engine: str, controller: str) -> BagRun:
        given: dict[str, Any] = dict.fromkeys(BagRun.__dataclass_fields__)
        spec = {"controller": {"name": controller}}
        return BagRun(**{**given, "engine": engine, "scenario": spec})

    one = [run("reference", "recover"), run("reference", "reach")]
    assert names_of(one) == ["recover", "reach"]
    assert [each.name for each in runs_beside(one, [URDF])] == ["reach"]
    assert names_of([run("dart", "reach"), run("mujoco", "reach")]) == ["dart", "mujoco"]
    assert names_of([run("", "reach"), run("", "reach")]) == ["run 1", "run 2"]


def test_the_speed_is_that_of_what_the_caption_says() -> None:
    """The tip at radius 1 and the centre of mass at 0, at 1 rad/s; of a fixed arm the box's corner.

    Its base is no tip, and a robot whose base moves has none.
    """
    run = turned(np.linspace(0.0, 1.0, 26))
    assert "speed of the tip 1.00 m/s" in Film(URDF, run, size=SIZE, aim=REACH)._line_below(10)
    corner = f"speed of the tip of arm_link {np.hypot(1.0, 0.05):.2f} m/s"
    assert corner in Film(URDF, run, size=SIZE)._line_below(10)
    moved = replace(run, position=run.position + 0.01 * run.q)
    assert "speed of the centre of mass 0.00 m/s" in Film(URDF, moved, size=SIZE)._line_below(10)
    assert MovingRobot(Scene.parse(URDF), turned(np.zeros(26))).tip() is None


def test_waiting_is_cut_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 s of motion, 4 s of rest, 1 s of motion: what is left out is what the pictures skip."""
    angles = np.interp(np.arange(0.0, 6.02, 0.04), [0.0, 1.0, 5.0, 6.0], [0.0, 1.0, 1.0, 2.0])
    film, whole = (Film(URDF, turned(angles), size=SIZE, uncut=uncut) for uncut in (False, True))
    times = film._motion.time[film._samples]
    gap = int(np.diff(times).argmax())
    assert len(whole) == len(angles)
    # Motion is looked for within half a second, and 0.4 s of film are shown before and after it.
    assert 1.4 <= times[gap] <= 2.0 and 4.0 <= times[gap + 1] <= 4.6
    assert (np.delete(np.diff(times), gap) < 0.041).all()
    written: list[str] = []
    monkeypatch.setattr(
        "roboaccord_view.drawing.annotations.write_above",
        lambda picture, rows: written.extend(r for r, _ in rows),
    )
    film.picture(gap)
    assert written == []
    film.picture(gap + 1)
    assert written == [f"{times[gap + 1] - times[gap] - 0.04:.1f} s of waiting left out"]


@pytest.mark.parametrize(
    ("size", "kind", "cut"),
    [(0.05, "loose", True), (0.4, "loose", False), (0.05, "frozen", False), (0.05, "", False)],
)
def test_a_small_swing_of_a_loose_joint_is_waiting_and_of_a_driven_one_motion(
    size: float, kind: str, cut: bool
) -> None:
    events = (Event(0.0, f"joint_{kind}", "elbow"),) if kind else ()
    run = turned(size * np.sin(2.0 * np.pi * np.arange(0.0, 8.0, 0.04)), events=events)
    assert (len(Film(URDF, run, size=(64, 64))) < len(run)) == cut


def test_what_is_shown_of_a_motion() -> None:
    moving = np.zeros(60, dtype=np.bool_)
    assert shown_samples(moving, 3, 5).tolist() == list(range(60))  # nothing moves: all of it
    moving[[10, 24, 40]] = True
    kept = [i for i in range(60) if min(abs(i - k) for k in (10, 24, 40, 59)) <= 3]
    left = {*range(7), *range(14, 21), *range(28, 37), *range(44, 56)}
    assert sorted(set(range(60)) - left) == kept == shown_samples(moving, 3, 5).tolist()
    assert shown_samples(moving, 3, 9).tolist() == sorted({*kept, *range(7), *range(14, 21)})


def test_the_casing_is_the_smallest_shape_that_holds_the_joint() -> None:
    scene = Scene.parse(URDF)
    wide = [float(np.ptp(shape.vertices, axis=0).max()) for shape in scene.shapes]
    ball = casing(scene, "elbow")  # the joint is in the base's cylinder, too, and not in the arm
    assert wide[ball] == pytest.approx(0.2, abs=0.01)
    assert [f.shape for f in failures(scene, [Event(1.0, "joint_loose", "elbow")])] == [ball]
    others = [Event(1.0, "joint_stop", "elbow"), Event(1.0, "joint_loose", "x")]
    assert failures(scene, others) == []


@pytest.mark.parametrize(
    ("moment", "found", "lines"),
    [
        (0.7, [("loose", 0.9)], []),
        (0.8, [("loose", 0.9)], ["elbow loose at 0.80 s"]),
        (1.0, [("loose", 0.9)], ["elbow loose at 0.80 s, found at 0.90 s"]),
        (1.0, [("undetermined", 0.9)], ["elbow loose at 0.80 s, undetermined at 0.90 s"]),
        (2.0, [("undetermined", 0.9), ("loose", 1.5)], ["elbow loose at 0.80 s, found at 1.50 s"]),
        (1.0, [("frozen", 0.9)], ["elbow loose at 0.80 s, frozen at 0.90 s"]),
    ],
)
def test_what_is_told_of_a_failure(
    moment: float, found: list[tuple[str, float]], lines: list[str]
) -> None:
    failed = failures(Scene.parse(URDF), [Event(0.8, "joint_loose", "elbow")])
    findings = [Event(time, FOUND + kind, "elbow") for kind, time in found]
    assert list(failure_lines(failed, findings, moment)) == lines


def test_a_false_alarm_and_a_refusal_are_told() -> None:
    findings = [Event(0.5, FOUND + "frozen", "elbow"), Event(1.0, REFUSED, "out_of_reach")]
    assert list(failure_lines([], findings, 2.0)) == [
        "elbow healthy, but found frozen at 0.50 s",
        "target refused at 1.00 s: out of reach",
    ]


def test_labels_do_not_cover_each_other_nor_what_they_name(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes: list[tuple[float, float, float, float]] = []
    draw = ImageDraw.ImageDraw.text

    def noted(pen: Any, place: Any, text: str, **given: Any) -> None:
        boxes.append(pen.textbbox(place, text, font=given["font"]))
        draw(pen, place, text, **given)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", noted)
    places = [np.array([60.0, 60.0]), np.array([66.0, 66.0]), np.array([310.0, 8.0])]
    picture = np.full((180, 320, 3), 255, dtype=np.uint8)
    point_out(picture, [(place, "elbow loose", (190, 20, 20), False) for place in places])
    for i, a in enumerate(boxes):
        assert 0.0 <= a[0] < a[2] <= 320.0 and 0.0 <= a[1] < a[3] <= 180.0
        assert not any(a[0] < x < a[2] and a[1] < y < a[3] for x, y in places)
        for b in boxes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_a_label_leaves_the_robot_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is to the right and left below is taken: it is written above on the left."""
    places: list[tuple[float, float]] = []
    monkeypatch.setattr(
        ImageDraw.ImageDraw, "text", lambda pen, place, text, **given: places.append(place)
    )
    robot = np.zeros((180, 320), dtype=np.bool_)
    robot[:, 160:] = robot[90:] = True
    picture = np.full((180, 320, 3), 255, dtype=np.uint8)
    point_out(picture, [(np.array([160.0, 90.0]), "elbow", (190, 20, 20), False)], robot)
    ((x, y),) = places
    assert x < 140.0 and y < 90.0
