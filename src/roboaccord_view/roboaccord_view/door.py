"""The command `accord view`, and the function `ra.view` that does the same.

Both decide by their first argument, and call show.py: a recorded run (a bag) is played on a page or
drawn into a film, a robot in a scenario is simulated live, and a robot alone is posed by hand. The
command differs by what a terminal needs: help, completion, words of scenarios and a progress bar.

VIEW says which options each mode takes; an option of another mode is refused. To add an option,
make it a parameter of both or a field in options.py, and add its name to its modes in VIEW. Names
of options stay.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Unpack

import typer
from rich import filesize
from roboaccord import cli
from roboaccord.contract import SETUP, AccordError, Modes
from roboaccord.door import Options, Recording, Settings, Subject, bag_of, setup_of, subject_mode
from roboaccord.run import Run
from roboaccord.scenario import Setup, find_robot, make_scenario, scenario_names

from roboaccord_view.options import FilmOptions, Page
from roboaccord_view.show import Recorded, pose, simulate, write_films
from roboaccord_view.stage import HOST, PORT

# Where lines for the user go: of the function to the log, of the command to the terminal.
note = logging.getLogger("roboaccord").info
tell = partial(cli.log.print, soft_wrap=True)


def _modes(values: Mapping[str, Any]) -> list[str]:
    """Return the names of the modes of a call, keys of VIEW, from its options and arguments."""
    medium = "as a film" if values.get("gif") or values.get("mp4") else "in the browser"
    mode = subject_mode(values["what"])
    if mode == "BAG":
        return [mode, medium]
    simulates = mode == SETUP or values.get("beside") or values.get("words")
    return [mode, "with SCENARIO" if simulates else "without SCENARIO", "in the browser"]


# What `accord view --help` says about arguments and options.
WHAT_HELP = "A run folder or bag, or a robot or its URDF or xacro file to pose by hand."
BESIDE_NAME = "[BAG...|SCENARIO]"
BESIDE_HELP = "Further runs, shown translucent; of a FILE, too; or a scenario to simulate and push."
ROBOT_HELP = "Robot file of a BAG, whose meshes are drawn."
COLLISION_HELP = "Draw collision shapes, not visual ones."

# Options by mode, as written on the command line: those of "" go with every mode, BAG is a recorded
# run, FILE a robot's URDF or xacro file, and `:=` stands for the arguments of a xacro file.
VIEW = Modes(_modes, {
    "": "collision",
    "BAG": "gif mp4 speed others robot base package trust",
    "FILE": "base package trust",
    "FILE.xacro": "base package trust :=",
    "with SCENARIO": "words set fault engine speed",
    "in the browser": "stay port host",
    "as a film": "fps size uncut",
})  # fmt: skip


def complete_first(incomplete: str) -> list[str]:
    """Return the recorded runs and robots whose names begin with a text, for the shell."""
    return [*cli.complete_bag(incomplete), *cli.complete_robot(incomplete)]


def complete_other(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return completions of the second argument: runs after a recorded run, else scenarios."""
    is_bag = Path(str(ctx.params.get("what", ""))).exists()
    return cli.complete_bag(incomplete) if is_bag else cli.complete_scenario(ctx, incomplete)


# Arguments of the command.
WHAT = typer.Argument(metavar="BAG|ROBOT|FILE", help=WHAT_HELP, autocompletion=complete_first)
BESIDE = typer.Argument(metavar=BESIDE_NAME, help=BESIDE_HELP, autocompletion=complete_other)


@VIEW.check_arguments
def view(
    what: Subject | Recording,
    *others: Recording,
    scenario: str | Path | None = None,
    robot: str | Path = "",
    engine: str = "reference",
    settings: Settings | None = None,
    gif: str | Path | None = None,
    mp4: str | Path | None = None,
    fps: float | None = None,
    size: str | None = None,
    uncut: bool = False,
    collision: bool = False,
    speed: float = 1.0,
    stay: float = math.inf,
    port: int = PORT,
    host: str = HOST,
    **options: Unpack[Options],
) -> None:
    """Show runs, a simulation or a robot in the browser, or write a film, as `accord view` does.

    Args:
        what: a recorded run to play, or a robot; the robot is simulated if there is a scenario,
            and else posed by hand.
        others: further recorded runs, drawn translucent.
        scenario: name of the scenario, or its YAML file.
        robot: robot file for a recorded run, so that its meshes are drawn.
        engine: name of the engine that simulates the scenario.
        settings: changes to the scenario, values by key.
        gif, mp4: files to write a film to; no page is shown then.
        fps: pictures per second of a film [1/s].
        size: size of its pictures, `WIDTH` or `WIDTHxHEIGHT` [pixels].
        uncut: whether the film includes times in which nothing moves.
        collision: whether collision shapes are drawn instead of visual ones.
        speed: seconds of motion shown per second.
        stay: how long the page is served [s]; inf until interrupted.
        port, host: address at which the page is served.
        **options: how the robot is read, such as its base; faults of its joints.

    Raises:
        AccordError: if a file is missing, or the view cannot be drawn or written.

    Example:
        >>> ra.view(run, gif="snake.gif", fps=10, size="160")
        >>> ra.view("snake", scenario="serpenoid")  # in the browser
    """
    page = Page(stay, port, host)
    # A recorded run: write films, or play it on a page.
    if subject_mode(what) == "BAG":
        bags = [bag_of(run) for run in (what, *others) if not isinstance(run, Setup)]
        drawn_robot = setup_of(robot, **options) if robot else None
        if gif or mp4:
            files = Path(gif) if gif else None, Path(mp4) if mp4 else None
            film = FilmOptions(*files, fps, size, uncut)
            write_films(bags, film, speed, drawn_robot, note, collision=collision)
        else:
            Recorded.read(bags, drawn_robot, note).play(page, speed, note, collision=collision)
        return
    # A robot: simulate its scenario, or pose it by hand.
    assert not isinstance(what, Run)
    if isinstance(what, Setup) or scenario:
        setup = setup_of(what, scenario, settings, **options)
        simulate(setup, engine, speed, page, note, collision=collision)
    else:
        pose(setup_to_pose(str(what), **options), page, note, collision=collision)


@VIEW
def view_command(
    what: Annotated[str, WHAT],
    beside: Annotated[list[str] | None, BESIDE] = None,
    film: FilmOptions = FilmOptions(),  # noqa: B008 - frozen
    speed: cli.Speed = 1.0,
    engine: cli.Engine = "reference",
    changes: cli.Changes = None,
    base: cli.Base = "",
    packages: cli.Packages = None,
    robot: Annotated[str, typer.Option(metavar="FILE", help=ROBOT_HELP)] = "",
    collision: Annotated[bool, typer.Option("--collision", help=COLLISION_HELP)] = False,
    page: Page = Page(),  # noqa: B008
) -> None:
    """Show runs, a simulation or a robot in the browser, or write a GIF or an MP4 of a run.

    Neither file needs a display or a browser.

    Examples:

      accord view runs/snake_serpenoid_reference/bag

      accord view cc/reference_bag cc/dart_bag cc/mujoco_bag

      accord view snake serpenoid --engine dart

      accord view runs/snake_serpenoid_reference/bag --gif snake.gif --speed 0.5

      accord view runs/snake_serpenoid_reference/bag --mp4 snake.mp4 --fps 50 --size 1280x720

      accord view runs/recover/bag runs/reach/bag --gif recover.gif --speed 2

      accord view snake

      accord view arm.urdf released --engine dart

      accord view arm.urdf.xacro --collision

      accord view runs/arm_released_reference/bag --robot arm.urdf
    """
    if subject_mode(what) == "BAG":
        others = beside or []
        for other in others:
            if not Path(other).exists():
                raise AccordError(f"no bag {other}")
        bags = [Path(bag) for bag in (what, *others)]
        drawn_robot = cli.load_setup(robot, "", None, None, base, packages) if robot else None
        if film.gif or film.mp4:
            _write_films(bags, film, speed, drawn_robot, collision=collision)
        else:
            Recorded.read(bags, drawn_robot, tell).play(page, speed, tell, collision=collision)
        return
    scenario, arguments = cli.one_scenario(beside)
    if scenario:
        setup = cli.load_setup(what, scenario, changes, None, base, packages, arguments=arguments)
        simulate(setup, engine, speed, page, tell, collision=collision)
    else:
        folders = cli.read_packages(packages or ())
        setup = setup_to_pose(what, base=base, packages=folders, arguments=arguments)
        pose(setup, page, tell, collision=collision)


def setup_to_pose(name: str, **options: Unpack[Options]) -> Setup:
    """Return the setup of a robot to pose: in its first scenario, or in an empty one."""
    robot = find_robot(name)
    names = scenario_names(robot.package)
    if names:
        return setup_of(name, names[0], **options)
    return Setup.of(make_scenario({"robot": robot.key}))


def _write_films(
    bags: Sequence[Path], film: FilmOptions, speed: float, robot: Setup | None, *, collision: bool
) -> None:
    """Write films of bags, with a progress bar."""
    with cli.progress() as bar:
        task = bar.add_task("drawing; the first time, kernels are compiled", total=None)

        def drawn(done: int, total: int) -> None:
            """Advance the bar to the number of pictures drawn."""
            bar.update(task, completed=done, total=total, description="drawing")

        frames = write_films(bags, film, speed, robot, tell, drawn, collision=collision)
    for file in filter(None, (film.gif, film.mp4)):
        tell(f"{file}: {frames} frames, {filesize.decimal(file.stat().st_size)}")
