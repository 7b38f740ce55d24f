"""Equilibria of an arm with loose joints, among random poses, and the paths between them.

With the active joints held, a loose joint has two zeros of gravity's torque: it hangs stably at
one, and could be balanced at the other, half a turn away. It is also in equilibrium on
a contact or a stop that it is pressed against. Two stable ones are linked where a quasi-static
motion of the active joints leads from one to the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from packbot.planning.failed_arm import FailedArm
from packbot.planning.recovery import Recoverer
from packbot.planning.rrt import SearchTree
from roboaccord.contract import Array
from roboaccord.report import BLUE, GREEN, RED, RULE, SQUARE, legend, picture

KINDS = {"stable": BLUE, "unstable": RED, "propped": GREEN}


@dataclass(frozen=True)
class Equilibria:
    """Hold equilibria of an arm, all clear and held by the active joints.

    Args:
        stable: poses (7,) [rad] in which loose joints hang.
        unstable: in which they would be balanced.
        propped: in which they lie on a contact.
        linked: number of stable and propped ones to which there is a path from the present one.
        tree: of those that can be reached from there; None if gravity moves no loose joint.
    """

    stable: list[Array]
    unstable: list[Array]
    propped: list[Array]
    linked: int
    tree: SearchTree | None


def find_equilibria(arm: FailedArm, present: Array, count: int, seed: int = 0) -> Equilibria:
    """Return equilibria of an arm.

    Args:
        arm: with its failures.
        present: angles (7,) [rad] from which it comes to rest, and then starts.
        count: of poses drawn.
        seed: of the drawing.
    """
    planner = Recoverer(arm, present, seed)
    drawn = np.random.default_rng(seed).permutation(len(planner.goals.drawn))[:count]
    hung = planner.goals.drawn[drawn]
    stable = [q for q in hung if len(arm.hanging(q)) and planner.stands(q) and arm.bears(q)]
    balanced = (_balanced(arm, q) for q in hung)
    unstable = [q for q in balanced if q is not None and not arm.clearance.touches(q)]
    propped = [
        q for q in planner.goals.q if len(arm.propping(q)) and planner.stands(q) and arm.bears(q)
    ]
    ends = [*stable, *propped[:count]]
    tree = planner.tree
    linked = sum(tree is not None and planner.planner.branch(tree, q) is not None for q in ends)
    return Equilibria(stable, unstable, propped[:count], linked, tree)


def _balanced(arm: FailedArm, q: Array) -> Array | None:
    """Return a pose with one loose joint at its unstable zero; None beyond its limits."""
    hanging = arm.hanging(q)
    if len(hanging) != 1:
        return None
    (joint,) = hanging.tolist()
    for turn in (np.pi, -np.pi):
        if arm.lower[joint] <= q[joint] + turn <= arm.upper[joint]:
            other = q.copy()
            other[joint] += turn
            return other
    return None


def draw_equilibria(arm: FailedArm, found: Equilibria, path: Path) -> None:
    """Draw the finger tips of equilibria from the side, and the paths between them."""
    tip, axis = arm.kinematics.tip, arm.setup.parameters.base_x

    def side(q: Array) -> tuple[float, float]:
        x, y, z = tip(q)
        return float(np.hypot(x - axis, y)), float(z)

    with picture(path, SQUARE) as axes:
        if found.tree:
            for i, q in enumerate(found.tree.nodes[1:], 1):
                before = found.tree[found.tree.parents[i]]
                axes.plot(*zip(side(before), side(q)), color=RULE, lw=0.7)
        for kind, colour in KINDS.items():
            places = [side(q) for q in getattr(found, kind)]
            if places:
                axes.scatter(*zip(*places), s=12.0, color=colour, label=kind, zorder=3)
        axes.set(xlabel="from the turret's axis [m]", ylabel="height [m]", aspect="equal")
        legend(axes, 3)
