"""Launch files under the real `ros2 launch`, where it is installed, and what they import."""

from __future__ import annotations

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from launch_files import OF_ROBOTS, ROOT, RUNS, declared, scenario_of
from roboaccord.bag.reader import read_run
from roboaccord.contract.errors import AccordError
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from sessions import in_time, processes_of

PACKAGE = ROOT / "src/roboaccord_ros/roboaccord_ros"
SHARED = sorted(ROOT.glob("launch/*.launch.py"))
SERPENOID = ROOT / "src/snake/launch/serpenoid.launch.py"
BY_ROSDEP = {"launch", "launch_ros", "ament_index_python", "yaml"}
PREFIXES = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
needs_ros2 = pytest.mark.skipif(
    not (shutil.which("ros2") and any(Path(p, "share/ros2launch").is_dir() for p in PREFIXES if p)),
    reason="ros2 launch is not on PyPI, or its setup is not sourced",
)


@pytest.mark.parametrize("path", [*SHARED, *OF_ROBOTS], ids=lambda path: path.name)
def test_a_launch_file_says_how_it_is_started(path):
    text = path.read_text(encoding="utf-8")
    assert "ros2 launch " in text
    code = ast.unparse(ast.parse(text)).partition('"""\n')[2]
    assert code.count("\n") < 15 or path in SHARED


@pytest.mark.parametrize("path", [*SHARED, *OF_ROBOTS], ids=lambda path: path.name)
def test_a_launch_file_imports_only_what_rosdep_gives(path):
    """`ros2 launch` reads it in the Python of ROS, which need not have the core's libraries."""
    imported, unread = set(), [path]
    while unread:
        for name in _imports(unread.pop()) - imported:
            imported.add(name)
            first = name.partition(".")[0]
            if first == "roboaccord_ros":
                file = PACKAGE.parent / name.replace(".", "/")
                module = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
                unread += [module, *(folder / "__init__.py" for folder in (PACKAGE, file.parent))]
            else:
                assert first in BY_ROSDEP | sys.stdlib_module_names, name
    assert ("roboaccord_ros.launch.planner" in imported) is (path in SHARED)


def _imports(path):
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    nodes = [node for node in tree if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = [[a.name for a in n.names] if isinstance(n, ast.Import) else [n.module] for n in nodes]
    return {name for group in names for name in group}


@contextmanager
def launched(folder, *words):
    """Run `ros2 launch` in a ROS domain and a session of its own; leave no process behind."""
    from roboaccord_ros.run.domain import private_domain

    with private_domain(), (folder / "launch.log").open("w") as log:
        env = {
            **os.environ,
            "ROBOACCORD_PYTHON": sys.executable,
            "ROS_LOG_DIR": str(folder / "log"),
        }
        process = subprocess.Popen(
            ["ros2", "launch", *words, "headless:=true"],  # or a page or window stays
            cwd=folder, env=env, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            yield process
            assert in_time(lambda: not processes_of(process.pid)), processes_of(process.pid)
        finally:
            if processes_of(process.pid):
                os.killpg(process.pid, signal.SIGKILL)


def launch(folder, *words):
    """Run a launch to its end; return status and output."""
    with launched(folder, *words) as process:
        status = process.wait(300)
    return status, (folder / "launch.log").read_text()


def hash_in(output):
    return re.search('"trajectory_sha256": "(\\w*)"', output)[1]


def serpenoid(*words):
    return "snake", "serpenoid.launch.py", "sim:=reference", *words


def refusal_of(setup, engine):
    """Return why an engine does not run a scenario, or ""."""
    try:
        make_simulator(setup, engine)
    except AccordError as error:
        return str(error)
    return ""


@needs_ros2
@pytest.mark.slow
@pytest.mark.parametrize("sim", ["reference", "dart", "mujoco"])
@pytest.mark.parametrize("path", RUNS, ids=lambda path: f"{path.parts[-3]}/{path.name[:-10]}")
def test_every_launch_file_comes_to_its_end_or_is_refused(path, sim, tmp_path):
    robot, scenario = scenario_of(path)
    setup = Setup.of(load_scenario(robot, robot, scenario))
    duration = 50 * setup.scenario.control_period
    words = [f"sim:={sim}", f"duration:={duration!r}", f"record:={tmp_path}/bag"]
    status, output = launch(tmp_path, path.parents[1].name, path.name, *words)
    if refusal := refusal_of(setup, sim):
        assert (status, "process started" in output) == (1, False)
        assert refusal in output
        return
    assert status == 0, output
    assert "Traceback" not in output
    bag = read_run(tmp_path / "bag").trajectory
    assert len(bag) == 51 and bag.sha256() == hash_in(output)


@needs_ros2
@pytest.mark.slow
def test_ctrl_c_is_a_good_end_of_a_driven_run(tmp_path):
    words = ("packbot", "teleop.launch.py", "sim:=reference", f"record:={tmp_path}/bag")
    log = tmp_path / "launch.log"
    with launched(tmp_path, *words) as process:
        assert in_time(lambda: list(tmp_path.glob("bag/*.mcap")), 60)
        time.sleep(2.0)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) == 0
    bag = read_run(tmp_path / "bag")
    assert bag.trajectory.sha256() == bag.sha256 == hash_in(log.read_text())
    assert bag.trajectory.time[-1] > 0.0


@needs_ros2
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_a_launch_that_is_terminated(number, tmp_path):
    with launched(tmp_path, "packbot", "teleop.launch.py", "sim:=reference") as process:
        assert in_time(lambda: len(processes_of(process.pid)) > 2, 60)
        time.sleep(3.0)
        process.send_signal(number)
        assert process.wait(60) != 0


@needs_ros2
@pytest.mark.slow
def test_an_unknown_argument_is_refused_unless_the_users_own_file_may_have_it(tmp_path):
    status, output = launch(tmp_path, *serpenoid("duraton:=1"))
    assert status == 1
    assert "planning snake serpenoid" in output
    assert output.splitlines()[-1].endswith("unknown argument duraton; did you mean duration?")
    users_file = tmp_path / "own.launch.py"
    users_file.write_text(
        "from launch import LaunchDescription\n"
        "from launch.actions import IncludeLaunchDescription\n"
        "def generate_launch_description():\n"
        f"    return LaunchDescription([IncludeLaunchDescription({str(SERPENOID)!r})])\n"
    )
    status, output = launch(tmp_path, str(users_file), "duraton:=1", "sim:=bullet")
    assert status == 1
    assert "sim:=bullet: available: auto" in output  # by the planner, past the names


@needs_ros2
@pytest.mark.slow
def test_the_arguments_of_a_robots_file_are_shown_with_defaults():
    """None is required."""
    command = ["ros2", "launch", str(SERPENOID), "--show-args"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = set(re.findall("^    '(.*)':$", shown, re.MULTILINE))
    assert names == {*declared()}
    assert shown.count("(default: ") == len(names)


@needs_ros2
@pytest.mark.slow
def test_an_argument_that_the_file_itself_sets_is_refused(tmp_path):
    status, output = launch(tmp_path, *serpenoid("scenario:=steer"))
    assert status == 1
    assert "scenario:=steer: this launch file has scenario:=serpenoid" in output


@needs_ros2
@pytest.mark.slow
def test_planning_compiles_nothing(tmp_path, monkeypatch):
    """The robot with the most kernels, refused after all of its planning."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cold"))
    status, output = launch(tmp_path, "roller_sphere", "headings.launch.py", "record:=/dev/null/x")
    assert (status, "no bag can be written" in output) == (1, True)
    assert not [*(tmp_path / "cold").rglob("*.nb?")]


@needs_ros2
@pytest.mark.slow
def test_a_python_without_the_libraries_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    status, output = launch(tmp_path, *serpenoid())
    assert status == 1
    assert "ROBOACCORD_PYTHON=/bin/false lacks the workspace's libraries: run `make ros`" in output


@needs_ros2
@pytest.mark.slow
def test_a_failing_node_fails_the_launch(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
    status, output = launch(tmp_path, *serpenoid("controller:=faulty_controllers:Raising"))
    assert status == 1
    assert "error: Raising raised" in output and "Traceback" not in output


@needs_ros2
@pytest.mark.slow
def test_the_verdict_on_the_bag_ends_the_launch_and_sets_its_status(tmp_path):
    """A ball on voxels feels facets that the reference's smooth ground lacks: 4 % of the change."""
    words = ("voxel_sphere", "bowl.launch.py", "sim:=dart", "duration:=0.5", "crosscheck:=true")
    loose, _ = launch(tmp_path, *words)
    tight = "set:=crosscheck.tolerances.one_step=1e-3"
    status, output = launch(tmp_path, *words, tight)
    assert (loose, status) == (0, 1)
    assert '"steps": 50' in output
    assert re.search(r"judge-\d\] one step outside: .* 50 of 50 ticks compared", output)
    assert output.splitlines()[-1].endswith(": the cross-check is outside its tolerance")


@needs_ros2
@pytest.mark.slow
def test_two_robots_run_side_by_side_in_one_domain(tmp_path):
    """Each in its namespace, with the motion that it has alone, and the topics too."""
    folders = [tmp_path / side for side in ("left", "right", "alone")]
    hashes, topics = [], []
    for folder in folders:
        folder.mkdir()
    words = serpenoid("duration:=1", "record:=bag")
    with launched(folders[0], *words, "namespace:=left") as left:
        domain = os.environ["ROS_DOMAIN_ID"]
        with launched(folders[1], *words, "namespace:=right") as right:
            os.environ["ROS_DOMAIN_ID"] = domain
            assert (left.wait(120), right.wait(120)) == (0, 0)
    assert launch(folders[2], *words)[0] == 0
    for folder in folders:
        hashes.append(hash_in((folder / "launch.log").read_text()))
        topics.append(re.findall("name: (/.*)", (folder / "bag/metadata.yaml").read_text()))
    assert len(set(hashes)) == 1
    assert topics[0] == topics[1] == topics[2]


@needs_ros2
@pytest.mark.slow
def test_a_second_simulator_on_the_same_names_is_refused(tmp_path):
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
    with launched(folders[0], *serpenoid("duration:=15", "pace:=real")) as first:
        command = [sys.executable, "-m", "roboaccord_ros.plan"]
        arguments = {**declared(), "robot": "snake", "scenario": "serpenoid", "sim": "reference"}
        command += [f"{name}:={value}" for name, value in arguments.items()]
        lines = []
        while first.poll() is None and not any(lines):  # it takes a while to start
            lines.append(subprocess.run(command, capture_output=True, text=True).stderr)
        assert first.wait(60) == 0
    assert "another simulator publishes /clock" in lines[-1]
    assert "namespace:=NAME, or another ROS_DOMAIN_ID" in lines[-1]
