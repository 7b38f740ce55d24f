"""Parity gives engines the file itself: SDF against Drake's own parser, meshes beside a URDF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from roboaccord.cli.main import run
from roboaccord.engines.formats import read_robot
from roboaccord.numerics.isolation import Crash
from roboaccord_files.parity.answers import examine_file, judge_answers
from roboaccord_files.parity.bench import Bench, FileCase, ReadingOptions
from roboaccord_files.parity.levels import LEVELS
from roboaccord_files.parity.words import OF_CONVERTED, status_of
from roboaccord_files.rules.find import findings
from test_parity import SHIPPED, arm, examine, need, status

ALIKE = 1e-9  # relative
BODY = (
    '<link name="{}"><pose>{}</pose><inertial><pose>.02 .01 .1 .1 .2 .3</pose><mass>{}</mass>'
    "<inertia><ixx>.03</ixx><iyy>.04</iyy><izz>.05</izz><ixy>.001</ixy></inertia></inertial></link>"
)
FINGER = (
    '<sdf version="1.9"><model name="finger"><frame name="seat"><pose>0 .01 -.03 0 .1 .2</pose>'
    "</frame>" + BODY.format("root", "0 0 .02 .3 0 0", 0.2)
    + BODY.format("tip", "0 0 .07 0 0 1", 0.1)
    + '<joint name="knuckle" type="revolute"><pose>0 .01 -.02 .2 0 0</pose><parent>root</parent>'
    '<child>tip</child><axis><xyz expressed_in="seat">1 2 0</xyz><dynamics><spring_stiffness>2'
    "</spring_stiffness><spring_reference>.3</spring_reference></dynamics></axis></joint></model></sdf>"
)  # fmt: skip
INCLUDE = (
    "<include><uri>model://finger</uri><name>{}</name><placement_frame>seat</placement_frame>"
    '<pose relative_to="{}">.02 0 .04 0 0 {}</pose></include>'
    '<joint name="mount" type="fixed"><parent>{}</parent><child>{}::root</child></joint>'
)
HAND = (
    '<sdf version="1.9"><model name="hand">' + BODY.format("palm", "0 0 .5 0 0 .4", 1.0)
    + BODY.format("thumb", ".1 .2 .6 0 .5 0", 0.5)
    + '<joint name="swing" type="revolute"><parent>thumb</parent><child>palm</child><axis>'
    "<xyz>0 .6 .8</xyz><limit><lower>-1</lower><upper>2</upper></limit></axis>{}</joint>"
    '<joint name="slide" type="prismatic"><pose relative_to="thumb">0 0 .1 .1 0 0</pose>'
    "<parent>world</parent><child>thumb</child><axis><xyz>1 0 0</xyz></axis></joint>"
    + INCLUDE.format("left", "palm", 0.3, "palm", "left").replace("mount", "left_mount")
    + INCLUDE.format("right", "thumb", 2.0, "thumb", "right") + "</model></sdf>"
)  # fmt: skip
ROTOR = "<drake:rotor_inertia>1e-4</drake:rotor_inertia><drake:gear_ratio>20</drake:gear_ratio>"
"""On the world by a slide; a joint from tip to base; a model that is included twice."""
SNAKE = (
    '<sdf version="1.9"><model name="snake">' + BODY.format("head", "0 0 0 0 0 0", 0.3)
    + '<link name="tail"><pose>-.2 0 0 0 0 0</pose><inertial><mass>.3</mass></inertial></link>'
    + '<joint name="bend" type="revolute"><parent>head</parent><child>tail</child><axis><xyz>0 0 1'
    "</xyz></axis></joint>{}</model></sdf>"
)  # fmt: skip


def folder(place: Path) -> Path:
    """Write the model that is included, and return the folder of models."""
    (models := place / "models" / "finger").mkdir(parents=True)
    (models / "model.sdf").write_text(FINGER)
    config = '<model><name>finger</name><sdf version="1.9">model.sdf</sdf></model>'
    (models / "model.config").write_text(config)
    return models.parent


def raw_accelerations(path: Path, packages: dict[str, Path], bench: Bench) -> np.ndarray:
    """Return what Drake's parser makes of a hand, by nothing of ours, at 20 of a bench's states."""
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    for name, place in packages.items():
        parser.package_map().Add(name, place)
    parser.AddModels(path)
    plant.Finalize()
    context, found = plant.CreateDefaultContext(), []
    plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuators()))
    scopes = {f"{each}_tip_knuckle": ("knuckle", plant.GetModelInstanceByName(f"hand::{each}"))
              for each in ("left", "right")}  # fmt: skip
    joints = [plant.GetJointByName(*scopes.get(n, (n,))) for n in bench.question.joints]
    at = [joint.velocity_start() for joint in joints]
    assert at == [joint.position_start() for joint in joints]
    for state in bench.question.states[:20]:
        values = np.zeros((3, len(at)))
        values[:, at] = state.q, state.qd, state.effort
        plant.SetPositionsAndVelocities(context, values[:2].ravel())
        plant.get_applied_generalized_force_input_port().FixValue(context, values[2])
        found.append(plant.EvalTimeDerivatives(context).CopyToVector()[len(at) :][at])
    return np.array(found)


@pytest.mark.parametrize("engine", ["drake", pytest.param("sdformat", marks=pytest.mark.slow)])
def test_an_engine_is_given_the_sdf_itself(tmp_path: Path, engine: str) -> None:
    """Accelerations are those of Drake's own parser; the rotor is Drake's alone."""
    pytest.importorskip("pydrake")
    need(engine)
    models, path = folder(tmp_path), tmp_path / "hand.sdf"
    path.write_text(HAND.format(ROTOR if engine == "drake" else ""))
    bench = Bench(read_robot(path, packages := {"finger": models / "finger"}))
    assert bench.is_own(engine)
    assert len(bench.question.joints) == 4 and bench.question.base == "fixed"
    reading = bench.read(engine, "default", bench.full_text)
    (named := tmp_path / "named.sdf").write_text(  # as Drake wants it
        path.read_text().replace("//finger<", "//finger/model.sdf<")
    )
    expected = raw_accelerations(named, packages, bench)
    found = np.array(reading.accelerations(bench.question.states[:20]))
    assert np.abs(found - expected).max() < ALIKE * np.abs(expected).max()
    check = examine(bench, engine)
    assert (status(check), check.causes) == ("same", ())


@pytest.mark.slow
def test_what_gazebo_does_not_read_of_an_sdf_is_its_difference(tmp_path: Path) -> None:
    """A rotor that only Drake reads; a link of which Gazebo takes gravity."""
    pytest.importorskip("pydrake")
    need("sdformat")
    path = tmp_path / "snake.sdf"
    path.write_text(SNAKE.format("").replace("</axis>", f"</axis>{ROTOR}"))
    check = examine(Bench(read_robot(path)), "sdformat")
    assert [(c.quantity, c.where) for c in check.causes] == [("armature", ("bend",))]
    assert status(check) == "differ"
    path.write_text(SNAKE.format("").replace("<inertial>", "<gravity>0</gravity><inertial>", 1))
    check = examine(Bench(read_robot(path)), "sdformat")
    assert [(c.quantity, c.where) for c in check.causes] == [("gazebo gravity", ("head",))]


def test_a_snake_with_ros2_control_in_its_sdf_passes_with_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No version of SDF has <ros2_control>, as students write it; Drake rejects it."""
    need("drake")
    control = (
        '<ros2_control name="c" type="system"><hardware><plugin>gz_ros2_control/GazeboSimSystem'
        '</plugin></hardware><joint name="bend"><command_interface name="effort"/>'
        '<state_interface name="position"/></joint></ros2_control><plugin name="p" filename="f"/>'
    )
    path = tmp_path / "snake.sdf"
    path.write_text(SNAKE.format(control))
    assert run(["check", str(path)]) == 0
    assert "<ros2_control>, which SDF has not, is left out" in capsys.readouterr().err
    bench = Bench(read_robot(path))
    assert "<ros2_control>, which SDF has not, is left out" in bench.file.notes
    assert status(examine(bench, "drake")) == "same"


def loads(engine: str, path: Path) -> bool:
    """Return whether an engine loads a file, by nothing of ours."""
    if engine == "dart":
        import dartpy

        return dartpy.utils.DartLoader().parseSkeleton(str(path)) is not None
    import mujoco

    try:
        return mujoco.MjModel.from_xml_path(str(path)).nmesh > 0
    except ValueError:
        return False


COMPILER = "<mujoco><compiler {}/></mujoco>"
MESHES = [
    ("meshes/part.stl", ""), ("meshes/part.stl", 'strippath="false"'),
    ("part.stl", 'meshdir="assets"'), ("package://assets/part.stl", ""),
    ("package://arm/meshes/part.stl", ""),
]  # fmt: skip


@pytest.mark.parametrize("engine", ["mujoco", "dart"])
@pytest.mark.parametrize(("mesh", "compiler"), MESHES)
def test_an_engine_is_not_said_to_refuse_meshes_that_it_loads(
    tmp_path: Path, engine: str, mesh: str, compiler: str
) -> None:
    """As onshape-to-robot and others name them; with our settings wherever they are found."""
    need(engine)
    trimesh = pytest.importorskip("trimesh")
    for place in ("meshes", "assets", "."):
        (tmp_path / "arm" / place).mkdir(parents=True, exist_ok=True)
        if place != "." or "/" not in mesh:
            trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "arm" / place / "part.stl")
    shape = f'<collision><geometry><mesh filename="{mesh}"/></geometry></collision></link>'
    text = arm().replace("</link>", shape, 1)
    if compiler:
        text = text.replace("<link", COMPILER.format(compiler) + "<link", 1)
    path = tmp_path / "arm" / "arm.urdf"
    path.write_text(text)
    bench, raw = Bench(read_robot(path)), loads(engine, path)
    check = SHIPPED.measure(FileCase(bench, engine))
    assert not check.geometry
    if engine == "mujoco" or raw:  # DART is told where packages are
        assert (check.failure is None) is raw, check.refusal
    assert raw or mesh.startswith("package")
    assert SHIPPED.measure(FileCase(bench, engine, "accord")).failure is None
    if compiler:  # of a xacro file there is no other text
        path = path.rename(path.with_suffix(".urdf.xacro"))
        assert SHIPPED.measure(FileCase(Bench(read_robot(path)), engine)).failure is None


def test_a_mesh_behind_four_slashes_is_a_path(tmp_path: Path) -> None:
    """As a public xacro writes file:// and a path; DART takes what follows two for a host."""
    need("dart")
    pytest.importorskip("trimesh").creation.box((0.1, 0.1, 0.1)).export(tmp_path / "part.stl")
    mesh = f'<mesh filename="file:///{tmp_path / "part.stl"}"/>'
    shape = f"<collision><geometry>{mesh}</geometry></collision></link>"
    (path := tmp_path / "arm.urdf.xacro").write_text(arm().replace("</link>", shape, 1))
    check = SHIPPED.measure(FileCase(Bench(read_robot(path)), "dart"))
    assert (check.failure, check.geometry) == (None, {})


@pytest.mark.parametrize("name", ["bird.xml", "bird.model"])
def test_what_a_free_joint_adds_is_left_out_on_both_sides(tmp_path: Path, name: str) -> None:
    """An armature of all joints by default is also one of the body that flies; of any suffix."""
    need("mujoco")
    path = tmp_path / name
    path.write_text(
        '<mujoco><default><joint armature=".3"/></default><worldbody><body name="b"><joint '
        'type="free"/><geom size=".1"/><body name="w"><joint name="j" axis="1 0 0" stiffness="2"/>'
        '<geom size=".1" pos=".2 .3 0"/></body></body></worldbody><equality>'
        '<connect body1="w" body2="b" anchor="0 0 0"/></equality></mujoco>'  # which mimics nothing
    )
    bench = Bench(read_robot(path))
    assert "armature, damping and friction of the free joint: left out" in bench.file.notes
    check = examine(bench, "mujoco")
    assert (status(check), check.causes) == ("same", ())
    assert bench.tree.moving[0].armature == 0.3
    rules = {each.rule for each in findings(bench.file)}
    assert rules.isdisjoint({"drake-rotor", "gazebo-spring"})


def test_an_engine_is_not_said_to_refuse_a_text_that_only_we_wrote(tmp_path: Path) -> None:
    """Neither with its own settings nor with ours: no verdict, and the text is named."""
    need("drake")
    need("dart")
    (tmp_path / "snake.sdf").write_text(SNAKE.format(""))
    bench = Bench(read_robot(tmp_path / "snake.sdf"), planted={"dart": '<robot name="no_links"/>'})
    check = examine(bench, "dart")
    assert (status(check), check.causes) == ("undecided", ())
    assert check.accord is not None and status_of(check.accord) == "undecided"
    assert check.refusal.startswith("of the URDF converted from it: ")


def test_a_crash_on_a_text_that_only_we_wrote_is_no_verdict(tmp_path: Path) -> None:
    """Of the engine whose format the file has, it is one."""
    need("drake")
    need("dart")
    (tmp_path / "snake.sdf").write_text(SNAKE.format(""))
    robot = examine_file(read_robot(tmp_path / "snake.sdf"), {}, ReadingOptions())
    crash, engines = Crash("its process ended with signal 11"), {"dart": "6", "drake": "1"}
    asked = {(engine, level.name): crash for engine in engines for level in LEVELS}
    robot = judge_answers(robot, asked, engines, ReadingOptions())
    assert robot.status == {"dart": "undecided", "drake": "refused"}
    found = robot.to_json()["engines"]
    assert found["dart"]["causes"][0]["fix"] == f"{OF_CONVERTED}: crash: {crash.reason}"
    assert [found["drake"]["causes"][0][key] for key in ("cause", "fix")] == ["crash", crash.reason]


def test_mujoco_weighs_links_by_their_shapes_where_the_file_says_so(tmp_path: Path) -> None:
    """1000 kg/m^3: a box of 0.1 x 0.1 x 0.2 m, and a ball of 50 mm, whatever the file states."""
    weights = {"base": 5.0, "bob": 0.9}
    shapes = {"base": '<box size=".1 .1 .2"/>', "bob": '<sphere radius=".05"/>'}
    links = "".join(
        f'<link name="{name}"><inertial><mass value="{mass}"/><inertia ixx=".01" iyy=".01" '
        f'izz=".01" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>{shapes[name]}'
        "</geometry></collision></link>"
        for name, mass in weights.items()
    )
    path = tmp_path / "arm.urdf"
    path.write_text(
        f'<robot name="arm"><mujoco><compiler inertiafromgeom="true"/></mujoco>{links}'
        '<joint name="swing" type="continuous"><parent link="base"/><child link="bob"/>'
        '<origin xyz="0 0 .3"/><axis xyz="1 0 0"/></joint></robot>'
    )
    bench = Bench(read_robot(path), "free")
    assert "collision" not in bench.given("dart")
    check = examine(bench, "mujoco")
    assert check.mass == pytest.approx(2.0 + 4e-6 / 3.0 * np.pi * 50.0**3)
    assert {(flaw.causes[0].quantity, flaw.causes[0].where) for flaw in check.causes} >= {
        ("mass", "base"), ("mass", "bob")
    }  # fmt: skip
