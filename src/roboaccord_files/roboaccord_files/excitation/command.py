"""The command `accord excite FILE`: find a motion that identifies a robot's parameters.

To identify masses, inertias and frictions by measured torques, a robot must move so that each of
them shows. `excite_command` reads the robot, searches such a motion (search.py), writes it as CSV
and as a trajectory_msgs/JointTrajectory, and prints what it identifies (`Excitation`). The fields
of `Excitation` are keys of `--json`, and stay.
"""

from __future__ import annotations

import shlex
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
import yaml
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli import Result, options, results
from roboaccord.cli.console import counted, figure_lines, file_line, make_table
from roboaccord.contract import AccordError, Array
from roboaccord.description.tree_text import ENDLESS
from roboaccord.run.output import write_text
from roboaccord.scenario import Setup, is_file
from roboaccord.scenario.setups import load_setup

from roboaccord_files.excitation.search import Limits, Search, Tried
from roboaccord_files.excitation.suitable import check_fixed, check_joints

# rad/s or m/s; velocity limit of joints for which the file has none. By choice, below that of usual
# arms: Franka states 2.175 and 2.61 rad/s of its Panda.
DEFAULT_VELOCITY = 2.0
RobotFile = Annotated[str, typer.Argument(metavar="FILE", help="URDF, xacro, SDF or MJCF.")]
XacroArguments = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME:=VALUE]...", help="Arguments of a xacro file.")
]
# From 0.1 s on the 100 samples of a period (motion.py) are 1 ms apart or more, as drives step.
Duration = Annotated[float, typer.Option(min=0.1, help="Of a period [s].")]
# A single harmonic cannot be at rest at both ends; beyond 20 there are under 5 samples a period.
Harmonics = Annotated[int, typer.Option(min=2, max=20, help="Of the Fourier series of each joint.")]
# With 10, two are draws and eight are changes (DRAWN_SHARE in search.py): fewer are no search.
Tries = Annotated[int, typer.Option(min=10, help="Motions that are tried.")]
# Drives take 1 kHz; ten times as much bounds the files, a period of 10 s to 100,000 rows.
PointRate = Annotated[int, typer.Option(min=1, max=10_000, help="Points per second in the files.")]


@dataclass(frozen=True)
class Excitation:
    """A motion and what it identifies.

    Args:
        parameters: number of parameters of the robot.
        base: number of their combinations that motions can tell apart.
        condition: condition number of these along the motion.
        random: median condition number of random motions.
        duration: duration of a period [s].
        joints: start, range of the position, largest velocity and effort by joint, SI.
        combinations: each base parameter as parameters with their factors.
        files: that were written.
    """

    parameters: int
    base: int
    condition: float
    random: float
    duration: float
    joints: Mapping[str, Mapping[str, float]]
    combinations: Sequence[Mapping[str, float]]
    files: Sequence[str]


def excite_command(
    what: RobotFile,
    words: XacroArguments = None,
    changes: options.Changes = None,
    packages: options.Packages = None,
    duration: Duration = 10.0,
    harmonics: Harmonics = 5,
    tries: Tries = 300,
    rate: PointRate = 100,
    seed: options.Seed = 0,
    folder: options.Out = None,
    force: options.Force = False,
) -> Result:
    """Find a motion that identifies a robot's parameters, within its limits.

    Fourier series from rest to rest whose regressor of base parameters (inertial, friction, rotors)
    is best conditioned, within 90 % of the file's limits of positions, velocities and efforts.
    Contacts are not looked at: run the motion in simulation first.

    Examples:

      accord excite arm.urdf --out excite

      accord excite arm.urdf.xacro length:=0.5 --duration 20 --seed 3 --json
    """
    if not is_file(what):
        raise AccordError(f"{what}: name a robot's file (URDF, xacro, SDF or MJCF)")
    _, arguments = options.split_arguments(words or [])
    settings = ["parameters.stops=1", *(changes or ())]
    folders = options.read_packages(packages or [])
    setup = load_setup(what, "", settings, packages=folders, arguments=arguments)
    search = search_of(setup, duration, harmonics)
    with counted(tries, "motions") as advance:
        best, typical = search.best(tries, seed, lambda: advance(1))
    with results(folder, "excite", force=force) as target:
        files = write(target, setup.joints, best, rate)
        result = excitation(setup.joints, search, best, typical, files)
        return Result(result, [*shown(result), run_line(what, result)])


def run_line(what: str, excitation: Excitation) -> Text:
    """Return a line with the command that runs a motion in simulation, from its start."""
    start = [f"initial.q.{name}={row['start']:.6g}" for name, row in excitation.joints.items()]
    file = shlex.quote(excitation.files[0])
    run = ["controller.name=follow", f"controller.file={file}", f"duration={excitation.duration:g}"]
    settings = " ".join(f"--set {setting}" for setting in (*run, *start))
    return Text(f"in simulation: accord run {shlex.quote(what)} {settings}")


def search_of(setup: Setup, duration: float, harmonics: int) -> Search:
    """Return the search for a motion of a robot.

    Raises:
        AccordError: for a robot whose motions the regressor does not describe.
    """
    for check in (check_fixed, check_joints):
        check(setup, setup.scenario.robot, "a motion can be found")
    limits = Limits.of(setup.tree, setup.joints, velocity_limits(setup), setup.effort_limits)
    gravity = np.array([0.0, 0.0, -setup.parameters.gravity])
    return Search(setup.tree, setup.joints, gravity, limits, duration, harmonics)


def velocity_limits(setup: Setup) -> Array:
    """Return the velocity limits of the joints (n,) [rad/s or m/s], of the file or the default."""
    joints = {joint.get("name"): joint for joint in ET.fromstring(setup.urdf()).findall("joint")}
    limits = [joints[name].find("limit") for name in setup.joints]
    velocities = [0.0 if limit is None else float(limit.get("velocity", 0.0)) for limit in limits]
    return np.array([rate if 0.0 < rate < ENDLESS else DEFAULT_VELOCITY for rate in velocities])


def excitation(
    joints: Sequence[str], search: Search, best: Tried, typical: float, files: Sequence[Path]
) -> Excitation:
    """Return the figures of a motion, and which parameters it identifies.

    Args:
        joints: names of n joints.
        search: search that found the motion.
        best: the motion.
        typical: median condition number of random motions.
        files: files that were written.
    """
    q, qd, _ = best.motion.samples
    lowest, highest = q.min(axis=0), q.max(axis=0)
    rows = np.column_stack([q[0], lowest, highest, np.abs(qd).max(axis=0), best.efforts]).tolist()
    keys = ("start", "from", "to", "velocity", "effort")
    by_joint = {name: dict(zip(keys, row)) for name, row in zip(joints, rows, strict=True)}
    base = search.base
    combined = [base.combined(i) for i in range(len(base.kept))]
    return Excitation(
        parameters=len(base.names),
        base=len(base.kept),
        condition=best.condition,
        random=typical,
        duration=best.motion.duration,
        joints=by_joint,
        combinations=[{str(key): round(x, 9) for key, x in row.items()} for row in combined],
        files=[str(file) for file in files],
    )


def write(folder: Path, joints: Sequence[str], best: Tried, rate: int) -> list[Path]:
    """Write the motion as CSV and as trajectory_msgs/JointTrajectory, and return the files.

    Args:
        folder: where they are written.
        joints: names of n joints.
        best: the motion.
        rate: points per second.
    """
    times = np.arange(round(best.motion.duration * rate) + 1) / rate
    q, qd, qdd = best.motion.at(times)
    lines = [",".join(["time", *joints])]
    lines += [",".join(f"{x:.9g}" for x in row) for row in np.column_stack([times, q])]
    columns = {"positions": q, "velocities": qd, "accelerations": qdd}
    points = []
    for i, time in enumerate(times):
        point = {key: column[i].round(9).tolist() for key, column in columns.items()}
        point["time_from_start"] = {"sec": int(time), "nanosec": round(1e9 * (time % 1.0))}
        points.append(point)
    message = {"joint_names": [*joints], "points": points}
    csv, trajectory = folder / "excite.csv", folder / "excite.yaml"
    write_text(csv, "\n".join(lines) + "\n", ".csv")
    write_text(trajectory, yaml.safe_dump(message, sort_keys=False), ".yaml")
    return [csv, trajectory]


def shown(result: Excitation) -> list[RenderableType]:
    """Return the lines and the table to print: condition, ranges of the joints, and files."""
    # The units are those of hinges; of sliding joints m and N.
    table = make_table("joint", "start", "from", "to [rad]", "velocity [rad/s]", "effort [N m]")
    for name, row in result.joints.items():
        table.add_row(name, *(f"{value:.3g}" for value in row.values()))
    use = "from rest to rest: move there first, then repeat it"
    lines = {
        "parameters": (f"{result.parameters}, of which motions can tell apart {result.base}", ""),
        "condition": (f"{result.condition:.3g}; of random motions {result.random:.3g}", ""),
        "motion": (f"{result.duration:g} s, {use}", ""),
    }
    return [*figure_lines(lines), table, file_line(result.files)]
