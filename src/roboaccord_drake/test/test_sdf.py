"""Robots in SDF: the URDF that is made moves as Drake's own plant does."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from roboaccord.contract.errors import AccordError
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.engines.formats import read_robot
from roboaccord.engines.reading import TreeReading, base_of, draw_question, read_tree
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord_drake.reader import DrakeReading

ALIKE = 1e-9  # relative; largest difference of two accelerations that are the same
INERTIAL = (
    "<inertial><pose>{}</pose><mass>{}</mass><inertia><ixx>.03</ixx><iyy>.04</iyy><izz>.05</izz>"
    "<ixy>.001</ixy><iyz>-.002</iyz></inertia></inertial>"
)
MODEL = '<sdf version="1.9"><model name="m">{}</model></sdf>'
TIE = '<joint name="hold" type="fixed"><parent>world</parent><child>{}</child></joint>'


def link(name: str, pose: str, centre: str = "0 0 .1 .1 .2 .3", mass: float = 1.0) -> str:
    return f'<link name="{name}"><pose>{pose}</pose>{INERTIAL.format(centre, mass)}</link>'


def joint(name: str, kind: str, parent: str, child: str, pose: str = "0 0 0 0 0 0",
          axis: str = "0 0 1", more: str = "") -> str:  # fmt: skip
    return (
        f'<joint name="{name}" type="{kind}"><pose>{pose}</pose><parent>{parent}</parent>'
        f"<child>{child}</child><axis><xyz>{axis}</xyz>{more}</axis></joint>"
    )


def converted(folder: Path, text: str, name: str = "robot.sdf") -> UrdfFile:
    """Return the URDF that is made of a text in SDF."""
    (folder / name).write_text(text)
    return read_robot(folder / name)


def largest_difference(text: str, urdf: str) -> float:
    """Return the largest relative difference of accelerations from Drake's, at 20 random states.

    Compared are those of the URDF that was made, and those of the reader of the text itself.
    """
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "sdf")
    for i in plant.GetJointIndices():
        if plant.get_joint(i).num_velocities() == 1:
            plant.get_joint(i).set_default_damping(0.0)
    for i in plant.GetJointActuatorIndices():
        plant.get_joint_actuator(i).set_default_rotor_inertia(0.0)
    plant.Finalize()
    context, tree = plant.CreateDefaultContext(), read_tree(urdf)
    plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuators()))
    question = draw_question(tree, base_of(tree), 0)
    readings = (TreeReading(tree, question), DrakeReading(text, question, "", {}))
    joints, differences = [plant.GetJointByName(name) for name in question.joints], []
    q_indices = [joint.position_start() for joint in joints]
    v_indices = [joint.velocity_start() for joint in joints]
    free = question.base == "free"
    assert plant.num_velocities() == len(joints) + 6 * free
    root = plant.GetBodyByName(tree.links[0].name) if free else None
    for state in question.states[:20]:
        q, v = plant.GetPositions(context), np.zeros(plant.num_velocities())
        q[q_indices], v[v_indices] = state.q, state.qd
        force = np.zeros(len(v))
        force[v_indices] = state.effort
        base = []  # indices of the base's velocities, linear first
        if root:
            quaternion, turn = np.roll(state.orientation, 1), quaternion_matrix(state.orientation)
            q[root.floating_positions_start() :][:7] = *quaternion, *state.position
            start = root.floating_velocities_start_in_v()
            v[start : start + 6] = *(turn @ state.twist[3:]), *(turn @ state.twist[:3])
            base = [*range(start + 3, start + 6), *range(start, start + 3)]
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        plant.get_applied_generalized_force_input_port().FixValue(context, force)
        accelerations = plant.EvalTimeDerivatives(context).CopyToVector()[len(q) :]
        expected = accelerations[[*base, *v_indices]]
        for reading in readings:
            difference = np.abs(reading.acceleration(state) - expected).max()
            differences.append(difference / np.abs(expected).max())
    return max(differences)


def test_an_arm_moves_as_in_drake(tmp_path: Path) -> None:
    """Joint frames off the links' own, a joint written from child to parent, limits and damping."""
    more = (
        "<limit><lower>-1.25</lower><upper>2.5</upper><effort>30</effort></limit>"
        "<dynamics><damping>.3</damping></dynamics>"
    )
    text = MODEL.format(
        link("base", "0 0 .1 0 0 .4")
        + link("upper", ".1 0 .4 .3 0 0")
        + link("fore", ".1 .2 .9 0 1.5707963267948966 0")
        + link("hand", ".1 .2 1.3 0 0 1", mass=0.4)
        + TIE.format("base")
        + joint("shoulder", "revolute", "base", "upper", "0 0 -.1 .2 0 0", "0 1 0", more)
        + joint("elbow", "continuous", "fore", "upper", "0 .1 .3 0 .2 0", "1 2 0")
        + joint("slide", "prismatic", "fore", "hand", "0 0 0 .1 0 0", "0 .6 .8", more)
    )
    file = converted(tmp_path, text)
    assert largest_difference(text, file.text) < ALIKE
    tree = read_tree(file.text)
    assert [link.name for link in tree.links] == ["world", "base", "upper", "fore", "hand"]
    shoulder = tree.moving[0]
    assert (shoulder.lower, shoulder.upper, shoulder.effort, shoulder.damping) == (
        -1.25, 2.5, 30, 0.3,
    )  # fmt: skip
    assert file.notes[1].startswith("SDF 1.9; Drake knows it up to 1.")


numbers = st.floats(-1.0, 1.0).map(lambda x: round(x, 3))
poses = st.tuples(*[numbers] * 3, *[numbers.map(lambda x: 3.0 * x)] * 3)
BODIES = st.lists(
    st.tuples(st.integers(0, 6), poses, poses, poses, st.booleans(), st.integers(0, 3)),
    min_size=2, max_size=6,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(BODIES, st.booleans())
def test_random_trees_move_as_in_drake(tmp_path_factory, bodies, held) -> None:  # type: ignore[no-untyped-def]
    """Frames anywhere, joints in either direction, on the world or free."""
    kinds, text = ("fixed", "revolute", "continuous", "prismatic"), TIE.format("b0") * held
    for i, (parent, pose, at, centre, turned, kind) in enumerate(bodies):
        text += link(f"b{i}", " ".join(map(str, pose)), " ".join(map(str, centre)), 1.0 + i)
        if i:
            ends = (f"b{min(parent, i - 1)}", f"b{i}")[:: -1 if turned and held else 1]
            text += joint(f"j{i}", kinds[kind], *ends, " ".join(map(str, at)), ".6 0 .8")
    if held and not any(kind for *_, kind in bodies[1:]):
        return
    text = MODEL.format(text)
    file = converted(tmp_path_factory.mktemp("tree"), text)
    assert largest_difference(text, file.text) < ALIKE


def two(kind: str, more: str = "") -> str:
    return link("a", "0 0 0 0 0 0") + link("b", "1 0 0 0 0 0") + joint("j", kind, "a", "b") + more


@pytest.mark.parametrize(
    ("inside", "line"),
    [
        (two("ball"), "ball joint j, which URDF cannot express"),
        (two("screw"), "screw joint j, which URDF cannot express"),
        (two("universal").replace("</axis>", "</axis><axis2><xyz>1 0 0</xyz></axis2>"),
         "universal joint j, which URDF cannot express"),
        (two("gearbox"), r"Drake refuses it: error: Joint type \(gearbox\) not supported"),
        (two("revolute", link("c", "0 1 0 0 0 0") + joint("k", "revolute", "b", "c")
             + joint("l", "revolute", "a", "c")), "a loop at joint l: a URDF is a tree"),
        (two("revolute", "<static>true</static>"), "model m is static: nothing of it moves"),
        (two("revolute").replace(".03", ".3"), "Drake would take another inertia: .* a "),
        (two("revolute") + '</model><model name="n">' + link("a", "0 0 0 0 0 0"),
         r"it holds 2 models \(m, n\): name the file of one"),
        ('</model><world name="w"><gravity>0 0 -9.8</gravity></world><model name="n">',
         "it is a world, and no robot"),
        (two("revolute", link("c", "0 1 0 0 0 0")), "c is attached neither to a nor"),
        (two("revolute", '<drake:ball_constraint><drake:ball_constraint_body_A>a'
             "</drake:ball_constraint_body_A><drake:ball_constraint_body_B>b"
             "</drake:ball_constraint_body_B><drake:ball_constraint_p_AP>0 0 0"
             "</drake:ball_constraint_p_AP><drake:ball_constraint_p_BQ>0 0 0"
             "</drake:ball_constraint_p_BQ></drake:ball_constraint>"),
         "1 constraints between links, which URDF cannot"),
        (two("revolute", link("c", "0 1 0 0 0 0") + joint("k", "revolute", "b", "c").replace(
            "</axis>", '<mimic joint="j"><multiplier>2</multiplier></mimic></axis>')),
         "joint k mimics another: not taken from SDF"),
        ("<include><uri>model://no_such</uri></include>",
         "model no_such, which it includes, is not found: --package no_such=DIR"),
    ],
)  # fmt: skip
def test_what_no_urdf_can_say_is_refused_by_name(tmp_path: Path, inside: str, line: str) -> None:
    with pytest.raises(AccordError, match=f"^robot.sdf: {line}") as refused:
        converted(tmp_path, MODEL.format(inside))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("uri", ["model://leg", "leg", "./leg/model.sdf", "../robots/leg"])
def test_a_model_beside_the_file_is_included(tmp_path: Path, uri: str) -> None:
    """Also by a path from the file's folder, wherever the command runs."""
    (tmp_path := tmp_path / "robots").mkdir()
    (tmp_path / "leg").mkdir()
    (tmp_path / "leg" / "model.sdf").write_text(MODEL.format(two("revolute")))
    config = '<model><name>leg</name><sdf version="1.9">model.sdf</sdf></model>'
    (tmp_path / "leg" / "model.config").write_text(config)
    include = f'<include merge="true"><uri>{uri}</uri></include>'
    file = converted(tmp_path, MODEL.format(include), "robot.model")  # whatever the suffix
    assert [joint.name for joint in read_tree(file.text).moving] == ["j"]
    where = "" if ":" in uri else "/model.sdf; Drake itself looks in the folder in which it runs"
    assert file.notes[2] == f"{uri} is {tmp_path / 'leg'}{where}"


@pytest.mark.parametrize("version", ["1.4", "1.12"])
def test_a_model_of_a_path_is_included_and_ros2_control_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    """Gazebo finds it in its resource paths; no version of SDF has <ros2_control>."""
    (tmp_path / "models" / "leg").mkdir(parents=True)
    (tmp_path / "models" / "leg" / "model.sdf").write_text(MODEL.format(two("revolute")))
    (tmp_path / "models" / "leg" / "model.config").write_text("\n<?xml version='1.0'?>")
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path / "models"))
    control = '<ros2_control name="c" type="system">{}</ros2_control><ros2_control name="d"/>'
    include = "<include><uri>model://leg</uri><name>leg</name></include>"
    text = MODEL.format(include + control.format('<joint name="j"/>'))
    (folder := tmp_path / "robot").mkdir()
    file = converted(folder, text.replace("1.9", version))
    assert "<ros2_control>, which SDF has not, is left out" in file.notes
    assert [joint.name.removeprefix("leg_") for joint in read_tree(file.text).moving] == ["j"]


def test_a_joint_has_its_spring_dry_friction_and_velocity_limit(tmp_path: Path) -> None:
    spring = "<spring_stiffness>2</spring_stiffness><spring_reference>.5</spring_reference>"
    dynamics = f"<dynamics><friction>.7</friction>{spring}</dynamics>"
    dynamics += "<limit><velocity>3</velocity></limit>"
    text = MODEL.format(two("revolute").replace("</xyz></axis>", f"</xyz>{dynamics}</axis>"))
    (moving,) = read_tree(converted(tmp_path, text).text).moving
    assert (moving.spring, moving.friction, moving.velocity) == ((2.0, 0.5), 0.7, 3.0)


def test_without_drake_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [n for n in sys.modules if n == "pydrake" or n.startswith("pydrake.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "roboaccord_drake.convert", raising=False)
    with pytest.raises(AccordError, match=r"^engine drake needs drake: pip install drake$"):
        converted(tmp_path, MODEL.format(two("revolute")))
