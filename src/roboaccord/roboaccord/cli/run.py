"""`accord run`: one scenario, one engine, one transport, one bag."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from roboaccord.cli.console import ProgressObserver, out, print_json, progress
from roboaccord.contract.errors import AccordError
from roboaccord.run.metrics import UNITS, metrics_of
from roboaccord.run.output import fresh, make_folder
from roboaccord.run.runner import Runner, RunRequest, RunResult, find_runner
from roboaccord.scenario.controllers import check_controller
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup, find_robot
from roboaccord.scenario.watch import TIMEOUT

RobotName = Annotated[str, typer.Argument(metavar="ROBOT", help="See `accord list`.")]
ScenarioName = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A scenario of the robot, or a YAML file.")
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a scenario key; may be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


def run_command(
    robot: RobotName,
    scenario: ScenarioName,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="reference, dart or mujoco.")
    ] = "reference",
    transport: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="direct, ros (nodes in one process) or ros_processes. "
            "Default: ros where rclpy is installed, else direct.",
        ),
    ] = "",
    changes: Changes = None,
    controller: Annotated[
        str, typer.Option(metavar="MODULE:CLASS", help="A controller of your own.")
    ] = "",
    timeout: Annotated[
        float,
        typer.Option(metavar="S", help="Longest wait for the controller; inf: no limit."),
    ] = TIMEOUT,
    view: Annotated[bool, typer.Option("--view", help="Watch the run in the browser.")] = False,
    folder: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Default: under runs/.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a scenario, and record it.

    Examples:

      accord run snake serpenoid

      accord run snake serpenoid --engine dart --set controller.amplitude=0.3 --set duration=5

      accord run snake serpenoid --controller my_package.my_module:MyController --json
    """
    if not timeout > 0.0:
        raise AccordError(f"--timeout must be more than 0 s, not {timeout:g}")
    setup = load_setup(robot, scenario, changes or [])
    if not controller:
        check_controller(setup)
    runner, transport, note = choose_transport(transport)
    place = folder or fresh(Path("runs") / f"{setup.robot.name}_{setup.scenario.name}_{engine}")
    bag = fresh(make_folder(place) / "bag")
    with progress(as_json) as bar, no_empty_folder(place), ExitStack() as closing:
        label = f"{engine} over {transport}"
        watchers: tuple[Any, ...] = (ProgressObserver(bar, label, setup.scenario.duration),)
        if view:
            from roboaccord.view.live import LiveView

            live = LiveView(setup)
            bar.console.print(f"watch at {live.url}", highlight=False)
            closing.callback(live.close)
            watchers = (*watchers, live)
        result = runner(
            RunRequest(
                setup=setup,
                engine=engine,
                bag=bag,
                controller=controller,
                observers=watchers,
                timeout=timeout,
            )
        )
    summary = summarise(setup, engine, result)
    if as_json:
        print_json(summary)
    else:
        if note:
            out.print(note, highlight=False)
        print_summary(summary)


@contextmanager
def no_empty_folder(place: Path) -> Iterator[None]:
    """Remove a folder again if nothing came of the run that it was made for."""
    try:
        yield
    except AccordError:
        with suppress(OSError):
            place.rmdir()
        raise


def load_setup(robot: str, scenario: str, changes: list[str]) -> Setup:
    """Return the setup of a robot's scenario with changes."""
    found = find_robot(robot)
    return Setup.of(load_scenario(found.package, found.name, scenario, changes))


def choose_transport(name: str) -> tuple[Runner, str, str]:
    """Return the runner asked for, its name and a line to tell.

    Without a name it is `ros` where that can be had, else `direct`, and the line says so.
    """
    if name:
        return find_runner(name), name, ""
    try:
        return find_runner("ros"), "ros", "transport ros, since rclpy is installed"
    except AccordError as error:
        return find_runner("direct"), "direct", f"transport direct: {error}"


def summarise(setup: Setup, engine: str, result: RunResult) -> dict[str, Any]:
    """Return the figures of a run that `--json` prints."""
    trajectory = result.trajectory
    last = trajectory.state(-1)
    return {
        "robot": setup.robot.name,
        "scenario": setup.scenario.name,
        "engine": engine,
        "engine_version": result.engine_version,
        "transport": result.transport,
        "duration": last.time,
        "steps": len(trajectory) - 1,
        "wall_time": result.wall_time,
        "real_time_factor": last.time / result.wall_time,
        "trajectory_sha256": trajectory.sha256(),
        "bag": str(result.bag),
        "events": [
            {"time": e.time, "kind": e.kind, "subject": e.subject, "impulse": e.impulse}
            for e in trajectory.events
        ],
        "final": {
            "time": last.time,
            "q": dict(zip(trajectory.joints, last.q.tolist(), strict=True)),
            "qd": dict(zip(trajectory.joints, last.qd.tolist(), strict=True)),
            "base": {"position": last.position, "orientation": last.orientation},
        },
        "metrics": metrics_of(setup, trajectory),
    }


def print_summary(summary: dict[str, Any]) -> None:
    """Print the figures of a run for people."""
    table = Table(show_header=False, box=None)
    table.add_column(justify="right")
    table.add_column()
    table.add_row("ran", "{robot} {scenario} in {engine} over {transport}".format(**summary))
    table.add_row("simulated", f"{summary['duration']:g} s in {summary['steps']} control ticks")
    table.add_row(
        "wall time", f"{summary['wall_time']:.2f} s, {summary['real_time_factor']:.1f} x real time"
    )
    for name, value in summary["metrics"].items():
        table.add_row(name.replace("_", " "), f"{value:.4g} {UNITS.get(name, '')}".rstrip())
    if summary["events"]:
        table.add_row("events", str(len(summary["events"])))
    table.add_row("sha256", summary["trajectory_sha256"][:16])
    table.add_row("bag", summary["bag"])
    out.print(table)
