"""The description for Gazebo, whose joints start where a scenario starts them."""

from __future__ import annotations

import numpy as np
import pytest
from roboaccord.description import Tree
from roboaccord.gazebo.form import matrix_rpy, start_at
from roboaccord.rotations import rpy_matrix
from roboaccord.state import IDENTITY, ORIGIN

KINDS = ("revolute", "continuous", "prismatic", "fixed")


def random_tree(rng: np.random.Generator, count: int) -> str:
    """Return the URDF of a tree of joints of every kind, right angles among their origins."""
    text = "<robot name='tree'><link name='base_link'/>"
    for i in range(count):
        parent = f"link_{rng.integers(i)}" if i and rng.random() < 0.7 else "base_link"
        axis, place = rng.normal(size=3), rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        turn = rng.choice([0.0, 0.5 * np.pi, -0.5 * np.pi, rng.uniform(-3, 3)], size=3)
        if i % 3 == 0:  # pitch joints, which reach 90 degrees exactly
            axis, turn = np.array([0.0, -1.0, 0.0]), np.zeros(3)
        words = [" ".join(repr(float(value)) for value in row) for row in (place, turn, axis)]
        kind = KINDS[i % 4]
        limit = "<limit lower='-2.5' upper='1.5' effort='1' velocity='1'/>"
        text += f"""<link name='link_{i}'/><joint name='joint_{i}' type='{kind}'>
            <parent link='{parent}'/><child link='link_{i}'/>
            <origin xyz='{words[0]}' rpy='{words[1]}'/><axis xyz='{words[2]}'/>
            {limit if kind in ("revolute", "prismatic") else ""}</joint>"""
    return text + "</robot>"


@pytest.mark.parametrize("seed", range(5))
def test_less_the_start_it_is_the_same_robot(seed: int) -> None:
    """Where the turned one is at q - q0 the given one is at q, and so are its limits."""
    rng = np.random.default_rng(seed)
    urdf = random_tree(rng, 24)
    tree = Tree.parse(urdf)
    joints = tuple(joint.name for joint in tree.moving)
    start = rng.uniform(-3.0, 3.0, len(joints))
    start[::3] = 0.5 * np.pi
    turned = Tree.parse(start_at(urdf, dict(zip(joints, start, strict=True))))
    q = rng.uniform(-3.0, 3.0, (10, len(joints)))
    given = tree.forward(joints, q, ORIGIN, IDENTITY)
    made = turned.forward(joints, q - start, ORIGIN, IDENTITY)
    for one, other in zip(given, made, strict=True):
        assert other == pytest.approx(one, abs=1e-13)
    assert np.abs(given[0] - tree.forward(joints, q - start, ORIGIN, IDENTITY)[0]).max() > 1.0
    limits = {j.name: np.array([j.lower, j.upper]) for j in tree.moving}
    for joint, at in zip(turned.moving, start, strict=True):
        assert [joint.lower, joint.upper] == pytest.approx(limits[joint.name] - at)


def test_without_a_start_the_text_stays_as_it_is() -> None:
    urdf = random_tree(np.random.default_rng(0), 4)
    assert start_at(urdf, {"joint_0": 0.0}) is urdf


@pytest.mark.parametrize("near", [0.0, 1e-15, 1e-12, 1e-9, 1e-6, -1e-8])
def test_angles_of_a_rotation_are_exact_about_a_right_angle(near: float) -> None:
    for sign in (1.0, -1.0):
        rotation = rpy_matrix(0.7, sign * (0.5 * np.pi + near), -1.9)
        assert rpy_matrix(*matrix_rpy(rotation)) == pytest.approx(rotation, abs=2e-15)
