"""`accord packbot distance`: signed distances between the arm's hulls and to obstacles."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table
from roboaccord.cli.gathering import gathers
from roboaccord.cli.options import Changes, load_setup

from packbot.cli.options import Angles, ScenarioName, angles_of
from packbot.contact.clearance import Clearance

SHOWN = 10


@gathers("--q")
def distance_command(
    q: Angles = None,
    scenario: ScenarioName = "collapse",
    changes: Changes = None,
) -> Result:
    """Measure the signed distances of all pairs of hulls that can touch.

    In metres; minus the depth where hulls overlap. A link and its parent are no pair, nor are those
    that config/packbot.srdf switches off.

    Examples:

      accord packbot distance --q 0 1.2 -0.5 0.3 0 0 0

      accord packbot distance --scenario shelf --json

      accord packbot distance --set "terrain.boxes.wall={size: [0.1, 1, 1], position: [1.5, 0, 0]}"
    """
    setup = load_setup("packbot", scenario, changes)
    clearance = Clearance.of(setup)
    distances = clearance.distances(angles_of(setup, q))
    order = distances.argsort(kind="stable").tolist()
    pairs = [
        {"a": a, "b": b, "distance": distances[i]}
        for i in order
        for a, b in [clearance.pair_names(i)]
    ]
    return Result({"min": distances.min(), "pairs": pairs}, [table_of(pairs)])


def table_of(pairs: list[dict[str, Any]]) -> Table:
    """Return the closest pairs for people."""
    title = f"the closest of {len(pairs)} pairs"
    table = make_table("hull", "other hull", "distance [mm]", title=title, words=["other hull"])
    for pair in pairs[:SHOWN]:
        table.add_row(pair["a"], pair["b"], f"{1e3 * pair['distance']:.3f}")
    return table
