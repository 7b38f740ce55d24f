"""`accord packbot dynamics`: the arm's rigid-body dynamics in one state.

The command reads angles, rates and efforts of the seven joints, and prints accelerations, mass
matrix and bias efforts (gravity, Coriolis and centrifugal), which `packbot.model.arm` computes.

Fields of `Dynamics` are keys of the JSON output and must stay. test_commands checks that
accelerations balance the bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from packbot.cli.options import joint_values
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS, check_limits
from roboaccord.cli import Changes, Result, gathers, grid_of, load_setup
from roboaccord.contract import Array, Quantity

NONE = " ".join("0" for _ in JOINTS)  # default of rates and efforts: seven zeros


AngleOption = typer.Option("--q", metavar="Q1 .. Q7", help="Joint angles.")
RateOption = typer.Option("--qd", metavar="V1 .. V7", help="Joint rates.")
EffortOption = typer.Option("--tau", metavar="T1 .. T7", help="Joint efforts.")


@gathers("--q", "--qd", "--tau")
def dynamics_command(
    q: Annotated[str, Quantity("rad"), AngleOption],
    qd: Annotated[str, Quantity("rad/s"), RateOption] = NONE,
    tau: Annotated[str, Quantity("N m"), EffortOption] = NONE,
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
    setup = load_setup("packbot", "collapse", changes)
    angles, rates = joint_values(q, "--q"), joint_values(qd, "--qd")
    efforts = joint_values(tau, "--tau")
    check_limits(setup.parameters, angles)
    arm = Arm.of(setup)
    qdd, bias = arm.acceleration(angles, rates, efforts), arm.bias(angles, rates)
    mass_matrix = arm.mass_matrix(angles)
    vectors = dict(zip(JOINTS, zip(qdd, bias), strict=True))
    headings = ("joint", "qdd [rad/s^2]", "bias [N m]")
    vector_table = grid_of(headings, vectors, Quantity("", form=".6f"))
    rows = dict(zip(JOINTS, mass_matrix, strict=True))
    matrix_table = grid_of(("", *JOINTS), rows, Quantity("", form=".5f"), "mass matrix [kg m^2]")
    dynamics = Dynamics(qdd=qdd, mass_matrix=mass_matrix, bias=bias)
    return Result(dynamics, [vector_table, "", matrix_table])


@dataclass(frozen=True, kw_only=True)
class Dynamics:
    """Accelerations, mass matrix and bias in a state."""

    joints: Sequence[str] = JOINTS
    qdd: Annotated[Array, Quantity("rad/s^2")]
    mass_matrix: Annotated[Array, Quantity("kg m^2")]
    bias: Annotated[Array, Quantity("N m")]
