"""`accord new-robot` makes a package that runs, checks and tests itself; so does its guide."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from roboaccord.cli.about import new_robot_command, templates
from roboaccord.cli.main import run as main
from workspace import PACKAGES, ROOT, accord, call, clean_environment, make_python, succeed

pytestmark = pytest.mark.thorough

GUIDE = (ROOT / "docs" / "new_robot.md").read_text(encoding="utf-8")
ENGINES = ("dartpy", "mujoco")
Accord = Callable[..., Any]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python with every library, into which robots can be installed."""
    return make_python(tmp_path_factory.mktemp("python") / "venv")


@pytest.fixture
def run(python: Path, tmp_path: Path) -> Accord:
    """Return a function that runs a module of that Python, with the workspace's packages."""
    packages = ":".join(str(ROOT / "src" / name) for name in PACKAGES)

    def module(*words: str, status: int = 0) -> str:
        environment = clean_environment(PYTHONPATH=packages)
        done = call([python, "-m", *words], tmp_path, environment, timeout=300)
        assert done.returncode == status, f"{words}: {done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return str(done.stdout)

    return module


def install(run: Accord, package: str) -> None:
    """Install a package as `accord new-robot` states, from no index."""
    local = ("--quiet", "--no-deps", "--no-build-isolation", "--use-pep517", "--no-index")
    run("pip", "install", *local, "-e", package)


def try_out(run: Accord, name: str) -> None:
    """Run a robot's scenario for 0.1 s, cross-check it, and run its own tests."""
    short = ("--set", "duration=0.1", "--transport", "direct", "--json")
    assert '"steps": 100' in run("roboaccord.cli.main", "run", name, "swing", *short)
    for engine in ENGINES:
        pytest.importorskip(engine, reason=f"{engine} is not installed")
    short = ("--set", "duration=1", "--out", "checked", "--json")
    checked = run("roboaccord.cli.main", "crosscheck", name, "swing", *short)
    assert '"verdict": "pass"' in checked
    assert "skipped" not in run("pytest", "-q", f"src/{name}")


@pytest.mark.slow
def test_a_new_robot_runs_cross_checks_and_tests_itself(run: Accord, tmp_path: Path) -> None:
    """All that the command prints, done: install, run, cross-check with DART and MuJoCo, test."""
    message = run("roboaccord.cli.main", "new-robot", "swinger")
    assert re.findall(r"^  (\w+)", message, re.MULTILINE) == ["pip", "accord", "accord", "python"]
    install(run, "src/swinger")
    try_out(run, "swinger")
    settings = ("--config", str(ROOT / "pyproject.toml"), "src")
    if importlib.util.find_spec("ruff"):
        run("ruff", "check", *settings)
        run("ruff", "format", "--check", *settings)


def test_the_line_that_installs_asks_for_no_setuptools_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.12 and later bring none: pip then gets one to build with."""
    there = new_robot_command("arm", tmp_path / "one").data["next"]
    monkeypatch.setitem(sys.modules, "setuptools", None)  # as where it is not installed
    missing = new_robot_command("arm", tmp_path / "other").data["next"]
    assert there[0] == f"pip install --no-deps --no-build-isolation -e {tmp_path / 'one' / 'arm'}"
    assert missing[0] == f"pip install --no-deps -e {tmp_path / 'other' / 'arm'}"
    assert missing[0].replace(str(tmp_path / "other" / "arm"), "src/pendulum") in GUIDE


@pytest.mark.slow
def test_the_guide_makes_a_double_pendulum(run: Accord, tmp_path: Path) -> None:
    """Its blocks, put where it states, pass the cross-check; a wrong sign in them fails a test."""
    name = "double_pendulum"
    assert f"    accord new-robot {name}" in GUIDE
    run("roboaccord.cli.main", "new-robot", name)
    blocks = re.findall(r"`([\w/]+\.py)`[^`]*\n\n```python\n(.*?)^```", GUIDE, re.M | re.S)
    assert [path for path, _ in blocks] == ["double_pendulum/dynamics.py", f"test/test_{name}.py"]
    for path, text in blocks:
        (tmp_path / "src" / name / path).write_text(text, encoding="utf-8")
    (difference,) = re.findall(r"^```diff\n(.*?)^```", GUIDE, re.M | re.S)
    (tmp_path / "difference").write_text(difference, encoding="utf-8")
    succeed(
        call(["git", "apply", "--unsafe-paths", f"--directory=src/{name}", "difference"], tmp_path)
    )
    install(run, f"src/{name}")
    try_out(run, name)
    dynamics = tmp_path / "src" / name / blocks[0][0]
    assert "effort - turning" in blocks[0][1]
    dynamics.write_text(blocks[0][1].replace("effort - turning", "effort + turning"))
    assert "FAILED" in run("pytest", "-q", f"src/{name}", "-k", "test_accelerations", status=1)


def test_the_guide_names_the_files_that_are_made() -> None:
    """Each file of the template stands in the table, or its folder does."""
    table = GUIDE.partition("| file | what it is |")[2].partition("\n\n")[0]
    for path, _ in templates():
        place = path.replace("NAME", "pendulum")
        named = {place, f"{place.partition('/')[0]}/"}
        assert place.endswith(("__init__.py", "py.typed")) or any(f"`{n}`" in table for n in named)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("My-Arm", "'My-Arm' is not a name for a package: small letters, digits and single"),
        ("two__legs", "'two__legs' is not a name for a package: "),
        ("class", "'class' is not a name for a package: "),
        ("snake", "a robot named snake already exists: choose another name"),
        ("numpy", "there is a Python package numpy already: choose another name"),
        ("a" * 300, "cannot write in src/aaa"),
    ],
)
def test_a_wrong_name_is_refused(
    name: str,
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line, exit status 2, and nothing is made."""
    if name == "snake":
        pytest.importorskip("snake", reason="the snake is not installed")
    monkeypatch.chdir(tmp_path)
    assert main(["new-robot", name]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith(f"accord: {complaint}")
    assert len(printed.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    """An empty folder is taken, one with a file is not."""
    folder = tmp_path / "src" / "arm"
    folder.mkdir(parents=True)
    assert accord("new-robot", "arm", cwd=tmp_path).returncode == 0
    assert (folder / "arm" / "robot.py").is_file()
    done = accord("new-robot", "arm", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "accord: src/arm is there already, and is not empty\n"
