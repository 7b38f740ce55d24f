"""Nothing in the folder where one stands is code: every name that a process imports is planted."""

from __future__ import annotations

import ast
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest
from roboaccord.contract.plugins import entries
from roboaccord.description.isolated import run_isolated
from roboaccord.description.resources import is_installed
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.setups import load_setup
from workspace import PACKAGES, ROOT

XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:property name="m" value="2.0"/><link name="base"/>
<link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="${m}"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" effort="10" velocity="5"/></joint></robot>
"""
CONTROLLER = """
import helper
from roboaccord.contract import Command
class Mine:
    def __init__(self, setup): self._zero = 0.0 * setup.initial.q
    def reset(self, seed): pass
    def update(self, state, target):
        import late_helper
        return Command(self._zero + helper.NOTHING + late_helper.NOTHING)
"""
STARTED = {
    "xacro": "from roboaccord.description.xacro_file import expand_isolated\n"
    "from pathlib import Path\nassert '2.0' in expand_isolated(Path('arm.urdf.xacro'), {})",
    "isolated": "from roboaccord.numerics.isolation import isolated\nimport math\n"
    "assert [*isolated(math.sqrt, [(4.0,)], timeout=60.0)] == [(0, 2.0)]",
    "pool": "from roboaccord.run.pieces import run_pieces\nimport math\n"
    "assert run_pieces(math.sqrt, [(4.0,), (9.0,)], workers=2) == [2.0, 3.0]",
    "engine": "from roboaccord.engines import spec\n"
    "assert spec('mujoco').load(spec('mujoco').version)",
}
"""What starts a process, in a program of a user's own, who may stand anywhere."""
OF_FILES = ("check arm.urdf.xacro --json", "parity arm.urdf.xacro --engines mujoco --json")
COMMANDS = (
    *(OF_FILES if "parity" in entries("commands") else ()),
    "crosscheck arm.urdf.xacro --engines mujoco --set crosscheck.duration=0.1 --json --out made",
    "sweep snake serpenoid --seeds 3 --set duration=0.2 --json --out made",
    "run snake serpenoid --set duration=0.1 --json --out made --controller mine:Mine",
    "run snake serpenoid --set duration=0.1 --json --out made --transport ros_processes",
)


def plant(folder: Path) -> Path:
    """Put a module of every name that can be imported into a folder; return where they would tell.

    Our own are left out: an installed package is found elsewhere, and that is shown by the others.
    """
    told = folder.with_name(f"{folder.name}_told")
    told.mkdir()
    names = {*sys.stdlib_module_names, *packages_distributions(), "sitecustomize"}
    for name in names - {*PACKAGES, "mine", "helper", "late_helper"}:
        if name.isidentifier():
            tell = f"open({str(told / name)!r}, 'w').close()\nraise ImportError('planted')\n"
            (folder / f"{name}.py").write_text(tell, encoding="utf-8")
    return told


def begin(folder: Path) -> None:
    """Put what is a user's own into a folder."""
    folder.mkdir()
    (folder / "arm.urdf.xacro").write_text(XACRO, encoding="utf-8")
    (folder / "mine.py").write_text(CONTROLLER, encoding="utf-8")
    for name in ("helper", "late_helper"):
        (folder / f"{name}.py").write_text("NOTHING = 0.0\n", encoding="utf-8")


def call(words: list[str], folder: Path) -> str:
    """Return what a program prints that runs in a folder, whose environment does not protect it."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.mark.slow
def test_no_process_of_a_program_imports_from_the_current_folder(tmp_path: Path) -> None:
    """Whatever starts a process does so with a safe path, and leaves the environment as it was."""
    begin(tmp_path / "here")
    told = plant(tmp_path / "here")
    parts = {
        name: code for name, code in STARTED.items() if name != "engine" or find_spec("mujoco")
    }
    code = "\n".join([*parts.values(), "import os\nassert not os.environ.get('PYTHONSAFEPATH')"])
    call([sys.executable, "-P", "-c", code], tmp_path / "here")
    assert not [*told.iterdir()]


def test_the_current_folder_is_not_in_a_childs_search_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whatever name the program that starts it has it, in front of Python's own library."""
    begin(tmp_path / "here")
    told = plant(tmp_path / "here")
    (tmp_path / "link").symlink_to("here")
    monkeypatch.chdir(tmp_path / "here")
    for name in ("", ".", str(tmp_path / "here"), str(tmp_path / "link")):
        monkeypatch.setattr(sys, "path", [*sys.path, name])
    monkeypatch.setattr(sys, "path", sys.path[::-1])
    assert run_isolated(math.hypot, 3.0, 4.0, seconds=20, memory=2 << 30) == 5.0
    assert not [*told.iterdir()]


def test_the_folder_of_a_controller_is_the_controllers_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It imports from there at any time; nobody else does, and no package there is installed."""
    begin(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    folder = tmp_path / "here" / "unknown_ghost"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "package.xml").write_text("<package><name>unknown_ghost</name></package>", "utf-8")
    setup = load_setup("snake", "serpenoid")
    made = make_controller(setup, "mine:Mine")
    assert not made.update(setup.initial, None).effort.any()
    assert "late_helper" in sys.modules
    for name in ("mine", "helper", "late_helper"):
        sys.modules.pop(name)
    assert find_spec("unknown_ghost") is None
    assert not is_installed(folder / "a.xacro")
    with pytest.raises(ModuleNotFoundError):
        import_module("unknown_ghost")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_process_of_a_command_imports_from_the_current_folder(
    command: str, tmp_path: Path
) -> None:
    """No planted module is imported by any of them, and the command does its work."""
    if "ros_processes" in command:
        pytest.importorskip("rclpy")
    if "mujoco" in command:
        pytest.importorskip("mujoco")
    begin(tmp_path / "here")
    told = plant(tmp_path / "here")
    words = [str(Path(sys.executable).with_name("accord")), *command.split()]
    assert json.loads(call(words, tmp_path / "here"))
    assert not [*told.iterdir()]


# What starts other Python processes, by the name that is called.
POOLS = {"get_context", "Pool", "ProcessPoolExecutor", "Parallel", "LocalCluster"}
PROGRAMS = {"execv", "execve", "execvp", "execvpe", "posix_spawn", "spawnv", "spawnvp"}
WORDS = ('"-m"', '"-c"', "executable", *(f"{name}(" for name in POOLS | PROGRAMS))
BY_COMMAND = {"with_parent.py", "start.py"}  # executes the command that it is given
ASKED = {"machine.py", "planner.py"}  # how Python is called; launch files have the core not


def sources() -> Iterator[Path]:
    """Yield the modules that can start a process."""
    folders = [*(ROOT / "src" / name / name for name in PACKAGES), ROOT / "launch"]
    yield from (path for folder in folders for path in folder.rglob("*.py"))


def unsafe(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name of what starts a Python process that looks into the current folder."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.List, ast.Tuple)):
            before: ast.expr | None = None
            for item in node.elts:
                word = isinstance(item, ast.Constant) and item.value
                if word in ("-m", "-c") and not isinstance(before, ast.Constant):
                    yield node.lineno, f"{word} without -P"
                before = item
        elif isinstance(node, ast.FunctionDef):
            called = {name_of(item.func) for item in ast.walk(node) if isinstance(item, ast.Call)}
            for name in called & POOLS if "safe_path" not in called else ():
                yield node.lineno, name
        elif isinstance(node, ast.Call) and name_of(node.func) in PROGRAMS:
            yield node.lineno, name_of(node.func)


def name_of(node: ast.expr) -> str:
    """Return the last part of a name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def test_every_process_is_started_by_a_safe_path() -> None:
    """No list has -m or -c behind an interpreter; pools start inside `safe_path`; so does CI."""
    calls = []
    for path in sources():
        text = path.read_text(encoding="utf-8")
        if not any(word in text for word in WORDS):  # to parse the rest takes long
            continue
        tree = ast.parse(text)
        if path.name not in BY_COMMAND:
            calls += [f"{path.relative_to(ROOT)}:{line}: {name}" for line, name in unsafe(tree)]
        asks = [
            n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "executable"
        ]
        if asks and path.name not in ASKED | BY_COMMAND:
            calls.append(f"{path.relative_to(ROOT)}:{asks[0].lineno}: sys.executable")
    assert not calls, "roboaccord.numerics.machine has what starts Python"
    assert "python3 -m" not in (ROOT / "action.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "line",
    [
        "run([sys.executable, '-m', 'x'])",
        "MODULE = ('-m', 'x')",
        "run([*tie(python), python, '-c', CODE])",
        "def f():\n    get_context('spawn').Process()",
        "def f():\n    return Parallel(n_jobs=2)",
        "os.execv(python, words)",
    ],
)
def test_the_walk_notices_what_is_unsafe(line: str) -> None:
    """Each form in which a process can be started without a safe path is found."""
    assert [*unsafe(ast.parse(line))]
