"""Commands on bags: compare, export, recover."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from roboaccord.bag.compare import Comparison, Pair
from roboaccord.bag.export import export
from roboaccord.bag.recover import recover
from roboaccord.cli.command import Result
from roboaccord.cli.rendering import tables_of
from roboaccord.contract.results import Quantity, Seconds, unit_of
from roboaccord.door.recordings import compare

Bag = Annotated[
    Path, typer.Argument(help="Bag folder, or one .mcap or .db3 file.", show_default=False)
]


def compare_command(
    reference: Annotated[
        Path, typer.Argument(metavar="REF", help="Bag to compare with.", show_default=False)
    ],
    bags: Annotated[
        list[Path], typer.Argument(metavar="BAG", help="Bags to compare.", show_default=False)
    ],
    signals: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Signals to compare: q/JOINT, qd/JOINT, effort/JOINT, base/x, y, z, roll, "
            "pitch, yaw, switch/NAME, or patterns such as 'q/*'. May be repeated. Default: all.",
            show_default=False,
        ),
    ] = None,
    start: Annotated[
        Seconds | None,
        typer.Option("--from", metavar="S", help="Start.", show_default=False),
    ] = None,
    stop: Annotated[
        Seconds | None, typer.Option("--to", metavar="S", help="End.", show_default=False)
    ] = None,
    tolerance: Annotated[
        Annotated[float, Quantity("", "each signal's")] | None,
        typer.Option(
            metavar="X",
            min=0.0,
            help="Largest difference that passes, in each signal's unit. Default: 1e-9, which "
            "only recordings of the same run keep; 0.05 with a bag from Gazebo.",
            show_default=False,
        ),
    ] = None,
) -> Result:
    """Compare recorded runs with a reference run, signal by signal.

    Exit status 1 if a signal differs by more than the tolerance.

    Examples:

      accord compare cc/reference_bag cc/dart_bag cc/mujoco_bag --tolerance 1e-3

      accord compare a b --signals 'q/*' --signals base/x --from 1 --to 5 --json
    """
    result = compare(
        reference, *bags, signals=signals or (), start=start, stop=stop, tolerance=tolerance
    )
    return Result(
        result.to_json(),
        shown_of(result, reference),
        used={"tolerance": result.tolerance},
        ok=result.verdict != "fail",
    )


def export_command(
    bag: Bag,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write CSV.", show_default=False)
    ] = None,
    npz: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write NumPy.", show_default=False)
    ] = None,
    mat: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write MATLAB.", show_default=False)
    ] = None,
) -> Result:
    """Write a recorded run to CSV, NumPy or MATLAB files.

    Columns carry names and units; all digits are kept.

    Examples:

      accord export runs/snake_serpenoid_reference/bag --csv snake.csv

      accord export a/bag --npz snake.npz --mat snake.mat
    """
    files = [str(path) for path in export(bag, csv=csv, npz=npz, mat=mat)]
    return Result({"files": files}, [f"wrote {file}" for file in files])


def recover_command(bag: Bag) -> Result:
    """Make a bag that was cut or damaged valid for `ros2 bag`, in place.

    It keeps everything before the damage, and says what is lost. Not for a bag that is still being
    recorded.

    Example:

      accord recover runs/snake_serpenoid_reference/bag
    """
    done = recover(bag)
    line = f"{bag} is complete with {done.messages} messages; nothing to do"
    if done.changed:
        line = f"recovered {done.messages} messages in {bag}"
    return Result({"changed": done.changed, "messages": done.messages}, [line])


def shown_of(result: Comparison, reference: Path | None = None) -> list[RenderableType]:
    """Return a table for each pair of bags, what was left out, and the verdict."""
    shown: list[RenderableType] = []
    for pair in result.pairs:
        against = reference or "the first"
        shown += [f"{pair.bag} against {against}, {pair.duration:g} {unit_of(Pair, 'duration')}"]
        shown += tables_of([*pair.signals.values()], labels=pair.signals)
        if pair.stamps_left:
            only = f"{pair.stamps_left} that only one has are left out"
            shown.append(f"compared at the time stamps that both bags have; {only}")
        if pair.interpolated:
            only = f"{pair.interpolated} time stamps that only one bag has"
            shown.append(f"interpolated at {only}: positions by cubics, rates by lines")
        if pair.skipped:
            names = ", ".join(pair.skipped)
            shown.append(Text(f"not compared, for lack of common samples: {names}"))
        if pair.left_out:
            count, names = sum(pair.left_out.values()), ", ".join(pair.left_out)
            shown.append(Text(f"{count} values left out, unknown between samples: {names}"))
    why = f", {result.why}" if result.why else ""
    return [*shown, f"{result.verdict} at tolerance {result.tolerance:g}{why}"]
