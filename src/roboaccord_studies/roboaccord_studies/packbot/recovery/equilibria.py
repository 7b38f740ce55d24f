"""Command `accord packbot equilibria`: where loose joints rest, and a map over active joints.

The Packbot is a robot with an arm of seven joints. A loose joint has no drive. While the other
(active) joints are held, it has two equilibria under gravity: it hangs stably at one angle, and
could be balanced at the other, half a turn away. It is also in equilibrium on a contact, or at a
stop, against which gravity presses it. The command finds the equilibria of random poses, and counts
those to which slow motions of the active joints lead from the start. Maps over active joints are
computed in `equilibrium_map`, pictures are drawn in `pictures`.

Keys of the JSON output must stay. test_recovery_studies checks that stable equilibria are minima of
the energy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from packbot.cli.options import ScenarioName
from packbot.planning.failed_arm import FailedArm
from packbot.planning.recovery import Recoverer
from packbot.planning.rrt import SearchTree
from roboaccord.bag import read_run
from roboaccord.cli import Changes, Faults, Result, Seed, counted, load_setup, log
from roboaccord.contract import AccordError, Array, by_option, check_target, to_json

from roboaccord_studies.packbot.cli.options import draws
from roboaccord_studies.packbot.recovery.equilibrium_map import map_equilibria
from roboaccord_studies.packbot.recovery.pictures import draw_equilibria, draw_map

KINDS = ("stable", "unstable", "propped")  # fields of `Equilibria` that are counted


class Equilibria(NamedTuple):
    """Equilibria of an arm that its active joints can hold, without other contact than named.

    Args:
        stable: poses (7,) [rad] in which loose joints hang.
        unstable: poses (7,) [rad] in which they would be balanced.
        propped: poses (7,) [rad] in which they rest on a contact.
        linked: number of stable and propped poses to which a path leads from the present one.
        tree: search tree of poses that can be reached from the present one; None if gravity moves
            no loose joint.
    """

    stable: list[Array]
    unstable: list[Array]
    propped: list[Array]
    linked: int
    tree: SearchTree | None


def find_equilibria(arm: FailedArm, present: Array, count: int, seed: int = 0) -> Equilibria:
    """Return equilibria of an arm.

    Args:
        arm: the arm with its failures.
        present: angles (7,) [rad] from which it comes to rest, and then starts.
        count: number of random poses.
        seed: seed of the random poses.
    """
    recoverer = Recoverer(arm, present, seed)

    def can_hold(q: Array) -> bool:
        """Return whether the arm can be in a pose (7,), and its active joints can hold it."""
        return recoverer.is_possible(q) and arm.can_hold(q)

    # The recoverer has drawn poses (`drawn`), and propped ones among its possible goals (`q`).
    goals = recoverer.goals
    poses = goals.drawn[np.random.default_rng(seed).permutation(len(goals.drawn))[:count]]
    stable = [q for q in poses if len(arm.hanging_joints(q)) and can_hold(q)]
    balanced = (_balanced(arm, q) for q in poses)
    unstable = [q for q in balanced if q is not None and not arm.clearance.touches(q)]
    propped = [q for q in goals.q if len(arm.propping_pairs(q)) and can_hold(q)][:count]
    tree = recoverer.tree
    linked = 0
    if tree is not None:
        paths = [recoverer.planner.branch(tree, q) for q in (*stable, *propped)]
        linked = sum(path is not None for path in paths)
    return Equilibria(stable, unstable, propped, linked, tree)


def _balanced(arm: FailedArm, q: Array) -> Array | None:
    """Return a pose (7,) with the only loose joint balanced; None if that is beyond its limits."""
    hanging = arm.hanging_joints(q)
    if len(hanging) != 1:
        return None
    (joint,) = hanging.tolist()
    for turn in (np.pi, -np.pi):
        if arm.lower[joint] <= q[joint] + turn <= arm.upper[joint]:
            other = q.copy()
            other[joint] += turn
            return other
    return None


# Options of the command.
OVER = typer.Option(
    metavar="JOINT [JOINT]",
    help="Active joints over which to map the equilibria of one loose joint.",
)
CELLS = typer.Option(min=3, help="Grid points of the map for each of them.")


@by_option("over", "cells bag", "poses seed", "fault plot scenario set")
def equilibria_command(
    faults: Faults = None,
    count: Annotated[int, typer.Option("--poses", min=1, help="Number of random poses.")] = 100,
    plot: Annotated[Path | None, draws("them")] = None,
    over: Annotated[str, OVER] = "",
    cells: Annotated[int, CELLS] = 25,
    bag: Annotated[Path | None, typer.Option(help="Recorded run to draw in the map.")] = None,
    scenario: ScenarioName = "reach",
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Find equilibria of an arm with loose joints, and those that it can reach.

    Counts, among random poses, the stable equilibria in which loose joints hang, the unstable ones,
    and those in which they lean on something. Linked are those to which quasi-static motions of the
    active joints lead from the start. With --over: all equilibria of one loose joint over a grid of
    the angles of active ones, the folds at which pairs of them vanish, and the sets of stable
    equilibria that quasi-static paths join.

    Examples:

      accord packbot equilibria --fault elbow2=loose

      accord packbot equilibria --fault elbow1=loose --poses 50 --plot elbow1.svg

      accord packbot equilibria --scenario transition --over "shoulder elbow1" --plot map.svg
    """
    setup = load_setup("packbot", scenario, changes, faults)
    check_target(plot)
    arm = FailedArm(setup, setup.faults)
    if not len(arm.loose):
        raise AccordError("equilibria takes a --fault JOINT=loose")
    if over:
        return _map(arm, setup.initial.q, over.replace(",", " ").split(), cells, plot, bag)
    with log.status("looking for equilibria"):
        equilibria = find_equilibria(arm, setup.initial.q, count, seed)
    poses = {kind: getattr(equilibria, kind) for kind in KINDS}
    if plot:
        draw_equilibria(arm, poses, equilibria.tree, plot)
    data = {kind: len(of_kind) for kind, of_kind in poses.items()} | {"linked": equilibria.linked}
    words = ", ".join(f"{number} {kind}" for kind, number in data.items())
    return Result(data, [f"equilibria: {words}"])


def _map(
    arm: FailedArm, q: Array, over: Sequence[str], cells: int, plot: Path | None, bag: Path | None
) -> Result:
    """Map the equilibria of a loose joint over active ones, and draw them.

    Args:
        arm: the arm with its failures.
        q: angles (7,) [rad] of all other joints.
        over: names of the active joints.
        cells: number of angles of each.
        plot: file for a picture of the map.
        bag: recorded run to draw in it.
    """
    run = None if bag is None else read_run(bag).trajectory.q
    with counted(cells ** len(over), "cells") as advance:
        equilibrium_map = map_equilibria(arm, q, over, cells, advance)
    if plot:
        draw_map(equilibrium_map, plot, run)
    kinds = Counter(equilibrium.kind for equilibrium in chain(*equilibrium_map.by_cell))
    parts, folds = equilibrium_map.parts, equilibrium_map.folds
    data = {name: to_json(getattr(equilibrium_map, name)) for name in ("joint", "over", "axes")}
    data |= {"kinds": to_json(kinds), "parts": to_json(parts)}
    data["folds"] = to_json([fold.angles for fold in folds])
    data["equilibria"] = to_json(equilibrium_map.by_cell)
    words = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    lines = [f"equilibria: {words}; {len(folds)} folds"]
    lines += [f"part: well {part.well}, {part.rests} stable equilibria" for part in parts]
    return Result(data, lines)
