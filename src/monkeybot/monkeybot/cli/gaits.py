"""Commands on gaits: `accord monkeybot gait`, `periodic`, `continue`, `find`, `gaits` and more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.text import Text
from roboaccord.cli import (
    COMPILING,
    Force,
    Out,
    Result,
    Seed,
    counted,
    in_pieces,
    lines_of,
    make_table,
    progress,
    results,
    tables_of,
)
from roboaccord.contract import (
    INLINE,
    AccordError,
    Array,
    Json,
    NewtonMetres,
    Quantity,
    Radians,
    Ratio,
    Seconds,
    by_fields,
    by_option,
    check_target,
    to_json,
)
from roboaccord.run import write_rows

from monkeybot.cli.options import (
    Changes,
    Controls,
    KindName,
    Rates,
    Rise,
    Tolerance,
    Torque,
    controls_of,
    kind_of,
    robot_parameters,
)
from monkeybot.gaits.continuation import (
    Branch,
    Crossing,
    Family,
    Point,
    best,
    crossings,
    follow,
    stable,
)
from monkeybot.gaits.find import asymmetry, find_gaits
from monkeybot.gaits.gait import Figures, Multipliers, all_multipliers, evaluate, horizontal
from monkeybot.gaits.orbits import Orbit, clocked_gait, find_orbit, shipped_data, shipped_gait
from monkeybot.gaits.search import FINE, find_collisionless, minimise, missed, refine, repeat
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.source.figures import RANGES, draw_all
from monkeybot.stability.basin import Basin, Draws, basin
from monkeybot.stability.lqr import held_gait, held_multipliers


class Clock(StrEnum):
    """Clock of the open loop: free-running, or reset in every gait."""

    reset = "reset"
    pure = "pure"


@dataclass(frozen=True)
class Final:
    """Hold the state at the end, with th1 = 0."""

    th2: Annotated[float, Quantity("rad", form=".8f")]
    w1: Annotated[float, Quantity("rad/s", form=".8f")]
    w2: Annotated[float, Quantity("rad/s", form=".8f")]


@dataclass(frozen=True)
class GaitError:
    """Hold the error of a gait, and its end."""

    figures: Figures = field(metadata=INLINE)
    final: Final


@dataclass(frozen=True)
class Repeating:
    """Hold a gait that repeats, and its multipliers by what changes its hands."""

    rates: Annotated[Array, Quantity("rad/s", form=".8f")]
    torque: NewtonMetres
    residual: Annotated[float, Quantity("rad, rad/s", form=".2g")]
    multipliers: Annotated[
        Mapping[str, Multipliers],
        Quantity("1", "by events, by a clock that each gait resets, by a clock", "", ".5f"),
    ]


def gait_command(
    rates: Rates = (0.902, 10.935),
    torque: Torque = 2.0,
    changes: Changes = None,
    tolerance: Tolerance = FINE,
) -> Result:
    """Evaluate the report's gait: swing up, change hands on the line, motor, coast to the vertical.

    Its error is th2^2 + (w1 - w1')^2 + (w2 - w2')^2 between start and end.

    Examples:

      accord monkeybot gait --rates 0.902 10.935 --torque 2

      accord monkeybot gait --set inertia_a=0.0544 --set inertia_b=0.0544 --json
    """
    parameters = robot_parameters(changes)
    found = evaluate(horizontal(torque), parameters, np.array(rates), tolerance=tolerance)
    if not np.isfinite(found.error[0]):
        raise AccordError(missed(np.array(rates)))
    return Result(GaitError(found.figures, Final(*found.final[0, 1:].tolist())))


def minimise_command(
    rates: Rates = (1.0, 12.0),
    torque: Torque = 2.0,
    changes: Changes = None,
    tolerance: Tolerance = FINE,
) -> Result:
    """Find the rates of least error near a guess, by the method of Nelder and Mead.

    Examples:

      accord monkeybot minimise --rates 1 12 --torque 2
    """
    parameters = robot_parameters(changes)
    return Result(minimise(horizontal(torque), parameters, np.array(rates), tolerance=tolerance))


def periodic_command(
    rates: Rates = (0.63, 11.21), torque: Torque = 10.0, changes: Changes = None
) -> Result:
    """Refine a gait to one that repeats exactly, and report whether it is stable.

    A gait is stable if all its multipliers, the eigenvalues of its return map, are below 1.

    Examples:

      accord monkeybot periodic --rates 0.63 11.21 --torque 10
    """
    parameters, gait = robot_parameters(changes), horizontal(torque)
    found = refine(gait, parameters, np.array(rates))
    values = all_multipliers(gait, parameters, np.array([0.0, 0.0, *found.rates]))
    return Result(Repeating(found.rates, torque, found.residual, values))


def collisionless_command(
    angle: Annotated[
        Radians, typer.Option(help="Guess of the held link's angle, both hands level.")
    ] = 0.58,
    changes: Changes = None,
) -> Result:
    """Find a passive gait whose free hand comes to the line at rest: no motor, no impact.

    Examples:

      accord monkeybot collisionless --angle 0.58

      accord monkeybot collisionless --angle 1.08 --json
    """
    return Result(find_collisionless(robot_parameters(changes), angle))


def repeat_command(
    rates: Rates = (0.902, 10.935),
    torque: Torque = 2.0,
    steps: Annotated[int, typer.Option(min=1, help="Number of gaits.")] = 20,
    sample: Annotated[
        Seconds,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Period of the controller, to which times are rounded; 0: not rounded.",
        ),
    ] = 0.001,
    clock: Annotated[
        Clock, typer.Option(help="reset: the clock restarts at the vertical; pure: it runs on.")
    ] = Clock.reset,
    changes: Changes = None,
) -> Result:
    """Repeat the report's gait open-loop, by the times of one evaluation (figures 5 to 8).

    A gait that never hangs straight down has no error; with a clock that it would have to reset,
    it is the last one.

    Examples:

      accord monkeybot repeat --rates 0.902 10.935 --torque 2 --steps 20

      accord monkeybot repeat --rates 0.768 11.094 --clock pure --json
    """
    found = repeat(
        robot_parameters(changes), np.array(rates), torque,
        steps=steps, sample=sample, clock=clock.value,
    )  # fmt: skip
    table = make_table("gait", "error", "kinetic energy [J]", "height [m]")
    for i, row in enumerate(zip(found.error, found.kinetic_energy, found.height, strict=True), 1):
        table.add_row(str(i), *("-" if np.isnan(value) else f"{value:.4g}" for value in row))
    explained = "error: th2^2 + (w1 - w1')^2 + (w2 - w2')^2; -: it never hung straight down"
    return Result(found, [table, Text(explained)])


@in_pieces()
def figures_command(
    folder: Out = None,
    force: Force = False,
    count: Annotated[
        int,
        typer.Option(
            "--points", min=3, max=2001, help="Grid points along each side of a landscape."
        ),
    ] = 301,
    torque: Torque = 2.0,
    changes: Changes = None,
) -> Result:
    """Draw the report's figures 1 to 10 from this code, with the data beside them.

    Also repeats its two searches by the report's methods: events on samples of 1 ms, and MATLAB's
    fminsearch with its usual tolerances.

    Examples:

      accord monkeybot figures --out monkeybot_figures

      accord monkeybot figures --points 101 --out monkeybot_figures --json
    """
    parameters = robot_parameters(changes)
    with (
        results(folder, "monkeybot_figures", force=force) as place,
        counted(len(RANGES) * count**2, "landscapes") as done,
    ):
        return Result(draw_all(parameters, torque, count, place, done))


Start = tuple[float, float, float, float]
FIGURES = ("orbit.spectral_radius", "orbit.settings", "orbit.stride", "orbit.drop")
STATES = ("orbit.start", "orbit.work", "asymmetry", "straight")
MARKED = ("point.value", "point.orbit.settings", "point.orbit.spectral_radius", "kind", "outside")
Of = Annotated[float, Quantity("", "of what is varied, in its own unit")]


@dataclass(frozen=True)
class Found:
    """Hold a gait, how far a swing is from its mirror image, and how near it hangs straight."""

    orbit: Orbit = field(metadata=INLINE)
    asymmetry: Annotated[
        float | None, Quantity("rad", "how far a swing is from its mirror image in time", "", ".2g")
    ] = None
    straight: Annotated[
        float | None, Quantity("rad", "how near it comes to hanging straight", "", ".2g")
    ] = None


@dataclass(frozen=True)
class Search:
    """Hold the gaits that were found, and from what."""

    kind: str
    samples: int
    seed: int
    gaits: list[Found]


@dataclass(frozen=True)
class Continuation:
    """Hold a branch of orbits, why it ends, and where it is stable."""

    along: str
    orbits: list[Point]
    ends: tuple[str, str]
    crossings: list[Crossing]
    stable: list[dict[str, tuple[float, float]]]
    best: Point


@in_pieces()
def find_command(
    kind: KindName = "clocked",
    period: Annotated[Seconds | None, typer.Option(help="Short for --at period=VALUE.")] = None,
    controls: Controls = None,
    rise: Rise = 0.0,
    samples: Annotated[int, typer.Option(min=1, help="Random starts.")] = 1000,
    seed: Seed = 0,
    anywhere: Annotated[
        bool,
        typer.Option(
            "--anywhere",
            help="Start with the elbow on either side and rates up to 10 rad/s, to find also "
            "gaits that do not pass through the vertical.",
        ),
    ] = False,
    changes: Changes = None,
) -> Result:
    """Find gaits of a kind that repeat, by Newton's method from random starts.

    The same seed gives the same gaits. The most stable is first; a gait that walks to the left is
    the mirror image of one to the right. What a kind solves for (usually the torque) starts from
    0.5 to 1.5 times the given value.

    Examples:

      accord monkeybot find --kind clocked --period 0.935 --samples 1000 --seed 1

      accord monkeybot find --kind flying --at flight=0.012 --samples 500 --json

      accord monkeybot find --kind passive --at period=0.9 --anywhere
    """
    which = kind_of(kind)
    given = [*([f"period={period!r}"] if period is not None else []), *(controls or ())]
    parameters, values = robot_parameters(changes), controls_of(which, given)
    with counted(samples, "random starts") as done:
        found = find_gaits(
            which, parameters, values, samples=samples, seed=seed, rise=rise, anywhere=anywhere,
            done=done,
        )  # fmt: skip
    rows = []
    for orbit in found:
        apart = asymmetry(orbit, parameters)
        rows.append(Found(orbit, apart.mirror, apart.straight) if apart else Found(orbit))
    numbers = [str(number) for number, _ in enumerate(rows, 1)]
    shown = [tables_of(rows, *names, labels=numbers) for names in (FIGURES, STATES) if rows]
    return Result(
        Search(kind, samples, seed, rows),
        [f"{len(found)} gaits from {samples} starts", *chain(*shown)],
        used={"at": [f"{name}={value:g}" for name, value in values.items()], "period": None},
    )


@by_option("kind", "at start rise", "gait", "along from to step most out set")
def continue_command(
    along: Annotated[
        str,
        typer.Option(
            help="Parameter to vary: a control of the gait, or mass, inertia, length, centre, "
            "mass_a..."
        ),
    ],
    low: Annotated[Of, typer.Option("--from", help="Smallest value, in SI units.")],
    high: Annotated[Of, typer.Option("--to", help="Largest value.")],
    gait: Annotated[str, typer.Option(help="Shipped gait to begin at.")] = "clocked",
    kind: Annotated[str | None, typer.Option(help="Kind of a gait that is not shipped.")] = None,
    controls: Controls = None,
    start: Annotated[
        Start,
        Quantity("rad, rad/s"),
        typer.Option(metavar="TH1 TH2 W1 W2", help="Guess of the gait's start, with --kind."),
    ] = (-0.95, -1.25, 0.4, 0.45),
    rise: Rise = 0.0,
    largest: Annotated[
        Ratio,
        typer.Option("--step", min=1e-6, max=1.0, help="Largest step, as a fraction of the range."),
    ] = 0.02,
    most: Annotated[
        int, typer.Option(min=1, help="Largest number of orbits in each direction.")
    ] = 500,
    file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.csv", help="File for the table of orbits.")
    ] = None,
    changes: Changes = None,
) -> Result:
    """Follow a family of gaits, round its turning points, and report where it is stable.

    It goes in both directions from a gait, until the family leaves the range or ends. Multipliers
    cross the unit circle at 1 (fold), at -1 (flip) or as a pair (Neimark-Sacker); crossings are
    located. "mass", "inertia", "length" and "centre" (from the elbow to the centre of gravity) are
    of both links alike.

    Examples:

      accord monkeybot continue --gait clocked --along period --from 0.9 --to 0.97

      accord monkeybot continue --gait level --along torque --from 0.5 --to 0.75 --out level.csv

      accord monkeybot continue --kind flying --at flight=0.01 --along flight --from 0.005 --to 0.02
    """
    check_target(file, ".csv")
    parameters = robot_parameters(changes)
    orbit, rise = _begin(parameters, gait, kind, controls, start, rise)
    family = Family(orbit.kind, parameters, orbit.controls, along, low, high, rise)
    with progress() as bar:
        task = bar.add_task(COMPILING, total=None)
        branch = follow(
            family, orbit, largest=largest, most=most,
            done=lambda text: bar.update(task, description=text),
        )  # fmt: skip
        bar.update(task, description="locating crossings")
        crossed = crossings(family, branch)
        bar.update(task, description="minimising the spectral radius")
        least = best(family, branch)
    if file is not None:
        write_csv(branch, along, file)
    stretches = [each.spans(along) for each in stable(branch, crossed)]
    found = Continuation(along, branch.points, branch.ends, crossed, stretches, least)
    values = [point.value for point in branch.points]
    marked = [*crossed, Crossing("smallest radius", None, least)]
    shown = [
        f"{len(values)} orbits, {along} from {min(values):.6g} to {max(values):.6g}",
        "ends: {}; {}".format(*branch.ends),
        *(f"stable: {_ranges(spans)}" for spans in stretches or [{}]),
        *tables_of(marked, *MARKED),
    ]
    return Result(found, shown)


def _ranges(spans: Mapping[str, tuple[float, float]]) -> str:
    return ", ".join(f"{name} {a:.6g} to {b:.6g}" for name, (a, b) in spans.items()) or "nowhere"


def _begin(
    parameters: MonkeyBotParameters,
    gait: str,
    kind: str | None,
    controls: list[str] | None,
    start: Start,
    rise: float,
) -> tuple[Orbit, float]:
    """Return the orbit to begin at, and the rise of its family [m]."""
    if kind is not None:
        which = kind_of(kind)
        values = controls_of(which, controls)
        return find_orbit(which, parameters, values, np.array(start), rise=rise), rise
    orbit = shipped_gait(gait, parameters)
    return orbit, float(shipped_data()[gait].get("rise", 0.0))


def write_csv(branch: Branch, along: str, file: Path) -> None:
    """Write the orbits of a branch as a table, one a line.

    Raises:
        AccordError: if the file cannot be written.
    """
    rows = list[dict[str, float]]()
    for point in branch.points:
        orbit = point.orbit
        row = {along: point.value, **orbit.controls}
        row |= dict(zip(("th1", "th2", "w1", "w2"), orbit.start.tolist(), strict=True))
        for i, value in enumerate(orbit.multipliers, 1):
            row |= {f"real_{i}": float(value.real), f"imag_{i}": float(value.imag)}
        row |= {"spectral_radius": orbit.spectral_radius, "stride": orbit.stride}
        rows.append({**row, "work": orbit.work, "drop": orbit.drop})
    write_rows(file, list(rows[0]), [list(row.values()) for row in rows])


SD_ANGLE, SD_RATE, STEPS = 0.02, 0.1, 100  # of the starts of the basin, rad, rad/s
COLUMNS = (
    "name", "orbit.period", "orbit.stride", "orbit.drop", "orbit.work", "cost_of_transport",
    "orbit.spectral_radius", "survived",
)  # fmt: skip


def stable_command(
    period: Annotated[Seconds, typer.Option(help="From one change of hands to the next.")],
    changes: Changes = None,
) -> Result:
    """Find the horizontal gait of constant torque whose hands change by a clock.

    It is stable if its spectral radius, the size of its largest multiplier, is below 1.

    Examples:

      accord monkeybot stable --period 0.943

      accord monkeybot stable --period 0.93 --json
    """
    found = clocked_gait(robot_parameters(changes), period)
    figures = found.to_json()
    del figures["controls"]
    return Result({**found.controls, **figures}, lines_of(found))


@in_pieces()
def gaits_command(
    samples: Annotated[
        int, typer.Option(min=0, help="Walks of each gait to estimate its basin; 0: no basin.")
    ] = 200,
    changes: Changes = None,
) -> Result:
    """List the gaits that are shipped, with their figures for this robot.

    The basin is the share of starts that walk 100 steps, normally distributed about the orbit with
    0.02 rad and 0.1 rad/s; accord monkeybot basin has its limits of confidence. The radius of
    report_lqr is that of the gait with its feedback.

    Examples:

      accord monkeybot gaits

      accord monkeybot gaits --set viscous_elbow=0.01
    """
    parameters, names = robot_parameters(changes), list(shipped_data())
    found = []
    with counted(len(names), "walking") as done:
        for name in names:
            found.append(shipped(name, parameters, samples))
            done(1)
    what = tables_of(found, "name", "description")
    return Result({"gaits": to_json(found)}, [*tables_of(found, *COLUMNS), "", *what])


@dataclass(frozen=True)
class Shipped:
    """Hold the figures of a shipped gait; its multipliers are those with its feedback."""

    name: Annotated[str, Quantity("", name="gait")]
    description: Annotated[str, Quantity("", name="what it is", form="text")]
    orbit: Orbit
    cost_of_transport: Annotated[
        float, Quantity("1", "of transport, work over weight and stride", "cost", ".3g")
    ]
    basin: Basin | None

    @property
    def survived(
        self,
    ) -> Annotated[
        float | None,
        Quantity("1", "share of disturbed starts that walk 100 steps", "basin", ".0f", "%"),
    ]:
        """The share of the basin."""
        return self.basin.survived if self.basin else None

    def to_json(self) -> dict[str, Json]:
        """Return the figures by name, those of the orbit among them."""
        figures, more = self.orbit.to_json(), dict[str, Json]()
        drop = figures.pop("drop")
        if self.basin is not None:
            share = by_fields(self.basin)
            del share["height_sd"]
            asked = {"sd_angle": SD_ANGLE, "sd_rate": SD_RATE, "samples": len(self.basin.starts)}
            more["basin"] = {**share, **asked, "steps": STEPS}
        about = {"name": self.name, "description": self.description, "kind": self.orbit.kind.name}
        cost = {"cost_of_transport": self.cost_of_transport, "drop": drop}
        return {**about, **figures, **cost, **more}


def shipped(name: str, parameters: MonkeyBotParameters, samples: int) -> Shipped:
    """Return the figures of a shipped gait."""
    orbit, feedback = held_gait(name, parameters)
    share = None
    if samples:
        share = basin(
            orbit, parameters, sd_angle=SD_ANGLE, sd_rate=SD_RATE, draws=Draws(samples, STEPS),
            feedback=feedback,
        )  # fmt: skip
    cost, words = orbit.cost_of_transport(parameters), shipped_data()[name]["description"]
    if feedback:
        orbit = replace(orbit, multipliers=held_multipliers(orbit, parameters))
    return Shipped(name, words, orbit, cost, share)
