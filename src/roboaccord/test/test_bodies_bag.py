"""Free bodies in bags: read back to the last bit, also of a cut run; compared and exported."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import toy_robot
from compared_bags import compare
from roboaccord.bag.content import Content
from roboaccord.bag.reader import play, read_run
from roboaccord.bag.rows import motions_at
from roboaccord.bag.writer import BagWriter, write_trajectory
from roboaccord.cdr import BodiesCodec, read_body
from roboaccord.cli.main import run
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.links import coordinates, link_centres, name_coordinate
from roboaccord.numerics.rotations import quaternion_matrix, quaternion_product, turn_quaternion
from roboaccord.report.comparison import compare as compare_runs
from roboaccord.report.signals import RunSignals
from roboaccord.run.metrics import Motion
from roboaccord.scenario.bodies import make_bodies
from roboaccord.scenario.scenario import BodySpec
from roboaccord.scenario.setup import Setup
from roboaccord.scenario.surroundings import surfaces_around

GRAVITY = np.array([0.0, 0.0, -9.81])
SPECS = {  # the names are not in their order
    "crate": BodySpec(size=(0.1, 0.2, 0.3), mass=1.0, position=(1.0, 0.5, 2.0), yaw=0.5),
    "can": BodySpec(radius=0.05, height=0.2, mass=0.5, twist=(1.0, 0.0, 2.0, 0.0, 0.0, 3.0)),
}
NAMES = ("can", "crate")


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setup:
    """Return the toy robot with two bodies beside it."""
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    toy_robot.install(tmp_path / "prefix")
    alone = toy_robot.make_setup()
    scenario = alone.scenario.model_copy(update={"bodies": SPECS, "duration": 0.2})
    return Setup(alone.robot, scenario)


def fall(start: Array, time: float) -> Array:
    """Return a body (13,) that falls freely and turns about the vertical."""
    turn = quaternion_matrix(start[3:7])
    velocity = turn @ start[7:10]
    orientation = quaternion_product(start[3:7], turn_quaternion(time * start[10:]))
    position = start[:3] + time * velocity + 0.5 * time**2 * GRAVITY
    twist = quaternion_matrix(orientation).T @ (velocity + time * GRAVITY)
    return np.concatenate([position, orientation, twist, start[10:]])


def motion_of(setup: Setup, ticks: int = 20, shift: float = 0.0, **how: float) -> Trajectory:
    """Return the toy's motion with its bodies in free fall, the crate moved along x."""
    moved = [np.array(body.start) for body in setup.bodies]
    moved[1][0] += shift
    states = [toy_robot.state_at(tick, **how) for tick in range(ticks + 1)]
    states = [replace(s, bodies=np.array([fall(b, s.time) for b in moved])) for s in states]
    return Trajectory.from_states(toy_robot.JOINTS, states)


def write(path: Path, setup: Setup, motion: Trajectory) -> Path:
    write_trajectory(path, setup, "engine", "1.2", motion)
    return path


def test_bodies_are_read_back_with_the_hash_of_the_run(setup: Setup, tmp_path: Path) -> None:
    """Also by `play`, which passes states one by one, and where a quaternion changes its sign."""
    motion = motion_of(setup)
    assert motion.bodies is not None
    signs = np.ones(motion.bodies.shape)
    signs[::2, :, 3:7] = -1.0
    motion = replace(motion, bodies=signs * motion.bodies)
    bag = write(tmp_path / "bag", setup, motion)
    found = read_run(bag)
    assert found.bodies == NAMES == tuple(body.name for body in setup.bodies)
    np.testing.assert_array_equal(found.trajectory.bodies, motion.bodies)
    assert found.sha256 == found.trajectory.sha256() == motion.sha256()
    played = Motion(toy_robot.JOINTS)
    play(bag, setup, played)
    assert played.sha256 == motion.sha256()
    assert [*found.scenario["bodies"]] == [*NAMES] != [*SPECS]


def test_a_message_has_the_body_in_its_own_frame(setup: Setup, tmp_path: Path) -> None:
    """One for each body and tick, and the body's frame for displays."""
    motion = motion_of(setup)
    content = Content.of(write(tmp_path / "bag", setup, motion))
    messages = content.raw("/toy/bodies")
    assert len(messages) == 2 * 21 and content.kinds["/toy/bodies"] == "nav_msgs/msg/Odometry"
    time, values, frame = read_body(messages[3])
    assert motion.bodies is not None
    assert (time, frame) == (0.01, "crate") and values.tolist() == motion.bodies[1, 1].tolist()
    frames = content.raw("/tf")[0]
    assert b"odom\0" in frames and b"crate\0" in frames and b"can\0" in frames


def test_without_bodies_a_bag_has_no_trace_of_them(setup: Setup, tmp_path: Path) -> None:
    toy_robot.record(tmp_path / "bag", ticks=5)
    content = Content.of(tmp_path / "bag")
    assert "/toy/bodies" not in content.kinds
    run = read_run(tmp_path / "bag")
    assert run.bodies == () and run.trajectory.bodies is None
    assert not any(name.startswith(NAMES) for name in RunSignals(run))
    assert not any(surface.frame for surface in surfaces_around(toy_robot.make_setup()))


def test_a_run_that_was_cut_keeps_the_states_whose_bodies_came(
    setup: Setup, tmp_path: Path
) -> None:
    """The last state lacks a body, as that of a run that was killed between two messages."""
    motion = motion_of(setup, ticks=5)
    bag = BagWriter(tmp_path / "bag", setup, "engine", "1", "direct")
    bag.__enter__()
    for i in range(5):
        bag.on_state(motion.state(i))
    last = motion.state(5)
    bag._bodies._codecs.pop()  # that of the crate
    bag.on_state(replace(last, bodies=last.bodies[:1]))
    bag.flush()
    found = read_run(tmp_path / "bag")
    assert not found.complete and found.sha256 is None
    assert found.trajectory.rows().tolist() == motion.rows()[:5].tolist()
    bag.__exit__(None, None, None)


def test_a_body_that_is_not_finite_is_refused(setup: Setup, tmp_path: Path) -> None:
    motion = motion_of(setup)
    assert motion.bodies is not None
    bad = motion.bodies.copy()
    bad[3, 1, 2] = np.nan
    bag = write(tmp_path / "bag", setup, replace(motion, bodies=bad))
    with pytest.raises(AccordError, match=r"pose or twist of crate is not finite at t = 0\.03 s"):
        read_run(bag)


def test_bodies_that_came_at_other_times_are_interpolated() -> None:
    """As a recorder of somebody else has them, up to the last message."""
    rows = [(t, np.array([t, *np.zeros(5), 1.0, *np.zeros(6)])) for t in (0.0, 0.2, 0.4)]
    covered, found = motions_at(np.linspace(0.0, 0.5, 6), {"b": rows, "none": []}, Path("bag"))
    assert covered == slice(0, 5) and [*found] == ["b"]
    assert found["b"][:, 0] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])


def test_a_body_that_the_scenario_does_not_know_is_left_out(setup: Setup, tmp_path: Path) -> None:
    motion = motion_of(setup, ticks=2)
    with BagWriter(tmp_path / "bag", setup, "engine", "1", "ros") as bag:
        for i in range(3):
            bag.on_state(motion.state(i))
        (data, _) = BodiesCodec(["stranger", "other"]).encode(motion.state(1))
        bag.write_raw("/toy/bodies", 10_000_000, data)
        bag.finish(motion.sha256())
    assert read_run(tmp_path / "bag").bodies == NAMES


def test_a_millimetre_is_found_and_named(
    setup: Setup, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write(tmp_path / "a", setup, motion_of(setup))
    b = write(tmp_path / "b", setup, motion_of(setup, shift=1e-3))
    result = compare(a, [b])
    off = {name: found.max for name, found in result.pairs[0].signals.items() if found.max}
    assert off == {"crate/x": pytest.approx(1e-3, abs=1e-15)} and result.verdict == "fail"
    assert compare(a, [b], signals=["can/*", "crate/yaw"]).verdict == "pass"
    parting = next(p for p in compare_runs(a, b, tolerance=5e-4).partings if p.kind == "link")
    assert parting.where == "crate" and parting.time == 0.0
    assert run(["compare", str(a), str(b), "--tolerance", "2e-3"]) == 0
    assert "(crate)" in capsys.readouterr().out.replace("\n", " ")


def test_a_finer_recording_of_a_fall_is_the_same_between_samples(
    setup: Setup, tmp_path: Path
) -> None:
    """Cubics are exact for a parabola; both have samples that the other lacks."""
    a = write(tmp_path / "a", setup, motion_of(setup, ticks=20))
    b = write(tmp_path / "b", setup, motion_of(setup, ticks=66, period=0.003))
    (pair,) = compare(a, [b], signals=["c*/?", "c*/yaw"]).pairs
    assert pair.interpolated and max(found.max for found in pair.signals.values()) < 1e-6


def test_bodies_are_coordinates_of_a_cross_check(setup: Setup) -> None:
    """Their centres follow those of links, and their axes those of the base."""
    motion = motion_of(setup)
    assert motion.bodies is not None
    centres = link_centres(setup.tree, motion)
    assert centres[:, -2:].tolist() == motion.bodies[:, :, :3].tolist()
    table = coordinates(motion, centres)
    names = [name_coordinate(setup.tree, motion.joints, i, NAMES) for i in range(table.shape[1])]
    assert table[7, names.index("z of crate")] == motion.bodies[7, 1, 2]
    assert names[-1] == "z axis of crate" and names[-18] == "x axis of can"
    turned = quaternion_matrix(motion.bodies[7, 1, 3:7])
    assert table[7, -9:].tolist() == turned.ravel().tolist()


def test_columns_and_signals_have_the_names_of_the_bodies(setup: Setup, tmp_path: Path) -> None:
    motion = motion_of(setup)
    assert motion.bodies is not None
    bag = write(tmp_path / "bag", setup, motion)
    signals = RunSignals(bag)
    crate = signals["crate/x"], signals["crate/vz"], signals["crate/yaw"]
    assert [(s.unit, s.kind) for s in crate] == [("m", "crate"), ("m/s", "crate"), ("rad", "crate")]
    assert crate[1].meaning == "velocity of crate in its axes"
    assert signals["can/yaw"].values == pytest.approx(3.0 * motion.time, abs=1e-12)
    assert run(["export", str(bag), "--csv", str(tmp_path / "a.csv")]) == 0
    head, first, *_ = csv.reader((tmp_path / "a.csv").read_text().splitlines())
    start = dict(zip(head, map(float, first), strict=True))
    assert start["can/vz [m/s]"] == 2.0 and start["crate/z [m]"] == 2.0
    assert run(["export", str(bag), "--npz", str(tmp_path / "a.npz")]) == 0
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["bodies"].tolist() == motion.bodies.tolist()


@pytest.mark.parametrize("name", ["base", "odom", "ground"])
def test_a_name_that_something_else_has_is_refused(name: str) -> None:
    with pytest.raises(AccordError, match=f"bodies: the name {name} is taken"):
        make_bodies({name: SPECS["can"]}, Path())


def test_the_surface_of_a_body_is_about_its_centre_of_mass(setup: Setup) -> None:
    """And its marker is locked to its frame, so that displays move it."""
    can, crate = surfaces_around(setup)[-2:]
    assert (can.frame, crate.frame) == NAMES
    assert np.ptp(crate.vertices, axis=0).tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert np.abs(can.vertices[:, 2]).tolist() == pytest.approx([0.1] * len(can.vertices))
    assert np.linalg.norm(can.vertices[:, :2], axis=1) == pytest.approx(0.05)


def test_the_start_is_a_state(setup: Setup) -> None:
    state: RobotState = setup.initial
    assert state.bodies.shape == (2, 13) and not state.bodies.flags.writeable
