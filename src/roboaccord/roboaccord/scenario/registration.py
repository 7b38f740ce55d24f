"""Tables of a robot's registration: topics on which people drive it, and its commands.

A robot is registered by a class that derives from `Robot` (setup.py), which has these tables as
`input_topics` and `cli`; bag/topics.py and cli/groups.py use them. For instance,
`commands_of("snake", {"gaits": "gait optimise"})` states that `accord snake gait` is the function
`gait_command` of snake/cli/gaits.py. A table may get a field with a default.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

NOTHING: Mapping[str, Any] = MappingProxyType({})


class InputTopics(NamedTuple):
    """Topics `/ROBOT/NAME`, in addition to `cmd_vel`, from which the robot's `Target` is made.

    Args:
        efforts: {topic of a number: joint whose effort it is [N m or N]}.
        velocity: topic with velocities of some of the joints; "" for none.
        position: topic with positions of some of the joints; "" for none.
    """

    efforts: Mapping[str, str] = NOTHING
    velocity: str = ""
    position: str = ""


def commands_of(package: str, modules: Mapping[str, str]) -> Mapping[str, str]:
    """Return the commands of a package by name; command NAME is the function `NAME_command`.

    Args:
        package: of a robot, or the core, with the commands in its folder `cli`.
        modules: {module: names of its commands, separated by blanks}.
    """
    commands = dict[str, str]()
    for module, names in modules.items():
        for name in names.split():
            commands[name] = f"{package}.cli.{module}:{name.replace('-', '_')}_command"
    return commands
