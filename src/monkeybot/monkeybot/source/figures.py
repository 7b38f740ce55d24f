"""The report's figures 1 to 10, reproduced: pictures, and files with their data.

`draw_all` writes the diagrams (figures 1 and 2), the landscapes of the error (3, 4, 9, 10), and the
repetitions of the two gaits that the report calls minima (5 to 8), each of which is a Curve in
PLOTS. It also repeats the report's two searches (sampled.py).

FIRST_MINIMUM, SECOND_MINIMUM, the times of FIRST_MINIMUM, and GUESSES are the report's and stay.
The times of SECOND_MINIMUM are those at which our repetition of its search stops. RANGES follow
from the report's text, since the axes of its figures are lost with the scan. The names of files and
columns stay.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
from roboaccord import report
from roboaccord.contract import INLINE, Array, NewtonMetres, Quantity
from roboaccord.run import made_with, write_columns

from monkeybot.gaits.gait import evaluate, horizontal
from monkeybot.gaits.landscape import LIMIT as FIRST_SWING
from monkeybot.gaits.landscape import Landscape, Lowest, landscape, save_map
from monkeybot.gaits.repetition import CLOCKS, Repetition, repeat
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.source.diagrams import write_model, write_stages
from monkeybot.source.landscapes import write_map, write_surface
from monkeybot.source.sampled import SampledGait, fminsearch, sampled_gait

# rad/s: rates at which the error has a minimum, as the report says
FIRST_MINIMUM, SECOND_MINIMUM = (0.902, 10.935), (0.768, 11.094)
# Times of the change of hands and of the motor [s], by these rates: as printed in the report, and
# where the second `fminsearch` stops.
TIMES = {FIRST_MINIMUM: (0.428, 0.025), SECOND_MINIMUM: (0.425, 0.033)}
PACKAGES = "roboaccord-monkeybot", "numba"  # software whose versions are saved with the data
STEPS = 20  # number of gaits in a repetition; the report sees them decay from about the 10th
GUESSES = (1.0, 12.0), (0.5, 11.75)  # rad/s: rates at which the report's searches began
# Colour and label of a curve, by kind of repetition.
CURVES = {
    "sampled": (report.GREEN, "times of the sampled search"),
    "reset": (report.BLUE, "exact times, clock reset"),
    "pure": (report.RED, "exact times, one clock"),
}


# Ranges of w1 and w2 in the report's landscapes [rad/s]. Its text says: around (0.5, 11.5) and both
# guesses; "higher dth2", with a minimum near 20; "lower dth2 and higher dth1".
RANGES = {
    "figure_3_4": ((0.0, 3.0), (8.0, 14.0)),
    "figure_9": ((0.0, 6.0), (14.0, 25.0)),
    "figure_10": ((2.0, 8.0), (0.0, 8.0)),
}


@dataclass(frozen=True)
class Curve:
    """A plot over gaits.

    Args:
        name: of the file.
        rates: of the gait at its start [rad/s].
        quantity: field of `Repetition` that is drawn.
        title: of the vertical axis.
        log: whether the vertical axis is logarithmic.
    """

    name: str
    rates: tuple[float, float]
    quantity: str
    title: str
    log: bool = False


PLOTS = (
    Curve("figure_5", FIRST_MINIMUM, "error", "error", True),
    Curve("figure_6", FIRST_MINIMUM, "kinetic_energy", "kinetic energy at the vertical [J]"),
    Curve("figure_7", FIRST_MINIMUM, "height", "height of the hand that grips [m]"),
    Curve("figure_8", SECOND_MINIMUM, "error", "error", True),
)

Done = Callable[[int], None]  # called after each block of a landscape with its number of gaits


@dataclass(frozen=True)
class ReportSearch:
    """The rates at which a search of the report began, and the gait at which it stops."""

    guess: Annotated[Array, Quantity("rad/s")]
    found: SampledGait = field(metadata=INLINE)


@dataclass(frozen=True, kw_only=True)
class FigureData:
    """The results that the figures show, and the files."""

    torque: NewtonMetres
    lowest: Annotated[Mapping[str, Lowest], Quantity("", "lowest error of each landscape")]
    searches: Annotated[list[ReportSearch], Quantity("", "where the report's searches stop")]
    printed: Annotated[list[SampledGait], Quantity("", "what the report prints, on its samples")]
    files: list[Path]
    versions: Mapping[str, str]


def draw_all(
    parameters: MonkeyBotParameters, torque: float, count: int, folder: Path, done: Done
) -> FigureData:
    """Draw all figures, and repeat the report's two searches.

    Args:
        parameters: of the robot.
        torque: of the motor [N m].
        count: number of rates along each side of a landscape.
        folder: for the files.
        done: called after each block of a landscape with its number of gaits.
    """
    evaluate(horizontal(torque), parameters, np.array(FIRST_MINIMUM))  # compiles the kernels
    files = [folder / "figure_1.svg", folder / "figure_2.svg"]
    write_model(parameters, files[0])
    write_stages(parameters, np.array(FIRST_MINIMUM), torque, files[1])
    maps, landscapes = write_landscapes(parameters, torque, count, folder, done)
    files += [*maps, *write_repetitions(parameters, torque, folder)]
    guesses = [np.array(guess) for guess in GUESSES]
    return FigureData(
        torque=torque,
        lowest={name: grid.minimum for name, grid in landscapes.items()},
        searches=[ReportSearch(guess, fminsearch(parameters, guess, torque)) for guess in guesses],
        printed=[sampled_gait(parameters, np.array(rates), torque) for rates in TIMES],
        files=sorted(files, key=_figure_number),
        versions=made_with(*PACKAGES),
    )


def write_landscapes(
    parameters: MonkeyBotParameters, torque: float, count: int, folder: Path, done: Done
) -> tuple[list[Path], dict[str, Landscape]]:
    """Write figures 3, 4, 9 and 10 with their data, on grids of `count` x `count` rates.

    Returns:
        the files, and the landscapes by name.
    """
    gait, versions = horizontal(torque, limit=FIRST_SWING), made_with(*PACKAGES)
    files, landscapes = [], {}
    for name, (range_1, range_2) in RANGES.items():
        w1, w2 = np.linspace(*range_1, count), np.linspace(*range_2, count)
        grid = landscape(gait, parameters, w1, w2, done=done)
        landscapes[name] = grid
        data, picture, marks = folder / f"{name}.npz", folder / f"{name}.svg", None
        save_map(grid.arrays | {"torque": np.array(torque)}, data, parameters, versions)
        if name == "figure_3_4":
            surface, picture = folder / "figure_3.svg", folder / "figure_4.svg"
            marks = np.array([FIRST_MINIMUM, SECOND_MINIMUM])
            write_surface(grid, surface)
            files.append(surface)
        write_map(grid, picture, marks)
        files += [data, picture]
    return files, landscapes


def write_repetitions(parameters: MonkeyBotParameters, torque: float, folder: Path) -> list[Path]:
    """Write figures 5 to 8 with their data, and return the files."""
    files = []
    for name, rates in (("figure_5_7", FIRST_MINIMUM), ("figure_8", SECOND_MINIMUM)):
        start, times = np.array(rates), TIMES[rates]
        runs = {c: repeat(parameters, start, torque, steps=STEPS, clock=c) for c in CLOCKS}
        runs["sampled"] = repeat(parameters, start, torque, steps=STEPS, times=times)
        files.append(folder / f"{name}.csv")
        write_table(runs, files[-1])
        for plot in PLOTS:
            if plot.rates == rates:
                files.append(folder / f"{plot.name}.svg")
                write_curves(plot, runs, files[-1])
    return files


def write_curves(plot: Curve, runs: Mapping[str, Repetition], path: Path) -> None:
    """Write a figure over gaits as SVG, a curve for each kind of repetition."""
    has_gaps = False
    with report.picture(path) as axes:
        for clock, run in runs.items():
            colour, words = CURVES[clock]
            values = getattr(run, plot.quantity)
            has_gaps |= bool(np.isnan(values).any())
            axes.plot(np.arange(1, STEPS + 1), values, color=colour, marker="o", label=words)
        xlabel = "gait (a gap: it never hung straight down)" if has_gaps else "gait"
        axes.set(xlabel=xlabel, ylabel=plot.title, yscale="log" if plot.log else "linear")
        axes.set_xticks(range(0, STEPS + 1, 2))
        report.legend(axes)


def write_table(runs: Mapping[str, Repetition], path: Path) -> None:
    """Write the results as CSV with a row for each gait; empty if it never hung straight down.

    Raises:
        AccordError: if the file cannot be written.
    """
    units = {"error": "", "kinetic_energy": "_J", "height": "_m"}
    columns = {
        f"{clock}_{name}{unit}": getattr(run, name)
        for clock, run in runs.items()
        for name, unit in units.items()
    }
    write_columns(path, {"gait": np.arange(1, STEPS + 1, dtype=np.int64), **columns})


def _figure_number(file: Path) -> tuple[int, str]:
    """Return the number of the (first) figure that a file belongs to, and its name."""
    return int(file.stem.split("_")[1]), file.name
