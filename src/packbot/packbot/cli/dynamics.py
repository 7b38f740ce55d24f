"""`accord packbot dynamics`: accelerations, mass matrix and bias in one state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from rich.console import RenderableType
from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table
from roboaccord.cli.gathering import gathers
from roboaccord.cli.options import Changes, load_setup
from roboaccord.contract.results import Quantity
from roboaccord.contract.state import Array

from packbot.cli.options import joint_values
from packbot.model.parameters import JOINTS, check_limits

NONE = " ".join("0" for _ in JOINTS)


@gathers("--q", "--qd", "--tau")
def dynamics_command(
    q: Annotated[
        str, Quantity("rad"), typer.Option("--q", metavar="Q1 .. Q7", help="Joint angles.")
    ],
    qd: Annotated[
        str, Quantity("rad/s"), typer.Option("--qd", metavar="V1 .. V7", help="Joint rates.")
    ] = NONE,
    tau: Annotated[
        str, Quantity("N m"), typer.Option("--tau", metavar="T1 .. T7", help="Efforts.")
    ] = NONE,
    changes: Changes = None,
) -> Result:
    """Print accelerations, mass matrix and bias efforts in a state, without friction or contact.

    Seven values in the order turret shoulder elbow1 elbow2 tilt pan wrist, or NAME=VALUE,.. for
    some of them and 0 for the others; rates and efforts that are not given are 0. The bias is what
    keeps the rates as they are: gravity, Coriolis and centrifugal efforts.

    Examples:

      accord packbot dynamics --q 0 1.2 -0.8 0.3 0 0 0

      accord packbot dynamics --q shoulder=1.2,elbow1=-0.8 --tau shoulder=60 --json

      accord packbot dynamics --q 0 1 0 0 0 0 0 --set parameters.reflected_inertia_shoulder=0.5
    """
    from packbot.model.arm import Arm

    setup = load_setup("packbot", "collapse", changes)
    angles, rates = joint_values(q, "--q"), joint_values(qd, "--qd")
    efforts = joint_values(tau, "--tau")
    check_limits(setup.parameters, angles)
    arm = Arm.of(setup)
    qdd, bias = arm.acceleration(angles, rates, efforts), arm.bias(angles, rates)
    matrix = arm.mass_matrix(angles)
    return Result(Dynamics(JOINTS, qdd, matrix, bias), tables_of(qdd, matrix, bias))


@dataclass(frozen=True)
class Dynamics:
    """Hold accelerations, mass matrix and bias in a state."""

    joints: Sequence[str]
    qdd: Annotated[Array, Quantity("rad/s^2")]
    mass_matrix: Annotated[Array, Quantity("kg m^2")]
    bias: Annotated[Array, Quantity("N m")]


def tables_of(qdd: Array, mass_matrix: Array, bias: Array) -> list[RenderableType]:
    """Return the figures for people."""
    table = make_table("joint", "qdd [rad/s^2]", "bias [N m]")
    for name, change, effort in zip(JOINTS, np.round(qdd, 6), np.round(bias, 6), strict=True):
        table.add_row(name, f"{change + 0.0:.6f}", f"{effort + 0.0:.6f}")
    matrix = make_table("", *JOINTS, title="mass matrix [kg m^2]")
    for name, row in zip(JOINTS, np.round(mass_matrix, 5), strict=True):
        matrix.add_row(name, *(f"{value + 0.0:.5f}" for value in row))
    return [table, "", matrix]
