"""`accord compare` and `accord plot`: commands on recorded runs.

A recorded run is a folder with a bag, that is, a file of time-stamped messages. A signal is one
recorded quantity over time, such as the position of a joint. `compare_command` prints what differs
between runs: keys of their scenarios (the settings of a run), figures (such as the work done), the
instant from which their motions differ, and the deviation of each signal. `plot_command` draws
signals.

This module only reads the options; the comparison is made by report/comparison.py and
bag/compare.py, printed by cli/comparison.py and drawn by report/overlay.py. Keys of `--json` are
fields of the classes there, and stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from roboaccord.bag.folder import RUNS, last_runs
from roboaccord.cli.comparison import shown_of
from roboaccord.cli.completion import complete_bag
from roboaccord.cli.console import call, command_line
from roboaccord.cli.rendering import tables_of
from roboaccord.cli.result import Result
from roboaccord.contract import AccordError, Quantity, Seconds, by_option, to_json
from roboaccord.report import RunSignals, compare, plot
from roboaccord.run.output import fresh, make_folder

PLOT_FORMATS = "PNG, SVG, or an HTML page to zoom in"

# Options of `accord compare`.
_runs = typer.Argument(
    metavar="[RUN]...",
    autocompletion=complete_bag,
    help="Run folders or bags; the others are compared with the first. Default: the last "
    "two under runs/.",
)
Runs = Annotated[list[Path] | None, _runs]
_patterns = typer.Option(
    metavar="PATTERN",
    help="Signals to compare: q/JOINT, qd/JOINT, effort/JOINT, base/x, y, z, roll, "
    "pitch, yaw, switch/NAME, or patterns such as 'q/*'. May be repeated. Default: all, of "
    "which those that differ most are shown.",
)
Patterns = Annotated[list[str] | None, _patterns]
_start = typer.Option("--from", metavar="S", help="Start of the interval.")
Start = Annotated[Seconds | None, _start]
Stop = Annotated[Seconds | None, typer.Option("--to", metavar="S", help="End of the interval.")]
_tolerance = typer.Option(
    metavar="X",
    min=0.0,
    help="Largest difference that passes, in each signal's unit. Default, where the "
    "scenario is the same: 1e-9, which only recordings of the same run keep; 0.05 with a "
    "bag from Gazebo.",
)
Tolerance = Annotated[Annotated[float, Quantity("", "each signal's")] | None, _tolerance]
_plot_file = typer.Option("--plot", metavar="FILE", help=f"Draw it: {PLOT_FORMATS}.")
PlotFile = Annotated[Path | None, _plot_file]

# Options of `accord plot`.
_runs_and_signals = typer.Argument(
    metavar="[RUN]... [SIGNAL]...",
    autocompletion=complete_bag,
    help="Run folders or bags, the last one under runs/ by default; names of signals or "
    "patterns, path, joints and speed by default.",
)
RunsAndSignals = Annotated[list[str] | None, _runs_and_signals]
_list_signals = typer.Option("--list", help="List the signals instead, with their units.")
ListSignals = Annotated[bool, _list_signals]
_against = typer.Option("--xy", help="Plot the second of two signals against the first.")
Against = Annotated[bool, _against]
_out = typer.Option(metavar="FILE", help=f"{PLOT_FORMATS}. Default: a new plot.png under runs/.")
OutFile = Annotated[Path | None, _out]


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
    paths = runs or []
    result = compare(*paths, signals=signals or (), start=start, stop=stop, tolerance=tolerance)
    verdict = result.signals.verdict if call.get().quiet else result.verdict
    output = shown_of(result, every_signal=bool(signals))
    if file:
        output.append(f"wrote {result.overlay().write(file, command_line())}")
    used = {"tolerance": result.signals.tolerance if verdict else None, "plot": None}
    return Result(result.to_json(), output, used=used, ok=verdict != "fail")


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

      accord plot runs/snake_serpenoid_reference runs/snake_serpenoid_dart 'qd/*' energy/total

      accord plot runs/snake_serpenoid_dart com/x com/y --xy --out path.svg
    """
    # A word that is an existing path is a run; any other is a signal.
    paths = [word for word in words or () if Path(word).exists()]
    signals = [word for word in words or () if word not in paths]
    for word in signals:  # one below a folder that exists is no signal, but a bag that is missing
        if ("/" in word and Path(word).parent.is_dir()) or word.endswith((".mcap", ".db3")):
            raise AccordError(f"no bag {word}")
    runs = [RunSignals(path) for path in paths or last_runs(1)]
    if listing:
        return list_signals(runs)
    drawing = plot(runs, signals, xy=xy)
    file = drawing.write(out or fresh(make_folder(RUNS) / "plot.png"), command_line())
    return Result({"file": str(file)}, [f"wrote {file}"], used={"xy": None})


def list_signals(runs: Sequence[RunSignals]) -> Result:
    """Return the list of all signals of the runs, by pattern, as `accord plot --list` prints it."""
    groups = {group.pattern: group for run in runs for group in run.groups()}
    names = dict.fromkeys(name for run in runs for name in run)
    # The names that replace * in the patterns.
    printed = tables_of([*groups.values()])
    printed.append(Text(f"joints: {', '.join(runs[0].motion.joints)}"))
    if tree := runs[0].tree:
        printed.append(Text(f"links: {', '.join(link.name for link in tree.links)}"))
    data = {"signals": to_json([*groups.values()]), "names": [*names]}
    return Result(data, printed, used={"list": None})
