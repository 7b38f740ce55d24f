"""What the shell offers at Tab: robots, scenarios, bags and engines.

These functions are called at each Tab, so none imports a robot's package or an engine
(test_completion). One may be added; options name theirs by `autocompletion`.
"""

from __future__ import annotations

from pathlib import Path

import typer

from roboaccord.contract.errors import visible
from roboaccord.engines import simulator_names
from roboaccord.scenario.files import scenario_names
from roboaccord.scenario.installed import package_of, robot_names


def complete_robot(incomplete: str) -> list[str]:
    """Return the robots whose names begin so, for the shell."""
    return [name for name in robot_names() if name.startswith(incomplete)]


def complete_scenario(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the scenarios of the robot that was typed; its package is not imported."""
    package = package_of(str(ctx.params.get("robot") or ctx.params.get("what", "")))
    names = scenario_names(package) if package else []
    return [name for name in names if name.startswith(incomplete)]


def complete_bag(incomplete: str) -> list[str]:
    """Return the bags in the folder that was typed, in `runs` where nothing was, and below it."""
    folder = Path(incomplete.rpartition("/")[0] or ("" if incomplete else "runs"))
    bags = {file.parent for end in ("", "*/") for file in folder.glob(f"{end}*/metadata.yaml")}
    names = (name for name in map(str, bags) if name == visible(name))
    return sorted(name for name in names if name.startswith(incomplete))


def complete_engines(incomplete: str) -> list[str]:
    """Return the engines that may come next in a list with commas between."""
    before, comma, last = incomplete.rpartition(",")
    names = [name for name in simulator_names() if name not in before.split(",")]
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]
