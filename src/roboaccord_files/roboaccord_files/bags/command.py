"""The commands `accord recover` (make a cut or damaged bag valid) and `accord export`.

A bag is the recording of a run by ROS 2. The work is done in recover.py and export.py. Libraries
for bags are imported when a command runs, since `accord --help` needs none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli.result import Result

Bag = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder, bag, .mcap or .db3.")]


def recover_command(bag: Bag) -> Result:
    """Make a bag that was cut or damaged valid for `ros2 bag`, in place.

    It keeps everything before the damage, and reports what is lost. Not for a bag that is still
    being recorded.

    Example:

      accord recover runs/snake_serpenoid_reference
    """
    from roboaccord_files.bags.recover import recover

    done = recover(bag)
    line = f"{bag} is complete with {done.messages} messages; nothing to do"
    if done.changed:
        line = f"recovered {done.messages} messages in {bag}"
    return Result({"changed": done.changed, "messages": done.messages}, [line])


def export_command(
    bag: Bag,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write CSV.")] = None,
    npz: Annotated[Path | None, typer.Option(metavar="FILE", help="Write NumPy.")] = None,
    mat: Annotated[Path | None, typer.Option(metavar="FILE", help="Write MATLAB.")] = None,
) -> Result:
    """Write a recorded run to CSV, NumPy or MATLAB files.

    Columns carry names and units; all digits are kept.

    Examples:

      accord export runs/snake_serpenoid_reference --csv snake.csv

      accord export a/bag --npz snake.npz --mat snake.mat
    """
    from roboaccord_files.bags.export import export

    files = [str(path) for path in export(bag, csv=csv, npz=npz, mat=mat)]
    return Result({"files": files}, [f"wrote {file}" for file in files])
