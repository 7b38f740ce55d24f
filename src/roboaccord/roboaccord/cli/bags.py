"""`accord compare` and `accord plot`: commands on recorded runs.

`compare_command` prints what differs between runs: keys of their scenarios, figures, the instant
from which their motions differ, and the deviation of each signal. `plot_command` draws signals.
This module only reads the options; the comparison is made by report/comparison.py and
bag/compare.py, printed by cli/comparison.py and drawn by report/overlay.py. Keys of `--json` are
fields of the classes there, and stay.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from roboaccord.bag.folder import RUNS, last_runs
from roboaccord.cli.comparison import shown_of
from roboaccord.cli.completion import complete_bag
from roboaccord.cli.console import call, command_line
from roboaccord.cli.options import refuse_missing_bag
from roboaccord.cli.rendering import tables_of
from roboaccord.cli.result import Result
from roboaccord.contract.modes import by_option
from roboaccord.contract.results import Quantity, Seconds, to_json
from roboaccord.report.comparison import compare
from roboaccord.report.overlay import plot
from roboaccord.report.signals import RunSignals
from roboaccord.run.output import fresh, make_folder

FILE = "PNG, SVG, or an HTML page to zoom in"
Runs = Annotated[list[Path] | None, typer.Argument(
    metavar="[RUN]...", autocompletion=complete_bag,
    help="Run folders or bags; the others are compared with the first. Default: the last "
    "two under runs/.",
)]  # fmt: skip
Patterns = Annotated[list[str] | None, typer.Option(
    metavar="PATTERN",
    help="Signals to compare: q/JOINT, qd/JOINT, effort/JOINT, base/x, y, z, roll, "
    "pitch, yaw, switch/NAME, or patterns such as 'q/*'. May be repeated. Default: all, of "
    "which those that differ most are shown.",
)]  # fmt: skip
Start = Annotated[Seconds | None, typer.Option(
    "--from", metavar="S", help="Start of the interval."
)]  # fmt: skip
Stop = Annotated[Seconds | None, typer.Option("--to", metavar="S", help="End of the interval.")]
Tolerance = Annotated[Annotated[float, Quantity("", "each signal's")] | None, typer.Option(
    metavar="X", min=0.0,
    help="Largest difference that passes, in each signal's unit. Default, where the "
    "scenario is the same: 1e-9, which only recordings of the same run keep; 0.05 with a "
    "bag from Gazebo.",
)]  # fmt: skip
PlotFile = Annotated[Path | None, typer.Option(
    "--plot", metavar="FILE", help=f"Draw it: {FILE}."
)]  # fmt: skip
RunsAndSignals = Annotated[list[str] | None, typer.Argument(
    metavar="[RUN]... [SIGNAL]...", autocompletion=complete_bag,
    help="Run folders or bags, the last one under runs/ by default; names of signals or "
    "patterns, path, joints and speed by default.",
)]  # fmt: skip
ListSignals = Annotated[bool, typer.Option(
    "--list", help="List the signals instead, with their units."
)]  # fmt: skip
Against = Annotated[bool, typer.Option(
    "--xy", help="Plot the second of two signals against the first."
)]  # fmt: skip
OutFile = Annotated[Path | None, typer.Option(
    metavar="FILE", help=f"{FILE}. Default: a new plot.png under runs/."
)]  # fmt: skip


def compare_command(
    runs: Runs = None,
    signals: Patterns = None,
    start: Start = None,
    stop: Stop = None,
    tolerance: Tolerance = None,
    file: PlotFile = None,
) -> Result:
    """Show what changed between recorded runs: settings, figures, motion, signals.

    A verdict is given where the runs are of one scenario, or with --tolerance, and by --json
    always; the exit status is 1 if it is fail.

    Examples:

      accord compare

      accord compare runs/snake_serpenoid_reference runs/snake_serpenoid_dart --plot change.png

      accord compare a b --signals 'q/*' --signals base/x --from 1 --to 5 --tolerance 1e-3 --json
    """
    result = compare(
        *(runs or ()), signals=signals or (), start=start, stop=stop, tolerance=tolerance
    )
    verdict = result.signals.verdict if call.get().quiet else result.verdict
    lines = shown_of(result, whole=bool(signals))
    lines += [f"wrote {result.overlay().write(file, command_line())}"] if file else []
    used = {"tolerance": result.signals.tolerance if verdict else None, "plot": None}
    return Result(result.to_json(), lines, used=used, ok=verdict != "fail")


@by_option("list", "", "xy out", "")
def plot_command(
    words: RunsAndSignals = None,
    listing: ListSignals = False,
    xy: Against = False,
    out: OutFile = None,
) -> Result:
    """Plot signals of recorded runs, several runs overlaid.

    Examples:

      accord plot

      accord plot runs/snake_serpenoid_reference --list

      accord plot runs/snake_serpenoid_reference runs/snake_serpenoid_dart '*.qd' energy.total

      accord plot runs/snake_serpenoid_dart com.x com.y --xy --out path.svg
    """
    # A word that is an existing path is a run; any other is a signal.
    named = [word for word in words or () if Path(word).exists()]
    signals = [word for word in words or () if word not in named]
    for word in signals:
        refuse_missing_bag(word)
    runs = [RunSignals(run) for run in named or last_runs(1)]
    if listing:
        groups = {group.pattern: group for run in runs for group in run.groups()}
        names = dict.fromkeys(name for run in runs for name in run)
        # The names that replace * in the patterns.
        joints = Text(f"joints: {', '.join(runs[0].motion.joints)}")
        tree = runs[0].tree
        links = [Text(f"links: {', '.join(k.name for k in tree.links)}")] if tree else []
        shown = [*tables_of([*groups.values()]), joints, *links]
        data = {"signals": to_json([*groups.values()]), "names": [*names]}
        return Result(data, shown, used={"list": None})
    file = plot(runs, signals, xy=xy).write(
        out or fresh(make_folder(RUNS) / "plot.png"), command_line()
    )
    return Result({"file": str(file)}, [f"wrote {file}"], used={"xy": None})
