"""`accord packbot distance`: signed distances between the arm's hulls and to obstacles."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from roboaccord.cli.console import out, print_json

from packbot.cli.options import Angles, Changes, Json, ScenarioName, angles_of, setup_of
from packbot.contact.clearance import Clearance

SHOWN = 10


def distance_command(
    q: Angles = None,
    scenario: ScenarioName = "collapse",
    changes: Changes = None,
    as_json: Json = False,
) -> None:
    """Measure the signed distances of all pairs of hulls that can touch.

    In metres; minus the depth where hulls overlap. A link and its parent are no pair, nor are those
    that config/packbot.srdf switches off.

    Examples:

      accord packbot distance --q 0 1.2 -0.5 0.3 0 0 0

      accord packbot distance --scenario shelf --json

      accord packbot distance --set "terrain.boxes.wall={size: [0.1, 1, 1], position: [1.5, 0, 0]}"
    """
    setup = setup_of(scenario, changes)
    clearance = Clearance.of(setup)
    distances = clearance.distances(angles_of(setup, q))
    order = distances.argsort(kind="stable").tolist()
    pairs = [
        {"a": a, "b": b, "distance": distances[i]}
        for i in order
        for a, b in [clearance.pair_names(i)]
    ]
    if as_json:
        print_json({"min": distances.min(), "pairs": pairs})
    else:
        show(pairs)


def show(pairs: list[dict[str, Any]]) -> None:
    """Print the closest pairs for people."""
    table = Table("hull", "hull", title=f"the closest of {len(pairs)} pairs", box=None)
    table.add_column("mm", justify="right")
    for pair in pairs[:SHOWN]:
        table.add_row(pair["a"], pair["b"], f"{1e3 * pair['distance']:.3f}")
    out.print(table)
