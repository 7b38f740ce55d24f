"""The command line starts at once: what takes long to import waits until it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from roboaccord.scenario.installed import robot_names

pytestmark = pytest.mark.thorough

HEAVY = set(
    "dartpy joblib matplotlib mujoco._structs numba pandas pinocchio plotly rclpy scipy.ndimage "
    "scipy.optimize scipy.stats skimage trimesh viser xacro".split()
)

MISTAKES = [
    "frobnicate", "run snake serpenoid --set controller.ampltude=1", "run snaek serpenoid",
    "run snake serpenoi", "run snake missing.yaml", "run snake serpenoid --set duraton=1",
    "run snake serpenoid --set parameters.link_mas=1", "crosscheck snake serpenoi",
    "sweep snake serpenoi", "view missing", "check missing.sdf",
]  # fmt: skip
FIRST = 2  # the others are slow


# Of each robot that is named, a mistake in one process.
MISTAKES_OF_ROBOTS = """import sys
from roboaccord.cli.main import run
for robot in sys.argv[1:]:
    run(["run", robot, "frobnicate"])
"""


def imported(words: str, folder: Path, *code: str) -> tuple[set[str], str]:
    """Run `accord`, or other code, and return the modules that it imported, and its output."""
    command = [sys.executable, "-X", "importtime", *(code or ("-m", "roboaccord.cli.main"))]
    command += words.split()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    modules = {line.split("|")[-1].strip() for line in lines if line.startswith("import time:")}
    message = [line for line in lines if not line.startswith("import time:")]
    return modules, done.stdout + "\n".join(message)


@pytest.mark.parametrize(
    "words",
    [*MISTAKES[:FIRST], *(pytest.param(w, marks=pytest.mark.slow) for w in MISTAKES[FIRST:])],
)
def test_a_mistake_is_told_at_once(words: str, tmp_path: Path) -> None:
    modules, message = imported(words, tmp_path)
    assert message.startswith("accord: "), message
    assert modules & HEAVY == set()


def test_the_version_is_told_without_numpy_and_robots(tmp_path: Path) -> None:
    modules, message = imported("--version", tmp_path)
    assert message.startswith("roboaccord ")
    assert modules & {*HEAVY, "numpy", "yaml", *robot_names()} == set()


def test_the_help_lists_robots_without_importing_them(tmp_path: Path) -> None:
    modules, message = imported("--help", tmp_path)
    assert all(name in message for name in robot_names())
    assert modules & {*HEAVY, *robot_names()} == set()


def test_robots_are_registered_without_their_solvers(tmp_path: Path) -> None:
    """Importing the registration is part of every mistake in a scenario of a robot."""
    modules, message = imported(" ".join(robot_names()), tmp_path, "-c", MISTAKES_OF_ROBOTS)
    for robot in robot_names():
        assert f"accord: {robot} has no scenario frobnicate" in message
    assert modules & (HEAVY - {"pinocchio"}) == set()
