"""The command line starts at once: what takes long to import waits until it is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from roboaccord.scenario.setup import robot_names

pytestmark = pytest.mark.thorough

HEAVY = set(
    "dartpy joblib matplotlib mujoco._structs numba pandas pinocchio plotly rclpy scipy.ndimage "
    "scipy.optimize scipy.stats skimage trimesh viser xacro".split()
)
BUILT_ON = "import numpy, pydantic, rich.console, typer, yaml"
# Times the CPU time that importing these takes, here and now: 2.0 to 2.7 are taken, and each of
# HEAVY would add 0.5 to 4.
LIMIT = 4.0

MISTAKES = [
    "frobnicate",
    "run snaek serpenoid",
    "run snake serpenoi",
    "run snake missing.yaml",
    "run snake serpenoid --set duraton=1",
    "run snake serpenoid --set controller.ampltude=1",
    "run snake serpenoid --set parameters.link_mas=1",
    "crosscheck snake serpenoi",
    "sweep snake serpenoi",
    "view missing",
    "check missing.sdf",
]
FIRST = 6  # the others are slow


def timed(folder: Path, *words: str) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run Python, and return what it printed and its CPU time [s], of user and system."""
    command = [sys.executable, "-X", "importtime", *words]
    before = os.times()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done, sum(os.times()[2:4]) - sum(before[2:4])


def limit(folder: Path) -> float:
    """Return how long a command may take here and now [s of CPU time]."""
    return LIMIT * timed(folder, "-c", BUILT_ON)[1]


def imported(words: str, folder: Path) -> tuple[set[str], float, str]:
    """Run `accord` and return the modules that it imported, its CPU time [s] and its output."""
    done, spent = timed(folder, "-m", "roboaccord.cli.main", *words.split())
    lines = done.stderr.splitlines()
    modules = {line.split("|")[-1].strip() for line in lines if line.startswith("import time:")}
    message = [line for line in lines if not line.startswith("import time:")]
    return modules, spent, done.stdout + "\n".join(message)


@pytest.mark.parametrize(
    "words",
    [*MISTAKES[:FIRST], *(pytest.param(w, marks=pytest.mark.slow) for w in MISTAKES[FIRST:])],
)
def test_a_mistake_is_told_at_once(words: str, tmp_path: Path) -> None:
    modules, spent, message = imported(words, tmp_path)
    assert message.startswith("accord: "), message
    assert modules & HEAVY == set()
    assert spent < limit(tmp_path)


def test_the_version_is_told_without_numpy_and_robots(tmp_path: Path) -> None:
    modules, spent, message = imported("--version", tmp_path)
    assert message.startswith("roboaccord ")
    assert modules & {*HEAVY, "numpy", "yaml", *robot_names()} == set()
    assert spent < limit(tmp_path)


def test_the_help_lists_robots_without_importing_them(tmp_path: Path) -> None:
    modules, _, message = imported("--help", tmp_path)
    assert all(name in message for name in robot_names())
    assert modules & {*HEAVY, *robot_names()} == set()


@pytest.mark.parametrize("robot", robot_names())
def test_a_robot_is_registered_without_its_solvers(robot: str, tmp_path: Path) -> None:
    """Importing the registration is part of every mistake in a scenario of the robot."""
    modules, spent, message = imported(f"run {robot} frobnicate", tmp_path)
    assert message.startswith(f"accord: {robot} has no scenario frobnicate"), message
    assert modules & (HEAVY - {"pinocchio"}) == set()
    assert spent < limit(tmp_path)
