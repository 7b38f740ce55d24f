"""Line of sight against lines clipped by faces, and in known arrangements; and the commands."""

import numpy as np
import pinocchio as pin
import pytest
from packbot.contact.clearance import Clearance
from packbot.contact.collisions import make_environment, read_collisions
from packbot.model.arm import LENS, Arm
from packbot.planning.sight import CAMERA, LENS_WIDTH, TARGET_GAP, Sight
from roboaccord.contract.errors import AccordError
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

pytestmark = pytest.mark.thorough

STRETCHED = np.zeros(7)
# The lens at these angles, by the DH table's lengths: 0.2 + 0.52 + 0.58 + 0.38, and so on.
EYE = np.array([1.68 + LENS[0], 0.0, 0.2 + 0.085 + 0.115 + 0.055 + LENS[2]])
FORWARD = np.array([1.0, 0.0, 0.0])
AHEAD = EYE + 0.8 * FORWARD


@pytest.fixture(scope="module")
def sight_with():
    """Factory of sights of the arm among boxes: name, size and place from the lens on."""
    setup = Setup.of(load_scenario("packbot", "packbot", "collapse"))
    arm, shapes = Arm.of(setup), read_collisions(setup.urdf())

    def make(*boxes, **options):
        given = {name: {"size": size, "position": EYE + at} for name, size, at in boxes}
        around = make_environment(setup, boxes=given)
        return Sight(Clearance(arm.model, shapes, around, setup.contact.pairs), **options)

    return make


@pytest.fixture(scope="module")
def sight(sight_with):
    return sight_with()


def test_a_target_ahead_is_seen(sight):
    view = sight.look(STRETCHED, AHEAD)
    assert view.visible and view.blocked_by == ()
    assert view.distance == pytest.approx(0.8, abs=1e-12)
    assert view.off_axis == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("gap", [-1e-5, 1e-5])
def test_a_wall_is_in_the_way_as_soon_as_it_hides_some_of_the_lens(sight_with, gap):
    """The lens is a square on its tip, and half way to a point the frustum is half as wide."""
    thick = 2e-5
    edge = np.sqrt(0.5) * LENS_WIDTH * (0.4 + 0.5 * thick) / 0.8 + gap
    for axis in np.eye(3)[1:]:
        wall = ("wall", [thick, 0.2, 0.2], 0.4 * FORWARD + (0.1 + edge) * axis)
        assert sight_with(wall).look(STRETCHED, AHEAD).blocked_by == (() if gap > 0 else ("wall",))


def test_what_is_in_the_way_is_named_from_the_lens_on(sight_with):
    far, near = ((name, np.full(3, 0.1), x * FORWARD) for name, x in (("far", 0.6), ("near", 0.2)))
    assert sight_with(far, near).look(STRETCHED, AHEAD).blocked_by == ("near", "far")


def test_a_target_on_a_surface_is_seen_and_one_behind_it_is_not(sight_with):
    sight = sight_with(("wall", [0.1, 1.0, 1.0], 0.85 * FORWARD))
    assert sight.look(STRETCHED, AHEAD).visible
    assert sight.look(STRETCHED, AHEAD + 2.0 * TARGET_GAP * FORWARD).blocked_by == ("wall",)


def test_what_is_outside_the_cone_is_not_seen(sight, sight_with):
    target = EYE + FORWARD + [0.0, np.tan(np.radians(30.0)), 0.0]
    assert sight_with(angle=np.radians(61.0)).look(STRETCHED, target).visible
    view = sight_with(angle=np.radians(59.0)).look(STRETCHED, target)
    assert not view.visible and view.blocked_by == ()
    assert np.degrees(view.off_axis) == pytest.approx(30.0)
    assert not sight.look(STRETCHED, EYE - FORWARD + [0.0, 0.0, 1.0]).visible


def test_a_target_at_the_lens_is_refused(sight):
    with pytest.raises(AccordError, match="the target is at the lens"):
        sight.look(STRETCHED, EYE)


def crosses(start, end, hull, place, slack):
    """Test whether a segment enters a hull whose faces are moved out by `slack` [m]."""
    a, b, c = (hull.vertices @ place.rotation.T + place.translation)[hull.faces].swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    heights = np.einsum("fi,fi->f", normals, a) + slack
    above, rising = heights - normals @ start, normals @ (end - start)
    if (above[rising == 0.0] < 0.0).any():
        return False
    above, rising = above[rising != 0.0], rising[rising != 0.0]
    enter = (above / rising)[rising < 0.0].max(initial=0.0)
    return enter <= (above / rising)[rising > 0.0].min(initial=1.0)


def test_hulls_are_in_the_way_if_the_line_crosses_them(sight):
    """From 100 poses; a hull farther from the line than the lens is wide cannot block the view."""
    rng = np.random.default_rng(2)
    clearance = sight.clearance
    model = clearance.model
    seen = 0
    for q in rng.uniform(model.lowerPositionLimit, model.upperPositionLimit, (100, 7)):
        target = rng.uniform([-1.5, -1.5, 0.0], 1.5)
        view = sight.look(q, target)
        places = [pin.SE3(placement) for placement in clearance.hull_poses(q)]
        lens = places[clearance.links.index(CAMERA)].act(LENS)
        end = target - TARGET_GAP * (target - lens) / view.distance
        for name, link, hull, placement in zip(
            clearance.names, clearance.links, clearance.hulls, places, strict=True
        ):
            if link == CAMERA:
                assert name not in view.blocked_by
            elif crosses(lens, end, hull, placement, 0.0):
                assert name in view.blocked_by
            elif not crosses(lens, end, hull, placement, LENS_WIDTH):
                assert name not in view.blocked_by
        assert view.visible == (not view.blocked_by and view.off_axis <= np.pi / 2)
        seen += view.visible
    assert 10 < seen < 90


def test_commands_print_distances_and_sight(figures):
    angles = "0.3 1.2 -0.5 0.3 0.1 -0.2 1".split()
    printed = figures(["look", "--distances", "--q", *angles])
    assert list(printed) == ["min", "pairs", "options"] and len(printed["pairs"]) == 138
    distances = [pair["distance"] for pair in printed["pairs"]]
    assert distances == sorted(distances) and distances[0] == printed["min"]
    clearance = Clearance.of(Setup.of(load_scenario("packbot", "packbot", "collapse")))
    i, least = clearance.closest(np.array(angles, dtype=float))
    first = printed["pairs"][0]
    assert ((first["a"], first["b"]), first["distance"]) == (clearance.pair_names(i), least)
    wall = "terrain.boxes={wall: {size: [0.1, 1, 1], position: [2.2, 0, 0.4]}}"
    view = figures(["look", "--sight", "2.5", "0", "0.4", "--q", *["0"] * 7, "--set", wall])
    assert view["visible"] is False and view["blocked_by"] == ["wall"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            "look --distances --q 0 4 0 0 0 0 0",
            "shoulder: 4 rad is outside its limits, -0.35 to 3.4",
        ),
        ("look --distances --q waist=1", "unknown joint waist"),
        ("look --distances --scenario none", "packbot has no scenario none"),
        ("look --distances --set terrain.boxes.b.sise=1", "terrain.boxes.b.size is missing"),
        ("look --sight 1 2", "--sight takes x, y, z"),
        ("look --sight 1 2 nan", "--sight takes x, y, z"),
        ("look --sight 1 0 0 --margin 1", "--margin belongs to packbot look with --target"),
    ],
)
def test_wrong_commands_are_told_in_one_line(complaint, words, line):
    assert line in complaint(words.split())
