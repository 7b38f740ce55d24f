"""The planner of a launch: what it chooses, and what it refuses."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from roboaccord.contract import plugins
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Target
from roboaccord.run.inputs import Hold
from roboaccord.run.runner import RunRequest, run_direct
from roboaccord.scenario import Setup, load_scenario, robot_names

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the planner is tested, is not installed")

from launch_files import ROOT, RUNS, declared, scenario_of
from roboaccord_ros.gazebo import prepare
from roboaccord_ros.gazebo.transport import RELEASES
from roboaccord_ros.plan import windows as windows_module
from roboaccord_ros.plan.plan import make_plan
from roboaccord_ros.plan.request import Request
from roboaccord_ros.plan.simulator import choose
from roboaccord_ros.plan.windows import Windows
from roboaccord_ros.speed import last_factor, store_factor

GAZEBO = ("gz",)
LAUNCHES = sorted(map(scenario_of, RUNS))
KINEMATIC = [("voxel_sphere", name) for name in ("arena", "incline", "sinusoid")]
"""What has no forces, so that neither Gazebo nor an engine runs it."""
QUICK = [
    ("snake", "serpenoid"), ("monkeybot", "swing"), ("packbot", "reach_real"),
    ("roller_sphere", "teleop"), ("voxel_sphere", "incline"),
]  # fmt: skip
DRIVEN = [name for name in LAUNCHES if name[1] == "teleop"]


needs_browser = pytest.mark.skipif(
    "browser.node" not in plugins.entries("displays"), reason="no view in the browser is installed"
)


def launch_words(*words, robot="snake", scenario="serpenoid"):
    """Return the words of a launch: those that are given, and defaults."""
    arguments = {**declared(), "robot": robot, "scenario": scenario}
    arguments |= dict(word.split(":=", 1) for word in words)
    return [f"{name}:={value}" for name, value in arguments.items()]


def request_of(*words, **names):
    return Request.parse(launch_words(*words, **names))


def plan_of(*words, **names):
    return make_plan(request_of(*words, **names))


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch, tmp_path):
    """No display, no Gazebo and no RViz, whatever this machine has."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "GZ_PARTITION"):
        monkeypatch.delenv(name, raising=False)
    for release in RELEASES:
        monkeypatch.setitem(sys.modules, release.modules["sim"], None)
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    folders = os.environ["PATH"].split(os.pathsep)
    without = [folder for folder in folders if not Path(folder, "gz").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(without))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def install(monkeypatch, tmp_path):
    """Mark ROS packages as installed, and Gazebo: its command gz and its bindings."""

    def mark(*packages):
        if "gz" in packages:
            monkeypatch.setattr(prepare, "check_bindings", lambda: None)
            (tmp_path / "gz").write_text("#!/bin/sh\n")
            (tmp_path / "gz").chmod(0o755)
            monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        folder = tmp_path / "share/ament_index/resource_index/packages"
        folder.mkdir(parents=True, exist_ok=True)
        for package in packages:
            (folder / package).touch()
        monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))

    return mark


def test_without_gazebo_an_engine_is_chosen_and_the_reason_said():
    pytest.importorskip("dartpy", reason="DART is not installed")
    plan = plan_of("headless:=true")
    assert plan["sim"] == "dart"
    assert "not gz: Gazebo Sim (command gz) is not installed" in plan["messages"]
    others = ("gazebo_window", "separate", "crosscheck", "judge", "rviz", "view")
    assert {plan[name] for name in others} == {"false"}
    assert plan["record"] == plan["composed"] == "true"


def expected(launch, gazebo, factor):
    """Return what `auto` is to choose, on a machine that has DART and MuJoCo."""
    if launch in KINEMATIC:
        return "reference"
    crawls = launch in DRIVEN and factor is not None and factor < 0.4
    if launch[1].endswith("_real"):  # with rotors, of which Gazebo and DART's impulses know nothing
        return "mujoco"
    return "gz" if gazebo and not crawls else "dart"


@pytest.mark.thorough
@pytest.mark.parametrize("launch", QUICK, ids=["/".join(x) for x in QUICK])
def test_auto_takes_gazebo_wherever_that_runs_the_scenario(launch, install):
    """A slow machine keeps nobody from Gazebo but a person who drives.

    Factors of the last run: not known, below what can be driven, and above it; or the slow one.
    """
    pytest.importorskip("dartpy", reason="DART is not installed")
    pytest.importorskip(launch[0], reason="the robot is not installed")
    request = request_of(robot=launch[0], scenario=launch[1])
    setup, how = request.setup, {"contacts": "", "lockstep": True}
    assert request.driven == (launch in DRIVEN)
    assert choose(request).sim == expected(launch, gazebo=False, factor=None)
    install(*GAZEBO)
    for factor in (None, 0.39, 0.41) if launch in DRIVEN else (0.39,):
        if factor is not None:
            store_factor(setup, factor, **how)
        choice = choose(request)
        assert choice.sim == expected(launch, gazebo=True, factor=factor), choice.reason


def test_the_launches_are_those_of_all_robots():
    """So that the table above is one of all of them; studies of one that is away have some, too."""
    robots = sorted(name for name in robot_names() if (ROOT / "src" / name).is_dir())
    assert [robot for robot, _ in DRIVEN] == robots
    assert {robot for robot, _ in LAUNCHES} >= {*robots}
    assert {launch for launch in KINEMATIC if launch[0] in robots} < set(LAUNCHES)


def test_a_launch_in_gazebo_says_how_fast_the_last_one_was(install, monkeypatch):
    install(*GAZEBO)
    first = plan_of()["messages"]
    assert "in sim:=gz; without a window: there is no display" in first
    assert "real-time factor on this machine: not known yet" in first
    setup = request_of().setup
    store_factor(setup, 0.217, contacts="", lockstep=True)
    monkeypatch.setenv("DISPLAY", ":0")
    second = plan_of("headless:=true")["messages"]
    assert "without a window: headless:=true" in second
    assert "real-time factor on this machine: 0.22 in the last run" in second
    assert "not known yet" in plan_of("contacts:=boxes")["messages"]
    assert "without a window" not in plan_of()["messages"]


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"snake serpenoid spheres lockstep": NaN}'])
def test_a_damaged_or_locked_cache_is_no_error(damage, tmp_path):
    setup = request_of().setup
    how = {"contacts": "", "lockstep": True}
    store_factor(setup, 0.5, **how)
    assert last_factor(setup, **how) == 0.5
    (file,) = (tmp_path / "cache").rglob("*.json")
    file.write_text(damage)
    assert last_factor(setup, **how) is None
    store_factor(setup, 0.25, **how)
    assert last_factor(setup, **how) == 0.25
    file.unlink()
    file.mkdir()
    store_factor(setup, 0.5, **how)
    assert last_factor(setup, **how) is None


def test_gazebos_window_is_a_process_of_its_own(install, monkeypatch):
    pytest.importorskip("packbot", reason="the Packbot is not installed")
    install(*GAZEBO)
    monkeypatch.setenv("DISPLAY", ":0")
    plan = plan_of(robot="packbot", scenario="teleop")
    for name in ("gazebo_window", "composed", "crosscheck"):
        assert plan[name] == "true"
    assert json.loads(plan["peers"]) == ["controller", "recorder", "crosscheck"]
    assert json.loads(plan["controller_peers"]) == ["simulator", "recorder"]
    assert plan["gz_partition"].startswith("roboaccord_")
    assert plan["messages"].endswith(f"export GZ_PARTITION={plan['gz_partition']}")
    headless = plan_of("headless:=true", robot="packbot", scenario="teleop")
    assert headless["gazebo_window"] == "false"


def test_the_users_partition_is_kept(install, monkeypatch):
    install(*GAZEBO)
    monkeypatch.setenv("GZ_PARTITION", "mine")
    plan = plan_of("sim:=gz", "lockstep:=false")
    assert plan["gz_partition"] == "mine"
    assert plan["messages"].endswith("GZ_PARTITION=mine")


def test_the_first_line_says_where_the_reference_is_seen(install, monkeypatch):
    """It has the controller of the run; with none of this launch, or if asked, there is none."""
    install("rviz2", *GAZEBO)
    words = ("controller:=monkeybot:Own", "sim:=reference", "crosscheck:=true")
    monkeypatch.setattr("roboaccord_ros.plan.plan.check_controller", lambda *_: None)
    plan = plan_of(*words)
    assert plan["reference"] == "true"
    for word in ("reference:=false", "controller:=none"):
        plan = plan_of("sim:=reference", "crosscheck:=true", word)
        assert (plan["judge"], plan["reference"]) == ("true", "false")
        assert "reference:" not in plan["messages"]
    assert "; reference: there, too;" in plan_of("headless:=true")["messages"]
    assert "reference:" not in plan_of("sim:=reference")["messages"]
    nowhere = ("headless:=true", "record:=false")
    assert plan_of(*nowhere)["judge"] == "false"
    with pytest.raises(AccordError, match="judge:=true judges the bag"):
        plan_of(*nowhere, "judge:=true")
    assert "; reference: by view:=true;" in plan_of(*nowhere)["messages"]
    monkeypatch.setenv("DISPLAY", ":0")
    printed = plan_of("record:=false")["messages"]
    assert "; look: Gazebo's window; reference: there, too;" in printed


def test_a_window_paces_the_run_and_outlives_it(install, monkeypatch):
    install("rviz2")
    headless = plan_of("sim:=reference", "headless:=true")
    assert (headless["pace"], headless["rviz"]) == ("0.0", "false")
    monkeypatch.setenv("DISPLAY", ":0")
    shown = plan_of("sim:=reference", "namespace:=left")
    assert (shown["pace"], shown["rviz"]) == ("1.0", "true")
    assert "snake/odom" in shown["rviz_topics"].split()
    assert Path(shown["rviz_layout"]).is_file()


def test_what_gazebo_is_asked_for_is_a_setting_of_its_engine(install):
    install(*GAZEBO)
    asked_for = {"contacts": "boxes", "world": "flat", "gz_physics": "bullet-featherstone"}
    plan = plan_of("sim:=gz", *(f"{name}:={value}" for name, value in asked_for.items()))
    assert plan["gz_partition"] and plan["transport"] == "in_process, boxes"
    options = [word for word in json.loads(plan["set"]) if "engine_options.gz" in word]
    assert options == [
        "engine_options.gz.contacts=boxes",
        "engine_options.gz.world=flat",
        "engine_options.gz.physics=bullet-featherstone",
    ]


@needs_browser
@pytest.mark.parametrize("has_display", [False, True])
@pytest.mark.parametrize(("sim", "has_rviz"), [("dart", False), ("dart", True), ("gz", False)])
def test_the_browser_shows_what_no_window_does(sim, has_rviz, has_display, install, monkeypatch):
    """By default; `headless:=true` and `view:=false` go without it, and `view:=true` asks for it.

    It stays after the run where it is opened or was asked for; on a server it ends with the launch.
    """
    pytest.importorskip("viser", reason="viser is not installed")
    if has_rviz:
        install("rviz2")
    if has_display:
        monkeypatch.setenv("DISPLAY", ":0")

    def windows_of(*words):
        windows = Windows.of(request_of(*words), sim)
        assert ("the browser, at the address below" in windows.places("")) == bool(windows.view)
        ends = ("window" if windows.view_stays else "view") if windows.view else ""
        return windows.gazebo or windows.rviz, ends, windows.has_screen

    window = has_display and (has_rviz or sim == "gz")
    default = "" if window else "window" if has_display else "view"
    assert windows_of() == (window, default, has_display)
    for asked_for in ("true", "browser"):
        assert windows_of(f"view:={asked_for}") == (window, "window", has_display)
    assert windows_of("view:=false") == (window, "", has_display)
    assert windows_of("headless:=true") == (False, "", False)
    assert windows_of("headless:=true", "view:=true") == (False, "window", False)


@needs_browser
def test_who_may_look_sees_real_time(monkeypatch):
    pytest.importorskip("viser", reason="viser is not installed")
    for words, pace in ((), 1.0), (("view:=false",), 0.0), (("pace:=fast",), 0.0):
        assert float(plan_of("sim:=reference", *words)["pace"]) == pace
    monkeypatch.setenv("DISPLAY", ":0")
    plan = plan_of("sim:=reference", "set:=seed=3")
    assert (plan["robot"], plan["scenario"], plan["set"]) == ("snake", "serpenoid", '["seed=3"]')
    assert (plan["view"], plan["view_ends"], plan["open_page"]) == ("true", "window", "true")
    assert plan["view_node"] == plugins.entries("displays")["browser.node"].module


def test_a_display_that_is_not_installed_is_named_with_its_package(monkeypatch):
    """Where nobody asks for it, the run goes on without."""
    robots = {"robots": plugins.entries("robots")}
    monkeypatch.setattr(plugins, "entries", lambda group: robots.get(group, {}))
    line = "the browser view is in the distribution roboaccord-view, not installed"
    assert line in plan_of("sim:=reference")["messages"]
    with pytest.raises(AccordError, match=line):
        plan_of("sim:=reference", "view:=true")


@needs_browser
def test_without_viser_a_launch_goes_on_without_its_page(monkeypatch):
    """It states what to install; a page that was asked for is refused."""
    monkeypatch.setattr(windows_module, "find_spec", lambda _: None)
    plan = plan_of("sim:=reference")
    assert (plan["view"], plan["pace"]) == ("false", "0.0")
    assert "pip install viser" in plan["messages"]
    assert "viser" not in plan_of("sim:=reference", "headless:=true")["messages"]
    with pytest.raises(AccordError, match="pip install viser"):
        plan_of("sim:=reference", "view:=true")


def test_a_person_who_drives_has_time_that_is_real_and_has_no_end():
    pytest.importorskip("packbot", reason="the Packbot is not installed")
    for sent, duration in ((), math.inf), (("duration:=2",), 2.0):
        plan = plan_of("sim:=reference", *sent, robot="packbot", scenario="teleop")
        assert (float(plan["pace"]), float(plan["duration"])) == (1.0, duration)
        assert ("until Ctrl-C" in plan["messages"]) == (duration == math.inf)


def test_a_driven_run_is_repeated_from_its_bag_as_fast_as_can_be(tmp_path):
    setup = Setup.of(load_scenario("snake", "snake", "teleop", ["duration=0.01"]))
    target = Target(np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.0]))
    bag = tmp_path / "driven"
    run_direct(RunRequest(setup=setup, engine="reference", bag=bag, inputs=Hold(target)))
    words = ("sim:=reference", "headless:=true", "inputs:=driven")
    plan = plan_of(*words, scenario="teleop")
    assert (plan["inputs"], plan["duration"], plan["pace"]) == (str(bag), "0.01", "0.0")
    refused = {
        ("set:=seed=3",): "driven was recorded with seed 0, not 3",
        ("lockstep:=false",): "inputs:=BAG needs a controller of this launch, and lockstep:=true",
        ("controller:=none",): "inputs:=BAG needs a controller of this launch",
        ("inputs:=nowhere",): "nowhere is not a bag: it does not exist",
    }
    for more, reason in refused.items():
        with pytest.raises(AccordError, match=reason):
            plan_of(*words, *more, scenario="teleop")


def test_launches_at_the_same_time_write_bags_of_their_own():
    assert len({plan_of("sim:=reference")["bag"] for _ in range(2)}) == 2


def test_changes_reach_simulator_and_controller_as_they_are():
    text = "set:=seed=3 'controller={name: none}'"
    changes = ["seed=3", "controller={name: none}"]
    for words, composed in (("lockstep:=false",), "false"), ((), "true"):
        plan = plan_of("sim:=reference", text, *words)
        assert json.loads(plan["set"]) == changes
        assert plan["composed"] == composed != plan["separate"]
        assert json.loads(plan["peers"]) == ["controller", "recorder"]


def test_a_launch_records_and_says_where():
    for sent in (), ("record:=True",):
        plan = plan_of("sim:=reference", *sent)
        bag = plan["bag"]
        assert bag.startswith("runs/snake_serpenoid_reference_")
        assert f"bag: {bag}" in plan["messages"]
    plan = plan_of("sim:=reference", "record:=false")
    assert (plan["record"], plan["bag"]) == ("false", "")
    assert "no bag" in plan["messages"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("robot:=snak",), "unknown robot snak; did you mean snake?"),
        (("scenario:=serpentine",), "no scenario serpentine; did you mean serpenoid?"),
        (("sim:=bullet",), "sim:=bullet: available: auto, gz, dart, mujoco, "),
        (("sim:=gz",), "Gazebo Sim (command gz) is not installed; try sim:=dart"),
        (("controller:=nothing:Here",), "cannot import nothing:Here"),
        (("world:=flatt",), "no world flatt; did you mean flat?"),
        (("set:=gravity=3",), "unknown key gravity"),
        (("set:=name='open",), "set:=name='open: no closing quotation"),
        (("duration:=1.0005",), "1.0005 s is not a whole multiple of 0.001 s"),
        (("duration:=long",), "duration:=long is not a length"),
        (("set:=control_period=0.0015",), "control_period over physics_step"),
        (("rviz:=true",), "rviz:=true needs the package rviz2"),
        (("foxglove:=true",), "foxglove:=true needs the package foxglove_bridge"),
        (("record:=.",), ". exists already"),
        (("pace:=fast", "lockstep:=false"), "pace:=fast needs lockstep:=true"),
        (("namespace:=2nd",), "namespace:=2nd is not a name of ROS"),
        (("namespace:=säge",), "namespace:=säge is not a name of ROS"),
        (("record:=/dev/null/bag",), "no bag can be written into /dev/null"),
        (("robot:=",), "robot:=NAME is missing"),
        (("view:=page",), "view:=page: available: auto, true, false"),
    ],
)
def test_what_cannot_run_is_refused_in_one_line(words, reason):
    sim = () if any(word.startswith("sim:=") for word in words) else ("sim:=reference",)
    with pytest.raises(AccordError) as error:
        plan_of(*sim, *words)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_an_engine_that_refuses_the_scenario_is_refused():
    pytest.importorskip("dartpy", reason="DART is not installed")
    pytest.importorskip("voxel_sphere", reason="the voxel sphere is not installed")
    with pytest.raises(AccordError, match="dart has forces"):
        plan_of("sim:=dart", robot="voxel_sphere", scenario="arena")


ROD = """<robot name="rod"><link name="base"/><link name="rod"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="a" type="continuous"><parent link="base"/><child link="rod"/></joint></robot>"""


def test_a_robot_may_be_a_file(tmp_path):
    """All nodes get its path, topics its name; Gazebo does not take it."""
    path = tmp_path / "rod.urdf"
    path.write_text(ROD)
    words = ("sim:=reference", "crosscheck:=true", "lockstep:=false")
    plan = plan_of(*words, robot="rod.urdf", scenario="")
    assert (plan["robot"], plan["scenario"], plan["name"]) == (str(path), "released", "rod")
    assert plan["files"] == json.dumps([f"robot={json.dumps(str(path))}"])
    with pytest.raises(AccordError, match="Gazebo takes robots with a package"):
        plan_of("sim:=gz", robot="rod.urdf", scenario="")


def command_of(*words, **names):
    """Run the planner's process as a launch does; return what it did, and its CPU time [s]."""
    command = [sys.executable, "-P", "-m", "roboaccord_ros.plan", *launch_words(*words, **names)]
    env, before = {**os.environ, "NUMBA_DISABLE_JIT": "1"}, os.times()
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    return done, sum(os.times()[2:4]) - sum(before[2:4])


@pytest.mark.slow
def test_every_launch_file_is_planned_for_gazebo(install, monkeypatch, tmp_path):
    """In seconds, which -rP shows: no controller is made, one of which optimises for minutes."""
    pytest.importorskip("dartpy", reason="DART is not installed")
    from roboaccord_ros.run.domain import private_domain

    with private_domain():
        failed, _ = command_of("sim:=gz")
    assert (failed.returncode, failed.stderr.count("\n")) == (2, 1)
    assert "{" not in failed.stdout  # no plan; Fast DDS may print a line of its own
    install(*GAZEBO)
    for name in ("sim", "math", "transport", "msgs/__init__", "msgs/world_control_state_pb2"):
        file = tmp_path / "bindings" / "gz" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("WorldControlState = object\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "bindings"), prepend=os.pathsep)
    with private_domain():
        for robot, scenario in filter(lambda launch: find_spec(launch[0]), LAUNCHES):
            done, seconds = command_of("headless:=true", robot=robot, scenario=scenario)
            print(f"{robot} {scenario}: {seconds:.1f} s of CPU")
            assert done.returncode == 0, (robot, scenario, done.stderr)
            plan = json.loads(done.stdout.splitlines()[-1])  # as launch/planner.py reads it
            assert plan["sim"] == expected((robot, scenario), gazebo=True, factor=None), plan
