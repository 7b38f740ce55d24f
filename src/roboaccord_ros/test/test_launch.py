"""The launch files are valid Python, and describe themselves where launch is installed."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted([*ROOT.glob("launch/*.launch.py"), *ROOT.glob("src/*/launch/*.launch.py")])
FILES = [path for path in FILES if path.resolve() == path]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_launch_file_compiles_and_says_how_it_is_started(path):
    text = path.read_text(encoding="utf-8")
    compile(text, path.name, "exec")
    assert "ros2 launch " in text
    assert len(text.splitlines()) < 120


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_launch_argument_has_a_description(path):
    pytest.importorskip("launch_ros", reason="launch_ros is not installed (it is not on PyPI)")
    spec = importlib.util.spec_from_file_location("launch_file", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    description = module.generate_launch_description()
    for argument in description.get_launch_arguments():
        assert argument.description, argument.name


def test_the_shared_bring_up_needs_launch_alone():
    """Launch files are read in the Python of ROS, which need not have the core's libraries."""
    for name in ("bringup", "__init__"):
        path = ROOT / "src/roboaccord_ros/roboaccord_ros" / f"{name}.py"
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
        found = {n.module.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        assert found <= {"__future__", "launch", "launch_ros"}
