"""The arm's kinematics: DH table, description and Jacobians agree."""

from __future__ import annotations

import numpy as np
import pytest
import rigid_bodies as oracle
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from packbot.cli import reach as cli
from packbot.contact.clearance import Clearance
from packbot.model.arm import Kinematics
from packbot.model.parameters import JOINTS, named_poses
from packbot.model.tables import camera_table, hand_table
from packbot.planning.inverse import Inverse, aim, check_reach, lengths_of
from packbot.planning.rrt import Planner
from roboaccord import AccordError, Setup, load_scenario
from roboaccord.cli.main import run
from roboaccord.numerics.rotations import rpy_matrix

LENGTHS = ("base_x", "base_z", "turret_d", "shoulder_a", "shoulder_d", "elbow1_a", "elbow1_d",
           "tilt_x", "tilt_z", "pan_d", "wrist_x", "gripper_length")  # fmt: skip
RIGHT = 0.5 * np.pi


def made(*changes):
    return Setup.of(load_scenario("packbot", "packbot", "collapse", changes))


@pytest.fixture(scope="module")
def setup():
    return made()


def drawn(setup, seed, count):
    """Return random angles (count, 7) within the limits."""
    p = setup.parameters
    rng = np.random.default_rng(seed)
    return rng.uniform(p.of_joints("lower"), p.of_joints("upper"), (count, 7))


def placed(position, rpy=(0.0, 0.0, 0.0)):
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = rpy_matrix(*rpy), position
    return frame


def link_frames(setup, q):
    """Return the frames (..., 4, 4) of the links by name, as the core has them of the URDF."""
    tree = setup.tree
    turned = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (*q.shape[:-1], 4))
    origins, rotations = tree.forward(JOINTS, q, np.zeros((*q.shape[:-1], 3)), turned)
    frames = np.zeros((*origins.shape[:-1], 4, 4)) + np.eye(4)
    frames[..., :3, :3], frames[..., :3, 3] = rotations, origins
    return {link.name: frames[..., i, :, :] for i, link in enumerate(tree.links)}


def test_dh_frames_are_those_of_the_description():
    """Every DH frame is a link's, moved as the drawing states, for any lengths and angles."""
    rng = np.random.default_rng(1)
    for _ in range(4):
        drawn_lengths = {name: rng.uniform(-0.1, 0.7) for name in LENGTHS}
        setup = made(*(f"parameters.{name}={value!r}" for name, value in drawn_lengths.items()))
        p, q = setup.parameters, drawn(setup, 2, 100)
        links = link_frames(setup, q)
        # A frame lies where the next joint is; z of a pitch joint is -y of the link.
        rise = -np.arctan2(p.tilt_z, p.tilt_x)
        elbow2 = placed([p.tilt_x, 0, p.tilt_z], (0, rise, 0)) @ placed([0, 0, 0], (RIGHT, 0, 0))
        trunk = [
            ("turret_link", placed([0, 0, p.turret_d], (RIGHT, 0, 0))),
            ("link1_link", placed([p.shoulder_a, p.shoulder_d, 0], (RIGHT, 0, 0))),
            ("link2_link", placed([p.elbow1_a, -p.elbow1_d, 0], (RIGHT, 0, 0))),
        ]
        camera = [
            *trunk,
            ("link3_link", elbow2),
            ("tilt_link", placed([0, 0, 0], (0, 0, np.pi))),
            ("pan_link", np.eye(4)),
        ]
        along = np.array([[0, 0, 1, 0], [0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])  # z is x
        tip = placed([p.gripper_length, 0, 0]) @ along
        hand = [*trunk, ("link3_link", along), ("gripper_link", tip)]
        for table, expected in ((camera_table(p), camera), (hand_table(p), hand)):
            frames = oracle.frames(table, q)
            for i, (link, offset) in enumerate(expected):
                assert np.abs(frames[:, i] - links[link] @ offset).max() < 1e-12, (link, i)


def test_dh_table_is_that_of_the_facts(setup):
    """facts/packbot.md prints degrees to three and lengths to four digits."""
    rows = [
        (row.joint, np.degrees(row.theta), row.d, row.a, np.degrees(row.alpha))
        for row in camera_table(setup.parameters).rows
    ]
    assert [row[0] for row in rows] == list(JOINTS[:6])
    assert np.array([row[1:] for row in rows]) == pytest.approx(
        np.array([
            [0, 0.085, 0, 90],
            [0, -0.060, 0.520, 0],
            [0, 0.060, 0.580, 0],
            [16.837, 0, 0.3970, 0],
            [163.163, 0, 0, 90],
            [180, 0.055, 0, 0],
        ]),
        abs=5e-4,
    )  # fmt: skip
    hand = oracle.frames(hand_table(setup.parameters), np.zeros(7))
    assert hand[-1, :3, 3] == pytest.approx([0.2 + 1.86, 0, 0.285])  # the reach, from its axis


def test_placements_and_jacobians(setup):
    """Frames are the oracle's, and Jacobians their differences: to h^2 times the third power."""
    kinematics, h = Kinematics(setup), 1e-5
    bodies = oracle.read(setup.urdf(base="fixed"))
    names = [body.link for body in bodies]
    for q in drawn(setup, 3, 20):
        origins, rotations = oracle.placements(bodies, q)
        for frame, link, point in (("tip", "gripper_link", [0.2, 0, 0]),
                                   ("camera", "pan_link", [0.065, 0, 0.03])):  # fmt: skip
            placement = kinematics.placement(frame, q)
            i = names.index(link)
            assert np.abs(placement.rotation - rotations[i]).max() < 1e-13
            assert np.abs(placement.position - origins[i] - rotations[i] @ point).max() < 1e-13
            jacobian = kinematics.jacobian(frame, q)
            for j, step in enumerate(h * np.eye(7)):
                after, before = (kinematics.placement(frame, q + s * step) for s in (1, -1))
                linear = (after.position - before.position) / (2 * h)
                spin = (after.rotation - before.rotation) / (2 * h) @ placement.rotation.T
                angular = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
                assert np.abs([*linear, *angular] - jacobian[:, j]).max() < 1e-9


@pytest.fixture(scope="module")
def inverse(setup):
    return Inverse(setup.parameters, Clearance.of(setup))


@pytest.fixture(scope="module")
def kinematics(setup):
    return Kinematics(setup)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=7, max_size=7))
@example([0.0, 0.0, 0.25, 0.5, 0.0, 0.0, 0.0])  # the shoulder at a limit, and all else stretched
@example([0.5, 1.0, 0.75, 0.5, 0.5, 0.5, 0.5])
def test_inverse_undoes_forward(inverse, kinematics, setup, parts):
    """Wherever finger tips can be they are found, with the hand's pitch given or not."""
    p = setup.parameters
    lower, upper = p.of_joints("lower"), p.of_joints("upper")
    q = lower + parts * (upper - lower)
    target, pitch = kinematics.tip(q), float(q[1] + q[2] + q[3])
    assume(np.hypot(target[0] - p.base_x, target[1]) > 1e-6)  # over the turret any turn does
    for asked in (None, pitch):
        solutions = inverse.solutions(target, asked)
        assert len(solutions)
        for angles in solutions[:: max(1, len(solutions) // 5)]:
            again = np.array([*angles, *q[4:]])
            assert np.abs(kinematics.tip(again) - target).max() < 1e-9
            assert ((lower <= again) & (again <= upper)).all()
    turns = (solutions - q[:4] + np.pi) % (
        2 * np.pi
    ) - np.pi  # the angles themselves are among them
    assert np.abs(turns).max(axis=1).min() < 1e-6  # a stretched elbow: the square root of round-off


def test_pitches_are_tried_half_a_degree_apart(inverse):
    """In the arm's plane, forward or over the back, all those at which the hand can be."""
    found = inverse.solutions(np.array([1.0, 0.4, 0.3]))
    plane = found[np.isclose(found[:, 0], found[0, 0])]
    pitches = np.unique(np.round(plane[:, 1:].sum(axis=1), 9))
    assert np.median(np.diff(pitches)) == pytest.approx(np.radians(0.5))


def test_inverse_chooses_the_nearest_that_is_clear(inverse, setup):
    """Of all solutions none that is clear by the margin is reached sooner."""
    p, near = setup.parameters, setup.initial.q
    target = np.array([1.0, 0.4, 0.3])
    best = inverse.solve(target, near=near, margin=0.02)
    assert inverse.clearance.closest(best)[1] >= 0.02
    speeds = p.of_joints("speed_limit")
    time = (np.abs(best - near) / speeds).max()
    for angles in inverse.solutions(target):
        q = np.array([*angles, *near[4:]])
        sooner = (np.abs(q - near) / speeds).max() < time - 1e-12
        assert not sooner or inverse.clearance.closest(q)[1] < 0.02


def test_inverse_says_why_not(inverse, setup):
    near = setup.initial.q
    assert sum(lengths_of(inverse.parameters)) == pytest.approx(1.86)  # over 6 ft, as is public
    edge = np.array([0.2 + 1.86 * np.cos(0.3), 0.0, 0.285 + 1.86 * np.sin(0.3)])
    beyond = np.array([1e-6, 0.0, 0.0])
    inverse.solve(edge - beyond, near=near)
    with pytest.raises(AccordError, match=r"from the shoulder, and the arm reaches 1.860 m"):
        inverse.solve(edge + beyond, near=near)
    with pytest.raises(AccordError, match=r"within the joints' limits and a hand at 1.5 rad"):
        inverse.solve(edge - [0.1, 0, 0], near=near, pitch=1.5)
    with pytest.raises(AccordError, match=r"every pose .* the first has .* in each other"):
        inverse.solve(np.array([0.1, 0.0, 0.1]), near=near)


def test_a_target_beyond_the_links_is_refused_before_a_path_is_looked_for(
    setup, kinematics, monkeypatch, capsys
):
    """By the lengths of the links: tips of no pose are refused, points beyond always are."""
    p, rng = setup.parameters, np.random.default_rng(0)
    reach = p.shoulder_a + p.elbow1_a + p.wrist_x + p.gripper_length
    for q in drawn(setup, 0, 200):
        check_reach(p, kinematics.tip(q))
    monkeypatch.setattr(Planner, "plan", lambda *_: pytest.fail("a path is looked for"))
    monkeypatch.setattr(cli, "clear_start", lambda *_: pytest.fail("a start is looked for"))
    centre = np.array([p.base_x, 0.0, p.base_z + p.turret_d])
    directions = rng.normal(size=(2, 3))
    for unit in directions / np.linalg.norm(directions, axis=1)[:, None]:
        aside = abs(p.shoulder_d - p.elbow1_d)
        x, y, z = centre + (reach + aside + rng.uniform(1e-3, 10.0)) * unit
        for controller in cli.CONTROLLERS:
            words = f"packbot reach-target --controller {controller} --target {x} {y} {z}"
            assert run(words.split()) == 2
            out, err = capsys.readouterr()
            assert out == ""
            assert err.startswith("accord: no pose has the finger tips at")
            assert err.count("\n") == 1


def test_camera_looks_at_what_it_is_turned_to(setup, kinematics):
    """The line of sight passes through the target, ahead of the lens."""
    rng, seen = np.random.default_rng(4), 0
    for q in drawn(setup, 5, 200):
        target = rng.uniform(-1.5, 1.5, 3)
        for tilt, pan in aim(setup.parameters, kinematics.placement("link3", q), target):
            camera = kinematics.placement("camera", np.array([*q[:4], tilt, pan, q[6]]))
            x, y, z = camera.rotation.T @ (target - camera.position)
            assert max(abs(y), abs(z)) < 1e-12
            seen += x > 0
    assert seen > 100


def test_named_poses_are_clear(setup, inverse):
    poses = named_poses()
    assert {"drive", "stowed", "ready", "inspect"} <= set(poses)
    assert poses["drive"] == pytest.approx(setup.initial.q)
    p = setup.parameters
    for name, q in poses.items():
        assert ((p.of_joints("lower") <= q) & (q <= p.of_joints("upper"))).all(), name
        assert inverse.clearance.closest(np.array(q))[1] > 0.02, name
