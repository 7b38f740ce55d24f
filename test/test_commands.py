"""Every command: help with an example, JSON and nothing else, 80 columns, folders of its own."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from roboaccord.cli import command
from roboaccord.cli.console import out
from roboaccord.cli.folder import MARKER
from roboaccord.cli.groups import COMMANDS, RENAMED, added_command, command_at, robot_commands
from roboaccord.cli.main import run
from roboaccord.cli.result import show
from roboaccord.contract.plugins import added, entries, lacking
from roboaccord.robots.file import FileRobot
from roboaccord.scenario import find_robot
from roboaccord.scenario.files import scenario_names
from roboaccord.scenario.installed import robot_names

BAG = "made/run"
ARM = "packbot identify --engine mujoco --transport direct --set duration=5 --out made/arm"
TERRAIN = "made/terrain"
# Each command as short as its result is whole; {out} stands for the folder of results.
CASES = {
    "list": "",
    "scenario": "snake serpenoid",
    "doctor": "",
    "new-robot": "pendel --dir new",
    "check": "{root}/worlds/flat.sdf --models {root}/models",
    "run": "snake serpenoid --transport direct --set duration=0.02 --out {out}",
    "teleop": "snake --duration 0.02 --out {out}",
    "crosscheck": "snake serpenoid --engines reference,mujoco --refine 2 "
    "--set crosscheck.duration=0.02 --set crosscheck.states=2 --out {out}",
    "bench": "stopping --engines mujoco --out {out}",
    "sweep": "snake serpenoid --seeds 2 --set duration=0.02 --out {out}",
    "compare": f"{BAG} {BAG}",
    "plot": f"{BAG} base/x --out plot.png",
    "export": f"{BAG} --csv run.csv",
    "recover": BAG,
    "excite": "{root}/examples/own_log/arm.urdf --tries 10 --out {out}",
    "servo": "{root}/examples/own_log/arm.urdf --engines mujoco --joint elbow --mode own "
    "--out {out}",
    "snake gait": "--duration 2",
    "snake optimise": "--engines reference --joints 4 --max-frequency 1",
    "snake adapt": "--duration 8",
    "snake shapes": "",
    "snake figures": "--out {out}",
    "monkeybot gait": "",
    "monkeybot landscape": "--w1 0.5 1.5 4 --w2 11 12 4 --out {out}",
    "monkeybot figures": "--points 5 --out {out}",
    "monkeybot stable": "--period 0.943",
    "monkeybot gaits": "--samples 0",
    "monkeybot stability": "--period 0.93 0.94 2 --torque 0.6 0.7 2 --out {out}",
    "monkeybot design": "--centre 0.89 0.9 2 --inertia 0.045 0.05 2 --out {out}",
    "monkeybot basin": "--gait clocked --sd-angle 0.02 --sd-rate 0.1 --samples 2 --steps 2",
    "monkeybot robust": "--gait clocked --samples 2 --steps 2",
    "monkeybot lqr": "",
    "monkeybot continue": "--along period --from 0.94 --to 0.946",
    "monkeybot find": "--period 0.935 --samples 4 --seed 1",
    "packbot fall": "--duration 0.1",
    "packbot dynamics": "--q 0 1.2 -0.8 0.3 0 0 0",
    "packbot look": "--joint elbow1 --out {out}",
    "packbot plan": "--to ready",
    "packbot detect": "made/arm",
    "identify": "packbot made/arm",
    "packbot reach-target": "--target 1.2 0.3 0.15",
    "packbot workspace": "--study --poses 100 --angles 1 --out {out}",
    "packbot equilibria": "--fault wrist=loose --poses 5",  # its weight turns it nowhere
    "packbot figures": "--duration 0.1 --out {out}",
    "roller-sphere inverse": "",
    "roller-sphere forward": "--nu -0.93 -0.93",
    "roller-sphere reach": "",
    "roller-sphere figures": "--out {out}",
    "roller-sphere claims": "",
    "roller-sphere survey": "--points 3 --out {out}",
    "roller-sphere contact": "--engines mujoco --alpha-deg 10",
    "roller-sphere dribble-map": "--engine mujoco --speeds 1 --turn-rates 0",
    "voxel-sphere make": "bowl --n 30 --out {out}",
    "voxel-sphere list": TERRAIN,
    "voxel-sphere roll": f"{TERRAIN} --omega 0.3 0.2 --time 1 --samples 10 --out {{out}}",
    "voxel-sphere mesh": f"{TERRAIN} --out bowl.stl",
    "voxel-sphere world": f"{TERRAIN} --out {{out}}",
    "parity": "{root}/src/roboaccord/test/data/urdf/TwoDofs.urdf --engines dart,mujoco",
}


def is_installed(name: str) -> bool:
    """Return whether the package of a command is installed, and the robot whose it is."""
    full = name.replace("-", "_").replace(" ", ".")
    return not (lacking("commands", full) or lacking("robots", full.partition(".")[0]))


CASES = {name: words for name, words in CASES.items() if is_installed(name)}
WITHOUT_FIGURES = {"view"}
INTO_FOLDERS = [name for name, words in CASES.items() if "{out}" in words]
ROOT = Path(__file__).resolve().parents[1]

SLOW = {
    "crosscheck", "monkeybot basin", "monkeybot continue", "monkeybot design", "monkeybot figures",
    "packbot detect", "packbot figures", "identify",
    "packbot reach-target",
    "packbot workspace", "roller-sphere contact", "roller-sphere figures", "roller-sphere survey",
    "snake adapt", "snake figures", "snake optimise",
}  # fmt: skip
NAMES = [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in CASES]

pytestmark = pytest.mark.thorough

Accord = Callable[[str], Any]


def leaves(group: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Return every command of a group by its full name."""
    for word in group.list_commands(None):
        yield f"{name} {word}", group.get_command(None, word)


@pytest.fixture(scope="module")
def commands() -> dict[str, Any]:
    """Return all commands by name."""
    by_name = {name: command_at(name, place) for name, place in COMMANDS.items()}
    by_name |= {name: added_command(name) for name in entries("commands") if "." not in name}
    for name in robot_names():
        by_name |= leaves(robot_commands(name), name.replace("_", "-"))
    return by_name


@pytest.fixture(scope="module")
def bags(commands: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a bag and a terrain, for the commands that take some."""
    pytest.importorskip("snake", reason="the snake, which commands are shown by, is not installed")
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = CASES["run"].format(out="made/run")
        assert run(shlex.split(f"run {words}")) == 0
        if is_installed("voxel-sphere make"):
            words = CASES["voxel-sphere make"].format(out=TERRAIN)
            assert run(shlex.split(f"voxel-sphere make {words}")) == 0
    return folder / "made"


@pytest.fixture
def accord(
    bags: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Accord:
    """Return a function that runs a command in a folder of its own: status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(out, "width", 80)
    if is_installed("snake optimise"):
        shorten_studies_of_the_snake(monkeypatch)
    (tmp_path / "made").symlink_to(bags)

    def of(name: str, more: str = "", folder: str = "results") -> tuple[int, str, str]:
        if "made/arm" in CASES[name] and not (bags / "arm").exists():
            assert run(shlex.split(f"run {ARM}")) == 0
        capsys.readouterr()
        words = CASES[name].format(out=folder, root=ROOT)
        status = run(shlex.split(f"{name} {words} {more}"))
        message = capsys.readouterr()
        return status, message.out, message.err

    return of


def test_the_list_is_short_and_a_robots_list_has_its_scenarios(accord: Accord) -> None:
    _, shown, _ = accord("list")
    lines = shown.splitlines()
    assert len(lines) <= 15
    assert [line.split()[0] for line in lines[1 : 1 + len(robot_names())]] == robot_names()
    assert "accord list ROBOT" in shown
    _, shown, _ = accord("list", "snake")
    firsts = {line.split()[0] for line in shown.splitlines() if line[:1].strip()}
    assert {file.stem for file in (ROOT / "src/snake/scenarios").glob("*.yaml")} <= firsts


def test_every_command_is_here(commands: dict[str, Any]) -> None:
    assert set(commands) - WITHOUT_FIGURES == set(CASES)


def test_no_command_of_a_robot_has_the_name_of_a_scenario(commands: dict[str, Any]) -> None:
    for robot in robot_names():
        names = scenario_names(find_robot(robot).package)
        assert not {f"{robot.replace('_', '-')} {name}" for name in names} & {*commands}


def test_a_command_that_was_renamed_names_the_new_one(capsys: pytest.CaptureFixture[str]) -> None:
    for former, now in RENAMED.items():
        if is_installed(now) and former.partition(".")[0] in robot_names():
            assert run(former.replace("_", "-").split(".")) == 2
            assert f" is now accord {now};" in " ".join(capsys.readouterr().err.split())
            assert now.partition(" packbot")[0] in CASES


def test_help_shows_flags_without_a_type_and_all_controllers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Those of a robot's file: its own, and those that packages add."""
    for words in ("--help", "list --help", "run --help"):
        assert run(words.split()) == 0
        shown = capsys.readouterr().out
        assert "--help" in shown and "<bool>" not in shown
    for name in (*FileRobot.controllers, *added("controllers", "roboaccord"), "none"):
        assert re.search(rf"\b{name}\b", shown)


def test_every_command_that_takes_a_robots_file_can_be_told_to_trust_it(commands) -> None:
    takes_trust = {}
    for name, each in commands.items():
        given = [p for p in each.params if p.param_type_name == "argument"]
        if any("FILE" in (p.metavar or "") for p in given):
            takes_trust[name] = any("--trust" in p.opts for p in each.params)
    named = {"run", "check", "crosscheck", "sweep", "view", "teleop"}
    assert named <= {*takes_trust}
    assert all(takes_trust.values()), takes_trust


def test_help_has_an_example_and_figures_have_json(commands: dict[str, Any]) -> None:
    """Commands that write into a folder all have the two options for that."""
    for name, parser in commands.items():
        assert f"accord {name}" in parser.help.replace("_", "-"), name
        flags = {flag for parameter in parser.params for flag in parameter.opts}
        assert ("--json" in flags) == (name not in WITHOUT_FIGURES), name
        folder = any("--out" in p.opts and "DIR" in (p.metavar or "") for p in parser.params)
        assert folder == (name in INTO_FOLDERS), name
        assert ("--force" in flags) == folder, name


def shorten_studies_of_the_snake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the search find what it may, and draw shorter runs and fewer gaits."""
    studies = "roboaccord_studies.snake"
    monkeypatch.setattr(f"{studies}.optimise.GENERATIONS", 2)
    monkeypatch.setattr(f"{studies}.optimise.POLISH", 20)
    for name, less in {
        "steering": {"changes": ["duration=1"]},
        "change_of_ground": {"changes": ["duration=1"]},
        "costs": {"count": 20},
    }.items():
        draw = getattr(import_module(f"{studies}.figures"), f"write_{name}")
        monkeypatch.setattr(f"{studies}.figures.write_{name}", partial(draw, **less))


def check_marker(name: str, folder: Path, *others: str) -> None:
    """Check that a command has left its marker, which lists all files but what others left."""
    marker = json.loads((folder / MARKER).read_text())
    assert marker["command"] == name
    there = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    assert set(marker["files"]) == there - {MARKER, *others} != set()


@pytest.mark.parametrize("name", NAMES)
def test_figures_as_json_and_on_80_columns(
    name: str,
    accord: Accord,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """JSON is all that is on stdout; for people nothing is cut or wider than their terminal."""
    shown: list[Any] = []
    monkeypatch.setattr(command, "show", lambda *result: shown.append(result) or show(*result))
    status, printed, _ = accord(name, "--json")
    assert status in (0, 1)
    assert printed.count("\n") == 1
    data = json.loads(printed)
    assert isinstance(data, dict)
    used = data.get("options", {})
    show(*shown[0][:-1], as_json=False)
    shown = capsys.readouterr().out
    assert shown.strip() and "…" not in shown
    for line in shown.splitlines():
        pasted = name == "scenario" and not line.startswith(" ")  # after --set: never broken
        assert pasted or len(line) <= 80, line
    for key in used:
        assert not used[key] or key in shown, f"{name} does not say which {key} it used"
    if name in INTO_FOLDERS:
        check_marker(name, tmp_path / "results")


@pytest.mark.parametrize("name", INTO_FOLDERS)
def test_a_folder_of_something_else_is_refused(name: str, accord: Accord, tmp_path: Path) -> None:
    """One line states what it holds; --force deletes only what accord wrote there."""
    folder = tmp_path / "results"
    (folder / "old").mkdir(parents=True)
    for file in ("mine.txt", "old/result.csv", "old/notes.txt"):
        (folder / file).write_text("kept")
    status, printed, line = accord(name)
    assert (status, printed, line.count("\n")) == (2, "", 1)
    assert "results holds mine.txt, old, not results of accord" in line
    marker = {"command": "other", "version": "0", "files": ["old/result.csv", "../results.txt"]}
    (folder / MARKER).write_text(json.dumps(marker))
    (tmp_path / "results.txt").write_text("kept")
    status, printed, line = accord(name)
    assert (status, printed, line.count("\n")) == (2, "", 1)
    assert "results holds results of accord other" in line
    assert (folder / "old/result.csv").exists()
    if name in SLOW:  # the others show what --force does
        return
    status, _, _ = accord(name, "--force")
    assert status in (0, 1)
    assert not (folder / "old/result.csv").exists()
    for file in (folder / "mine.txt", folder / "old/notes.txt", tmp_path / "results.txt"):
        assert file.read_text() == "kept"
    check_marker(name, folder, "mine.txt", "old/notes.txt")


def test_a_command_goes_on_in_its_own_folder(accord: Accord, tmp_path: Path) -> None:
    """A run adds its bag; with --force it replaces the ones that it left there."""
    for expected in ({"bag"}, {"bag", "bag_2"}):
        assert accord("run")[0] == 0
        assert {path.name for path in (tmp_path / "results").glob("bag*")} == expected
    assert accord("run", "--force")[0] == 0
    assert {path.name for path in (tmp_path / "results").glob("bag*")} == {"bag"}


def test_a_command_that_fails_leaves_no_folder(accord: Accord, tmp_path: Path) -> None:
    """Neither a new one, nor a marker in an empty one."""
    for _ in range(2):
        assert accord("run", "--engine drat")[0] == 2
        assert not list(tmp_path.glob("results/*")) + list(tmp_path.glob("results/.*"))
        with suppress(FileExistsError):
            (tmp_path / "results").mkdir()


def test_a_command_that_fails_puts_back_what_it_was_to_replace(
    accord: Accord, tmp_path: Path
) -> None:
    """With --force: the bag of the run before is there, byte for byte, and so is the marker."""
    assert accord("run")[0] == 0
    folder = tmp_path / "results"
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    status, printed, message = accord("run", "--force --controller missing:Any")
    assert (status, printed) == (2, "")
    assert "cannot import missing:Any" in message
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert accord("run", "--force --set seed=1")[0] == 0
    assert len(list(folder.rglob("*.mcap"))) == 1
