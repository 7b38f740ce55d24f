"""`accord packbot distance`: signed distances between the arm's hulls and to obstacles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from roboaccord.cli.command import Result
from roboaccord.cli.gathering import gathers
from roboaccord.cli.options import Changes, load_setup
from roboaccord.cli.rendering import tables_of
from roboaccord.contract.results import Metres, Quantity

from packbot.cli.options import Angles, ScenarioName, angles_of
from packbot.contact.clearance import Clearance

SHOWN = 10


@dataclass(frozen=True)
class Pair:
    """Hold the signed distance of two hulls."""

    a: Annotated[str, Quantity("", name="hull")]
    b: Annotated[str, Quantity("", name="other hull", form="s")]
    distance: Annotated[float, Quantity("m", form=".3f", shown="mm")]


@dataclass(frozen=True)
class Distances:
    """Hold all pairs, the closest first."""

    min: Metres
    pairs: list[Pair]


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
    pairs = [Pair(*clearance.pair_names(i), float(distances[i])) for i in order]
    title = f"the closest of {len(pairs)} pairs"
    return Result(Distances(distances.min(), pairs), tables_of(pairs[:SHOWN], title=title))
