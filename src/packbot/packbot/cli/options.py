"""Options that commands of the Packbot share, and the conversion of their words to numbers.

`joint_values` reads values of all joints, `point` reads a point; both refuse bad input with a
message of one line. An option that only one command has is in the module of this command.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from roboaccord import cli
from roboaccord.contract import AccordError, Array, Quantity, Radians, check_known
from typer import Option

from packbot.model.parameters import JOINTS

SCENARIO_HELP = "Scenario with the terrain and the arm."
ScenarioName = Annotated[str, Option("--scenario", metavar="NAME", help=SCENARIO_HELP)]
TARGET_HELP = "Target of the finger tips."
Target = Annotated[str, Quantity("m"), Option("--target", metavar="X Y Z", help=TARGET_HELP)]
PITCH_HELP = "Pitch of the hand above the horizontal. Default: any."
Pitch = Annotated[Radians | None, Option(help=PITCH_HELP)]


def joint_values(words: str, option: str) -> Array:
    """Return the values of all joints (7,), from 7 numbers, or from NAME=VALUE,.. (others are 0).

    Raises:
        AccordError: naming the joint that is missing, unknown, there twice or no finite number.
    """
    parts = words.replace(",", " ").split()
    if any("=" in part for part in parts):
        pairs = [part.partition("=")[::2] for part in parts]  # name and value, without the "="
        for name, _ in pairs:
            check_known(f"{option}: unknown joint ", name, JOINTS)
            if [other for other, _ in pairs].count(name) > 1:
                raise AccordError(f"{option}: {name} is given twice")
    else:
        if len(parts) != len(JOINTS):
            lacks = f"; {JOINTS[len(parts)]} is missing" if len(parts) < len(JOINTS) else ""
            raise AccordError(f"{option} takes {len(JOINTS)} numbers, not {len(parts)}{lacks}")
        pairs = list(zip(JOINTS, parts, strict=True))
    values = np.zeros(len(JOINTS))
    for name, text in pairs:
        value = cli.quantity(text)
        if math.isnan(value):
            raise AccordError(f"{option}: {name} is {text!r}, and must be a finite number")
        values[JOINTS.index(name)] = value
    return values


def point(words: str, option: str = "--target") -> Array:
    """Return the point (3,) [m] that words give.

    Raises:
        AccordError: unless they are three finite numbers.
    """
    values = [cli.quantity(part) for part in words.replace(",", " ").split()]
    if len(values) != 3 or any(map(math.isnan, values)):
        raise AccordError(f"{option} takes x, y, z in m, not {words!r}")
    return np.array(values)
