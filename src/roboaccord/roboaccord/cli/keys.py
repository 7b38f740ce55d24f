"""Driving by keys: the key map of `config/teleop/keyboard.yaml`, the terminal, and its targets.

Keys, velocities and the time of silence are changed in config/teleop/keyboard.yaml, without code.
To let a key ask for something new, extend `Asked` and `_action`. FACTOR and MEANINGS may be
changed. The keys in FIXED stay the same for every robot. test_teleop drives every robot, by a
terminal and by a pipe.
"""

from __future__ import annotations

import math
import os
import re
import select
import signal
import sys
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Annotated

import numpy as np
from pydantic import BaseModel, Field, StrictBool, ValidationError

from roboaccord.cli.console import note
from roboaccord.cli.signals import go_on
from roboaccord.contract.errors import AccordError, Terminated, check_known, did_you_mean
from roboaccord.contract.fault import KINDS, Fault, parse_fault
from roboaccord.contract.state import NO_SWITCHES, Array, RobotState, Target
from roboaccord.description.resources import share
from roboaccord.description.yaml_files import read_yaml
from roboaccord.run.inputs import EFFORT, SILENCE, VELOCITY, LiveInputs
from roboaccord.scenario.setup import Setup

STDIN = 0  # file descriptor
AXES = ("linear.x", "linear.y", "linear.z", "angular.x", "angular.y", "angular.z")
ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
MEANINGS = {  # of a positive and of a negative velocity
    "linear.x": ("forward", "back"), "linear.y": ("left", "right"), "linear.z": ("up", "down"),
    "angular.z": ("turn left", "turn right"),
}  # fmt: skip
FIXED = {"space": "stop", "+ -": "more or less", "q": "end"}
END = "\x04"  # end of input; of a terminal Ctrl-D
FACTOR = 1.1  # by which + and - change what is asked for: 7 presses double it
_KEYS = re.compile(r"\x1b[\[O]([A-D])|.", re.DOTALL)
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Read = Callable[[], list[str]]


Asked = StrictBool | float | Annotated[str, Field(pattern=rf"^({'|'.join(KINDS)})\b")]


class KeyMap(BaseModel, extra="forbid", frozen=True):
    """Key map as a file has it; see the comment at the top of `keyboard.yaml`."""

    silence: float = Field(SILENCE, gt=0, lt=float("inf"))
    robots: dict[str, dict[str, dict[str, Asked]]]


@dataclass(frozen=True)
class Action:
    """What a key asks for: a twist (6,), values by joint index, switches by name, and faults."""

    twist: Array | None
    joints: Mapping[int, float]
    switches: Mapping[str, bool]
    faults: Sequence[Fault]


def read_key_map(path: Path | None = None) -> KeyMap:
    """Read a key map; the shipped one where no path is given.

    Raises:
        AccordError: if it cannot be read, naming the first wrong key.
    """
    path = path or share("roboaccord") / "config" / "teleop" / "keyboard.yaml"
    data = read_yaml(path)
    try:
        return KeyMap(**data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise AccordError(f"{path}: {key}: {first['msg'].lower()}") from None


class Keyboard(LiveInputs):
    """Inputs of a run from keys: a held key gives the target of the key map, until a silence.

    At the end of the input the run ends with the next silence.

    Args:
        setup: robot and scenario.
        key_map: keys of the robot.
        read: returns the keys since the last call.

    Raises:
        AccordError: for a robot without keys, or a key that asks for what the robot does not have.
    """

    def __init__(self, setup: Setup, key_map: KeyMap, read: Read) -> None:
        super().__init__(setup.joints, key_map.silence)
        robot = setup.robot.name
        check_known("the key map has no keys for ", robot, key_map.robots)
        self.words = {
            key: ", ".join(_words(name, value) for name, value in asked.items())
            for key, asked in key_map.robots[robot].items()
        }
        self._actions = {k: _action(setup, k, a) for k, a in key_map.robots[robot].items()}
        self._kind = EFFORT if setup.robot.input_topics.efforts else VELOCITY
        self._read, self._asked = read, dict[str, bool]()
        self._failing = list[Fault]()
        self.factor, self.over, self._ended = 1.0, False, False

    def target(self, state: RobotState) -> Target | None:
        for key in self._read():
            self._press(key)
        target = super().target(state)
        if self._ended and not self.over and self._next == math.inf:
            note("the input has ended, so the drive ends")
            self.over = True
        return target

    def switches(self, state: RobotState) -> Mapping[str, bool]:
        asked, self._asked = self._asked, {}
        return asked or NO_SWITCHES

    def faults(self, state: RobotState) -> Sequence[Fault]:
        failing, self._failing = self._failing, []
        return failing

    def _press(self, key: str) -> None:
        if key == "q":
            self.over = True
        elif key == END:
            self._ended = True
        elif key == " ":
            self.stop()
        elif key in "+-":
            self.factor *= FACTOR if key == "+" else 1.0 / FACTOR
        elif key in self._actions:
            action = self._actions[key]
            if action.twist is not None:
                self.ask_twist(self.factor * action.twist)
            for joint, value in action.joints.items():
                self.ask_joint(joint, self._kind, self.factor * value)
            self._asked.update(action.switches)
            self._failing += action.faults


def _action(setup: Setup, key: str, asked: Mapping[str, bool | float | str]) -> Action:
    faults = [parse_fault(f"{n}={kind}") for n, kind in asked.items() if isinstance(kind, str)]
    setup.failing(faults)
    joints, switches = setup.joints, setup.initial.switches
    twist, turns, sets = np.zeros(len(AXES)), dict[int, float](), dict[str, bool]()
    for name, value in asked.items():
        if isinstance(value, str):
            continue
        if name in switches and isinstance(value, bool):
            sets[name] = value
        elif name in AXES and not isinstance(value, bool):
            twist[AXES.index(name)] = value
        elif name in joints and not isinstance(value, bool):
            turns[joints.index(name)] = value
        else:
            hint = did_you_mean(name, [*AXES, *joints, *switches])
            raise AccordError(f"key {key} of {setup.robot.name}: no {name} takes {value}{hint}")
    return Action(twist if twist.any() else None, turns, sets, faults)


def _words(name: str, value: bool | float | str) -> str:
    """Return what a key does: `forward`, `magnet_a on`, `joint_11 frozen`, `elbow 2`."""
    if name in MEANINGS and isinstance(value, float | int):
        return MEANINGS[name][value < 0]
    if isinstance(value, str):
        return f"{name} {value}"
    return f"{name} {('off', 'on')[value] if isinstance(value, bool) else f'{value:g}'}"


@contextmanager
def terminal_keys() -> Iterator[Read]:
    """Read keys from stdin as they are typed, without echo; a pipe is read too.

    The terminal is restored at the end, whatever ends it. A signal to end counts as the key q; a
    second one before that is read is an interrupt. The last key is `END`.
    """
    pending: list[str] = []
    ended: list[int] = []
    is_open = sys.stdin is not None  # else the next file that is opened has its number

    def read() -> list[str]:
        nonlocal is_open
        keys, pending[:] = list(pending), []
        while is_open and (data := _typed()) is not None:
            is_open = bool(data)
            text = data.decode(errors="ignore")
            keys += [ARROWS.get(m[1] or "", m[0]) for m in _KEYS.finditer(text)]
        return keys if is_open else [*keys, END]

    def end(number: int, _: FrameType | None) -> None:
        if pending:  # nobody reads any more
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
        pending.append("q")
        ended.append(number)
        if number == signal.SIGINT:
            go_on()

    before = {number: signal.signal(number, end) for number in _ENDS}
    try:
        with _raw():
            yield read
        if signal.SIGTERM in ended:
            raise Terminated
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _typed() -> bytes | None:
    """Return what is typed: None for nothing yet, no bytes at the end."""
    try:
        return os.read(STDIN, 1024) if select.select([STDIN], [], [], 0.0)[0] else None
    except OSError:  # a terminal that is gone
        return b""


@contextmanager
def _raw() -> Iterator[None]:
    """Let the terminal pass each character as it is typed, without echo and without Ctrl-Z."""
    if not os.isatty(STDIN):
        yield
        return
    saved = termios.tcgetattr(STDIN)
    changed = termios.tcgetattr(STDIN)
    changed[3] &= ~(termios.ICANON | termios.ECHO)
    changed[6] = [*changed[6]]
    changed[6][termios.VSUSP] = b"\0"
    termios.tcsetattr(STDIN, termios.TCSADRAIN, changed)
    try:
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(STDIN, termios.TCSAFLUSH, saved)
