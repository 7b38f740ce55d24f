"""`accord view`: a recorded run or a robot, in the browser or as a moving picture."""

from __future__ import annotations

import ipaddress
import math
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import filesize

from roboaccord.cli.command import until_interrupted
from roboaccord.cli.console import log, progress
from roboaccord.cli.options import (
    Base,
    Changes,
    Engine,
    Packages,
    Speed,
    Stay,
    complete_bag_or_robot,
    complete_bag_or_scenario,
    load_setup,
    refuse_missing_bag,
)
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.files import check_target
from roboaccord.contract.results import Quantity
from roboaccord.contract.surface import BACKDROPS, TERRAIN, Surface
from roboaccord.engines import check_engine
from roboaccord.scenario.files import make_scenario, scenario_names
from roboaccord.scenario.setup import Setup, find_robot, is_file, robot_names
from roboaccord.scenario.surroundings import surroundings
from roboaccord.view.stage import HOST

if TYPE_CHECKING:
    from roboaccord.bag.reader import BagRun

What = Annotated[
    str,
    typer.Argument(
        metavar="BAG|ROBOT|FILE",
        help="A recorded run, or a robot or its URDF or xacro file to pose by hand.",
        autocompletion=complete_bag_or_robot,
    ),
]
Second = Annotated[
    str,
    typer.Argument(
        metavar="[BAG|SCENARIO]",
        help="A second run, shown translucent; or a scenario to simulate and push.",
        autocompletion=complete_bag_or_scenario,
    ),
]


def view_command(
    what: What,
    second: Second = "",
    gif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a moving picture instead.")
    ] = None,
    mp4: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a film instead; needs ffmpeg.")
    ] = None,
    fps: Annotated[
        Annotated[float, Quantity("1/s")] | None,
        typer.Option(min=0.1, max=240.0, help="Pictures of film [25]; of a GIF, 50 at most."),
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WIDTH[xHEIGHT]", help="Of the pictures [720x404 pixels].")
    ] = None,
    speed: Speed = 1.0,
    engine: Engine = "reference",
    changes: Changes = None,
    base: Base = "",
    packages: Packages = None,
    stay: Stay = math.inf,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Of the browser view.")] = 8080,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="To listen on; 0.0.0.0 lets other machines look and steer."
        ),
    ] = HOST,
) -> None:
    """Show runs, a simulation or a robot in the browser, or write a GIF or an MP4 of a run.

    Neither file needs a display or a browser.

    Examples:

      accord view runs/snake_serpenoid_reference/bag

      accord view cc/reference_bag cc/dart_bag

      accord view snake serpenoid --engine dart

      accord view runs/snake_serpenoid_reference/bag --gif snake.gif --speed 0.5

      accord view runs/snake_serpenoid_reference/bag --mp4 snake.mp4 --fps 50 --size 1280x720

      accord view snake

      accord view arm.urdf released --engine dart
    """
    path = Path(what)
    is_bag = path.exists() and not is_file(what)
    if is_bag and (gif or mp4):
        if second:
            raise AccordError("a film shows one bag: leave out the second")
        write_files(path, gif=gif, mp4=mp4, fps=fps, size=size, speed=speed)
    elif gif or mp4:
        option = "--gif" if gif else "--mp4"
        refuse_missing_bag(what)
        words = what if is_file(what) else f"{find_robot(what).name} SCENARIO"
        raise AccordError(f"{option} needs a bag; make one with: accord run {words}")
    elif fps is not None or size is not None:
        raise AccordError("--fps and --size are for files: add --gif FILE or --mp4 FILE")
    elif is_bag:
        beside = Path(second) if second else None
        if beside and not beside.exists():
            raise AccordError(f"no bag {second}")
        view_run(path, beside, speed=speed, port=port, host=host, stay=stay)
    elif second:
        refuse_missing_bag(what)
        check_engine(engine)
        setup = load_setup(what, second, changes, None, base, packages)
        simulate_in_view(setup, engine, speed=speed, port=port, host=host, stay=stay)
    else:
        refuse_missing_bag(what)
        show_robot(what, port=port, host=host, stay=stay, base=base, packages=packages)


def write_files(
    path: Path,
    *,
    gif: Path | None,
    mp4: Path | None,
    fps: float | None = None,
    size: str | None = None,
    speed: float = 1.0,
) -> None:
    """Write a bag as a GIF, as an MP4, or as both.

    Raises:
        AccordError: if it is no bag, or holds no description to draw; or for wrong options.
    """
    from roboaccord.bag.reader import read_run
    from roboaccord.view import film as films
    from roboaccord.view.gif import write_gif
    from roboaccord.view.mp4 import find_ffmpeg, write_mp4

    rate = films.FPS if fps is None else fps
    pixels = films.SIZE if size is None else films.parse_size(size)
    films.check(rate, pixels, speed)
    for file, suffix in ((gif, ".gif"), (mp4, ".mp4")):
        if file and file.suffix.lower() != suffix:
            raise AccordError(f"--{suffix[1:]} takes a FILE{suffix}, not {file}")
        check_target(file)
    if mp4:
        find_ffmpeg(pixels)
    run = read_run(path)
    with progress() as bar:
        task = bar.add_task("drawing; the first time, kernels are compiled", total=None)

        def drawn(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, description="drawing")

        surfaces = around(run)
        relief = next((s for s in surfaces if s.name == TERRAIN), None)
        film = films.Film(
            described(run, path),
            run.trajectory,
            fps=rate,
            size=pixels,
            speed=speed,
            terrain=(relief.vertices, relief.faces) if relief else None,
            surroundings=[(s.vertices, s.faces) for s in surfaces if s.name not in BACKDROPS],
        )
        files = [(write_gif, gif), (write_mp4, mp4)]
        for write, file in files:
            if file:
                write(film, file, drawn)
    for _, file in files:
        if file:
            size = filesize.decimal(file.stat().st_size)
            log.print(f"{file}: {len(film)} frames, {size}", soft_wrap=True)


def view_run(
    path: Path, beside: Path | None, *, speed: float, port: int, host: str, stay: float
) -> None:
    """Show a bag in the browser, and a second one translucent, until interrupted.

    Raises:
        AccordError: if one is no bag, or holds no description to draw.
    """
    from roboaccord.bag.contact_markers import read_arrows
    from roboaccord.bag.reader import read_run
    from roboaccord.view.player import Player
    from roboaccord.view.stage import Stage

    run = read_run(path)
    other = read_run(beside) if beside else None
    second = (described(other, beside), other.trajectory) if other and beside else None
    stage = Stage(described(run, path), port, host, around(run))
    player = Player(stage, run.trajectory, speed, read_arrows(run.contacts), second)
    tell(stage.url, host, stay)
    with until_interrupted():
        player.play(stay)
    stage.close()


def simulate_in_view(
    setup: Setup, engine: str, *, speed: float, port: int, host: str, stay: float
) -> None:
    """Simulate in the browser without recording, from when the page is open; then replay.

    Raises:
        AccordError: as the run does.
    """
    from roboaccord.run.factory import make_simulator
    from roboaccord.run.loop import simulate
    from roboaccord.scenario.controllers import make_controller
    from roboaccord.view.live import LiveView, open_stage

    simulator, controller = make_simulator(setup, engine), make_controller(setup)
    stage = open_stage(setup, port, host)
    tell(stage.url, host, stay)
    with until_interrupted():
        stage.wait_for_page(stay)
        live = LiveView(setup, stage, speed)
        trajectory = simulate(
            simulator=live.wrap(simulator),
            controller=controller,
            initial=setup.initial,
            duration=setup.scenario.duration,
            control_period=setup.scenario.control_period,
            seed=setup.scenario.seed,
            observers=(live,),
        )
        live.replay(trajectory).play(stay)
    stage.close()


def show_robot(
    name: str,
    *,
    port: int,
    host: str,
    stay: float,
    base: str = "",
    packages: list[str] | None = None,
) -> None:
    """Show a robot with a slider a joint, until interrupted."""
    from roboaccord.view.live import view_robot

    robot = find_robot(name)
    names = scenario_names(robot.package)
    if names:
        setup = load_setup(name, names[0], None, None, base, packages)
    else:
        setup = Setup.of(make_scenario({"robot": robot.key}))
    stage = view_robot(setup, port, host)
    tell(stage.url, host, stay)
    with until_interrupted():
        threading.Event().wait(None if math.isinf(stay) else stay)
    stage.close()


def described(run: BagRun, path: Path) -> str:
    """Return the description of the robot of a bag, the robot's own where the bag holds none.

    Raises:
        AccordError: if the bag does not even say which robot it is.
    """
    if run.urdf:
        return run.urdf
    if run.robot not in robot_names():
        raise AccordError(
            f"{path} holds no robot_description, and {run.robot or 'its robot'} is none of ours"
            + did_you_mean(run.robot, robot_names())
        )
    return Setup.of(make_scenario({"robot": run.robot, **run.scenario})).urdf()


def around(run: BagRun) -> list[Surface]:
    """Return the surroundings of a run; none where the bag does not tell its scenario."""
    if run.robot not in robot_names() or not run.scenario:
        return []
    try:
        return surroundings(Setup.of(make_scenario({"robot": run.robot, **run.scenario})))
    except AccordError as error:
        log.print(f"the surroundings are not drawn: {error}", soft_wrap=True)
        return []


def tell(url: str, host: str = HOST, stay: float = math.inf) -> None:
    """Say where the view is, how to leave it, and who else can have it."""
    if not _is_local(host):
        log.print(
            f"warning: whoever reaches {host} on port {url.rpartition(':')[2]} can watch and steer",
            soft_wrap=True,
        )
    end = "Ctrl-C ends the view" if math.isinf(stay) else f"the view ends after {stay:g} s"
    log.print(f"open {url} in a browser; {end}", soft_wrap=True)


def _is_local(host: str) -> bool:
    """Return whether an address is reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
