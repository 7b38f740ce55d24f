"""`accord crosscheck`: engines against the analytical reference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from roboaccord.bag.reader import read_run
from roboaccord.cli.command import Result, used_by
from roboaccord.cli.console import COMPILING, command_line, log, make_table, note, progress
from roboaccord.cli.folder import results
from roboaccord.cli.options import (
    Base,
    Changes,
    Engines,
    Faults,
    Force,
    Out,
    Packages,
    ScenarioIfAny,
    complete_robot,
    load_setup,
    refuse_missing_bag,
)
from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import describe_verdict
from roboaccord.crosscheck.recorded import check_bag
from roboaccord.crosscheck.result import CrosscheckResult
from roboaccord.crosscheck.run import run_crosscheck
from roboaccord.engines import DEFAULTS, check_engine
from roboaccord.engines.factory import available
from roboaccord.report.tables import statistics_cells
from roboaccord.run.runner import model_of
from roboaccord.scenario.files import apply_change, load_scenario
from roboaccord.scenario.perturbation import Perturbation, parse_perturbation
from roboaccord.scenario.setup import find_robot, is_file, robot_names

OUTCOMES = {
    "within": Text("within", "green"),
    "outside": Text("outside", "red"),
    "not_judged": Text("not judged", "yellow"),
    "excused": Text("excused", "yellow"),
}
FINEST = 4  # physics steps of the table; the report has all


def crosscheck_command(
    robot: Annotated[
        str,
        typer.Argument(
            metavar="ROBOT|FILE|BAG",
            help="See `accord list`; a URDF or xacro file; or a recorded run.",
            autocompletion=complete_robot,
        ),
    ],
    scenario: ScenarioIfAny = "",
    engines: Engines = "",
    refine: Annotated[
        int, typer.Option(min=1, max=6, help="Number of physics steps: dt, dt/2, dt/4, ...")
    ] = 3,
    changes: Changes = None,
    faults: Faults = None,
    base: Base = "",
    packages: Packages = None,
    perturb: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ENGINE:KIND[:WHERE]=VALUE",
            help="Falsify one engine, to see the check find it: its mass, inertia, axis, gravity, "
            "friction, gear, delay, ... at a link or joint, at all where none is named.",
        ),
    ] = None,
    folder: Out = None,
    force: Force = False,
) -> Result:
    """Check engines against the analytical reference at three levels.

    Accelerations at random states; one control period from every recorded state; whole
    trajectories at dt, dt/2, dt/4 with their order of convergence. A scenario that calls its
    motion chaotic is checked by medians over seeds instead. Each level of each engine is within,
    outside, not judged or excused. Exit status 1 if one is outside (fail) or not judged
    (undecided). With no engine there is no verdict, and the status is 0.

    Of a BAG every control period is compared with the reference's, as the node `crosscheck` does
    while it runs. One that holds no scenario needs its name behind it.

    Examples:

      accord crosscheck snake serpenoid

      accord crosscheck snake serpenoid --engines reference,dart --refine 4 --json

      accord crosscheck snake serpenoid --perturb dart:mass:base_link=1.01

      accord crosscheck arm.urdf --engines dart,mujoco --set crosscheck.duration=0.5

      accord crosscheck runs/snake_serpenoid_dart/bag
    """
    known = is_file(robot) or robot.replace("-", "_") in robot_names()
    if not known and Path(robot).exists():
        return check_recorded(Path(robot), scenario, changes or [])
    if not known:
        refuse_missing_bag(robot)
    setup = load_setup(robot, scenario, changes, faults, base, packages)
    chosen = choose_engines(engines)
    falsified = parse_perturbations(perturb or [], chosen)
    default = f"{setup.robot.name}_{setup.scenario.name}_crosscheck"
    with results(folder, default, force=force) as place, progress() as bar:
        task = bar.add_task(COMPILING, total=None)
        result = run_crosscheck(
            setup,
            chosen,
            refine=refine,
            out=place,
            perturbations=falsified,
            command=command_line(),
            refused=None if engines else leave_out,
            started=lambda jobs: bar.update(task, total=jobs),
            done=lambda engine, dt: bar.update(task, advance=1, description=f"{engine} {dt:g} s"),
        )
    used = used_by(setup, "control_period", "physics_step", "seed") | {"engines": chosen}
    if setup.scenario.crosscheck.statistics:
        used["refine"] = None  # statistics have the scenario's step and twice it
    data = result.to_json() | model_of(setup)
    return Result(data, shown_of(result), used=used, ok=result.acceptable)


def check_recorded(bag: Path, scenario: str, changes: list[str]) -> Result:
    """Compare every control period of a bag with the reference."""
    run = read_run(bag)
    data = dict(run.scenario)
    if scenario:
        found = find_robot(data.get("robot", run.robot))
        data = load_scenario(found.package, found.key, scenario).data()
    for change in changes:
        apply_change(data, change)
    verdict = check_bag(run, data)
    return Result(verdict._asdict(), [verdict.line()], used={"engines": run.engine}, ok=verdict.ok)


def choose_engines(names: str) -> list[str]:
    """Return the engines named, or the defaults, with a line for each that cannot be had."""
    if names:
        chosen = [name.strip() for name in names.split(",") if name.strip()]
        for name in chosen:
            check_engine(name)
        return chosen
    found = available(DEFAULTS)
    for reason in found.values():
        if reason.startswith("engine "):
            note(f"left out: {reason}")
    usable = [name for name, version in found.items() if not version.startswith("engine ")]
    return ["reference", *usable]


def leave_out(name: str, error: AccordError) -> None:
    """Say on stderr that an engine does not take the scenario."""
    reason = str(error).removeprefix(f"{name}: ")
    log.print(f"left out: {name}: {reason}", soft_wrap=True)


def parse_perturbations(texts: list[str], engines: list[str]) -> tuple[Perturbation, ...]:
    """Return the perturbations of `ENGINE:KIND[:WHERE]=VALUE` texts.

    Raises:
        AccordError: for one that cannot be read, or is of no engine of this check.
    """
    found = tuple(parse_perturbation(text) for text in texts)
    for item in found:
        if item.engine not in engines or item.engine == "reference":
            raise AccordError(f"--perturb {item}: {item.engine} is no engine of this check")
    return found


def shown_of(result: CrosscheckResult) -> list[RenderableType]:
    """Return the three levels as a table, and the verdict."""
    data = result.data
    versions = ", ".join(f"{engine} {data['versions'][engine]}" for engine in data["engines"])
    colour = {"pass": "green", "fail": "red", None: "default"}.get(data["verdict"], "yellow")
    return [
        *(statistics_tables(data) if data["statistics"] else distance_tables(data)),
        Text(versions),
        *([outcome_table(data)] if data["levels"] else []),
        Text.assemble("verdict: ", (describe_verdict(data), colour)),
        *(Padding(Text(line), (0, 0, 0, 2)) for line in [*data["reasons"], *data["remarks"]]),
        f"report: {result.report}",
    ]


def outcome_table(data: dict[str, Any]) -> Table:
    """Return the outcome of each level, a row for each engine."""
    levels = data["levels"]
    names = [level.replace("_", " ") for level in levels]
    table = make_table("engine", *names, words=names)
    for engine in data["engines"][1:]:
        cells = [levels[level][engine] for level in levels]
        table.add_row(engine, *(OUTCOMES[cell["outcome"]] for cell in cells))
    return table


def distance_tables(data: dict[str, Any]) -> list[RenderableType]:
    """Return the three levels, a row for each engine, and what the columns are."""
    runs = data["trajectory"]
    steps = next(iter(runs.values()))["dt"][-FINEST:]
    table = make_table(
        "engine",
        "accel.\nrel.",
        "one step\nrad/s",
        *(f"{1e3 * dt:g} ms\nmm" for dt in steps),
        "order",
        "floor\nmm",
        "agree\nuntil",
        title=f"{data['robot']} {data['scenario']}: distance from the reference",
    )
    for engine, run in runs.items():
        table.add_row(*row_of(data, engine, run))
    explained = (
        "accel.: largest relative error at random states; one step: rms error of a control period; "
        "mm: largest distance of any link over the run, by physics step; order: of convergence; "
        "floor: what round-off makes of it; agree until: when that comes to 1 mm"
    )
    return [table, Text(explained)]


def statistics_tables(data: dict[str, Any]) -> list[RenderableType]:
    """Return accelerations and the statistics over seeds, a row for each engine."""
    checks = data["statistics"]
    first = next(iter(checks.values()))
    unit = f" [{first['unit']}]" if first["unit"] else ""
    table = make_table(
        "engine",
        *("accel.\nrel.", "mean", "median", "above\n0", "difference", "allowed\n+-"),
        title=f"{data['robot']} {data['scenario']}: {first['figure']}{unit} over seeds",
    )
    for engine, check in checks.items():
        acceleration = data["acceleration"].get(engine, {}).get("max")
        first_cell = "" if acceleration is None else f"{acceleration:.1e}"
        mean, median, _, _, positive, difference, allowed = statistics_cells(check)
        mean = mean.split()[0]  # its interval is in the report: the table fits 80 columns
        table.add_row(engine, first_cell, mean, median, positive, difference, allowed)
    explained = (
        "accel.: largest relative error at random states; above 0: share of the runs; difference "
        "of medians, 95 % confidence; allowed: what twice the step does"
    )
    return [table, Text(explained)]


def row_of(data: dict[str, Any], engine: str, run: dict[str, Any]) -> list[str]:
    """Return the cells of one engine's row."""
    acceleration = data["acceleration"].get(engine, {}).get("max")
    step, noise = data["one_step"].get(engine, {}).get("rms"), data["noise"][engine]
    return [
        engine,
        "" if acceleration is None else f"{acceleration:.1e}",
        "" if step is None else f"{step:.1e}",
        *(f"{1e3 * error:.2g}" for error in run["error"][-FINEST:]),
        "" if run["order"] is None else f"{run['order']:.2f}",
        f"{1e3 * noise['floor']:.1g}",
        "end" if noise["horizon"] is None else f"{noise['horizon']:.3g} s",
    ]
