"""`roboaccord_files[parity]` in a bare environment, as the action of the workspace installs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml
from roboaccord.cli.groups import NEEDS
from roboaccord.contract.errors import DISPENSABLE, EXTRAS
from workspace import ROOT, call, clean_environment, copy_repository, locked, succeed

SIZE = 260e6  # bytes of the environment on a disk, with pip
LINES = 15  # of the example of a workflow

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
MUJOCO = ("--engines", "mujoco")


def arm(mass: float) -> str:
    """Return the URDF of an arm of six joints, a line for each, one of its links of a mass [kg]."""
    body = '<inertial><origin xyz="0 0 0.15"/><mass value="{}"/><inertia ixx="0.02" iyy="0.02" '
    body += 'izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial>'
    lines, parent = ['<robot name="arm">', '<link name="world"/>'], "world"
    for i, axis in enumerate(["0 0 1", "0 1 0"] * 3):
        lines += [
            f'<link name="link{i}">{body.format(mass if i == 2 else 2.0)}</link>',
            f'<joint name="joint{i}" type="revolute"><parent link="{parent}"/>'
            f'<child link="link{i}"/><origin xyz="0 0 0.3"/><axis xyz="{axis}"/>'
            '<limit lower="-2" upper="2" effort="50" velocity="3"/></joint>',
        ]
        parent = f"link{i}"
    return "\n".join([*lines, "</robot>"])


def step(name: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the action as a runner does, with the Python of the tests as the machine's."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": path, **environment}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]["run"]]
    return call(command, folder, clean_environment(**own), timeout=600)


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a runner on which the action has installed."""
    folder = tmp_path_factory.mktemp("runner")
    workspace = copy_repository(folder / "workspace")
    succeed(step("Install", folder, RUNNER_TEMP=str(folder), GITHUB_ACTION_PATH=str(workspace)))
    return folder


def accord(runner: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command of the light installation."""
    return call([runner / "roboaccord/bin/accord", *words], folder)


def check(runner: Path, folder: Path, robots: str) -> tuple[subprocess.CompletedProcess[str], Any]:
    """Run the action's check, and return also the SARIF that it hands on."""
    output = folder / "output"
    output.touch()
    (folder / "temp").mkdir()
    (folder / "temp" / "roboaccord").symlink_to(runner / "roboaccord")
    own = {"RUNNER_TEMP": str(folder / "temp"), "GITHUB_OUTPUT": str(output)}
    done = step("Check", folder, **own, ROBOTS=robots, PACKAGES="some_package=.")
    (line,) = output.read_text().splitlines()
    return done, json.loads(Path(line.removeprefix("sarif=")).read_text(encoding="utf-8"))


def test_steps_take_what_others_write_from_their_environment() -> None:
    """Put into the script itself, a name of a file could run commands."""
    for each in STEPS.values():
        assert "${{" not in each.get("run", "")
        assert "run" not in each or each["shell"] == "bash"
        succeed(call(["bash", "-n", "-c", each.get("run", "")], ROOT))


def test_the_example_is_short_and_fits_the_action() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (job,) = yaml.safe_load(example)["jobs"].values()
    assert len(example.splitlines()) <= LINES
    assert job["steps"][-1]["with"].keys() <= ACTION["inputs"].keys()


def test_what_others_may_change_is_named_by_a_commit_and_may_not_write() -> None:
    """Other actions by 40 digits, in our workflows and in the page; tokens may read."""
    for path in (ROOT / "action.yml", ROOT / "docs/ci.md", *WORKFLOWS):
        used = re.findall(r"uses: ([^\s@]+/[^\s@]+)@(\S+)", path.read_text(encoding="utf-8"))
        assert used, path
        for name, version in used:
            assert name == "OWNER/REPOSITORY" or re.fullmatch("[0-9a-f]{40}", version), (path, name)
    for path in WORKFLOWS:
        assert yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {
            "contents": "read"
        }


def test_the_lock_of_the_action_is_that_of_the_demo_with_hashes() -> None:
    wanted, known = locked("action"), locked("demo")
    assert {*wanted} <= {*known}
    assert {"mujoco", "numpy", "xacro"} <= {line.partition("==")[0] for line in wanted}
    text = (ROOT / "requirements/action.txt").read_text(encoding="utf-8")
    assert all("--hash=sha256:" in part for part in re.split(r"\n(?=\w)", text.strip()))


@pytest.mark.parametrize("robots", ["--help", "--json.urdf *.urdf x:=1", "--sarif=x --out:=y"])
def test_a_name_is_a_file_whatever_it_begins_with(robots: str, tmp_path: Path) -> None:
    """The step is run with a program in place of ours that writes down its words."""
    folder = tmp_path / "roboaccord" / "bin"
    folder.mkdir(parents=True)
    (folder / "accord").write_text('#!/bin/sh\nprintf "%s\\n" "$@" ---- >> "$WORDS"\n')
    (folder / "accord").chmod(0o755)
    (tmp_path / "-v.urdf").touch()
    own = {"RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "output")}
    own |= {"WORDS": str(tmp_path / "words"), "ROBOTS": robots, "PACKAGES": "--json=x"}
    succeed(step("Check", tmp_path, **own))
    calls = (tmp_path / "words").read_text().split("----\n")[:-1]
    files = [w for w in robots.replace("*.urdf", "-v.urdf").split() if ":=" not in w]
    assert len(calls) == 1 + len(files)
    for words, given in zip(calls, [files, *([file] for file in files)], strict=True):
        before, _, behind = words.partition("\n--\n")
        assert behind.split() == [*given, *(w for w in robots.split() if ":=" in w)]
        assert "--package=--json=x" in before and not {*robots.split()} & {*before.split()}


def test_a_pull_request_is_compared_with_its_base(tmp_path: Path) -> None:
    """Each robot with that of the base, and its packages with those; not one that is new."""
    folder, words = tmp_path / "roboaccord" / "bin", tmp_path / "words"
    folder.mkdir(parents=True)
    (folder / "accord").write_text('#!/bin/sh\nprintf "%s\\n" "$@" ---- >> "$WORDS"\n')
    (folder / "accord").chmod(0o755)
    for name in ("old/a.urdf", "new/a.urdf", "new/b.urdf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    own = {"RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "output")}
    own |= {"WORDS": str(words), "ROBOTS": "a.urdf b.urdf x:=1", "PACKAGES": "me=."}
    succeed(step("Check", tmp_path, **own, BASE="old", HEAD="new"))
    old = tmp_path / "old"
    (pair,) = [c for c in words.read_text().split("----\n") if "other-package" in c]
    sides = f"--package=me={old}/. --other-package=me=. -- {old}/a.urdf x:=1 ./a.urdf x:=1"
    assert pair.split() == ["parity", *sides.split()]


@pytest.mark.slow
def test_it_is_small(runner: Path) -> None:
    size = 512 * sum(path.lstat().st_blocks for path in (runner / "roboaccord").rglob("*"))
    modules = [name for modules in EXTRAS.values() for name in modules]
    ask = f"from importlib.util import find_spec; print([*filter(find_spec, {modules})])"
    assert succeed(call([runner / "roboaccord/bin/python", "-c", ask], runner)).strip() == "[]"
    assert size < SIZE


@pytest.mark.slow
def test_results_for_machines_need_no_extra(runner: Path, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(arm(2.0))
    words = "--json --sarif arm.sarif --junit arm.xml --repair repaired.urdf".split()
    message = json.loads(succeed(accord(runner, tmp_path, "parity", "arm.urdf", *MUJOCO, *words)))
    assert message["verdict"] == "pass"
    code = 'import roboaccord as ra; print(ra.parity("arm.urdf", engines=["mujoco"]))'
    printed = succeed(call([runner / "roboaccord/bin/python", "-c", code], tmp_path))
    assert "arm: 6 joints" in printed
    assert json.loads((tmp_path / "arm.sarif").read_text())["runs"][0]["results"] == []
    assert ET.parse(tmp_path / "arm.xml").find("testsuite/testcase").get("name") == "mujoco"


@pytest.mark.slow
def test_a_line_says_what_is_missing(runner: Path, tmp_path: Path) -> None:
    """Whatever the other words; and the help still lists all commands."""
    (tmp_path / "arm.urdf").write_text(arm(2.0))
    lines = {name: accord(runner, tmp_path, name, "arm.urdf") for name in NEEDS}
    lines["page"] = accord(runner, tmp_path, "parity", "arm.urdf", "--page", "arm.html")
    lines["new-robot"] = accord(runner, tmp_path, "new-robot", "machine")
    for name, done in lines.items():
        assert done.returncode == 2, name
        assert re.fullmatch(r"accord: .* needs? .*: pip install [^\n]+\n", done.stderr), done.stderr
        for extra in NEEDS.get(name, ()):
            wanted = [asked for module, asked in EXTRAS[extra].items() if module not in DISPENSABLE]
            assert all(asked.partition(">")[0] in done.stderr for asked in wanted)
    listed = succeed(accord(runner, tmp_path, "--help"))
    assert all(f" {name} " in listed for name in NEEDS)
    succeed(accord(runner, tmp_path, "doctor"))


@pytest.mark.slow
def test_the_action_passes_sound_robots(runner: Path, tmp_path: Path) -> None:
    """Named by a pattern."""
    for name in ("one", "other"):
        (tmp_path / f"{name}.urdf").write_text(arm(2.0))
    done, log = check(runner, tmp_path, "*.urdf")
    assert succeed(done).count("mujoco  default   same") == 2
    assert log["runs"][0]["results"] == []


@pytest.mark.slow
def test_the_action_fails_by_a_wrong_robot_and_names_the_line(runner: Path, tmp_path: Path) -> None:
    """A sound one behind it does not hide it; arguments go to xacro files."""
    (tmp_path / "wrong.urdf").write_text(arm(-1.0))
    name = arm(2.0).replace('name="arm"', 'name="$(arg name)" xmlns:xacro="http://ros.org/xacro"')
    (tmp_path / "sound.urdf.xacro").write_text(name)
    done, log = check(runner, tmp_path, "wrong.urdf sound.urdf.xacro name:=mine")
    assert done.returncode == 1, done.stderr
    assert "mine: 6 joints" in done.stdout
    found = [each for each in log["runs"][0]["results"] if each["ruleId"] == "mass-negative"]
    places = [each["locations"][0]["physicalLocation"] for each in found]
    assert [place["artifactLocation"]["uri"] for place in places] == ["wrong.urdf"]
    line = arm(-1.0).splitlines()[places[0]["region"]["startLine"] - 1]
    assert '<link name="link2">' in line
