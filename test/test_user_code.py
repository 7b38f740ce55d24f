"""An error of a user's own controller or robot is one line with file, line and function."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from roboaccord.description.resources import share
from roboaccord.scenario.user_code import place_of
from slow_cases import late

pytest.importorskip("snake", reason="the robot that the tests change is not installed")
pytestmark = pytest.mark.thorough

# A robot as somebody else publishes it, found by its entry point.
ROBOT = """
import os
from roboaccord.description.resources import share
from roboaccord.description.xacro_file import expand_xacro
from snake.robot import Snake

def fail(where):
    if os.environ["FAULT"] == where:
        raise LookupError(where)

class Faulty(Snake):
    name, package = "faulty", "snake"

    def description(self, setup, base, more):
        path = share("snake") / "urdf" / "snake.urdf.xacro"
        return expand_xacro(path, {**setup.xacro_arguments, "base": base, **more}), path.name

    def joints(self, setup):
        fail("joints")
        return super().joints(setup)

    def reference(self, setup):
        fail("reference")
        made = super().reference(setup)
        goes_on = made.step

        def step(command, period):
            fail("step")
            return goes_on(command, period)

        made.step = step
        return made

fail("import")
ROBOT = Faulty()
"""
CONTROLLER = """
import numpy as np
from roboaccord import Command
from roboaccord.contract.checks import tick_time

class Careless:
    def __init__(self, setup, fault=""):
        self.names = setup.joints

    def reset(self, seed):
        np.zeros(seed + 2) @ np.zeros(2)

    def update(self, state, target):
        return tick_time("1", None)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a folder with a robot and controllers of a user."""
    info = tmp_path / "faulty-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[roboaccord.robots]\nfaulty = faulty_robot:ROBOT\n")
    (tmp_path / "faulty_robot.py").write_text(ROBOT)
    scenario = (share("snake") / "scenarios" / "serpenoid.yaml").read_text()
    (tmp_path / "own.yaml").write_text(scenario.replace("robot: snake", "robot: faulty"))
    (tmp_path / "own.py").write_text(CONTROLLER)
    (tmp_path / "half.py").write_text("import numpy\n\ndef (\n")
    return tmp_path


def message(words: str, folder: Path, **environment: str) -> list[str]:
    """Return the lines on stderr of a command that must fail with status 2 and no output."""
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "roboaccord.cli.start", *words.split()],
        capture_output=True, text=True, check=False, cwd=folder, timeout=300,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    return [line for line in done.stderr.splitlines() if "compiling kernels" not in line]


@pytest.mark.parametrize(
    ("fault", "command"),
    [
        ("import", "run {} --transport direct"),
        pytest.param("reference", "crosscheck {}", marks=pytest.mark.slow),
        ("step", "run {} --transport direct"),
        pytest.param("step", "run {} --transport ros", marks=pytest.mark.slow),
        pytest.param("step", "sweep {} --seeds 2", marks=pytest.mark.slow),
        pytest.param("step", "crosscheck {}", marks=pytest.mark.slow),
    ],
)
def test_an_error_in_a_users_robot_is_one_line(fault: str, command: str, workspace: Path) -> None:
    """As its module loads, as it is asked and as it simulates; in nodes and workers, too."""
    if "ros" in command:
        pytest.importorskip("rclpy", reason="rclpy has no wheel for this machine")
    words = command.format("faulty own.yaml --set duration=0.02")
    (line,) = message(words, workspace, FAULT=fault)
    assert "LookupError" in line
    assert line.endswith(f"{fault} (faulty_robot.py:9 in fail)")


@pytest.mark.parametrize(
    ("controller", "more", "line"),
    [
        *late(("own", "--set seed=2", "Careless.reset raised ValueError: matmul")),
        ("half", "", "cannot import half:Careless: invalid syntax (half.py:3)"),
    ],
)
def test_an_error_in_a_users_controller_is_one_line(
    controller: str, more: str, line: str, workspace: Path
) -> None:
    """Innermost is NumPy or the core, but the line is the user's."""
    words = f"run snake serpenoid --transport direct --controller {controller}:Careless {more}"
    (found,) = message(words, workspace)
    assert line in found
    if controller == "own":
        assert found.endswith("(own.py:11 in Careless.reset)")


@pytest.mark.parametrize(
    ("transport", "debug"),
    [("direct", "--debug"), pytest.param("ros_processes", "", marks=pytest.mark.slow)],
)
def test_the_traceback_is_shown_on_request(transport: str, debug: str, workspace: Path) -> None:
    """Above the line, and where the node is that raised it; by option or environment."""
    if transport != "direct":
        pytest.importorskip("rclpy", reason="rclpy has no wheel for this machine")
    words = f"run snake serpenoid --transport {transport} --controller own:Careless {debug}"
    shown = message(words, workspace, ROBOACCORD_DEBUG="" if debug else "1")
    assert "Traceback (most recent call last):" in shown
    assert any(text.endswith('own.py", line 14, in update') for text in shown)
    assert shown[-1].endswith("(own.py:14 in Careless.update)")


def test_an_error_of_this_project_or_a_library_is_no_users() -> None:
    """Robots that come with the core are this project's, so that their errors are bugs."""
    names = import_module("snake.model.parameters").SnakeParameters.joint_names
    with pytest.raises(AttributeError) as caught:
        names.fget(None)
    error = caught.value
    assert "test_user_code.py" in place_of(error) and error.__traceback__ is not None
    error.__traceback__ = error.__traceback__.tb_next
    assert "snake/model/parameters.py" in str(error.__traceback__.tb_frame)
    assert place_of(error) == ""
