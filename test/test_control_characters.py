"""Names from files, folders and options never steer the terminal that they are shown on."""

from __future__ import annotations

import json
import os
import pty
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from roboaccord.cli.main import run
from roboaccord.contract.errors import CONTROLS, guard, visible

pytestmark = pytest.mark.thorough

# Clears the screen, sets a title, and reverses what follows; XML allows but the last three.
STEERS = "x\x1b[2J\x1b]0;t\x07\x9b31m\u202ey"
IN_XML = "x\x9b31m\u202e\u2066y"
SHOWN = r"x\u009b31m\u202e\u2066y"
STYLE = re.compile(r"\x1b\[[0-9;]*m")  # of rich, in a terminal
ARM = """<robot name="NAME"><link name="base_link"/>
<link name="NAME"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
<joint name="jNAME" type="continuous"><parent link="base_link"/><child link="NAME"/>
<axis xyz="0 1 0"/></joint></robot>"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the present folder, with files that hold such names, or have them."""
    (tmp_path / "arm.urdf").write_text(ARM.replace("NAME", IN_XML), encoding="utf-8")
    (tmp_path / "key.yaml").write_text(f"robot: snake\n{json.dumps(STEERS)}: 1\n")
    (tmp_path / STEERS).mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["STEERS"], ["snake", "STEERS"], ["run", "STEERS"], ["run", "snake", "STEERS"],
        ["run", "snake", "serpenoid", "--STEERS"],
        ["run", "snake", "serpenoid", "--engine", "STEERS"],
        ["run", "snake", "serpenoid", "--set", "STEERS=1"],
        ["run", "snake", "serpenoid", "--controller", "STEERS:X"], ["run", "snake", "key.yaml"],
        ["compare", "STEERS", "STEERS"], ["voxel-sphere", "list", "STEERS"],
        ["new-robot", "STEERS"],
        ["packbot", "look", "--hulls", "arm.urdf", "--out", "STEERS/hulls"],
    ],
)  # fmt: skip
def test_nothing_printed_steers(
    words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors, notes, warnings and tables; escapes stand for what is left out of them."""
    guard()
    run([word.replace("STEERS", STEERS) for word in words])
    message = "".join(capsys.readouterr())
    assert not CONTROLS.search(message)
    assert r"\u202e" in message


def test_a_terminal_gets_styles_but_no_names_that_steer(folder: Path) -> None:
    """In a real one, where rich colours what it prints, and shows the progress of a run."""
    words = ["packbot", "look", "--hulls", "arm.urdf", "--out", "hulls"]
    pid, screen = pty.fork()
    if not pid:
        os.environ["TERM"] = "xterm"
        os.execv(sys.executable, [sys.executable, "-m", "roboaccord.cli.start", *words])
    message = "".join(iter(_reader(screen), ""))
    assert os.waitpid(pid, 0)[1] == 0
    assert STYLE.search(message)
    assert SHOWN in message
    own = re.sub(r"\x1b\[(?:[0-9;]*[mAK]|\?25[lh])|\r", "", message)
    assert not CONTROLS.search(own)


def _reader(screen: int) -> Callable[[], str]:
    def read() -> str:
        try:
            return os.read(screen, 1 << 16).decode("utf-8", "replace")
        except OSError:  # its other end is closed
            return ""

    return read


def test_json_and_plain_text_stay_as_they_are() -> None:
    """Escapes are JSON's own, so that it is still JSON; other writing systems are no controls."""
    assert json.loads(visible(json.dumps({"a": "\x7f" + STEERS}, ensure_ascii=False))) == {
        "a": "\x7f" + STEERS
    }
    for text in ("a b\tc\n", "naïve", "مفصل", "关节", "━ µ é", "👍"):
        assert visible(text) == text
