"""`accord sweep`: statistics of a scenario's figures (such as speed) over many seeds.

The seeds are 0, 1, ..., the same for every engine, so that a command gives the same numbers again;
that stays. Statistics are computed in the core's run/sweep.py, the page is made in page.py. A
figure is added in the core's run/metrics.py or by a robot. Options and columns may be changed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord import cli
from roboaccord.cli import options
from roboaccord.contract import AccordError, Quantity

if TYPE_CHECKING:
    from roboaccord_studies.sweep.study import Study

# Options of the command.
ENGINES = typer.Option(
    metavar="LIST", help="Engines, separated by commas.", autocompletion=cli.complete_engines
)
PHYSICS_STEPS = typer.Option(
    metavar="LIST", help="Physics steps, separated by commas. Default: the scenario's."
)
FIGURE = typer.Option(
    metavar="NAME", help="Figure to summarise, as `accord run` prints it. By default its first."
)


@options.in_pieces()
def sweep_command(
    robot: options.RobotName,
    scenario: options.ScenarioName,
    seeds: Annotated[int, typer.Option(min=2, help="Number of runs: seeds 0, 1, ...")] = 20,
    engines: Annotated[str, ENGINES] = "reference",
    physics_steps: Annotated[str, Quantity("s"), PHYSICS_STEPS] = "",
    figure: Annotated[str, FIGURE] = "",
    changes: options.Changes = None,
    faults: options.Faults = None,
    folder: options.Out = None,
    force: options.Force = False,
) -> cli.Result:
    """Run a scenario from many seeds: mean, spread and confidence of a figure.

    What is random in the scenario depends on the seed: the start, with `initial.spread_q`. A run
    that diverges is counted and named, and has no part in the mean.

    Examples:

      accord sweep snake lateral_undulation --figure travel_per_cycle

      accord sweep snake lateral_undulation --engines reference,dart --physics-steps 0.001,0.0005

      accord sweep snake serpenoid --set initial.spread_q=0.01 --seeds 5 --json
    """
    from roboaccord_studies.sweep.door import sweep

    setup = options.load_setup(robot, scenario, changes, faults)
    chosen = options.choose_engines(engines)
    steps = parse_steps(physics_steps)
    default = f"{setup.robot.name}_{setup.scenario.name}_sweep"
    jobs = len(chosen) * seeds * max(len(steps), 1)
    with (
        cli.results(folder, default, force=force) as out_folder,
        cli.counted(jobs, cli.COMPILING) as done,
    ):
        study = sweep(
            setup,
            figure=figure,
            engines=chosen,
            physics_steps=steps,
            seeds=seeds,
            done=lambda engine, step, seed: done(1, f"{engine} {1e3 * step:g} ms"),
            command=cli.command_line(),
            out=out_folder,
        )
    lines = list[str]()
    for cell in study.cells:
        lines += [f"seed {seed} has no value: {reason}" for seed, reason in cell.failures.items()]
    used = cli.used_by(setup, "duration", "control_period")
    used |= {"physics_steps": steps or [setup.scenario.physics_step]}
    return cli.Result(study, [*tables_of(study), *lines, f"report: {study.report}"], used=used)


def parse_steps(text: str) -> list[float]:
    """Return the physics steps in a text with commas between [s].

    Raises:
        AccordError: if one is not a number above 0.
    """
    steps = [cli.quantity(word) for word in options.listed(text)]
    if not all(step > 0 for step in steps):
        raise AccordError(f"--physics-steps takes seconds with commas between, not {text!r}")
    return steps


STATISTICS = ("mean", "standard\ndeviation", "95 % interval")
# Headings of the table's columns.
HEADINGS = ("engine", "step\n[ms]", "runs", *STATISTICS, "above\n0", "no\nvalue")


def tables_of(study: Study) -> list[RenderableType]:
    """Return the statistics as a table, and a line that explains its columns."""
    unit = f" [{study.unit}]" if study.unit else ""
    title = f"{study.robot} {study.scenario}: {study.figure}{unit}"
    table = cli.make_table(*HEADINGS, title=title)
    for cell in study.cells:
        statistics = cell.statistics
        low, high = statistics.mean - statistics.half_width, statistics.mean + statistics.half_width
        table.add_row(
            cell.engine,
            f"{1e3 * cell.physics_step:g}",
            str(statistics.n),
            number(statistics.mean),
            number(statistics.deviation),
            cli.NONE if math.isnan(low) else f"{low:.3g} to {high:.3g}",
            cli.NONE if math.isnan(statistics.positive) else f"{100 * statistics.positive:.0f} %",
            str(len(cell.failures)),
        )
    more = "above 0: share of the runs; no value: runs that diverged"
    return [table, Text(f"95 % interval: of the mean; {more}")]


def number(value: float) -> str:
    """Return a number, or a dash for none."""
    return cli.NONE if math.isnan(value) else f"{value:.4g}"
