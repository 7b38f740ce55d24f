"""Whatever a user gets wrong gives one line on stderr, nothing on stdout, and exit status 2."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from roboaccord.cli.main import run
from roboaccord.scenario.installed import robot_names
from robot_commands import commands_of, unwrapped
from workspace import ROOT, accord, read_json

pytestmark = pytest.mark.thorough

Complain = Callable[[str], str]

RUN = "run snake serpenoid --transport direct --json --set duration=0.01"

CONTROLLERS = '''
"""Controllers that do wrong, each differently."""

import numpy as np
from roboaccord.contract.state import Command


class NotANumber:
    """Gives an effort that is no number, after a while, at the third joint."""

    def __init__(self, setup):
        self.effort = np.zeros(len(setup.joints))

    def reset(self, seed):
        pass

    def update(self, state, target):
        if state.time > 0.0035:
            self.effort[2] = np.nan
        return Command(self.effort)


class Infinite(NotANumber):
    def update(self, state, target):
        return Command(np.full(len(self.effort), np.inf))


class OneMissing(NotANumber):
    def update(self, state, target):
        return Command(self.effort[:-1])


class OneTooMany(NotANumber):
    def update(self, state, target):
        return Command(np.zeros(len(self.effort) + 1))


class Silent(NotANumber):
    def update(self, state, target):
        return None


class Careless(NotANumber):
    def update(self, state, target):
        return 1 / 0


class Stillborn:
    def __init__(self, setup):
        raise KeyError("gain")


class NoMethods:
    def __init__(self, setup):
        pass
'''


def complaint(words: str, cwd: Path, **environment: str) -> str:
    """Return the one line that `accord` must print about a mistake."""
    done = accord(*words.split(), cwd=cwd, **environment)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    return unwrapped(done.stderr).removeprefix("accord: ")


_, complaint_here = commands_of()  # in this process, which spares two seconds of start each time


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("run snaek serpenoid", "unknown robot snaek; did you mean snake?"),
        ("run snake serpenoi", "no scenario serpenoi; did you mean serpenoid?"),
        ("run snake missing.yaml", "cannot read missing.yaml"),
        (f"{RUN} --engine drat", "unknown engine drat; did you mean dart?"),
        (f"{RUN} --transport rso", "unknown transport rso; did you mean ros?"),
        (f"{RUN} --frobnicate", "No such option: --frobnicate"),
        (f"{RUN} --controller missing:Any", "import missing:Any: No module named 'missing'"),
        (f"{RUN} --controller nocolon", "takes package.module:Class, not 'nocolon'"),
        (f"{RUN} --engine Gazebo", "unknown engine Gazebo; did you mean gz?"),
        ("run snake serpenoid --fault joint_5=frozen", "did you mean joint_05?"),
        ("run snake serpenoid --duration 2", "no option --duration: it is a key of the scenario"),
        ("run snake serpenoid --duration=2 --json", "--set duration=2"),
        ("run snake serpenoid --physics-step", "--set physics_step=VALUE"),
        ("list snaek", "unknown robot snaek; did you mean snake?"),
        ("run snake", "name a scenario of snake"),
        ("sweep snake", "Missing argument"),
        ("crosschek", "No such command 'crosschek'; did you mean crosscheck?"),
        ("crosscheck snake serpenoid --engines reference,bullet", "unknown engine bullet"),
        ("crosscheck snake serpenoid --perturb dart", "--perturb takes ENGINE:KIND"),
        ("crosscheck snake serpenoid --refine 99", "--refine"),
    ],
)
def test_unknown_words(words: str, message: str, complaint_here: Complain) -> None:
    """Robots, scenarios, engines, transports, options and commands are named, with a hint."""
    pytest.importorskip("snake", reason="the snake is not installed")
    assert message in complaint_here(words)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("duraton=1", "unknown key duraton; did you mean duration?"),
        ("joints=10", "unknown key joints; did you mean parameters.joints?"),
        ("amplitude=1", "unknown key amplitude; did you mean controller.amplitude?"),
        ("controller.ampltude=1", "did you mean controller.amplitude?"),
        ("friction.mu_alnog=1", "unknown key friction.mu_alnog; did you mean friction.mu_along?"),
        ("parameters.link_mas=1", "did you mean parameters.link_mass?"),
        ("initial.q.joint_99=1", "unknown key initial.q.joint_99"),
        ("duration.foo=1", "unknown key duration.foo: duration has no keys below it"),
        ("controller.bandwidth=abc", "controller.bandwidth: 'abc' is not a number"),
        ("parameters.joints=abc", "parameters.joints: "),
        ("initial.q.joint_01=.nan", "initial.q.joint_01: nan is not a number"),
        ("duration=.inf", "duration"), ("controller.name=foo", "unknown controller foo"),
        ("friction.law=foo", "unknown friction law foo"), ("duration", "--set takes KEY=VALUE"),
        ("duration=abc", "duration:"), ("duration=-1", "duration:"),
        ("duration={", "not a YAML value"), ("initial.spin=1", "unknown key initial.spin"),
        ("parameters.joints=0", "parameters: joints is 0"),
        ("parameters.joints=2.5", "parameters.joints: 2.5 is not a whole number"),
        ("parameters.link_mass=-1", "link_mass is -1, and must be positive"),
        ("controller=3", "controller takes a value for each name"),
        ("control_period=0.0015", "0.0015 s is not a whole multiple of 0.001 s"),
        ("physics_step=0.0003", "0.001 s is not a whole multiple of 0.0003 s"),
        ("duration=0.0105", "duration over control_period: 0.0105 s"),
    ],
)  # fmt: skip
def test_wrong_changes(change: str, message: str, complaint_here: Complain) -> None:
    """A key that does not exist, or a value that does not fit, is never ignored."""
    assert message in complaint_here(f"{RUN} --set {change}")


@pytest.mark.parametrize(
    "words",
    [
        "monkeybot gait --find repetition --sample -1", "view a --gif x.gif --fps 1e-300",
        "compare a b --tolerance -1", "packbot plan --to ready --margin 1e-300",
        "packbot plan --to ready --speed 1e-300", "roller-sphere forward --nu nan",
        "roller-sphere inverse --roller 1e13", "packbot dynamics --q shoulder=1e13",
        "sweep snake serpenoid --physics-steps inf",
    ],
)  # fmt: skip
def test_numbers_out_of_bounds(words: str, complaint_here: Complain) -> None:
    """The option is named, or the key."""
    assert re.split("[ =]", words)[-2].removeprefix("--") in complaint_here(words)


WRONG_CONTROLLERS = {
    "NotANumber": "NotANumber gave effort nan for joint_03 at t = 0.004000 s",
    "Infinite": "Infinite gave effort inf for joint_01 at t = 0.000000 s",
    "OneMissing": "gave 20 efforts at t = 0.000000 s, the robot has 21 joints: joint_21 is",
    "OneTooMany": "gave 22 efforts at t = 0.000000 s, the robot has 21 joints",
    "Silent": "Silent gave NoneType, not a Command",
    "Careless": "Careless raised ZeroDivisionError: division by zero",
    "Stillborn": "controller raised KeyError: 'gain' (",
    "NoMethods": "my_controllers:NoMethods has no reset(seed) and no update(state, target)",
    "Nothing": "cannot import my_controllers:Nothing",
}
# Nodes bring what the same checks report: one that fails as it runs, one unborn.
OVER_ROS = ("NotANumber", "Stillborn")


@pytest.mark.parametrize(
    ("name", "transport"),
    [
        pytest.param(name, transport, marks=pytest.mark.slow if transport == "ros" else [])
        for transport, names in (("direct", WRONG_CONTROLLERS), ("ros", OVER_ROS))
        for name in names
    ],
)
def test_wrong_controllers(
    name: str,
    transport: str,
    tmp_path: Path,
    complaint_here: Complain,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A controller of the user's own that misbehaves is named, with joint and time."""
    if transport == "ros":
        pytest.importorskip("rclpy", reason="rclpy has no wheel for this machine")
    (tmp_path / "my_controllers.py").write_text(CONTROLLERS, encoding="utf-8")
    words = f"{RUN} --controller my_controllers:{name}".replace("direct", transport)
    if transport == "ros":
        line = complaint(words, tmp_path, PYTHONPATH=str(tmp_path))
    else:
        monkeypatch.syspath_prepend(tmp_path)
        line = complaint_here(words)
    assert WRONG_CONTROLLERS[name] in line


def test_a_key_that_no_controller_takes(
    tmp_path: Path, complaint_here: Complain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A controller of one's own is not given what only the scenario's takes, but a typo counts."""
    (tmp_path / "my_controllers.py").write_text(CONTROLLERS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    words = f"{RUN} --controller my_controllers:Careless --set controller.wave=2"
    expected = "controller my_controllers:Careless has no key wave; did you mean waves?"
    assert expected in complaint_here(words)


@pytest.mark.parametrize(("engine", "module"), [("dart", "dartpy"), ("mujoco", "mujoco")])
@pytest.mark.slow
def test_a_simulator_that_diverges(
    engine: str, module: str, tmp_path: Path, complaint_here: Complain
) -> None:
    """At 20 ms the stiff contact with the ground blows up; time and joint are named."""
    pytest.importorskip(module, reason="dartpy needs libGL.so.1", exc_type=ImportError)
    coarse = "--set duration=2 --set control_period=0.02 --set physics_step=0.02"
    line = complaint_here(f"{RUN} --engine {engine} {coarse}")
    assert line.startswith(f"accord: {engine} diverged at t = 0.") and "first at joint_" in line
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


@pytest.mark.parametrize("command", [RUN, "crosscheck snake serpenoid --json"])
def test_a_folder_that_cannot_be_written(
    command: str, tmp_path: Path, complaint_here: Complain
) -> None:
    """Also root cannot make a folder below a file."""
    (tmp_path / "file").touch()
    assert "cannot write in file/below" in complaint_here(f"{command} --out file/below")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("</robot>", "", "no element found", marks=pytest.mark.slow),
        ("${p['link_mass']}", "$(arg unheard_of)", "unheard_of"),
    ],
)
def test_a_broken_description(old: str, new: str, message: str, tmp_path: Path) -> None:
    """The file and what is wrong with it are named; here a copy of the snake is broken."""
    pytest.importorskip("snake", reason="the snake is not installed")
    package = shutil.copytree(
        ROOT / "src" / "snake", tmp_path / "snake", ignore=shutil.ignore_patterns("*.egg-info")
    )
    path = package / "urdf" / "snake.urdf.xacro"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    line = complaint(f"{RUN} --engine mujoco", tmp_path, PYTHONPATH=str(package))
    assert line.startswith("broken description snake.urdf.xacro: ")
    assert message in line


@pytest.mark.parametrize("bag", ["missing", "empty", "file", "file.mcap", "garbage"])
@pytest.mark.parametrize(
    "command",
    [
        "compare {0} {0}", "export {0} --csv x.csv", "recover {0}", "view {0} --gif x.gif",
        "crosscheck {0}",
    ],
)  # fmt: skip
def test_a_bag_that_is_none(
    command: str, bag: str, tmp_path: Path, complaint_here: Complain
) -> None:
    """Nothing, an empty folder, a file and a folder of the right shape without content."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("no bag\n" * 100, encoding="utf-8")
    (tmp_path / "file.mcap").write_text("no bag\n" * 100, encoding="utf-8")
    (tmp_path / "garbage").mkdir()
    (tmp_path / "garbage" / "garbage_0.mcap").write_bytes(bytes(range(256)) * 20)
    line = complaint_here(command.format(f"./{bag}"))
    assert bag in line
    assert not (tmp_path / "x.csv").exists()
    assert not (tmp_path / "x.gif").exists()


def test_what_is_right_still_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run that every mistake above is made in succeeds without it."""
    monkeypatch.chdir(tmp_path)
    assert run(RUN.split()) == 0


BROKEN = {
    "a": ("import unheard_of", "No module named 'unheard_of'"),
    "b": ("ROBOT = 1 / 0", "ZeroDivisionError: division by zero"),
    "c": ("ROBOT = 3", "gives int, not a Robot"),
    "d": ("", "No module named 'wreck.robot_d'"),  # no file
}


def test_list_survives_broken_robots(tmp_path: Path) -> None:
    """One line on stderr names each and states why; the others are listed, and the status is 0."""
    entries = "".join(f"wreck_{name} = wreck.robot_{name}:ROBOT\n" for name in BROKEN)
    metadata = {"METADATA": "Name: wreck\nVersion: 1\n"}
    metadata["entry_points.txt"] = f"[roboaccord.robots]\n{entries}"
    files = {f"wreck-1.dist-info/{name}": text for name, text in metadata.items()}
    files |= {f"wreck/robot_{name}.py": text for name, (text, _) in BROKEN.items() if text}
    for name, text in {"wreck/__init__.py": "", **files}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = accord("list", "--json", cwd=tmp_path, PYTHONPATH=path)
    assert done.returncode == 0
    lines = done.stderr.replace("\n  ", " ").splitlines()  # long ones are wrapped
    for line, (name, (_, message)) in zip(lines, BROKEN.items(), strict=True):
        assert line.startswith(f"accord: warning: robot wreck_{name} is left out: ")
        assert message in line
    data = read_json(done.stdout)
    assert list(data["broken"]) == [f"wreck_{name}" for name in BROKEN]
    assert {*data["robots"]} == {*robot_names()}
    assert {row["robot"] for row in data["scenarios"]} == {*robot_names()}
