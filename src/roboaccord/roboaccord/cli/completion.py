"""Completions that the shell offers at Tab: robots, scenarios, bags (recorded runs) and engines.

Each function takes the text before the cursor and returns the words that complete it; options of
commands name their function by `autocompletion` (options.py). The functions run at each Tab and
must be quick: none imports a robot's package or an engine (test_completion).
"""

from __future__ import annotations

from pathlib import Path

import typer

from roboaccord.contract.errors import visible
from roboaccord.engines import simulator_names
from roboaccord.scenario.files import scenario_names
from roboaccord.scenario.installed import package_of, robot_names


def complete_robot(incomplete: str) -> list[str]:
    """Return the robots whose names begin with the text."""
    return [name for name in robot_names() if name.startswith(incomplete)]


def complete_scenario(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the scenarios of the robot that stands before on the command line."""
    package = package_of(str(ctx.params.get("robot") or ctx.params.get("what", "")))
    names = scenario_names(package) if package else []
    return [name for name in names if name.startswith(incomplete)]


def complete_bag(incomplete: str) -> list[str]:
    """Return the bags in the typed folder and one level below; in `runs` where none is typed."""
    folder = Path(incomplete.rpartition("/")[0] or ("" if incomplete else "runs"))
    # A name with control characters would steer the terminal, and is not offered.
    bags = {file.parent for end in ("", "*/") for file in folder.glob(f"{end}*/metadata.yaml")}
    names = (name for name in map(str, bags) if name == visible(name))
    return sorted(name for name in names if name.startswith(incomplete))


def complete_engines(incomplete: str) -> list[str]:
    """Return the comma-separated list that was typed, completed by each engine not in it yet."""
    before, comma, last = incomplete.rpartition(",")
    names = [name for name in simulator_names() if name not in before.split(",")]
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]
