"""Options that the Packbot's commands share: joint angles and obstacles."""

from __future__ import annotations

from typing import Annotated

import typer
from roboaccord.contract.state import Array
from roboaccord.scenario.setup import Setup

from packbot.cli.joints import joint_values
from packbot.model.parameters import check_limits

Angles = Annotated[
    str | None,
    typer.Option(
        "--q", metavar="Q1 ... Q7", help="Angles of the joints in rad; else the scenario's start."
    ),
]
ScenarioName = Annotated[
    str, typer.Option("--scenario", metavar="NAME", help="By what stands around, and by the arm.")
]
Target = Annotated[
    str, typer.Option("--target", metavar="X Y Z", help="For the finger tips, in m.")
]
Pitch = Annotated[
    float | None, typer.Option(help="Of the hand above the horizontal, in rad; any if not given.")
]


def angles_of(setup: Setup, words: str | None) -> Array:
    """Return joint angles (7,) [rad]: those in words, else those that the scenario starts from.

    Raises:
        AccordError: if they are no seven numbers, or one is outside its joint's limits.
    """
    if words is None:
        return setup.initial.q
    q = joint_values(words, "--q")
    check_limits(setup.parameters, q)
    return q
