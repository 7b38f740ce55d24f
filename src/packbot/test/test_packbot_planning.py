"""Paths of the arm: nothing is touched, limits are kept, and the same seed gives the same."""

from __future__ import annotations

import numpy as np
import pytest
from packbot.model.arm import Arm
from packbot.model.parameters import pose
from packbot.planning import rrt as planning
from packbot.planning.reaching import Goal
from packbot.planning.rrt import Planner, SearchTree
from packbot.planning.sight import Sight
from packbot.planning.trajectories import in_time
from roboaccord import AccordError, Setup, load_scenario

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def shelf():
    return Setup.of(load_scenario("packbot", "packbot", "shelf"))


@pytest.fixture(scope="module")
def planner(shelf):
    return Planner(shelf)


@pytest.fixture(scope="module")
def goal(shelf, planner):
    spec = shelf.scenario.controller
    goal = Goal(spec["target"], "", spec["pitch"], look=spec["look"])
    return goal.angles(shelf, planner.clearance, planner.margin, shelf.initial.q)


@pytest.fixture(scope="module")
def path(shelf, planner, goal):
    return in_time(shelf, planner.plan(shelf.initial.q, goal), 0.8)


def test_distances_change_by_less_than_the_motion(shelf, planner):
    """The bound behind the checks: no distance changes by more than sum r |dq|."""
    p, clearance = shelf.parameters, planner.clearance
    rng = np.random.default_rng(6)
    for _ in range(60):
        a = rng.uniform(p.of_joints("lower"), p.of_joints("upper"))
        b = a + 10 ** rng.uniform(-3.0, 0.0) * rng.normal(size=7) * (rng.random(7) < 0.5)
        apart = np.minimum(clearance.distances(a), clearance.distances(b)) > 0.0
        change = np.abs(clearance.distances(b) - clearance.distances(a))[apart]
        assert change.max(initial=0.0) <= planner.motion(a, b) + 1e-7
    # By hand: what the wrist turns is within 0.2 m of it, its fingers' corner a little further.
    radii = planner.radii
    assert radii[6] == pytest.approx(np.linalg.norm([0.2, 0.018, 0.0125]))
    assert radii[3] == pytest.approx(0.56 + radii[6])
    to_elbow1, to_elbow2 = np.hypot(0.52, 0.06), np.hypot(0.58, 0.06)
    assert radii[1] == pytest.approx(to_elbow1 + to_elbow2 + radii[3])


def test_way_into_the_shelf_touches_nothing(shelf, planner, path):
    """Looked at ten times as often as planning does, all pairs stay half the margin apart."""
    assert len(path.corners) > 2  # the straight line is barred
    assert not planner.clear(path.corners[0], path.corners[-1])
    assert np.array_equal(path.corners[0], shelf.initial.q)
    touches = planner.clearance.touches
    for a, b in zip(path.corners, path.corners[1:]):
        count = int(10 * planner.motion(a, b) / planner.margin) + 2
        for part in np.linspace(0.0, 1.0, count):
            assert not touches(a + part * (b - a), 0.5 * planner.margin)


def test_edges_are_looked_at_once_each_margin_of_motion(planner, monkeypatch):
    """Distances change by less than the motion, so that none is missed; closer is of no use."""
    looked, touches = [], planner.clearance.touches
    a, line = np.array([0, 1.6, 0, 0, 0, 0, 0]), np.array([0.3, -0.1, 0.2, -0.1, 0.0, 0.4, 0.2])

    def look(q, margin):
        assert margin == planner.margin
        looked.append(float((q - a) @ line / (line @ line)))
        assert q == pytest.approx(a + looked[-1] * line)
        return touches(q, margin)

    monkeypatch.setattr(planner.clearance, "touches", look)
    for margins in (0.3, 1.0, 1.01, 2.0, 2.9, 7.5):
        looked.clear()
        part = margins * planner.margin / planner.motion(a, a + line)
        assert planner.clear(a, a + part * line)
        parts = np.diff(sorted([0.0, *looked, part])) / part * margins
        assert parts.max() < 1.0 + 1e-9
        assert len(looked) == np.ceil(margins - 1e-9) - 1


def test_a_tree_takes_no_node_that_is_too_close(shelf, planner, goal):
    """The straight line to the goal comes within the margin, though nothing is between."""
    start, line = shelf.initial.q, goal - shelf.initial.q
    parts = np.linspace(0.0, 1.0, 200)
    barred = [planner.clearance.touches(start + part * line, planner.margin) for part in parts]
    i = barred.index(True)
    low, high = parts[i - 1], parts[i]
    while planner.motion(start + low * line, start + high * line) > 0.5 * planner.margin:
        middle = 0.5 * (low + high)
        touches = planner.clearance.touches(start + middle * line, planner.margin)
        low, high = (low, middle) if touches else (middle, high)
    a, b = start + low * line, start + high * line
    assert planner.clear(a, b) and planner._step(SearchTree(a), b) is None
    assert planner._step(SearchTree(b), a) is not None


def test_hand_is_in_the_shelf_in_sight_of_the_camera(shelf, planner, goal):
    target = np.array(shelf.scenario.controller["target"])
    assert planner.clearance.closest(goal)[1] >= planner.margin
    boxes = shelf.scenario.terrain["boxes"]
    assert boxes["lower_board"]["position"][2] < target[2] < boxes["upper_board"]["position"][2]
    assert target[0] > boxes["lower_board"]["position"][0] - 0.5 * 0.45
    view = Sight.of(shelf).look(goal, target)
    assert view.visible and view.off_axis < 1e-6


def test_way_keeps_limits_of_speed_and_effort(shelf, path):
    """Rates and efforts by RNEA, at other times than planning looks; rest at all corners."""
    p, arm = shelf.parameters, Arm.of(shelf)
    speeds, efforts = 0.8 * p.of_joints("speed_limit"), p.of_joints("effort_limit")
    for time in np.linspace(0.0, path.duration, 777):
        q, qd, qdd = path.at(time)
        assert (np.abs(qd) <= speeds * (1 + 1e-12)).all()
        assert (np.abs(arm.efforts(q, qd, qdd) + p.of_joints("viscous") * qd) <= efforts).all()
    for time, corner in zip(path.times, path.corners):
        q, qd, qdd = path.at(time)
        assert q == pytest.approx(corner, abs=1e-12)
        assert max(np.abs(qd).max(), np.abs(qdd).max()) < 1e-9


def test_rates_are_the_derivatives_of_the_angles(path):
    """By central differences, whose error is h^2 / 6 times the third derivative, and round-off."""
    h = 1e-5
    third = 6.0 * np.abs(np.diff(path.corners, axis=0)).max() * (path.cruise / path.ramp**2).max()
    for time in np.linspace(0.0, path.duration, 101)[1:-1]:
        _, qd, qdd = path.at(time)
        (after, rate_after, _), (before, rate_before, _) = path.at(time + h), path.at(time - h)
        assert np.abs((after - before) / (2 * h) - qd).max() < h * h * third + 1e-10
        assert np.abs((rate_after - rate_before) / (2 * h) - qdd).max() < h * third + 1e-10


def test_weak_joints_make_a_way_slower_or_refuse_it(planner):
    """At the inertial limit times grow; where gravity alone asks for too much, it is reported."""
    path = np.array([pose("ready"), pose("stowed")])
    times = []
    for limit in (50.0, 17.0):  # N m; gravity takes 13.7 at most
        change = f"parameters.effort_limit_elbow2={limit}"
        setup = Setup.of(load_scenario("packbot", "packbot", "collapse", [change]))
        times.append(in_time(setup, path).duration)
    assert times[0] < times[1]
    setup = Setup.of(
        load_scenario("packbot", "packbot", "collapse", ["parameters.effort_limit_elbow1=20"])
    )
    with pytest.raises(AccordError, match=r"holding still along the path takes .* N m of elbow1"):
        in_time(setup, path)


@pytest.mark.parametrize(
    ("viscous", "coulomb", "slower"), [(10.0, 4.0, 15.0 / 5.0), (0.5, 8.6, 0.75 / 0.4)]
)
def test_friction_of_a_joint_makes_a_way_slower(viscous, coulomb, slower):
    """The wrist has 9 of 10 N m, for b w + c; its inertia is nothing to them.

    It turns at 1.5 rad/s if it can, and must be `slower` times slower: the next power of 1.1.
    """
    changes = [f"parameters.viscous_wrist={viscous}", f"parameters.coulomb_wrist={coulomb}"]
    setup = Setup.of(load_scenario("packbot", "packbot", "collapse", changes))
    start, turned = pose("ready"), pose("ready") + 1.4 * np.eye(7)[6]
    motion = in_time(setup, np.array([start, turned, start]))
    times = 1.1 ** np.ceil(np.log(slower) / np.log(1.1))
    assert 1.4 * motion.cruise == pytest.approx(1.5 / times)  # there and back
    assert motion.ramp == pytest.approx(0.5 * times)


def test_dry_friction_is_part_of_what_holding_still_takes():
    change = "parameters.coulomb_wrist=9.5"
    setup = Setup.of(load_scenario("packbot", "packbot", "collapse", [change]))
    path = np.array([pose("ready"), pose("ready") + 0.5 * np.eye(7)[6]])
    with pytest.raises(AccordError, match=r"takes 9\.5 N m of wrist, but only 9 N m are"):
        in_time(setup, path)


def test_no_way_is_said_in_one_line(monkeypatch):
    """Boards all around the arm, below which there are clear poses, and no path to them."""
    monkeypatch.setattr(planning, "MAX_SAMPLES", 200)
    around = {
        "front": (1.35, 0.0), "back": (-1.25, 0.0), "left": (0.05, 1.2), "right": (0.05, -1.2),
    }  # fmt: skip
    boxes = {
        name: {"size": [1.0, 1.6, 0.02] if y else [1.6, 4.0, 0.02], "position": [x, y, 0.45]}
        for name, (x, y) in around.items()
    }
    setup = Setup.of(load_scenario("packbot", "packbot", "reach", [f"terrain.boxes={boxes}"]))
    caged = Planner(setup)
    goal = Goal([1.3, 0.0, 0.2]).angles(setup, caged.clearance, caged.margin, setup.initial.q)
    with pytest.raises(AccordError, match="no path found in 200 tries that keeps 20 mm"):
        caged.plan(setup.initial.q, goal)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("plan --to drve", "unknown pose drve; did you mean drive?"),
        ("plan", "a reach takes a target x, y, z or a pose, one of the two"),
        ("plan --target 1 2", "--target takes x, y, z in m, not '1 2'"),
        (
            "plan --to ready --margin 0.05",
            "start: palm and lamps are 35.5 mm apart, and a path keep",
        ),
        ("plan --to ready --speed 2", "'--speed'"),
        ("plan --target 3 0 0", "the arm reaches 1.860 m"),
        ("look drive --q 0 0 0 0 0 0 0", "look takes NAME or --q, one of the two"),
        ("look --q 0 1.2 -0.8", "--q takes 7 numbers, not 3; elbow2 is missing"),
        ("look --q elbow3=1", "--q: unknown joint elbow3; did you mean elbow"),
        ("look --q 0 0 0 0 0 0 nan", "--q: wrist is 'nan', and must be a finite number"),
    ],
)
def test_wrong_words(complaint, words, expected):
    assert expected in complaint(words.split())


def test_commands_print_what_the_modules_find(figures, planner):
    printed = figures("look --target 1.1 0 0.45 --pitch 0".split())
    assert set(printed) == {
        "name", "joints", "q", "tip", "hand", "camera", "sight", "clearance", "closest",
        "options",
    }  # fmt: skip
    assert printed["tip"] == pytest.approx([1.1, 0.0, 0.45], abs=1e-9)
    assert printed["hand"] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    printed = figures("plan --to stowed --from ready".split())
    assert printed["corners"][-1] == pytest.approx(pose("stowed"))
    assert printed["clearance"] >= 0.5 * planner.margin
