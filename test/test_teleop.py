"""Robots driven by keys through a pseudo-terminal: path, limits, stop on silence, repeated."""

from __future__ import annotations

import importlib.util
import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from roboaccord.bag.content import Content
from roboaccord.bag.reader import BagRun, read_run
from roboaccord.bag.targets import read_targets
from roboaccord.cli.dashboard import Dashboard
from roboaccord.cli.keys import Keyboard, read_key_map
from roboaccord.cli.main import run
from roboaccord.cli.terminal import END
from roboaccord.contract.state import Array
from roboaccord.run.inputs import RecordedInputs
from roboaccord.run.runner import RunRequest, run_direct
from running import setup_of
from slow_cases import late
from terminal import XTERM, Terminal, drive
from workspace import ROOT

pytestmark = pytest.mark.thorough

SILENCE = 0.5  # s of wall time
ROBOTS = ("snake", "roller_sphere", "voxel_sphere", "monkeybot", "packbot")
# Held keys and seconds, there and back; "" is silence. All are at rest at the end.
SCRIPT = {
    "snake": [("i", 1.5), ("u", 1), ("", 0.5), (",", 1), ("", 3)],
    "roller_sphere": [("i", 0.7), ("j", 0.7), (".", 0.7), ("", 2)],
    "voxel_sphere": [("around", 3), ("", 2.5)],  # its ground is 1 m wide
    "monkeybot": [
        ("j", 0.7), ("l", 0.7), ("b", 0.1), ("", 1), ("A", 0.1), ("", 1), ("j", 0.7), ("l", 0.7),
        ("", 1), ("a", 0.1), ("", 3),
    ],
    "packbot": [
        ("w", 1), ("wd", 1), ("", 1), ("r", 1), ("f", 0.5), ("ti", 1), ("y", 0.5), ("u", 0.5),
        ("k", 0.5), ("s", 0.5), ("", 2),
    ],
}  # fmt: skip
ENGINE = dict.fromkeys(("voxel_sphere", "monkeybot"), "reference")  # the others in DART


def installed(robot: str) -> bool:
    return importlib.util.find_spec(robot) is not None


def accord(words: Sequence[str], **options: str) -> subprocess.CompletedProcess[str]:
    """Run a command, and return what it printed."""
    command = [sys.executable, "-m", "roboaccord.cli.main", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)  # type: ignore[call-overload,no-any-return]


def path_of(recorded: BagRun) -> Array:
    """Return how far the base or the joints went, whatever moves more, over time (k,)."""
    motion = recorded.trajectory
    columns = np.column_stack([motion.position, motion.q])
    travel: Array = np.abs(np.diff(columns, axis=0)).max(axis=1).cumsum()
    return travel


def check(robot: str, engine: str, folder: Path, script: list[tuple[str, float]]) -> None:
    """Drive, and judge the bag: it moved, kept its limits, stopped, and can be repeated."""
    printed = drive(robot, engine, script, folder / "drive")
    bag = folder / "drive" / "bag"
    recorded = read_run(bag)
    motion = recorded.trajectory
    assert printed["trajectory_sha256"] == motion.sha256() == recorded.sha256
    assert printed["real_time_factor"] < 1.05  # no faster than real time
    setup = setup_of(robot, "teleop")
    targets = read_targets(Content.of(bag), setup.joints)
    parts = [(t.twist, *(p for p in (t.velocity, t.effort) if p is not None)) for _, t in targets]
    asked = np.array([np.concatenate(part) for part in parts])
    stops = [time for (time, _), row in zip(targets, asked, strict=True) if not row.any()]
    assert stops
    assert path_of(recorded)[-1] > 0.2
    rates = np.concatenate([motion.twist[-1], motion.qd[-1]])
    assert np.abs(rates).max() < 0.1  # m/s, rad/s
    limits = {joint.name: (joint.lower, joint.upper) for joint in setup.tree.moving}
    for name, column in zip(motion.joints, motion.q.T, strict=True):
        assert limits[name][0] <= column.min() <= column.max() <= limits[name][1]
    assert (np.abs(motion.effort) <= setup.effort_limits + 1e-9).all()
    words = ["run", robot, "teleop", "--engine", engine, "--inputs", str(bag), "--json"]
    words += ["--transport", "direct", "--out", str(folder / "again")]
    again = json.loads(accord(words).stdout)
    assert again["trajectory_sha256"] == printed["trajectory_sha256"]
    assert again["events"] == printed["events"]


@pytest.mark.slow
@pytest.mark.parametrize("robot", SCRIPT)
def test_a_robot_is_driven_by_keys_and_repeated(robot: str, tmp_path: Path) -> None:
    pytest.importorskip(robot)
    engine = ENGINE.get(robot, "dart")
    pytest.importorskip("roboaccord" if engine == "reference" else "dartpy")
    check(robot, engine, tmp_path, SCRIPT[robot])


@pytest.mark.slow
def test_a_pause_of_the_keys_stops_within_half_a_second_of_wall_time(tmp_path: Path) -> None:
    """The wall time is measured here, by the screen; the bag has what was asked for.

    A loaded machine may be late in all; simulated time falls behind the wall's, never ahead of it.
    """
    pytest.importorskip("roller_sphere")
    terminal = Terminal("teleop", "roller-sphere", "--out", str(tmp_path / "drive"), "--json")
    terminal.wait_for(r"time +0\.[1-9] s")
    wall = [time.monotonic()]
    terminal.hold("i", 1.0)
    released = time.monotonic()
    terminal.screen = ""
    terminal.wait_for("asked for +stand still")
    wall.append(time.monotonic())
    assert wall[1] - released > SILENCE - 0.05
    terminal.hold("i", 1.0)
    terminal.press(" ")  # at once
    terminal.hold("", 0.3)
    wall.append(time.monotonic())
    terminal.press("q")
    terminal.end()
    setup = setup_of("roller_sphere", "teleop")
    targets = read_targets(Content.of(tmp_path / "drive" / "bag"), setup.joints)
    assert [target.twist[0] for _, target in targets] == [0.3, 0.0, 0.3, 0.0]
    times = [time for time, _ in targets]
    assert times[1] - times[0] < wall[1] - wall[0]
    assert times[3] - times[2] < wall[2] - wall[1]


PRINTED = """
import logging, os, sys, time, warnings
from types import SimpleNamespace
from roboaccord.cli.console import make_table, note
from roboaccord.cli.dashboard import screen_shown

logging.basicConfig(level=logging.WARNING)
screen = SimpleNamespace(table=lambda: make_table("table"))
with screen_shown(screen):
    logging.getLogger("a").warning("STRAY 1")
    warnings.warn("STRAY 2")
    note("STRAY 3")
    print("STRAY 4", flush=True)
    print("STRAY 5", file=sys.stderr)
    os.write(1, b"STRAY 6\\n")  # as a library in C does
    os.write(2, b"STRAY 7\\n")
    time.sleep(0.5)  # some pictures
    {end}
print("after", flush=True)
"""


@pytest.mark.parametrize("end", ["pass", *late("raise ValueError('STRAY 8')")])
def test_the_table_is_alone_on_the_screen(end: str) -> None:
    """Whatever is printed during a drive appears when the table has gone, and nothing is lost."""
    master, slave = pty.openpty()
    command = [sys.executable, "-c", PRINTED.format(end=end)]
    env = {**os.environ, **XTERM}
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env) as process:
        os.close(slave)
        text = "".join(iter(lambda: _read(master), ""))
    os.close(master)
    assert process.returncode == (end != "pass")
    before, table, after = re.split("\x1b\\[\\?1049[hl]", text)
    assert "table" in table and "STRAY" not in before + table
    for number in range(1, 8):
        assert f"STRAY {number}" in after
    assert ("STRAY 8" in after) == (end != "pass")


def _read(terminal: int) -> str:
    """Return what a terminal shows next, "" at its end."""
    try:
        return os.read(terminal, 65536).decode()
    except OSError:
        return ""


@pytest.mark.slow
@pytest.mark.parametrize("key", ["q", "\x03"], ids=["q", "Ctrl-C"])
def test_the_terminal_is_as_before(key: str, tmp_path: Path) -> None:
    pytest.importorskip("snake")
    terminal = Terminal("teleop", "snake", "--out", str(tmp_path / "drive"), "--json")
    terminal.wait_for(r"time +0\.[1-9] s")
    assert "forward, turn left" in terminal.screen and terminal.echoes() is False
    terminal.press(key)
    printed = terminal.end()  # which compares the terminal's settings with those before
    assert printed["steps"] > 50
    assert read_run(tmp_path / "drive" / "bag").complete


def test_without_a_standard_input_no_other_file_is_taken_for_it() -> None:
    """Its number goes to the next file that is opened: a socket of DDS, for example."""
    script = "import sys; from roboaccord.cli import terminal; sys.stdin = {}\n"
    script += "with terminal.terminal_keys() as read: print(''.join(read()))"
    for stdin, seen in ("None", f"{END}\n"), ("sys.stdin", f"iii{END}\n"):
        command = [sys.executable, "-c", script.format(stdin)]
        done = subprocess.run(command, input="iii", capture_output=True, text=True, check=True)
        assert done.stdout == seen


@pytest.mark.slow
def test_keys_come_through_a_pipe_too(tmp_path: Path) -> None:
    pytest.importorskip("packbot")
    """A drive ends with its input, once the last key is silent."""
    begun = time.monotonic()
    done = accord(["teleop", "packbot", "--out", str(tmp_path / "drive")], input="k")
    assert "the input has ended, so the drive ends" in done.stderr
    motion = read_run(tmp_path / "drive" / "bag").trajectory
    assert 0.0 < motion.time[-1] < time.monotonic() - begun
    wrist = motion.q[:, motion.joints.index("wrist")]
    assert wrist[-1] < wrist[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("robots: {snake: {i: {linear.y: fast}}}", "robots.snake.i.linear.y"),
        ("robots: {snake: {i: {elbow: 1.0}}}", "key i of snake: no elbow takes 1.0"),
        ("robots: {packbot: {i: {wrist: 1.0}}}", "no keys for snake; available: packbot"),
        ("silence: 0.0\nrobots: {}", "silence"),
        ("robots: [", "cannot read"),
    ],
)
def test_a_wrong_key_map_is_refused_in_one_line(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("snake")
    (tmp_path / "keys.yaml").write_text(text)
    assert run(["teleop", "snake", "--keys", str(tmp_path / "keys.yaml")]) == 2
    printed = capsys.readouterr()
    assert not printed.out and len(printed.err.splitlines()) == 1
    assert message in printed.err


def test_every_robot_can_be_driven_by_keys() -> None:
    """The shipped map fits every robot's scenario, which is marked as driven and starts at rest."""
    key_map = read_key_map()
    assert {*key_map.robots} == {*ROBOTS}
    for name in filter(installed, ROBOTS):
        setup = setup_of(name, "teleop")
        assert Keyboard(setup, key_map, list).meanings and setup.scenario.driven
        assert not setup.initial.qd.any()
        assert (ROOT / "src" / name / "launch" / "teleop.launch.py").is_file()


def test_the_screen_shows_the_factor_of_real_time_once_it_is_known() -> None:
    setup = setup_of("snake", "teleop")
    screen = Dashboard(setup, Keyboard(setup, read_key_map(), list), "snake")

    def time_shown() -> str:
        return str(next(iter(list(screen.table().columns)[1].cells)))

    assert time_shown() == "0.0 s"
    screen.show(replace(setup.initial, time=2.5), 0.5)
    assert time_shown() == "2.5 s   real time x 0.50"


@pytest.mark.slow
def test_keys_drive_the_nodes_over_ros(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The MonkeyBot in three processes: effort and magnet by keys, repeated from their bag."""
    pytest.importorskip("rclpy")
    pytest.importorskip("monkeybot")
    from roboaccord_ros.run import teleop
    from roboaccord_ros.run.domain import private_domain

    setup = setup_of("monkeybot", "teleop", "duration=40.0")
    common = ["-p", "robot:=monkeybot", "-p", "scenario:=teleop", "-p", "duration:=40.0"]
    given = {
        "recorder": ["-p", "robot:=monkeybot", "-p", f"bag:={tmp_path / 'bag'}"],
        "controller": [*common, "-p", "peers:=[simulator, recorder]"],
        "simulator": [*common, "-p", "peers:=[controller, recorder]"],
    }
    with private_domain(), ExitStack() as stack:
        nodes = {}
        for name, words in given.items():
            command = [sys.executable, "-m", f"roboaccord_ros.nodes.{name}", "--ros-args", *words]
            nodes[name] = subprocess.Popen(command, stdout=subprocess.PIPE)
            stack.callback(nodes[name].kill)
        monkeypatch.setattr(teleop, "PATIENCE", 600.0)  # the command itself waits for ten seconds
        with teleop.connect(setup):
            pass
        terminal = Terminal("teleop", "monkeybot", "--ros", "--json")
        terminal.wait_for(r"time +0\.[1-9] s|time +[1-9]")
        terminal.hold("j", 1.0)
        terminal.press("b")
        terminal.hold("", 1.0)
        terminal.press("q")
        assert terminal.end()["engine"] == "reference"
        printed = json.loads(nodes["simulator"].communicate(timeout=120)[0])
        for node in nodes.values():
            assert node.wait(timeout=60) == 0
    targets = read_targets(Content.of(tmp_path / "bag"), setup.joints)
    efforts = [None if t.effort is None else t.effort[0] for _, t in targets]
    assert efforts[::2] == [2.0] * (len(efforts) // 2)  # a machine that stalls releases a key
    assert efforts[1::2] == [0.0] * (len(efforts) // 2) != []
    again = run_direct(
        RunRequest(
            setup=setup,
            engine="reference",
            bag=tmp_path / "again",
            inputs=RecordedInputs(tmp_path / "bag"),
        )
    )
    assert again.trajectory.sha256() == printed["trajectory_sha256"]
    assert [(e.kind, e.subject) for e in again.trajectory.events] == [("magnet_on", "magnet_b")]
