"""Tables of a robot's registration: its topics for people, and its commands.

A table may get a field with a default; names of topics and commands are the package's own. What
the core does with them is in bag/topics.py and cli/main.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

NOTHING: Mapping[str, Any] = MappingProxyType({})


class InputTopics(NamedTuple):
    """Topics `/R/NAME`, beside `cmd_vel`, on which people drive a robot R; they make its `Target`.

    Args:
        efforts: by topic with a number, the joint whose effort it is [N m or N].
        velocity: topic with velocities of some of the joints; "" for none.
        position: topic with positions of some of the joints; "" for none.
    """

    efforts: Mapping[str, str] = NOTHING
    velocity: str = ""
    position: str = ""


def commands_of(package: str, modules: Mapping[str, str]) -> Mapping[str, str]:
    """Return a robot's commands for `Robot.cli`, each NAME being `NAME_command` of its module.

    Args:
        package: of the robot; its commands are in its room `cli`.
        modules: by name: the commands of each, with blanks between.
    """
    return {
        name: f"{package}.cli.{module}:{name}_command"
        for module, names in modules.items()
        for name in names.split()
    }
