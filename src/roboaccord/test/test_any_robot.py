"""Robots that are files: in every engine against the reference, and over the command line."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from roboaccord.cli.main import run
from roboaccord.contract.errors import AccordError
from roboaccord.crosscheck.levels.acceleration import check_acceleration, check_model
from roboaccord.engines import default_names, spec
from roboaccord.engines.spec import Missing
from roboaccord.robots.controllers import inertias
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.run.pieces import run_pieces
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.files import load_scenario, make_scenario
from roboaccord.scenario.setup import Setup, find_robot

INERTIA = '<inertia ixx="{}" iyy="{}" izz="{}" ixy="0.0005" ixz="0" iyz="-0.0002"/>'
BODY = '<inertial><origin xyz="{}" rpy="0.1 0.2 0.3"/><mass value="{}"/>{}</inertial>'
LIMIT = '<limit lower="{}" upper="{}" effort="{}" velocity="1"/>'


def body(name, mass, centre, *inertia, more=""):
    inside = BODY.format(centre, mass, INERTIA.format(*inertia)) if mass else ""
    return f'<link name="{name}">{inside}{more}</link>'


def joint(name, kind, parent, child, origin, axis, more=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{origin}" rpy="0.3 0 0.2"/><axis xyz="{axis}"/>{more}</joint>'
    )


MESH = '<visual><geometry><mesh filename="package://nowhere/arm.stl"/></geometry></visual>'
LINKS = [
    body("pelvis", 3.0, "0.05 0 0.1", 0.05, 0.06, 0.04, more=MESH),
    body("upper", 2.0, "0 0.02 -0.2", 0.03, 0.04, 0.02),
    body("flange", 0, ""),
    body("lower", 1.0, "0.01 0 -0.2", 0.02, 0.025, 0.015),
    body("finger", 0.2, "0 0 -0.05", 0.004, 0.004, 0.004),
    body("tip", 0, ""),
    body("foot", "0.0", "0 0 0", 0.004, 0.004, 0.004),
]
JOINTS = [
    joint("a", "revolute", "pelvis", "upper", "0 0.1 -0.1", "0 1 0", LIMIT.format(-1, 2, 80)),
    joint("weld", "fixed", "upper", "flange", "0 0 -0.4", "0 0 0"),
    joint(
        "b", "revolute", "flange", "lower", "0 0 0", "0.6 0.8 0",
        LIMIT.format(0.2, 1.2, 50) + '<dynamics damping="0.3" friction="0.1"/>',
    ),
    joint("c", "prismatic", "lower", "finger", "0 0 -0.4", "0 0 2", LIMIT.format(-0.2, 0.1, 20)
          + '<mimic joint="a"/>'),
    joint("d", "fixed", "finger", "tip", "0 0 -0.1", "1 0 0"),
    joint("e", "fixed", "lower", "foot", "0 0 -0.1", "1 0 0"),
]  # fmt: skip
ARM = f'<robot name="2nd arm">{"".join(LINKS + JOINTS)}</robot>'


@pytest.fixture
def arm(tmp_path, monkeypatch):
    """Return the file of an arm with a slide, damping, a mimic and a mesh that is nowhere.

    Its flange has no inertia, its foot has one and no mass.
    """
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def setup_of(path, *changes):
    return Setup.of(load_scenario("roboaccord", str(path), "released", changes))


def motion(setup, engine):
    return run_setup(setup, make_simulator(setup, engine))


def test_a_file_is_a_robot(arm):
    """Its name suits a topic, its path stands in the scenario, and it starts inside its limits."""
    setup = setup_of(arm)
    assert setup.robot.name == "robot_2nd_arm"
    assert find_robot("arm.urdf").key == setup.scenario.robot == str(arm)
    assert setup.joints == ("a", "b", "c")
    assert setup.effort_limits.tolist() == [80, 50, 20]
    assert setup.initial.q.tolist() == [0.0, 0.7, 0.0]
    assert setup_of(arm, "initial.q.b=0.3").initial.q.tolist() == [0.0, 0.3, 0.0]


def test_a_scenario_may_name_the_file(arm):
    """As it is typed, from the folder of the run; that of another robot is refused."""
    arm.with_name("my.yaml").write_text("robot: arm.urdf\nbase: free\n")
    scenario = load_scenario("roboaccord", str(arm), "my.yaml")
    assert (scenario.robot, scenario.base) == (str(arm), "free")
    arm.with_name("my.yaml").write_text("robot: leg.urdf\n")
    with pytest.raises(AccordError, match=r"^my.yaml is a scenario of leg.urdf, not of "):
        load_scenario("roboaccord", str(arm), "my.yaml")


@pytest.mark.parametrize(("lower", "upper"), [("0", "0.8"), ("-0.8", "0")])
def test_a_joint_does_not_begin_at_its_stop(arm, lower, upper):
    """One whose range ends at 0 begins in the middle of it."""
    arm.write_text(ARM.replace('lower="0.2" upper="1.2"', f'lower="{lower}" upper="{upper}"'))
    assert setup_of(arm).initial.q[1] == 0.5 * (float(lower) + float(upper))


def test_the_reference_begins_as_after_a_reset(arm):
    """A base that does not move is where it is described, wherever the scenario would begin."""
    setup = setup_of(arm, "initial.position=[0.5, 0, 0]")
    reference = make_simulator(setup)
    begun = reference.state()
    assert np.array_equal(begun.position, reference.reset(setup.initial).position)
    assert begun.position.tolist() == [0.0, 0.0, 0.0]


def test_what_is_taken_of_the_file_is_said(arm):
    setup = setup_of(arm)
    message = setup.robot.remarks(setup)
    assert "root link (base_link is pelvis in the file) is fixed to the world" in message["base"]
    assert message["joint stops"].startswith("of 3 joints: left out; --set parameters.stops=1")
    assert message["damping"] == "of 1 joint: acts"
    assert message["dry friction"].startswith("of 1 joint: left out")
    assert message["mimic"] == "c: free; --set parameters.mimic=1 holds them to what they mimic"
    taken = setup_of(arm, "parameters.stops=1", "base=free")
    assert taken.robot.remarks(taken)["joint stops"] == "of 3 joints: acts"


@pytest.mark.parametrize("base", ["fixed", "planar", "free"])
@pytest.mark.parametrize("engine", default_names())
@pytest.mark.parametrize("stops", [0, 1])
def test_engines_have_the_model_of_the_file(arm, engine, base, stops):
    """Masses, inertias, axes, limits, damping; and accelerations at random states to 1e-10."""
    if isinstance(found := spec(engine).look(), Missing):
        pytest.skip(found.reason)
    setup = setup_of(arm, f"base={base}", f"parameters.stops={stops}")
    reference, simulator = (make_simulator(setup, name) for name in ("reference", engine))
    assert check_model(setup, reference, simulator, 1e-12).differences == ()
    assert check_acceleration(setup, reference, simulator, 20, 1).max < 1e-10


@pytest.mark.parametrize(("damping", "dry"), [(0, 0), (0.5, 0), (0, 2)])
def test_friction_of_the_file_brakes_a_wheel(tmp_path, damping, dry):
    """By the shares of it that are asked for: I dw/dt = -b w, or -c w / sqrt(w^2 + e^2).

    The latter keeps sqrt(w^2 + e^2) - e arsinh(e / w) + c t / I constant.
    """
    inertia = '<inertia ixx="1" iyy="1" izz="0.5" ixy="0" ixz="0" iyz="0"/>'
    link = f'<link name="{{}}"><inertial><mass value="2"/>{inertia}</inertial></link>'
    more = '<limit effort="9" velocity="9"/><dynamics damping="0.3" friction="0.1"/>'
    hub = joint("hub", "continuous", "stand", "wheel", "0 0 0", "0 0 1", more)
    text = link.format("stand") + link.format("wheel") + hub
    (tmp_path / "wheel.urdf").write_text(f'<robot name="wheel">{text}</robot>')
    shares = f"parameters.damping={damping}", f"parameters.dry_friction={dry}"
    run = motion(
        setup_of(tmp_path / "wheel.urdf", *shares, "parameters.friction_speed=0.5",
                 "initial.qd.hub=1.2", "controller.name=none", "duration=0.5"),
        "reference",
    )  # fmt: skip
    w, t, e = run.qd[:, 0], run.time, 0.5
    if dry:
        kept = np.hypot(w, e) - e * np.arcsinh(e / w) + 0.1 * dry * t / 0.5
        np.testing.assert_allclose(kept, kept[0], rtol=0, atol=1e-10)
    else:
        np.testing.assert_allclose(w, 1.2 * np.exp(-0.3 * damping * t / 0.5), rtol=0, atol=1e-10)


def test_pd_holds_a_posture_and_sine_follows_its_goal(arm):
    """Without gravity: 0.3 pi^2 rad/s^2 bends a joint of 20 Hz by less than a milliradian."""
    still = ("parameters.gravity=0", "parameters.damping=0", "controller.frequency=20")
    setup = setup_of(arm, *still, "duration=1", "controller.name=pd", "controller.posture.a=0.5")
    assert motion(setup, "reference").q[-1] == pytest.approx([0.5, 0.7, 0.0], abs=1e-6)
    setup = setup_of(arm, *still, "duration=2", "controller.name=sine")
    goals = make_controller(setup)
    run = motion(setup, "reference")
    late = run.time > 1.0
    expected = np.array([goals.goal(time)[0] for time in run.time[late]])
    assert np.ptp(expected, axis=0).min() > 0.29
    np.testing.assert_allclose(run.q[late], expected, rtol=0, atol=5e-3)
    with pytest.raises(AccordError, match=r"unknown key controller.posture.e; available: a, b, c"):
        make_controller(setup_of(arm, "controller.name=pd", "controller.posture.e=1"))


@pytest.mark.parametrize("smooth", ["true", "false"])
def test_random_efforts_follow_from_the_seed(arm, smooth):
    """Their root mean square over 200 s is what is asked for, to the scatter of 400 draws."""
    setup = setup_of(arm, "controller.name=random", f"controller.smooth={smooth}")
    one, other = make_controller(setup), make_controller(setup)
    for each, seed in ((one, 7), (other, 7)):
        each.reset(seed)
    times = np.arange(0.0, 200.0, 0.05)

    def efforts(controller):
        return np.array([
            controller.update(replace(setup.initial, time=t), None).effort for t in times
        ])  # fmt: skip

    drawn = efforts(one)
    np.testing.assert_array_equal(drawn, efforts(other))
    size = np.sqrt((drawn**2).mean(axis=0))
    assert size == pytest.approx(5.0 * inertias(setup), rel=0.15)
    other.reset(8)
    assert np.abs(drawn - efforts(other)).max() > size.max()


def hash_of(data):
    return motion(Setup.of(make_scenario(data)), "reference").sha256()


def test_a_worker_process_finds_the_file(arm):
    """By the path in the scenario's plain data, and its motion has the same hash."""
    data = setup_of(arm, "duration=0.01").scenario.data()
    assert run_pieces(hash_of, 2 * [(data,)], workers=2) == 2 * [hash_of(data)]


def accord(capfd, *words):
    status = run([*words])
    printed = capfd.readouterr()
    return status, printed.out, printed.err


def test_a_run_can_be_repeated_compared_and_cross_checked(arm, capfd):
    """From its bag alone; what of the file is taken is in the JSON."""
    words = "--transport", "direct", "--set", "duration=0.05", "--set", "controller.name=random"
    run_it = ("run", "arm.urdf", "--base", "free", *words, "--json")
    status, out, _ = accord(capfd, *run_it, "--out", "one")
    first = json.loads(out)
    assert (status, first["robot"]) == (0, "robot_2nd_arm")
    assert first["model"]["mimic"].startswith("c: free")
    again = json.loads(accord(capfd, *run_it, "--inputs", "one/bag", "--out", "two")[1])
    assert again["trajectory_sha256"] == first["trajectory_sha256"]
    assert accord(capfd, "compare", "one/bag", "two/bag")[0] == 0
    verdict = json.loads(accord(capfd, "crosscheck", "two/bag", "--json")[1])
    assert (verdict["outcome"], verdict["compared"]) == ("within", 50)
    assert "mimic: c: free" in accord(capfd, "run", "arm.urdf", *words, "--out", "three")[2]
    assert accord(capfd, "view", "arm.urdf", "--gif", "x.gif")[2].startswith(
        "accord: --gif belongs to view BAG, not to"
    )


@pytest.mark.slow
def test_engines_pass_the_cross_check(arm, capfd):
    for library in ("dartpy", "mujoco"):
        pytest.importorskip(library)
    words = ("--base", "free", "--set", "controller.name=random", "--json")
    status, out, _ = accord(capfd, "crosscheck", "arm.urdf", "--engines", "dart,mujoco", *words)
    found = json.loads(out)
    assert (status, found["verdict"]) == (0, "pass")
    assert found["trajectory"]["dart"]["order"] == pytest.approx(1.0, abs=0.05)


FAULTS = [
    ("roots", ARM.replace('child link="upper"', 'child link="tip"'), "a loop: joint d is the seco"),
    ("comment", ARM + "<!-- -->", None),
    ("lone", ARM.replace("</robot>", '<link name="x"/></robot>'), "2 links are roots: pelvis, x$"),
    ("loop", ARM.replace('parent link="upper"', 'parent link="lower"'), "a loop of links: flange"),
    ("type", ARM.replace("prismatic", "slider"), "joint c is of type slider, and not of revolute"),
    ("floating", ARM.replace("prismatic", "floating"), None),  # which is computed
    ("nan", ARM.replace('mass value="2.0"', 'mass value="nan"'), "link upper: mass value is nan"),
    ("inf", ARM.replace('iyy="0.04"', 'iyy="inf"'), "link upper: inertia iyy is inf, and not fin"),
    ("word", ARM.replace('iyy="0.04"', 'iyy="x"'), "link upper: inertia iyy 'x' is not a number$"),
    ("less", ARM.replace("0.6 0.8 0", "0.6 0.8"), "joint b: axis xyz has 2 numbers$"),
    ("axis", ARM.replace("0.6 0.8 0", "0 0 0"), "joint b: its axis has no direction$"),
    ("minus", ARM.replace('value="2.0"', 'value="-2"'), "link upper: its mass is -2 kg$"),
    ("twice", ARM.replace('name="tip"', 'name="upper"'), "link upper is there twice$"),
    ("joints", ARM.replace('name="weld"', 'name="a"'), "joint a is there twice$"),
    ("lost", ARM.replace('link="tip"', 'link="toe"'), "joint d: its child toe is not a link"),
    ("light", ARM.replace('"d" type="fixed"', '"d" type="continuous"'),
     "^link tip has no positive inertia about its joint d, nor has what hangs on it"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line"), [f[1:] for f in FAULTS], ids=[fault[0] for fault in FAULTS]
)
def test_a_broken_file_is_refused_in_a_line(arm, capfd, text, line):
    """On stderr, with status 2 and nothing on stdout; what is only a comment is not."""
    arm.write_text(text)
    words = ("--transport", "direct", "--set", "duration=0.001", "--out", "out")
    status, out, err = accord(capfd, "run", "arm.urdf", *words)
    if line is None:
        assert status == 0
        return
    last = err.strip().splitlines()[-1].removeprefix("accord: ")
    assert (status, out) == (2, "")
    assert re.search(line, last), last


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--base", "ball"), "a robot of a file takes fixed, planar or free"),
        (("--package", "legs"), "--package takes NAME=DIR, not 'legs'"),
        (("--package", "legs=away"), "away is not a folder"),
        (
            ("--set", "parameters.stop=1"),
            "did you mean parameters.stops?",
        ),
        (("--set", "controller.name=dp"), "unknown controller dp"),
    ],
)
def test_a_wrong_option_is_refused_in_a_line(arm, capfd, words, line):
    status, out, err = accord(capfd, "run", "arm.urdf", "--transport", "direct", *words)
    assert (status, out) == (2, "")
    assert line in err.splitlines()[-1]


def test_options_of_files_are_for_files(capfd):
    status, _, err = accord(capfd, "run", "snake", "serpenoid", "--base", "free")
    assert status == 2 and "--base belongs to run FILE or FILE.xacro, not to ROBOT" in err


def test_nothing_is_printed_of_links_without_mass(tmp_path, capfd, monkeypatch):
    """DART warns of the inertia that such links get, in colours."""
    pytest.importorskip("dartpy")
    monkeypatch.chdir(tmp_path)
    link = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    (tmp_path / "arm.urdf").write_text(
        f'<robot name="arm"><link name="a"/><link name="b">{link}</inertial></link><joint name="j" '
        'type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint></robot>'
    )
    words = "run arm.urdf --engine dart --set duration=0.01 --out o --json"
    assert accord(capfd, *words.split())[::2] == (0, "")


PATH = """time,a,b
0,0,0.7
1,0.5,0.4
2,0.2,0.9
"""
MESSAGE = """joint_names: [a]
points:
- {positions: [0.0], time_from_start: 0.5}
- {positions: [0.6], velocities: [0.0], time_from_start: {sec: 1, nanosec: 500000000}}
"""


def test_a_trajectory_s_file_is_followed(arm):
    """Weightless, by a stiff joint: at the points, and at rest behind the last."""
    arm.with_name("path.csv").write_text(PATH)
    arm.with_name("path.yaml").write_text(MESSAGE)
    still = ("parameters.gravity=0", "parameters.damping=0", "controller.name=follow")
    stiff = (*still, "controller.frequency=20", "duration=2.5")
    run = motion(setup_of(arm, *stiff, "controller.file=path.csv"), "reference")
    assert run.q[1000, :2] == pytest.approx([0.5, 0.4], abs=0.02)
    assert run.q[-1, :2] == pytest.approx([0.2, 0.9], abs=1e-6)
    run = motion(setup_of(arm, *stiff, "controller.file=path.yaml"), "reference")
    assert run.q[1000, 0] == pytest.approx(0.3, abs=0.02)  # halfway between two rests
    assert run.q[-1] == pytest.approx([0.6, 0.7, 0.0], abs=1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time,z\n0,1\n1,2\n", "unknown joint z"),
        ("time,a\n0,1\n0,2\n", "whose times rise"),
        ("time,a\n0,x\n", "neither a JointTrajectory nor a table"),
        ("time,a\n0,1,2\n1,2,3\n", "2 columns for 1 joints"),
    ],
)
def test_a_broken_trajectory_is_refused(arm, text, message):
    arm.with_name("path.csv").write_text(text)
    setup = setup_of(arm, "controller.name=follow", "controller.file=path.csv")
    with pytest.raises(AccordError, match=message):
        make_controller(setup)


UPRIGHT = """<robot name="upright"><link name="stand"/><link name="rod"><inertial>
<origin xyz="0 0 0.5"/><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="a" type="continuous"><parent link="stand"/><child link="rod"/><axis xyz="0 1 0"/>
</joint></robot>"""


def test_a_file_at_an_equilibrium_starts_off_it(tmp_path):
    path = tmp_path / "upright.urdf"
    path.write_text(UPRIGHT)
    setup = setup_of(path)
    assert setup.initial.q.tolist() == [0.1]
    assert "equilibrium" in setup.robot.remarks(setup)["start"]
    assert setup_of(path, "initial.q.a=0").initial.q.tolist() == [0.0]
    assert setup_of(path, "controller.name=pd").initial.q.tolist() == [0.0]


def test_a_file_that_floats_is_free_and_its_links_keep_their_names(tmp_path, capsys):
    """It falls from rest by g t^2 / 2."""
    path = tmp_path / "floats.urdf"
    ground = '<link name="ground"/><joint name="J" type="floating"><parent link="ground"/>'
    ground += '<child link="stand"/></joint></robot>'
    heavy = UPRIGHT[UPRIGHT.index("<inertial>") : UPRIGHT.index("</link>")]
    path.write_text(
        UPRIGHT.replace('<link name="stand"/>', f'<link name="stand">{heavy}</link>').replace(
            "</robot>", ground
        )
    )
    words = ["run", str(path), "--transport", "direct", "--set", "duration=0.1", "--json"]
    assert run([*words, "--out", str(tmp_path / "out")]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["final"]["base"]["position"][2] == pytest.approx(-0.5 * 9.81 * 0.1**2, abs=1e-9)
    setup = Setup.of(load_scenario("roboaccord", str(path), "released", ["base=free"]))
    assert setup.robot.own_names(setup) == {"base_link": "stand"}
