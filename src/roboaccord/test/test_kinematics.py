"""Rotations, trees and the power balance of forces brought back to the joints."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from roboaccord.contract.errors import AccordError
from roboaccord.description.kinematics import TreeKinematics
from roboaccord.description.tree import Tree
from roboaccord.numerics.rotations import (
    axis_angle_matrix,
    matrix_quaternion,
    quaternion_matrix,
    quaternion_rpy,
    quaternion_yaw,
    rpy_matrix,
    yaw_quaternion,
)
from scipy.spatial.transform import Rotation

URDF = """<robot name="r"><link name="base_link"/>
<link name="one"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="two"><inertial><origin xyz="0 0.1 0"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="three"/>
<joint name="turn" type="revolute"><parent link="base_link"/><child link="one"/>
<origin xyz="1 0 0" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/></joint>
<joint name="slide" type="prismatic"><parent link="one"/><child link="two"/>
<origin xyz="0 1 0" rpy="0.4 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="weld" type="fixed"><parent link="two"/><child link="three"/>
<origin xyz="0 0 1"/></joint></robot>"""
JOINTS = ("turn", "slide")
angles = st.floats(-3, 3)


@given(angles, angles, angles)
@example(0.3, math.pi / 2, -0.7)
@example(0.3, -math.pi / 2 + 1e-9, 0.5)
@settings(max_examples=60, deadline=None)
def test_rotations_are_those_of_scipy(roll: float, pitch: float, yaw: float) -> None:
    ours = rpy_matrix(roll, pitch, yaw)
    theirs = Rotation.from_euler("xyz", [roll, pitch, yaw])
    np.testing.assert_allclose(ours, theirs.as_matrix(), atol=1e-12)
    q = matrix_quaternion(ours)
    np.testing.assert_allclose(quaternion_matrix(q), ours, atol=1e-12)
    np.testing.assert_allclose(
        axis_angle_matrix(np.array([0.0, 0, 1]), np.array(yaw)),
        quaternion_matrix(yaw_quaternion(yaw)),
        atol=1e-12,
    )
    assert quaternion_yaw(yaw_quaternion(yaw)) == pytest.approx(yaw, abs=1e-12)
    np.testing.assert_allclose(rpy_matrix(*quaternion_rpy(q)), ours, atol=1e-12)


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_forward_kinematics_velocities_and_forces_agree(seed: int) -> None:
    """Velocities are the derivative of positions; forces on links do the work of joint efforts."""
    rng = np.random.default_rng(seed)
    tree = Tree.parse(URDF)
    kinematics = TreeKinematics(tree, JOINTS)
    q, qd = rng.normal(size=(2, 2))
    position, twist = rng.normal(size=3), rng.normal(size=6)
    rotation = rpy_matrix(*rng.normal(size=3))
    h = 1e-6

    def centres(sign: float) -> np.ndarray:
        turned = Rotation.from_rotvec(sign * h * twist[3:]).as_matrix() @ rotation
        moved = position + sign * h * twist[:3]
        m = kinematics.move(q + sign * h * qd, qd, moved, turned, twist)
        return m.position.copy()

    slope = (centres(1) - centres(-1)) / (2 * h)
    motion = kinematics.move(q, qd, position, rotation, twist)
    np.testing.assert_allclose(motion.linear, slope, atol=1e-7)
    forces, torques = rng.normal(size=(2, 4, 3))
    wrench, effort = kinematics.efforts(forces, torques)
    power = (forces * motion.linear).sum() + (torques * motion.angular).sum()
    assert effort @ qd + wrench @ twist == pytest.approx(power, rel=1e-10, abs=1e-10)
    origins, rotations = tree.forward(JOINTS, q, position, matrix_quaternion(rotation))
    np.testing.assert_allclose(rotations, motion.rotation, atol=1e-12)
    offsets = np.array([link.centre for link in tree.links])
    np.testing.assert_allclose(
        origins + np.einsum("lij,lj->li", rotations, offsets), motion.position, atol=1e-12
    )


@pytest.mark.parametrize("length", ["2", "1e308", "1e-320"])
def test_an_axis_of_any_length_is_a_direction(length: str) -> None:
    """Else a slide of 0.1 m along (0, 0, 2) would end 0.2 m away."""
    other = URDF.replace('axis xyz="0 1 0"', f'axis xyz="0 {length} 0"')
    other = other.replace('axis xyz="0 0 1"', f'axis xyz="0 0 {length}"')
    assert other.count(length) == URDF.count(length) + 2
    poses = [
        Tree.parse(text).forward(JOINTS, np.array([0.3, 0.1]), np.zeros(3), np.eye(4)[3])
        for text in (URDF, other)
    ]
    for one, two in zip(*poses, strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (URDF[:-8], "broken description"),
        (URDF.replace('<link name="base_link"/>', '<link name="root"/>'), "no base_link"),
        (URDF.replace('<child link="three"/>', '<child link="four"/>'), "names link four"),
        (
            URDF.replace('<parent link="two"/>', '<parent link="three"/>'),
            "three is not attached to any link",
        ),
        (URDF.replace('<parent link="two"/>', ""), "lacks a parent"),
        (URDF.replace("0.1 0.2 0.3", "here"), "broken description"),
    ],
)
def test_broken_descriptions_are_named_in_one_line(broken: str, message: str) -> None:
    with pytest.raises(AccordError, match=message) as caught:
        Tree.parse(broken)
    assert "\n" not in str(caught.value)
