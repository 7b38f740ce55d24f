"""Robots in MJCF: the URDF that is made moves as MuJoCo's own model does."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Command
from roboaccord.description.tree_text import rpy
from roboaccord.engines.formats import read_robot
from roboaccord.engines.reading import TreeReading, base_of, draw_question, read_tree
from roboaccord.numerics.rotations import rpy_matrix
from roboaccord.run.energy_book import Stored
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

ALIKE = 1e-9  # relative
OFF = mujoco.mjtDisableBit

QUADRUPED = """<mujoco model="dog"><compiler angle="degree" autolimits="true"/>
<default><geom density="900"/>
<joint damping="0.2" frictionloss="0.1" actuatorfrcrange="-20 20"/></default>
<worldbody><geom type="plane" size="1 1 .1"/>
<body name="trunk" pos="0 0 .5"><freejoint/>
<geom type="box" size=".2 .1 .05" pos=".02 0 0"/>{}</body>
</worldbody></mujoco>"""
LEG = """<body name="hip_{0}" pos="{1} {2} 0" euler="0 10 {3}">
<joint name="roll_{0}" axis="1 0 0" range="-40 40"/>
<joint name="pitch_{0}" axis="0 1 0" pos="0 0 .01" ref="15" range="-60 90"/>
<geom type="capsule" fromto="0 0 0 .03 0 -.2" size=".02"/>
<body name="shank_{0}" pos=".03 0 -.2"><joint name="knee_{0}" axis="0 1 0"/>
<geom type="capsule" size=".015 .1" pos="0 0 -.1"/></body></body>"""
LEGS = (("lf", 0.2, 0.1, 5), ("rf", 0.2, -0.1, -5), ("lh", -0.2, 0.1, 0), ("rh", -0.2, -0.1, 20))


def read(folder: Path, text: str, name: str = "robot.xml"):
    """Return the URDF made of a text."""
    path = folder / name
    path.write_text(text)
    return read_robot(path)


def raw(text: str) -> mujoco.MjModel:
    """Return MuJoCo's own model, with what no URDF has switched off."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= OFF.mjDSBL_CONTACT | OFF.mjDSBL_LIMIT
    for values in (model.dof_damping, model.dof_frictionloss, model.actuator_damping):
        values[:] = 0.0
    return model


def worst(text: str, urdf: str) -> float:
    """Return the largest relative difference of accelerations at 20 random states."""
    model, tree = raw(text), read_tree(urdf)
    data, question = mujoco.MjData(model), draw_question(tree, base_of(tree), 0)
    reading, errors = TreeReading(tree, question), []
    free = question.base == "free"
    at = [model.joint(name).id for name in question.joints]
    places, rates = model.jnt_qposadr[at], model.jnt_dofadr[at]
    assert len(at) + free == model.njnt
    for state in question.states[:20]:
        data.qpos[places], data.qvel[rates], data.qfrc_applied[rates] = (
            state.q,
            state.qd,
            state.effort,
        )
        turn = np.eye(3)
        if free:
            data.qpos[:3], data.qpos[3:7] = state.position, np.roll(state.orientation, 1)
            mujoco.mju_quat2Mat(flat := np.zeros(9), data.qpos[3:7])
            turn = flat.reshape(3, 3)
            data.qvel[:3], data.qvel[3:6] = turn @ state.twist[:3], state.twist[3:]
        mujoco.mj_forward(model, data)
        base = [*data.qacc[:3], *(turn @ data.qacc[3:6])] if free else []
        expected = np.array([*base, *data.qacc[rates]])
        difference = np.abs(reading.acceleration(state) - expected).max()
        errors.append(difference / np.abs(expected).max())
    return max(errors)


def test_a_quadruped_moves_as_in_mujoco(tmp_path):
    """Two hinges in a hip, `ref`, euler angles, inertias of shapes, a free trunk."""
    text = QUADRUPED.format("".join(LEG.format(*leg) for leg in LEGS))
    file = read(tmp_path, text)
    assert worst(text, file.text) < ALIKE
    model = mujoco.MjModel.from_xml_string(text)
    tree = read_tree(file.text)
    assert (file.name, tree.links[0].name, base_of(tree)) == ("dog", "trunk", "free")
    for joint in tree.moving:
        own = model.joint(joint.name)
        dof = int(own.dofadr[0])
        assert (joint.damping, joint.friction, joint.effort) == (0.2, 0.1, 20.0)
        if model.jnt_limited[own.id]:
            assert (joint.lower, joint.upper) == tuple(model.jnt_range[own.id])
        assert model.dof_damping[dof] == joint.damping
    links = {link.name: link for link in tree.links if link.name not in file.made}
    for name, link in links.items():
        body = model.body(name)
        assert link.mass == body.mass[0]
        moments = np.sort(np.linalg.eigvalsh(link.inertia))
        np.testing.assert_allclose(moments, np.sort(body.inertia), rtol=1e-12)
    assert file.notes[-1].startswith("4 links of no mass between a body's joints: hip_lf_before_")
    assert file.made == {f"hip_{name}_before_roll_{name}" for name, *_ in LEGS}


numbers = st.floats(-1.0, 1.0).map(lambda x: round(x, 3))
vectors = st.tuples(numbers, numbers, numbers)
turns = st.tuples(*[st.floats(-180.0, 180.0).map(lambda x: round(x, 1))] * 3)
JOINTS = st.lists(st.tuples(st.booleans(), vectors, vectors, numbers), max_size=3)
BODIES = st.lists(
    st.tuples(st.integers(0, 6), vectors, turns, JOINTS, vectors, turns), min_size=1, max_size=6
)


def words(values) -> str:
    return " ".join(map(str, values))


def drawn(bodies, free: bool) -> str:
    """Return MJCF of a random tree: the parent of a body, if not the world, is one before it."""
    inner = dict[int, str]()
    for i in reversed(range(len(bodies))):
        _, position, turn, joints, centre, axes = bodies[i]
        text = ""
        for k, (slides, axis, at, ref) in enumerate(joints):
            direction = axis if np.linalg.norm(axis) > 0.1 else (0, 0, 1)
            kind = "slide" if slides else "hinge"
            # Two joints of a body along one axis would make its motion singular.
            direction = np.add(direction, 3.0 * np.eye(3)[k])
            text += f'<joint name="j{i}{k}" type="{kind}" axis="{words(direction)}" '
            more = f'armature="{abs(ref)}" stiffness="{3 * abs(ref)}" springref="{20 * ref}"'
            text += f'pos="{words(at)}" ref="{57.3 * ref}" {more}/>'
        if i == 0 and free:
            text = "<freejoint/>"
        text += f'<inertial pos="{words(centre)}" euler="{words(axes)}" mass="{1 + i}" '
        text += 'diaginertia=".3 .4 .5"/>'
        below = "".join(t for j, t in inner.items() if min(bodies[j][0], j - 1) == i)
        inner[i] = (
            f'<body name="b{i}" pos="{words(position)}" euler="{words(turn)}">{text}{below}</body>'
        )
    return f'<mujoco model="tree"><worldbody>{inner[0]}</worldbody></mujoco>'


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(BODIES, st.booleans())
def test_random_trees_move_as_in_mujoco(tmp_path_factory, bodies, free):
    """Hinges and slides, up to three in a body, off its origin, with `ref`; fixed or free."""
    text = drawn(bodies, free)
    if not mujoco.MjModel.from_xml_string(text).nv:
        return
    file = read(tmp_path_factory.mktemp("tree"), text)
    assert worst(text, file.text) < ALIKE


ARM = """<mujoco model="arm"><worldbody><body name="a"><joint name="j" axis="0 1 0"{0}/>
<geom name="g" type="box" size=".1 .1 .1" pos="0 0 .1"/>{1}</body></worldbody>{2}</mujoco>"""
LOOP = '<equality><{0} name="tie" {1}/></equality>'
TENDON = '<tendon><fixed name="cable"><joint joint="j" coef="1"/></fixed></tendon>'
BALL = '<body name="b"><joint name="wrist" type="ball"/><geom size=".1"/></body>'


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        (("", BALL, ""), "ball joint wrist, which URDF cannot express"),
        (("", "<jonit/>", ""), "MuJoCo refuses it: .*jonit"),
    ],
)  # fmt: skip
def test_what_no_urdf_can_say_is_refused_by_name(tmp_path, parts, line):
    with pytest.raises(AccordError, match=f"^robot.xml: .*{line}") as refused:
        read(tmp_path, ARM.format(*parts))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        (("", "", LOOP.format("connect", 'body1="a" anchor="0 0 1"')), "connect tie, a loop"),
        (("", "", LOOP.format("weld", 'body1="a"')), "equality weld tie, a loop"),
        (("", "", LOOP.format("joint", 'joint1="j"')), "equality joint tie"),
        (("", "", TENDON), "tendon cable"),
        (("", '</body><body name="hand" mocap="true">', ""), "mocap body hand"),
    ],
)
def test_what_no_urdf_can_say_is_named_and_not_simulated(tmp_path, parts, line):
    file = read(tmp_path, ARM.format(*parts))
    assert line in file.lacks[0]
    assert file.notes[-1] == f"{file.lacks[0]}: left out"
    with pytest.raises(AccordError, match=f"robot.xml has .*{line}, which this simulation has not"):
        Setup.of(load_scenario("roboaccord", str(file.path), "released", []))


def test_of_bodies_that_move_by_themselves_the_one_with_most_joints_is_the_robot(tmp_path):
    box = '</body><body name="box"><freejoint/><geom size=".1"/>'
    more = '<body name="b"><joint name="k"/><geom size=".1"/></body>'
    text = QUADRUPED.format(more).replace("</worldbody>", f"<body>{box}</body></worldbody>")
    file = read(tmp_path, text)
    assert [link.name for link in read_tree(file.text).links] == ["trunk", "b"]
    assert file.notes[-1].startswith("2 bodies beside the robot: left out: ")


DRIVEN = """<mujoco model="driven"><compiler angle="radian"/><worldbody><body name="a">
<joint name="j" axis="0 1 0" armature=".2" springref=".3" stiffness="4"/>
<inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .1"/><body name="b" pos="0 0 .3">
<joint name="k" axis="1 0 0" damping=".1" stiffness="2"/>
<joint name="s" type="slide" axis="0 0 1" ref=".1" stiffness="9" springref="-.2"/>
<inertial pos="0 0 .1" mass="1" diaginertia=".1 .2 .1"/></body></body></worldbody><actuator>
<motor joint="j" gear="3" armature=".5" damping=".7"/>
<position joint="k" kp="7" kv=".4" gear="2" forcerange="-5 5"/></actuator>
<equality><joint joint1="s" joint2="k" polycoef=".1 2 0 0 0" active="true"/></equality></mujoco>"""


def test_what_drives_a_joint_is_part_of_it(tmp_path):
    """Armature of joints and drives, springs with their references, gears, position actuators."""
    moved = DRIVEN.partition("<position")[0] + "</actuator></mujoco>"
    assert worst(moved, read(tmp_path, moved).text) < ALIKE
    j, k, s = read_tree(read(tmp_path, DRIVEN).text).moving
    assert (j.armature, j.spring, j.damping) == (pytest.approx(4.7), (4.0, 0.3), pytest.approx(6.3))
    assert (k.servo, k.effort, k.spring) == ((28.0, 1.6), 10.0, (2.0, 0.0))
    assert (s.spring, s.mimic) == ((9.0, -0.2), ("k", 2.0, pytest.approx(0.2)))


@pytest.mark.parametrize("engine", ["mujoco", "dart"])
def test_rotors_springs_and_actuators_act_in_a_run_as_in_the_reference(tmp_path, engine):
    """By the accelerations of the first steps, and the energy that springs keep."""
    text = "\n".join(line for line in DRIVEN.splitlines() if 'name="s"' not in line)
    text = text.partition("<equality>")[0] + "</mujoco>"
    (tmp_path / "arm.xml").write_text(text)
    key = "parameters.actuators=1", "parameters.damping=0", "initial.q.k=.3", "duration=.2"
    setup = Setup.of(load_scenario("roboaccord", str(tmp_path / "arm.xml"), "released", [*key]))
    ends = []
    for name in ("reference", engine):
        simulator = make_simulator(setup, name)
        stored = Stored(setup.tree, setup.joints, 9.81, simulator.armature, simulator.spring)
        first = simulator.state()
        for _ in range(200):
            last = simulator.step(Command(np.zeros(2)), 1e-3)
        ends.append(last.q)
        assert last.q[0] - first.q[0] > 1e-3
        if name == "reference":  # but for what the actuator's damping takes: .4 of k alone
            assert sum(stored.of(last)) == pytest.approx(sum(stored.of(first)), abs=2e-2)
    np.testing.assert_allclose(*ends, atol=1e-9 if engine == "mujoco" else 2e-3)


def test_a_body_with_two_joints_runs_in_mujoco_as_in_the_reference(tmp_path):
    """Whose frames of no mass MuJoCo would refuse; their properties stay what is described."""
    (tmp_path / "dog.xml").write_text(QUADRUPED.format("".join(LEG.format(*leg) for leg in LEGS)))
    setup = Setup.of(load_scenario("roboaccord", str(tmp_path / "dog.xml"), "released", []))
    engine, state = make_simulator(setup, "mujoco"), setup.initial
    state = replace(state, q=np.linspace(-0.5, 0.5, len(setup.joints)))
    both = [s.acceleration(state, state.effort) for s in (make_simulator(setup), engine)]
    np.testing.assert_allclose(*(each.joints for each in both), rtol=1e-9, atol=1e-9)
    frames = [name for name in engine.masses() if "_before_" in name]
    assert len(frames) == 4 and not any(engine.masses()[name] for name in frames)


def test_what_is_left_out_is_said(tmp_path):
    more = ' stiffness="2" armature=".1"'
    text = ARM.format(more, "", '<option gravity="0 0 -1.62"/>')
    file = read(tmp_path, text, "robot.model")  # whatever the suffix
    assert file.notes[0] == (
        f"<mujoco> read by mujoco {mujoco.__version__} and converted to a URDF, without its shapes"
    )
    assert [note.partition(":")[0] for note in file.notes[1:]] == [
        "gravity of the file, 0 0 -1.62 m/s^2",
    ]


def test_a_format_that_no_engine_has_is_said(tmp_path):
    with pytest.raises(AccordError, match="holds no robot: its first element is <COLLADA>"):
        read(tmp_path, "<COLLADA/>")


@pytest.mark.parametrize("pitch", [0.0, 1.0, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-8, 3.0])
def test_roll_pitch_yaw_are_exact_at_any_pitch(pitch):
    for roll, yaw in np.random.default_rng(0).uniform(-np.pi, np.pi, (50, 2)):
        turn = rpy_matrix(roll, pitch, yaw)
        np.testing.assert_allclose(rpy_matrix(*rpy(turn)), turn, rtol=0, atol=2e-15)


def test_a_robot_of_mjcf_runs_in_dart_as_in_the_reference(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = ARM.format(' range="-1 2" damping=".3"', "", "").replace('"j"', '"the joint"')
    Path("arm.xml").write_text(text.replace("<joint", "\n<joint"))
    setup = Setup.of(load_scenario("roboaccord", "arm.xml", "released", []))
    assert "<mujoco> read by mujoco" in setup.robot.remarks(setup)["file"]
    state = replace(setup.initial, q=np.array([0.7]))
    found = [make_simulator(setup, name).acceleration(state, state.effort).joints
             for name in ("reference", "dart")]  # fmt: skip
    np.testing.assert_allclose(*found, rtol=1e-9)
