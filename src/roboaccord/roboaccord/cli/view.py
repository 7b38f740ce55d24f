"""`accord view`: a recorded run or a robot, in the browser or as a moving picture."""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import filesize

from roboaccord.cli.console import log, progress
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.scenario.files import load_scenario, make_scenario, scenario_names
from roboaccord.scenario.setup import Setup, find_robot, robot_names
from roboaccord.view.stage import HOST


def view_command(
    what: Annotated[
        str, typer.Argument(metavar="BAG|ROBOT", help="A recorded run, or a robot to pose by hand.")
    ],
    gif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a moving picture instead.")
    ] = None,
    mp4: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a film instead; needs ffmpeg.")
    ] = None,
    fps: Annotated[
        float | None, typer.Option(help="Pictures a second of film [25]; of a GIF, 50 at most.")
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WIDTH[xHEIGHT]", help="Of the pictures [720x404 pixels].")
    ] = None,
    speed: Annotated[
        float, typer.Option(min=0.05, max=20.0, help="Seconds of motion a second of film.")
    ] = 1.0,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Of the browser view.")] = 8080,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="To listen on; 0.0.0.0 lets other machines look and steer."
        ),
    ] = HOST,
) -> None:
    """Show a recorded run or a robot in the browser, or write a GIF or an MP4 of a run.

    Neither file needs a display or a browser.

    Examples:

      accord view runs/snake_serpenoid_reference/bag

      accord view runs/snake_serpenoid_reference/bag --gif snake.gif --speed 0.5

      accord view runs/snake_serpenoid_reference/bag --mp4 snake.mp4 --fps 50 --size 1280x720

      accord view snake
    """
    path = Path(what)
    if path.exists() and (gif or mp4):
        write_files(path, gif=gif, mp4=mp4, fps=fps, size=size, speed=speed)
    elif gif or mp4:
        option = "--gif" if gif else "--mp4"
        _no_bag(what)
        robot = find_robot(what)
        raise AccordError(f"{option} needs a bag; make one with: accord run {robot.name} SCENARIO")
    elif fps is not None or size is not None:
        raise AccordError("--fps and --size are for files: add --gif FILE or --mp4 FILE")
    elif path.exists():
        view_run(path, speed=speed, port=port, host=host)
    else:
        _no_bag(what)
        show_robot(what, port, host)


def _no_bag(what: str) -> None:
    """Refuse the name of a bag that does not exist.

    Raises:
        AccordError: if it is no name of a robot.
    """
    if "/" in what or what.endswith(".mcap"):
        raise AccordError(f"no bag {what}")


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
    if mp4:
        find_ffmpeg(pixels)
    run = read_run(path)
    with progress() as bar:
        task = bar.add_task("drawing; the first time, kernels are compiled", total=None)

        def drawn(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, description="drawing")

        film = films.Film(
            run.urdf or described(run.robot, run.scenario, path),
            run.trajectory,
            fps=rate,
            size=pixels,
            speed=speed,
            terrain=drawn_of("relief", run.robot, run.scenario),
            surroundings=drawn_of("surroundings", run.robot, run.scenario) or (),
        )
        files = [(write_gif, gif), (write_mp4, mp4)]
        for write, file in files:
            if file:
                write(film, file, drawn)
    for _, file in files:
        if file:
            size = filesize.decimal(file.stat().st_size)
            log.print(f"{file}: {len(film)} frames, {size}", soft_wrap=True)


def view_run(path: Path, *, speed: float, port: int, host: str = HOST) -> None:
    """Show a bag in the browser until interrupted.

    Raises:
        AccordError: if it is no bag, or holds no description to draw.
    """
    from roboaccord.bag.reader import read_run
    from roboaccord.view.live import play, view_bag

    run = read_run(path)
    urdf = run.urdf or described(run.robot, run.scenario, path)
    player = view_bag(urdf, run.trajectory, port, speed, host)
    tell(player.stage.url, host)
    try:
        play(player)
    except KeyboardInterrupt:
        player.stage.close()


def show_robot(name: str, port: int, host: str = HOST) -> None:
    """Show a robot with a slider a joint, until interrupted."""
    from roboaccord.view.live import view_robot

    robot = find_robot(name)
    names = scenario_names(robot.package)
    scenario = (
        load_scenario(robot.package, robot.name, names[0])
        if names
        else make_scenario({"robot": robot.name})
    )
    stage = view_robot(Setup.of(scenario).urdf(), port, host)
    tell(stage.url, host)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        stage.close()


def described(robot: str, scenario: Mapping[str, Any], path: Path) -> str:
    """Return the description of a robot whose bag holds none.

    Raises:
        AccordError: if the bag does not even say which robot it is.
    """
    if robot not in robot_names():
        raise AccordError(
            f"{path} holds no robot_description, and {robot or 'its robot'} is none of ours"
            + did_you_mean(robot, robot_names())
        )
    return Setup.of(make_scenario({"robot": robot, **scenario})).urdf()


def drawn_of(hook: str, robot: str, scenario: Mapping[str, Any]) -> Any:
    """Return the relief or the surroundings of a run, None where it has none or cannot be had."""
    if robot not in robot_names() or not scenario.get("terrain"):
        return None
    give = getattr(find_robot(robot), hook)
    try:
        return give(Setup.of(make_scenario({"robot": robot, **scenario})))
    except AccordError as error:
        log.print(f"the terrain is not drawn: {error}", soft_wrap=True)
        return None


def tell(url: str, host: str = HOST) -> None:
    """Say where the view is, how to leave it, and who else can have it."""
    if not _is_local(host):
        log.print(
            f"warning: whoever reaches {host} on port {url.rpartition(':')[2]} can watch and steer",
            soft_wrap=True,
        )
    log.print(f"open {url} in a browser; Ctrl-C ends the view", soft_wrap=True)


def _is_local(host: str) -> bool:
    """Return whether an address is reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
