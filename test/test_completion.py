"""The shell completes commands, robots, scenarios and engines, by the protocol of each shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from roboaccord.cli.completion import complete_scenario
from roboaccord.engines import simulator_names
from roboaccord.scenario import robot_names, scenario_names

ACCORD = [sys.executable, "-m", "roboaccord.cli.main"]
SHELLS = {
    "bash": {"COMP_WORDS": "{}", "COMP_CWORD": "{count}"},
    "zsh": {"_TYPER_COMPLETE_ARGS": "{}"},
    "fish": {"_TYPER_COMPLETE_ARGS": "{}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}


def complete(line: str, shell: str = "bash") -> str:
    """Return what the command answers to a shell that completes the last word of a line."""
    count = str(len(line.split(" ")) - 1)
    variables = {key: text.format(line, count=count) for key, text in SHELLS[shell].items()}
    environment = {**os.environ, **variables, "_ACCORD_COMPLETE": f"complete_{shell}"}
    done = subprocess.run(ACCORD, env=environment, capture_output=True, text=True, timeout=60)
    assert not done.stderr
    return done.stdout


def scenarios_of(robot: str) -> list[str]:
    """Return the scenarios that a robot's name is completed by, in this process."""
    return complete_scenario(SimpleNamespace(params={"robot": robot}), "")  # type: ignore[arg-type]


@pytest.mark.slow
def test_robots_and_scenarios_are_completed() -> None:
    assert complete("accord run ").split() == robot_names()
    assert complete("accord crosscheck sn").split() == ["snake"]
    assert complete("accord run roller-sphere he").split() == ["headings"]
    for robot in robot_names():
        assert scenarios_of(robot) == scenario_names(robot)
    assert not scenarios_of("nobody")
    assert not complete("accord nothing ").split()


@pytest.mark.slow
def test_bags_are_completed_beside_robots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for bag in ("runs/one", "runs/two/bag", "cc/dart_bag", "runs/steers\x1b[2J\u202e"):
        (tmp_path / bag).mkdir(parents=True)
        (tmp_path / bag / "metadata.yaml").touch()
    monkeypatch.chdir(tmp_path)
    bags = ["runs/one", "runs/two/bag"]
    assert complete("accord view ").split() == [*bags, *robot_names()]
    assert complete("accord view runs/t").split() == bags[1:]
    assert complete("accord view c").split() == ["cc/dart_bag"]
    assert complete("accord view runs/one ").split() == bags
    assert complete("accord view snake se").split() == ["serpenoid"]


@pytest.mark.slow
def test_engines_are_completed_one_by_one() -> None:
    line = "accord run snake serpenoid --engine "
    assert complete(line).split() == list(simulator_names())
    line = "accord crosscheck snake serpenoid --engines "
    assert complete(line + "reference,da").split() == ["reference,dart"]
    assert complete(line + "dart,").split() == [
        f"dart,{name}" for name in simulator_names() if name != "dart"
    ]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_answered_in_their_way(shell: str) -> None:
    pytest.importorskip("snake", reason="the snake is not installed")
    assert "serpenoid" in complete("accord run snake ser", shell)


def test_no_library_is_loaded_to_complete_a_scenario() -> None:
    """`--engine` and a scenario's name need no more than the installed files."""
    pytest.importorskip("snake", reason="the snake is not installed")
    code = (
        "import sys\nfrom roboaccord.cli.completion import complete_scenario\n"
        "from types import SimpleNamespace as S\n"
        "assert complete_scenario(S(params={'robot': 'snake'}), 'serp') == ['serpenoid']\n"
        "print(*sys.modules)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True)
    libraries = {"rosbags", "numba", "scipy", "plotly", "dartpy", "mujoco", "snake"}
    assert not libraries & {*done.stdout.split()}


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_bash_itself_completes(tmp_path) -> None:
    """What `accord --show-completion bash` prints is taken by a real bash."""
    pytest.importorskip("snake", reason="the snake is not installed")
    command = tmp_path / "accord"
    command.write_text(f'#!/bin/sh\nexec {" ".join(ACCORD)} "$@"\n')
    command.chmod(0o755)
    script = (
        "source <(accord --show-completion bash)\nCOMP_WORDS=(accord run snake se)\nCOMP_CWORD=3\n"
        '_accord_completion accord\necho "${COMPREPLY[@]}"\ncomplete -p accord\n'
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    found = subprocess.run(
        ["bash", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True
    ).stdout.splitlines()
    assert found[0] == "serpenoid" and "_accord_completion accord" in found[1]
