"""Families of gaits: they obey scaling, turn round, and cross the unit circle where stated."""

import csv
import math

import numpy as np
import pytest
from monkeybot.gaits.collisionless import find_collisionless, start_of
from monkeybot.gaits.gait import evaluate, wrap
from monkeybots import REPORT as ROBOT
from monkeybots import UNLIKE
from roboaccord import AccordError
from roboaccord_studies.monkeybot import bifurcations
from roboaccord_studies.monkeybot.continuation import Family, follow, value_of, with_value
from roboaccord_studies.monkeybot.find import find_gaits, is_same_orbit
from roboaccord_studies.monkeybot.kinds import CLOCKED, PASSIVE, gait_of
from roboaccord_studies.monkeybot.level import clocked_gait
from roboaccord_studies.monkeybot.orbits import find_orbit, shipped_gait

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def horizontal():
    """The branch of horizontal clocked gaits round its stable part, by period."""
    orbit = shipped_gait("clocked", ROBOT)
    family = Family(orbit.kind, ROBOT, orbit.controls, "period", 0.918, 0.957)
    return family, follow(family, orbit)


@pytest.mark.slow
def test_every_orbit_of_a_branch_repeats(horizontal):
    _, branch = horizontal
    assert branch.points[0].value == pytest.approx(0.918, abs=1e-12)
    assert branch.points[-1].value == pytest.approx(0.957, abs=1e-12)
    assert branch.ends == ("the range's end",) * 2
    for point in branch.points:
        assert point.orbit.residual < 1e-10 and abs(point.orbit.drop) < 1e-10
        final = evaluate(point.orbit.gait, ROBOT, point.orbit.start, tolerance=1e-13).final[0]
        assert np.abs(final - point.orbit.start).max() < 1e-10


def test_it_is_the_branch_that_small_steps_of_the_period_find(horizontal):
    _, branch = horizontal
    point = branch.points[len(branch.points) // 4]
    other = clocked_gait(ROBOT, point.value)
    assert other.start == pytest.approx(point.orbit.start, abs=1e-8)


def test_stability_is_lost_at_a_flip_and_at_a_fold(horizontal):
    """Facts: stable between about 0.922 and 0.949 s, and 0.50 and 0.77 N m, to their digits.

    At the ends a multiplier is -1 or 1; five digits of the period
    before them it is inside the unit circle, and five behind outside.
    """
    family, branch = horizontal
    low, high = bifurcations.crossings(family, branch)
    assert (low.kind, low.outside) == ("flip", (1, 0))
    assert (high.kind, high.outside) == ("fold", (0, 1))
    (stretch,) = bifurcations.stable_stretches(branch, [low, high])
    found = bifurcations.value_ranges(stretch, "period")
    assert found["period"] == pytest.approx((0.922, 0.949), abs=1e-3)
    assert found["torque"] == pytest.approx((0.50, 0.77), abs=0.01)
    for crossing, critical, inwards in ((low, -1.0, 1.0), (high, 1.0, -1.0)):
        assert np.abs(crossing.point.orbit.multipliers - critical).min() < 1e-6
        radii = [
            clocked_gait(ROBOT, crossing.point.value + inwards * side * 5e-6).spectral_radius
            for side in (1.0, -1.0)
        ]
        assert radii[0] < 1.0 < radii[1]


@pytest.mark.slow
def test_the_best_is_no_worse_than_any_near_by(horizontal):
    family, branch = horizontal
    least = bifurcations.most_stable(family, branch)
    assert bifurcations.unstable_count(least) == 0
    assert least.orbit.spectral_radius <= min(p.orbit.spectral_radius for p in branch.points)
    for period in least.value + np.array([-1e-3, -1e-4, -1e-5, 1e-5, 1e-4, 1e-3]):
        assert clocked_gait(ROBOT, period).spectral_radius > least.orbit.spectral_radius


def test_a_family_goes_round_its_turning_point():
    """Along the torque the same branch turns: one torque below the largest has two gaits."""
    orbit = clocked_gait(ROBOT, 0.9535)
    family = Family(CLOCKED, ROBOT, orbit.controls, "torque", 0.7700, 0.7720)
    branch = follow(family, orbit, largest=0.1)
    values = [point.value for point in branch.points]
    assert branch.ends == ("the range's end",) * 2
    assert values[0] == pytest.approx(0.77, abs=1e-12)
    assert values[-1] == pytest.approx(0.77, abs=1e-12)
    assert 0.7705 < max(values) < 0.7720
    first, last = branch.points[0].orbit, branch.points[-1].orbit
    assert abs(first.controls["period"] - last.controls["period"]) > 1e-3
    top = max(branch.points, key=lambda point: point.value).orbit
    assert clocked_gait(ROBOT, top.period).controls["torque"] == pytest.approx(
        max(values), abs=1e-9
    )


@pytest.mark.slow
def test_under_other_gravity_a_passive_gait_keeps_its_angles():
    """By dimensions: periods go with the inverse root of gravity, rates with the root.

    An impact's loss is a square of what is off, so the root is double, and what is off is the root
    of the residual, 1e-5, over that of the loss's curvature, which is below 1: 3e-5.
    """
    orbit, exact = shipped_gait("passive", ROBOT), find_collisionless(ROBOT, 0.58)
    branch = follow(Family(PASSIVE, ROBOT, orbit.controls, "gravity", 8.0, 11.0), orbit)
    for point in branch.points:
        assert point.orbit.residual < 1e-10
        ratio = math.sqrt(ROBOT.gravity / point.value)
        assert point.orbit.period == pytest.approx(exact.period * ratio, rel=3e-5)
        assert point.orbit.start == pytest.approx(start_of(exact.angle)[:4], abs=3e-5)
        sizes = np.abs(point.orbit.multipliers)
        assert sizes[0] == pytest.approx(np.abs(orbit.multipliers)[0], abs=1e-4)


def test_parameters_of_both_links_alike():
    for name, of_a in (("mass", "mass_a"), ("inertia", "inertia_a"), ("length", "length_a")):
        robot = with_value(ROBOT, name, 0.7)
        assert (getattr(robot, of_a), value_of(robot, name)) == (0.7, 0.7)
    robot = with_value(ROBOT, "length", 0.7)
    assert robot.length_a - robot.centre_a == pytest.approx(ROBOT.centre_b)
    assert with_value(ROBOT, "mass_b", 2.0) == ROBOT.replace(mass_b=2.0)
    assert value_of(with_value(ROBOT, "centre", 0.1), "centre") == pytest.approx(0.1)
    with pytest.raises(AccordError, match="the links differ in mass"):
        value_of(UNLIKE, "mass")


def test_what_has_no_family_is_one_line():
    orbit = shipped_gait("clocked", ROBOT)
    with pytest.raises(AccordError, match="stands alone"):
        Family(PASSIVE, ROBOT, {"period": 0.86}, "period", 0.8, 0.9)
    with pytest.raises(AccordError, match="not colour"):
        Family(CLOCKED, ROBOT, orbit.controls, "colour", 0.8, 0.9)
    with pytest.raises(AccordError, match="must rise"):
        Family(CLOCKED, ROBOT, orbit.controls, "period", 0.9, 0.8)
    with pytest.raises(AccordError, match="outside the range"):
        follow(Family(CLOCKED, ROBOT, orbit.controls, "period", 0.8, 0.9), orbit)


@pytest.fixture(scope="module")
def found():
    return find_gaits(CLOCKED, ROBOT, {"period": 0.935, "torque": 0.7}, samples=40, seed=1)


def test_random_starts_find_the_stable_gait_and_its_mirror_image(found):
    known = clocked_gait(ROBOT, 0.935)
    assert any(is_same_orbit(orbit, known) for orbit in found)
    radii = [orbit.spectral_radius for orbit in found]
    assert radii == sorted(radii)
    for i, orbit in enumerate(found):
        assert not any(is_same_orbit(orbit, other) for other in found[:i])
        gait = gait_of(CLOCKED, {**orbit.controls, "torque": -orbit.controls["torque"]})
        change = evaluate(gait, ROBOT, -orbit.start, tolerance=1e-13).final[0] + orbit.start
        assert np.abs([*wrap(change[:2]), *change[2:]]).max() < 1e-8


def test_a_gait_that_is_found_can_be_followed(figures, tmp_path):
    orbit = find_orbit(
        CLOCKED, ROBOT, {"period": 0.935, "torque": 0.7}, np.array([-0.95, -1.25, 0.4, 0.45])
    )
    start = [f"{value:.5f}" for value in orbit.start]
    arguments = ["continue", "--kind", "clocked", "--at", "period=0.935", "--start", *start]
    arguments += ["--along", "period", "--from", "0.934", "--to", "0.936", "--step", "0.5"]
    file = tmp_path / "orbits.csv"
    data = figures([*arguments, "--out", str(file)])
    assert data["crossings"] == []
    assert data["stable"][0]["period"] == pytest.approx([0.934, 0.936], abs=1e-12)
    with file.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["torque"]) for row in rows] == [
        orbit["controls"]["torque"] for orbit in data["orbits"]
    ]


def test_find_by_command(figures):
    data = figures("find --period 0.935 --samples 4 --seed 1")
    assert data["samples"] == 4
    for row in data["gaits"]:
        assert row["controls"]["period"] == 0.935
        assert row["spectral_radius"] == pytest.approx(
            max(math.hypot(*pair) for pair in row["multipliers"])
        )
