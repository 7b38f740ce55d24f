"""`accord scenario`: the keys of a scenario, as `--set` takes them."""

from __future__ import annotations

import shlex
from dataclasses import asdict

from rich.markup import escape

from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table
from roboaccord.cli.options import Changes, RobotName, ScenarioName, load_setup
from roboaccord.scenario.keys import REQUIRED, Key, keys_of


def scenario_command(robot: RobotName, scenario: ScenarioName, changes: Changes = None) -> Result:
    """List all keys of a scenario with value, type, unit, default and meaning.

    The first column is what `--set` takes, quoted for the shell. Keys of the robot's parameters,
    of its controller, of friction and terrain are among them.

    Examples:

      accord scenario snake serpenoid

      accord scenario packbot reach --set controller.name=velocity --json
    """
    setup = load_setup(robot, scenario, changes)
    headings = ("--set", "type, unit, default: meaning")
    table = make_table(*headings, text=headings)
    found = keys_of(setup)
    for key in found:
        table.add_row(escape(shlex.quote(f"{key.key}={key.value}")), escape(_words(key)))
    return Result({"keys": [asdict(key) for key in found]}, [table])


def _words(key: Key) -> str:
    default = REQUIRED if key.default == REQUIRED else f"default {key.default}"
    facts = ", ".join(filter(None, (key.kind, key.unit and f"[{key.unit}]", default)))
    return f"{facts}: {key.meaning}" if key.meaning else facts
