"""Driving by keys: the key map, and the targets of the robot's controller that keys command.

A target is what a person asks of a controller: velocities or efforts of the base and of joints.
`read_key_map` reads config/teleop/keyboard.yaml, which states for each robot what each key asks
for: velocities, efforts, switches, or faults of joints. `Keyboard` is the input of a run that turns
the keys of a terminal (terminal.py) into targets: a held key, which the terminal repeats, keeps its
target in force, and after a time of silence without keys the target lapses.

Keys, velocities and the silence are changed in the file. To let a key ask for something new, extend
`Request` and `_action`. The keys in FIXED_KEYS are the same for every robot (test_teleop).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, Field, StrictBool, ValidationError

from roboaccord.cli.console import note
from roboaccord.cli.terminal import END, KeyReader
from roboaccord.contract.errors import AccordError, check_known, did_you_mean
from roboaccord.contract.fault import KINDS, Fault, parse_fault
from roboaccord.contract.state import NO_SWITCHES, Array, RobotState, Target
from roboaccord.description import read_yaml, share
from roboaccord.run.inputs import EFFORT, SILENCE, VELOCITY, LiveInputs
from roboaccord.scenario.setup import Setup

AXES = ("linear.x", "linear.y", "linear.z", "angular.x", "angular.y", "angular.z")
# What a positive and a negative velocity along or about an axis of the base do.
AXIS_MEANINGS = {
    "linear.x": ("forward", "back"),
    "linear.y": ("left", "right"),
    "linear.z": ("up", "down"),
    "angular.z": ("turn left", "turn right"),
}
FIXED_KEYS = {"space": "stop", "+ -": "more or less", "q": "end"}  # keys of every robot
# By it + multiplies velocities, and - divides them: 7 presses double them (1.1^7 = 1.95).
VELOCITY_FACTOR = 1.1

# What a key asks for: a switch on or off, a velocity or effort, or a fault of a joint.
Request = StrictBool | float | Annotated[str, Field(pattern=rf"^({'|'.join(KINDS)})\b")]


class KeyMap(BaseModel, extra="forbid", frozen=True):
    """Content of a key map file; the comment at the top of `keyboard.yaml` explains it.

    `silence` [s] is the time after which a target lapses; `robots` has by robot and key what it
    asks for, by name of an axis, joint or switch.
    """

    silence: float = Field(SILENCE, gt=0, lt=float("inf"))
    robots: dict[str, dict[str, dict[str, Request]]]


@dataclass(frozen=True)
class Action:
    """The effect of a key.

    Args:
        twist: of the base (6,) [m/s, rad/s]; None for no motion of the base.
        joints: velocity [rad/s] or effort [N m] by index of the joint.
        switches: by name, whether it is switched on.
        faults: that begin.
    """

    twist: Array | None
    joints: Mapping[int, float]
    switches: Mapping[str, bool]
    faults: Sequence[Fault]


def read_key_map(path: Path | None = None) -> KeyMap:
    """Read a key map; the shipped one where no path is given.

    Raises:
        AccordError: if it cannot be read; the first wrong key is named.
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
    """Inputs of a run from keys: the target of a held key is in force until a time without keys.

    Where the input ends, such as a pipe, the run ends when the last target has lapsed.

    Args:
        setup: robot and scenario.
        key_map: keys of the robot.
        read: returns the keys since its last call.

    Attributes:
        meanings: what each key of the robot does, for the driver.
        factor: by which the velocities and efforts of the key map are multiplied.
        over: whether the run ends.

    Raises:
        AccordError: for a robot without keys, or a key that asks for what the robot does not have.
    """

    def __init__(self, setup: Setup, key_map: KeyMap, read: KeyReader) -> None:
        super().__init__(setup.joints, key_map.silence)
        robot = setup.robot.name
        check_known("the key map has no keys for ", robot, key_map.robots)
        self.meanings = dict[str, str]()
        self._actions = dict[str, Action]()  # by key
        for key, requests in key_map.robots[robot].items():
            self.meanings[key] = ", ".join(_meaning(*request) for request in requests.items())
            self._actions[key] = _action(setup, key, requests)
        self._kind = EFFORT if setup.robot.input_topics.efforts else VELOCITY  # of joint requests
        self._read = read
        self._new_switches = dict[str, bool]()
        self._new_faults = list[Fault]()
        self.factor = 1.0
        self.over = self._input_ended = False

    def target(self, state: RobotState) -> Target | None:
        """Read the keys that were pressed, and return the target that is in force."""
        for key in self._read():
            self._press(key)
        target = super().target(state)
        # No target is pending any more.
        if self._input_ended and not self.over and self._next_lapse == math.inf:
            note("the input has ended, so the drive ends")
            self.over = True
        return target

    def switches(self, state: RobotState) -> Mapping[str, bool]:
        """Return the switches that keys have set since the last call."""
        switches, self._new_switches = self._new_switches, {}
        return switches or NO_SWITCHES

    def faults(self, state: RobotState) -> Sequence[Fault]:
        """Return the faults that keys have caused since the last call."""
        faults, self._new_faults = self._new_faults, []
        return faults

    def _press(self, key: str) -> None:
        """Carry out the action of a key."""
        if key == "q":
            self.over = True
        elif key == END:
            self._input_ended = True
        elif key == " ":
            self.stop()
        elif key in "+-":
            self.factor *= VELOCITY_FACTOR if key == "+" else 1.0 / VELOCITY_FACTOR
        elif key in self._actions:
            action = self._actions[key]
            if action.twist is not None:
                self.ask_twist(self.factor * action.twist)
            for joint, value in action.joints.items():
                self.ask_joint(joint, self._kind, self.factor * value)
            self._new_switches.update(action.switches)
            self._new_faults += action.faults


def _action(setup: Setup, key: str, requests: Mapping[str, bool | float | str]) -> Action:
    """Return the action of a key, from its requests by name of an axis, joint or switch.

    Raises:
        AccordError: for a name that is none of the robot's.
    """
    joints, switches = setup.joints, setup.initial.switches
    twist = np.zeros(len(AXES))
    joint_values = dict[int, float]()
    switch_values = dict[str, bool]()
    faults = list[Fault]()
    for name, value in requests.items():
        if isinstance(value, str):
            faults.append(parse_fault(f"{name}={value}"))
        elif name in switches and isinstance(value, bool):
            switch_values[name] = value
        elif name in AXES and not isinstance(value, bool):
            twist[AXES.index(name)] = value
        elif name in joints and not isinstance(value, bool):
            joint_values[joints.index(name)] = value
        else:
            hint = did_you_mean(name, [*AXES, *joints, *switches])
            raise AccordError(f"key {key} of {setup.robot.name}: no {name} takes {value}{hint}")
    setup.failing(faults)  # refuses a fault that the robot cannot have
    return Action(twist if twist.any() else None, joint_values, switch_values, faults)


def _meaning(name: str, value: bool | float | str) -> str:
    """Return what a key does: `forward`, `magnet_a on`, `joint_11 frozen`, `elbow 2`."""
    if name in AXIS_MEANINGS and isinstance(value, float | int):
        return AXIS_MEANINGS[name][value < 0]
    if isinstance(value, str):
        return f"{name} {value}"
    if isinstance(value, bool):
        return f"{name} on" if value else f"{name} off"
    return f"{name} {value:g}"
