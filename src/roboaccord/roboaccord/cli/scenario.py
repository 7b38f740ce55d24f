"""`accord scenario`: the keys of a scenario, as `--set` takes them."""

from __future__ import annotations

import shlex
from dataclasses import asdict

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from roboaccord.cli.command import Result
from roboaccord.cli.options import Changes, RobotName, ScenarioName, load_setup
from roboaccord.scenario.keys import REQUIRED, Key, keys_of

INDENT = (0, 0, 0, 4)


def scenario_command(robot: RobotName, scenario: ScenarioName, changes: Changes = None) -> Result:
    """List all keys of a scenario with value, type, unit, default and meaning.

    Each is a line as `--set` takes it, quoted for the shell, with its meaning below. Keys of the
    robot's parameters, of its controller, of friction and terrain are among them.

    Examples:

      accord scenario snake serpenoid

      accord scenario packbot reach --set controller.name=velocity --json
    """
    setup = load_setup(robot, scenario, changes)
    found = keys_of(setup)
    shown: list[RenderableType] = []
    for key in found:  # what is to be copied is never broken
        shown += [shlex.quote(f"{key.key}={key.value}"), Padding(Text(_words(key)), INDENT)]
    return Result({"keys": [asdict(key) for key in found]}, shown)


def _words(key: Key) -> str:
    default = REQUIRED if key.default == REQUIRED else f"default {key.default}"
    facts = ", ".join(filter(None, (key.kind, key.unit and f"[{key.unit}]", default)))
    return f"{facts}: {key.meaning}" if key.meaning else facts
