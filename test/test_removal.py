"""Each package beside the core, and each robot, can be removed: the rest works and is tested.

Nothing but its folder goes. What it would add is named in one line, with its package.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from roboaccord.contract import plugins
from workspace import (
    PACKAGES,
    ROOT,
    call,
    clean_environment,
    copy_repository,
    python_without,
    succeed,
)

ENGINES = {f"roboaccord_{name}" for name in ("drake", "mjwarp", "newton", "sapien")}
SHELF = yaml.safe_load(plugins.INDEX.read_text("utf-8"))
ROBOTS = sorted(name for name in SHELF if "robots" in SHELF[name])
TESTED = (
    "README.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "colcon.meta", "pyproject.toml",
    "conftest.py", "Makefile", "action.yml", "benchmarks", "docs", "examples", "test",
)  # fmt: skip
ARM = "src/roboaccord/test/data/urdf/TwoDofs.urdf"
# By what each is asked for.
ASKED = {
    "roboaccord_bench": ["bench stopping"],
    "roboaccord_files": [f"parity {ARM}", f"check {ARM}", "check --explain units",
                         "crosscheck log.csv", "export run/bag --csv run.csv"],
    "roboaccord_view": ["view snake", "run snake serpenoid --transport direct --view"],
    "roboaccord_studies": [f"identify {ARM}", "sweep snake serpenoid", "snake gait",
                           "packbot look --hulls", "run packbot identify",
                           "run snake change_of_ground",
                           "scenario packbot reach --set controller.name=detected"],
    **{robot: [f"list {robot}", f"{robot.replace('_', '-')} look"] for robot in ROBOTS},
}  # fmt: skip
SHORT = "--engine mujoco --transport direct --set duration=0.02 --out run"
COMMANDS = """
import contextlib, importlib, io, json, pkgutil, shlex, sys
from roboaccord.cli.main import run
away, names, commands = json.loads(sys.argv[1])
done = []
for words in commands:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(shlex.split(words))
    done.append([status, out.getvalue(), err.getvalue()])
for name in names:
    package = importlib.import_module(name)
    for found in pkgutil.walk_packages(package.__path__, f"{name}.", onerror=lambda _: None):
        if found.name.endswith("__main__") or found.name.split(".")[1] == away:
            continue  # studies have a room for each robot
        try:
            importlib.import_module(found.name)
        except ImportError as error:  # of a library, or of ROS
            if error.name.partition(".")[0] in (away, *names):
                raise
print(json.dumps(done))
"""


def done_by(
    python: Path, folder: Path, commands: Sequence[str], away: str = "", names: Sequence[str] = ()
) -> list[tuple[int, str, str]]:
    """Return status and output of commands in one process, which then imports all modules."""
    words = [python, "-c", COMMANDS, json.dumps([away, names, commands])]
    (folder / "log.csv").write_text("time,shoulder\n0,0\n", encoding="utf-8")
    environment = clean_environment(COLUMNS="200")
    return [(*each,) for each in json.loads(succeed(call(words, folder, environment, timeout=300)))]


def assert_named(package: str, done: tuple[int, str, str]) -> None:
    """Assert that a command said in a line which package it needs."""
    status, shown, message = done
    assert (status, shown) == (2, ""), done
    assert message.count("\n") == 1, message
    assert message.endswith(f"not installed: src/{package} of the repository\n"), message


def test_each_package_is_asked_for_here() -> None:
    """And each robot; four are engines, and the tests of ROS are skipped where it is not."""
    assert {*ASKED} == {*SHELF}
    assert {*PACKAGES} - {*SHELF} <= {"roboaccord", "roboaccord_ros", *ENGINES}


def test_only_studies_import_a_robot() -> None:
    """So that modules are imported below without one robot, as an example of all."""
    words = re.compile(rf"^\s*(?:from|import) ({'|'.join(ROBOTS)})\b", re.MULTILINE)
    for package in {*PACKAGES} - {"roboaccord_studies"}:
        for path in (ROOT / "src" / package / package).rglob("*.py"):
            assert {*words.findall(path.read_text("utf-8"))} <= {package}, path


def test_the_core_with_one_robot_works(tmp_path: Path) -> None:
    """All are away but the snake, and each is named."""
    away = sorted({*SHELF} - {"snake"})
    python = python_without(away, ROOT, tmp_path / "venv")
    commands = ["list", *(ASKED[package][0].replace("src/", f"{ROOT}/src/") for package in away)]
    (status, shown, message), *others = done_by(python, tmp_path, commands)
    assert (status, message) == (0, "")
    assert [name for name in ROBOTS if name in shown] == ["snake"]
    for package, done in zip(away, others, strict=True):
        assert_named(package, done)


@pytest.mark.slow
@pytest.mark.parametrize("package", SHELF)
def test_the_rest_works_without(package: str, tmp_path: Path) -> None:
    """Another robot is run and cross-checked, and modules of all can be imported."""
    others = {*PACKAGES} - {package, *ENGINES} if package not in ROBOTS[1:] else ()
    robot = "monkeybot swing" if package == "snake" else "snake serpenoid"
    asked = [words.replace("src/", f"{ROOT}/src/") for words in ASKED[package]]
    working = ["list", "--help", f"run {robot} {SHORT}", "crosscheck run/bag"]
    python = python_without([package], ROOT, tmp_path / "venv")
    done = done_by(python, tmp_path, [*working, *asked], package, sorted(others))
    for (status, shown, message), words in zip(done, working, strict=False):
        assert status == 0, (words, message)
        assert package not in shown, words
    for each in done[len(working) :]:
        assert_named(package, each)


@pytest.mark.slow
def test_the_tests_of_the_rest_are_collected(tmp_path: Path) -> None:
    """In a copy with a single robot, tests that need what is away are skipped or not there."""
    away = sorted({*SHELF} - {"voxel_sphere"})
    root = copy_repository(tmp_path / "copy")
    for name in TESTED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, root / name)
    for name in away:
        shutil.rmtree(root / "src" / name)
    python = python_without(away, root, tmp_path / "venv")
    collect = [python, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
    shown = succeed(call(collect, root, timeout=300))
    assert "test_removal.py::" in shown
    assert not any(f"\nsrc/{name}/" in shown for name in away)
