"""The command `accord bench`: contact problems with exact answers, in every engine."""

from itertools import pairwise
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from roboaccord import cli
from roboaccord.cli import options
from roboaccord.contract import AccordError

from roboaccord_bench import bench, problems
from roboaccord_bench import engines as adapters
from roboaccord_bench.found import load_engine, named_entries
from roboaccord_bench.page import write_page
from roboaccord_bench.published import publish
from roboaccord_bench.shown import case_text, engine_text, error_text, outcome_text

LARGEST_STEP = 0.1  # s: in a longer one every contact of the problems is over
Names = Annotated[list[str] | None, typer.Argument(metavar="PROBLEM", help="All by default.")]
Engines = Annotated[str, typer.Option(metavar="LIST", help="Engines; all quick ones by default.")]
Steps = Annotated[
    str, typer.Option(metavar="LIST", help="Physics steps in seconds, each half the last.")
]


def bench_command(
    names: Names = None,
    engines: Engines = "",
    steps: Steps = "0.002,0.001,0.0005",
    folder: options.Out = None,
    force: options.Force = False,
) -> cli.Result:
    """Compare engines with the exact answers of contact problems, at falling steps.

    Each engine runs with its default options, and with those that its authors would choose. What
    is left at step 0 says whether its law of contact is the right one: `order` (right, and how fast
    it converges), `constant` (another law: a figure that no step improves), or no limit. The page
    has a table of all, and a diagram for each problem. With the same --out an interrupted bench
    continues.

    Examples:

      accord bench

      accord bench stopping pairs --engines mujoco,dart

      accord bench bounce --engines sapien --steps 0.004,0.002,0.001 --json
    """
    chosen, missing = choose_engines(options.listed(engines))
    calls = bench.plan(names or named_entries(problems, "PROBLEM"), chosen, parse_steps(steps))
    with (
        cli.results(folder, "bench", force=force) as target,
        cli.counted(len(calls), "problems") as done,
    ):
        data = bench.run(calls, target, lambda what: done(1, what))
        publish(data, target)
        page = write_page(data, target / "bench.html", cli.command_line())
    for result in (each for entry in data["problems"] for each in entry["results"]):
        del result["series"]  # which has a file
    return cli.Result(data, [*tables(data), *missing, f"page: {page}"])


def choose_engines(names: list[str]) -> tuple[list[str], list[str]]:
    """Return the engines to run, and a line for each that is left out.

    Args:
        names: given by the user; none for all that are installed and not slow.

    Raises:
        AccordError: if one that is named is unknown or not installed.
    """
    if names:
        return [name for name in names if load_engine(name)], []
    chosen, missing = list[str](), list[str]()
    for name in named_entries(adapters, "ENGINE"):
        try:
            if load_engine(name).slow:
                raise AccordError(f"{name} is slow: name it by --engines")
            chosen.append(name)
        except AccordError as error:
            missing.append(str(error))
    return chosen, missing


def parse_steps(text: str) -> tuple[float, ...]:
    """Return physics steps [s].

    Raises:
        AccordError: if they are not three or more, each half the one before.
    """
    steps = tuple(cli.quantity(word) for word in options.listed(text))
    halved = all(abs(2.0 * small - large) <= 1e-9 * large for large, small in pairwise(steps))
    if len(steps) < 3 or not halved or not 0.0 < steps[-1] < steps[0] <= LARGEST_STEP:
        form = f"three or more seconds up to {LARGEST_STEP:g}, each half the last"
        raise AccordError(f"--steps takes {form}, not {text!r}")
    return steps


def tables(data: bench.Json) -> list[RenderableType]:
    """Return a table for each problem: last error and outcome, by case and engine."""
    made = dict[str, Table]()
    for entry in data["problems"]:
        name, case = entry["name"], case_text(entry["case"])
        if name not in made:
            headings = "case", "engine", "last error", "outcome"
            made[name] = cli.make_table(*headings, title=name, words=("engine",), text=headings[3:])
        for result in entry["results"]:
            texts = error_text(entry, result), outcome_text(entry, result)
            made[name].add_row(case, engine_text(result), *texts)
            case = ""
    return [*made.values()]
