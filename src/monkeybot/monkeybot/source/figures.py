"""The report's figures 1 to 10, reproduced: pictures, and beside them their data.

The report's search: events acted on at control samples, and early termination.

Its controller saw the state every 1 ms, so the hands changed, the motor stopped and the gait ended
at the first sample past the event. The error then has steps all over the rates, and a simplex stops
on one of them: those are the report's minima.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import scipy
from roboaccord.contract import INLINE, Array, NewtonMetres, Quantity, Seconds
from roboaccord.report import BLUE, GREEN, INK, PAGE, RED, SOFT, bare, legend, picture, pointer
from roboaccord.run import made_with, write_columns

from monkeybot.controllers import other_hand
from monkeybot.gaits.gait import distance, evaluate, full_starts, horizontal
from monkeybot.gaits.landscape import LIMIT as FIRST_SWING
from monkeybot.gaits.landscape import Landscape, Lowest, landscape, save_map
from monkeybot.gaits.search import CLOCKS, Repetition, repeat
from monkeybot.model.coordinates import Mode
from monkeybot.model.events import VERTICAL, level
from monkeybot.model.hybrid import LIMIT
from monkeybot.model.motion import Motion
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.stability.pictures import write_map, write_surface

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POSE = (-0.6, 1.45)  # rad: th1 and th2 of figure 1
LINK_A, LINK_B = BLUE, GREEN
SHORT = 0.15  # m: a length with its words beside it
APART = 1.15  # m, between the stages
FRAMES = 40  # of the path of the free hand, a stage
STAGES = (
    "1  start: both\nhang straight", "2  swing up:\nA holds", "3  level: B grips,\nA lets go",
    "4  torque, until the\nenergy is restored", "5  end: both\nhang straight",
)  # fmt: skip


def skeleton(parameters: MonkeyBotParameters, u: Array) -> Array:
    """Return hand A, elbow and hand B (3, 2) [m] of a state (8,) seen from hand A."""
    angles = np.array([u[0], u[0] + u[1]])
    lengths = np.array([parameters.length_a, parameters.length_b])
    links = lengths[:, None] * np.column_stack([np.sin(angles), -np.cos(angles)])
    return np.asarray(u[4:6] + np.vstack([np.zeros(2), np.cumsum(links, axis=0)]))


def write_model(parameters: MonkeyBotParameters, path: Path) -> None:
    """Write figure 1 as SVG: the two links with their coordinates and parameters."""
    p, (th1, th2) = parameters, POSE
    hand, elbow, other = skeleton(p, np.array([th1, th2, 0, 0, 0, 0, 0, 0], dtype=float))
    with picture(path, (7.5, 5.2)) as axes:
        draw_links(axes, np.array([hand, elbow, other]), held=0)
        centres = (hand + p.centre_a / p.length_a * (elbow - hand),
                   elbow + p.centre_b / p.length_b * (other - elbow))  # fmt: skip
        for centre, colour in zip(centres, (LINK_A, LINK_B), strict=True):
            axes.plot(*centre, "o", color=PAGE, mec=colour, mew=2.0, ms=6.0, zorder=4)
        _angle(axes, hand, -0.5 * np.pi, th1, 0.2, "th1 < 0")
        _angle(axes, elbow, th1 - 0.5 * np.pi, th2, 0.22, "th2 > 0")
        _span(axes, hand, elbow, -0.2, f"L1 = {p.length_a:g} m")
        _span(axes, hand, centres[0], -0.08, f"r1 = {p.centre_a:.3f} m")
        _span(axes, elbow, other, 0.3, f"L2 = {p.length_b:g} m")
        _span(axes, elbow, centres[1], 0.06, f"r2 = {p.centre_b:.3f} m")
        _label(axes, hand, (12, 0), "hand A at (y, z): its magnet holds", "left")
        _label(axes, other, (12, 0), "hand B: its magnet is off", "left")
        _label(axes, elbow, (-14, -4), "elbow: motor,\ntorque on th2", "right")
        links = ("a", "b")
        words = "\n".join(
            f"link {k.upper()}: m{i} = {getattr(p, f'mass_{k}'):g} kg, "
            f"I{i} = {getattr(p, f'inertia_{k}'):.3g} kg m^2" for i, k in enumerate(links, 1)
        )  # fmt: skip
        axes.text(0.97, 0.55, words, transform=axes.transAxes, ha="right")
        arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.5}
        axes.annotate("", (0.03, 0.05), (0.03, 0.25), xycoords="axes fraction", arrowprops=arrow)
        axes.text(0.05, 0.15, f"g = {p.gravity:g} m/s^2", transform=axes.transAxes, va="center")
        bare(axes)
        axes.set(xlim=(-0.85, 0.95), ylim=(-1.05, 0.14))


def write_stages(parameters: MonkeyBotParameters, rates: Array, torque: float, path: Path) -> None:
    """Write figure 2 as SVG: the stages of the horizontal gait from given rates (2,) [rad/s].

    A stage is drawn at its end, with the magnet on that holds from then on.
    """
    found = stages(parameters, rates, torque)
    after = [held for _, held in (*found[1:], found[-1])]
    with picture(path, (7.5, 3.0)) as axes:
        for number, (poses, held) in enumerate(found):
            shift = np.array([APART * number, 0.0])
            axes.plot(*(poses[:, 2 if held == 0 else 0] + shift).T, color=SOFT, lw=1.0, ls=":")
            draw_links(axes, poses[-1] + shift, after[number], torque=number == 3)
            axes.text(APART * number + poses[:, :, 0].mean(), 0.38, STAGES[number], ha="center",
                      va="bottom", fontsize=8.5)  # fmt: skip
        legend(axes, 5)
        bare(axes)
        axes.set(ylim=(-1.3, 0.72))  # with the captions


def stages(parameters: MonkeyBotParameters, rates: Array, torque: float) -> list[tuple[Array, int]]:
    """Return hand A, elbow and hand B along each stage (k, 3, 2) [m], and the hand.

    The hand is that which holds: 0 for A, 1 for B.
    """
    swing, motor, coast = evaluate(horizontal(torque), parameters, rates).times[0]
    motion = Motion(parameters, np.array([0.0, 0.0, *rates, 0.0, 0.0, 0.0, 0.0]))
    found = [(skeleton(parameters, motion.u)[None], 0)]
    for duration, push in ((0.5 * swing, 0.0), (0.5 * swing, 0.0), (motor, torque), (coast, 0.0)):
        if len(found) == 3:
            motion.hold(Mode.SWING_B)
        path = [skeleton(parameters, motion.u)]
        for _ in range(FRAMES):
            motion.advance(duration / FRAMES, push)
            path.append(skeleton(parameters, motion.u))
        found.append((np.array(path), motion.hand))
    return found


def draw_links(axes: Axes, points: Array, held: int, *, torque: bool = False) -> None:
    """Draw hand A, elbow and hand B (3, 2) [m]; the magnet that holds is filled."""
    for ends, colour, name in ((points[:2], LINK_A, "link A"), (points[1:], LINK_B, "link B")):
        axes.plot(*ends.T, color=colour, lw=5.0, solid_capstyle="round", label=name)
    elbow = RED if torque else PAGE
    axes.plot(*points[1], "o", color=elbow, mec=INK, ms=8.0, zorder=3)
    for number, end in enumerate((points[0], points[2])):
        holds = 2 * held == 2 * number
        axes.plot(*end, "s", color=INK if holds else PAGE, mec=INK, ms=8.0, zorder=3,
                  label="magnet on" if holds else "magnet off")  # fmt: skip


def _angle(axes: Axes, at: Array, start: float, turn: float, radius: float, name: str) -> None:
    """Draw an angle from a direction `start` on, with its arrow and name."""
    along = start + np.linspace(0.0, turn, 30)
    arc = at + radius * np.column_stack([np.cos(along), np.sin(along)])
    ray = np.array([at, at + 1.25 * radius * np.array([np.cos(start), np.sin(start)])])
    axes.plot(*ray.T, color=SOFT, lw=1.0, ls="--")
    axes.plot(*arc[:-2].T, color=RED, lw=1.2)
    pointer(axes, arc[-3], arc[-1], RED)
    middle = at + (radius + 0.05) * np.array([np.cos(along[15]), np.sin(along[15])])
    axes.text(middle[0], middle[1], name, color=RED, ha="center", va="center")


def _span(axes: Axes, start: Array, end: Array, aside: float, words: str) -> None:
    """Draw a length between two points, so far to the left of the line [m]."""
    line = (end - start) / np.linalg.norm(end - start)
    off = aside * np.array([-line[1], line[0]])
    look = {"arrowstyle": "|-|,widthA=.25,widthB=.25", "color": SOFT, "lw": 0.9, "shrinkA": 0,
            "shrinkB": 0}  # fmt: skip
    axes.annotate("", tuple(end + off), tuple(start + off), arrowprops=look)
    middle = 0.5 * (start + end) + off
    if np.linalg.norm(end - start) < SHORT:
        axes.text(middle[0] + 0.3 * off[0], middle[1] + 0.3 * off[1], words, ha="left", va="center")
        return
    turn = np.degrees(np.arctan(line[1] / line[0]))
    axes.text(middle[0], middle[1], words, rotation=turn, ha="center", va="center",
              bbox={"facecolor": PAGE, "edgecolor": "none", "pad": 1.5})  # fmt: skip


def _label(axes: Axes, at: Array, place: tuple[float, float], words: str, side: str) -> None:
    axes.annotate(words, tuple(at), place, textcoords="offset points", ha=side, va="center")


SAMPLE = 1e-3  # s
MATLAB = 1e-4  # TolX and TolFun of MATLAB's fminsearch
SPREAD = 1.05  # its first simplex: each rate by 5 % more
TOLERANCE = 1e-9


@dataclass(frozen=True)
class SampledGait:
    """Hold one gait on the controller's samples: rates (2,) [rad/s], error, and times [s]."""

    rates: Annotated[Array, Quantity("rad/s", form=".4f")]
    error: Annotated[float, Quantity("rad^2, rad^2/s^2", form=".3g")]
    switch_time: Seconds
    motor_time: Seconds


def sampled_gait(
    parameters: MonkeyBotParameters, rates: Array, torque: float, *, sample: float = SAMPLE
) -> SampledGait:
    """Evaluate the horizontal gait with every event acted on at the first sample after it.

    The error is inf for a start that misses an event.
    """
    start = full_starts(rates)
    motion = Motion(parameters, start[0], tolerance=TOLERANCE)
    energy = sum(motion.energies)
    missed = SampledGait(np.asarray(rates), math.inf, math.nan, math.nan)
    if not motion.advance(LIMIT, until=level()):
        return missed
    _to_next(motion, sample)
    switch = motion.time
    motion.hold(other_hand(motion.mode))
    while sum(motion.energies) < energy:
        motion.advance(sample, torque)
        if motion.time - switch > LIMIT:
            return missed
    motor = motion.time - switch
    if not motion.advance(LIMIT, until=VERTICAL):
        return missed
    _to_next(motion, sample)
    error = float(distance(start[:, :4], motion.held[None, :4])[0])
    return SampledGait(np.asarray(rates), error, switch, motor)


def fminsearch(
    parameters: MonkeyBotParameters, rates: Array, torque: float, *, sample: float = SAMPLE
) -> SampledGait:
    """Minimise as the report did: MATLAB's simplex with its first size and its tolerances."""
    first = np.array([rates, rates, rates], dtype=float)
    first[1, 0] *= SPREAD
    first[2, 1] *= SPREAD
    best = scipy.optimize.minimize(
        lambda x: sampled_gait(parameters, x, torque, sample=sample).error,
        rates,
        method="Nelder-Mead",
        options={"xatol": MATLAB, "fatol": MATLAB, "initial_simplex": first, "maxiter": 400},
    )
    return sampled_gait(parameters, best.x, torque, sample=sample)


def _to_next(motion: Motion, sample: float) -> None:
    motion.advance(math.ceil(motion.time / sample - 1e-9) * sample - motion.time)


FIRST, SECOND = (0.902, 10.935), (0.768, 11.094)  # rad/s: what the report calls minima
# Switch and motor [s] as printed, and where the second `fminsearch` stops.
TIMES = {FIRST: (0.428, 0.025), SECOND: (0.425, 0.033)}
STEPS = 20  # gaits
GUESSES = (1.0, 12.0), (0.5, 11.75)  # rad/s: where the report's search began
GAIT, GAP = "gait", " (a gap: it never hung straight down)"
# By kind of repetition: colour and words.
CURVES = {
    "sampled": (GREEN, "times of the sampled search"),
    "reset": (BLUE, "exact times, clock reset"),
    "pure": (RED, "exact times, one clock"),
}


# The rates of the report's landscapes [rad/s], from and to. The axes are lost with the scan. From
# the text: about (0.5, 11.5) and both guesses; "higher dth2", with a minimum near 20; "lower dth2
# and higher dth1".
RANGES = {
    "figure_3_4": ((0.0, 3.0), (8.0, 14.0)),
    "figure_9": ((0.0, 6.0), (14.0, 25.0)),
    "figure_10": ((2.0, 8.0), (0.0, 8.0)),
}


@dataclass(frozen=True)
class Curve:
    """Describe a plot over gaits: file, gait, what of a `Repetition`, its title, whether log."""

    name: str
    rates: tuple[float, float]
    of: str
    title: str
    log: bool = False


PLOTS = (
    Curve("figure_5", FIRST, "error", "error", True),
    Curve("figure_6", FIRST, "kinetic_energy", "kinetic energy at the vertical [J]"),
    Curve("figure_7", FIRST, "height", "height of the hand that grips [m]"),
    Curve("figure_8", SECOND, "error", "error", True),
)

Done = Callable[[int], None]


@dataclass(frozen=True)
class ReportSearch:
    """Hold where a search of the report's began, and where it stops."""

    guess: Annotated[Array, Quantity("rad/s")]
    found: SampledGait = field(metadata=INLINE)


@dataclass(frozen=True, kw_only=True)
class FigureData:
    """Hold what the figures show, and their files."""

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
        count: rates of each side of a landscape.
        folder: for the files.
        done: called with the number of gaits of the landscapes that a block has added.
    """
    evaluate(horizontal(torque), parameters, np.array(FIRST))  # compiles
    versions = made_with("roboaccord-monkeybot", "numba")
    files = write_diagrams(parameters, torque, folder)
    more, fields = write_landscapes(parameters, torque, count, folder, versions=versions, done=done)
    files += [*more, *write_repetitions(parameters, torque, folder)]
    return FigureData(
        torque=torque,
        lowest={name: each.minimum for name, each in fields.items()},
        searches=[
            ReportSearch(guess, fminsearch(parameters, guess, torque))
            for guess in map(np.array, GUESSES)
        ],
        printed=[sampled_gait(parameters, np.array(rates), torque) for rates in (FIRST, SECOND)],
        files=sorted(files, key=_number),
        versions=versions,
    )


def write_diagrams(parameters: MonkeyBotParameters, torque: float, folder: Path) -> list[Path]:
    """Write figures 1 and 2: the model, and the stages of the first gait."""
    files = [folder / "figure_1.svg", folder / "figure_2.svg"]
    write_model(parameters, files[0])
    write_stages(parameters, np.array(FIRST), torque, files[1])
    return files


def write_landscapes(
    parameters: MonkeyBotParameters,
    torque: float,
    count: int,
    folder: Path,
    *,
    versions: Mapping[str, str],
    done: Done | None = None,
) -> tuple[list[Path], dict[str, Landscape]]:
    """Write figures 3, 4, 9 and 10 with their data, on grids of `count` x `count` rates.

    Returns:
        the files, and the landscapes by name.
    """
    gait = horizontal(torque, limit=FIRST_SWING)
    files, fields = [], {}
    for name, spans in RANGES.items():
        field = landscape(
            gait, parameters, *(np.linspace(*span, count) for span in spans), done=done
        )
        fields[name], data = field, folder / f"{name}.npz"
        save_map(field.arrays | {"torque": np.array(torque)}, data, parameters, versions)
        files.append(data)
        flat, marks = folder / f"{name}.svg", None
        if name == "figure_3_4":
            files.append(folder / "figure_3.svg")
            write_surface(field, files[-1])
            flat, marks = folder / "figure_4.svg", np.array([FIRST, SECOND])
        write_map(field, flat, marks)
        files.append(flat)
    return files, fields


def write_repetitions(parameters: MonkeyBotParameters, torque: float, folder: Path) -> list[Path]:
    """Write figures 5 to 8 with their data, and return the files."""
    files = []
    for name, rates in (("figure_5_7", FIRST), ("figure_8", SECOND)):
        runs = {
            clock: repeat(parameters, np.array(rates), torque, steps=STEPS, clock=clock)
            for clock in CLOCKS
        }
        runs["sampled"] = repeat(
            parameters, np.array(rates), torque, steps=STEPS, times=TIMES[rates]
        )
        files.append(folder / f"{name}.csv")
        write_table(runs, files[-1])
        for plot in PLOTS:
            if plot.rates == rates:
                files.append(folder / f"{plot.name}.svg")
                write_curves(plot, runs, files[-1])
    return files


def write_curves(plot: Curve, runs: Mapping[str, Repetition], path: Path) -> None:
    """Write a figure over gaits as SVG, a curve for each kind of repetition."""
    with picture(path) as axes:
        for clock, run in runs.items():
            colour, words = CURVES[clock]
            values = getattr(run, plot.of)
            axes.plot(np.arange(1, STEPS + 1), values, color=colour, marker="o", label=words)
        gaps = any(np.isnan(getattr(run, plot.of)).any() for run in runs.values())
        axes.set(
            xlabel=GAIT + GAP * gaps, ylabel=plot.title, yscale="log" if plot.log else "linear"
        )
        axes.set_xticks(range(0, STEPS + 1, 2))
        legend(axes)


def write_table(runs: Mapping[str, Repetition], path: Path) -> None:
    """Write the results of the gaits as CSV, a row a gait; empty where one never hung straight.

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


def _number(file: Path) -> tuple[int, str]:
    """Return the number of the (first) figure that a file belongs to, and its name."""
    return int(file.stem.split("_")[1]), file.name
