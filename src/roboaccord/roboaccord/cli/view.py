"""`accord view`: a recorded run or a robot, in the browser or as a moving picture."""

from __future__ import annotations

import ipaddress
import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
from roboaccord.description.solids import BACKDROPS, TERRAIN
from roboaccord.engines import check_engine
from roboaccord.scenario.files import make_scenario, scenario_names
from roboaccord.scenario.setup import Setup, find_robot, is_file, robot_names
from roboaccord.scenario.surroundings import surroundings
from roboaccord.view.stage import HOST

if TYPE_CHECKING:
    from roboaccord.bag.reader import BagRun
    from roboaccord.bag.second import SecondRun
    from roboaccord.view.stage import Stage

What = Annotated[
    str,
    typer.Argument(
        metavar="BAG|ROBOT|FILE",
        help="A recorded run, or a robot or its URDF or xacro file to pose by hand.",
        autocompletion=complete_bag_or_robot,
    ),
]
Beside = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[BAG...|SCENARIO]",
        help="Further runs, shown translucent; or a scenario to simulate and push.",
        autocompletion=complete_bag_or_scenario,
    ),
]


@dataclass(frozen=True)
class FilmOptions:
    """Options of films of a run: their files, and what these are to be like."""

    gif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a moving picture instead.")
    ] = None
    mp4: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a film instead; needs ffmpeg.")
    ] = None
    fps: Annotated[
        Annotated[float, Quantity("1/s")] | None,
        typer.Option(min=0.1, max=240.0, help="Pictures of film [25]; of a GIF, 50 at most."),
    ] = None
    size: Annotated[
        str | None, typer.Option(metavar="WIDTH[xHEIGHT]", help="Of the pictures [720x404 pixels].")
    ] = None
    uncut: Annotated[
        bool, typer.Option("--uncut", help="Show also the time in which nothing moves.")
    ] = False


@dataclass(frozen=True)
class Page:
    """Options of a page in the browser: how long it stays [s], and where it is."""

    stay: Stay = math.inf
    port: Annotated[int, typer.Option(min=1, max=65535, help="Of the browser view.")] = 8080
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="To listen on; 0.0.0.0 lets other machines look and steer."
        ),
    ] = HOST

    @contextmanager
    def shown(self, stage: Stage) -> Iterator[None]:
        """Say where a page is, do what lasts until interrupted, and close it."""
        tell(stage.url, self.host, self.stay)
        with until_interrupted():
            yield
        stage.close()


NO_FILM, PAGE = FilmOptions(), Page()


def view_command(
    what: What,
    beside: Beside = None,
    film: FilmOptions = NO_FILM,
    speed: Speed = 1.0,
    engine: Engine = "reference",
    changes: Changes = None,
    base: Base = "",
    packages: Packages = None,
    page: Page = PAGE,
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
    """
    path, others = Path(what), beside or []
    is_bag = path.exists() and not is_file(what)
    if not (film.gif or film.mp4) and (film.fps is not None or film.size is not None):
        raise AccordError("--fps and --size are for files: add --gif FILE or --mp4 FILE")
    if not is_bag:
        refuse_missing_bag(what)
    if film.gif or film.mp4:
        if not is_bag:
            option = "--gif" if film.gif else "--mp4"
            words = what if is_file(what) else f"{find_robot(what).name} SCENARIO"
            raise AccordError(f"{option} needs a bag; make one with: accord run {words}")
        write_files(_bags(path, others), film, speed)
    elif is_bag:
        view_run(_bags(path, others), speed, page)
    elif others:
        if len(others) > 1:
            raise AccordError(f"one scenario is simulated: leave out {' '.join(others[1:])}")
        check_engine(engine)
        simulate_in_view(
            load_setup(what, others[0], changes, None, base, packages), engine, speed, page
        )
    else:
        show_robot(what, base, packages, page)


def _bags(first: Path, others: Sequence[str]) -> list[Path]:
    for other in others:
        if not Path(other).exists():
            raise AccordError(f"no bag {other}")
    return [first, *map(Path, others)]


def _read(bags: Sequence[Path]) -> tuple[BagRun, str, list[SecondRun], str]:
    """Return the run of a bag, its description, other bags' runs or its reference, its name."""
    from roboaccord.bag.reader import read_run
    from roboaccord.bag.second import beside, names_of, read_pair

    run, second = read_pair(bags[0])
    runs = [run, *map(read_run, bags[1:])]
    urdf, *urdfs = (described(each, bag) for each, bag in zip(runs, bags, strict=True))
    others = beside(runs, urdfs) if urdfs else [second] if second else []
    return run, urdf, others, names_of(runs)[0]


def write_files(bags: Sequence[Path], film: FilmOptions, speed: float = 1.0) -> None:
    """Write a bag, with others translucent beside it, as a GIF, as an MP4, or as both.

    Raises:
        AccordError: if it is no bag, or holds no description to draw; or for wrong options.
    """
    from roboaccord.view import film as films
    from roboaccord.view.film_files import find_ffmpeg, write_gif, write_mp4

    rate = films.FPS if film.fps is None else film.fps
    pixels = films.SIZE if film.size is None else films.parse_size(film.size)
    films.check(rate, pixels, speed)
    for file, suffix in ((film.gif, ".gif"), (film.mp4, ".mp4")):
        if file and file.suffix.lower() != suffix:
            raise AccordError(f"--{suffix[1:]} takes a FILE{suffix}, not {file}")
        check_target(file)
    if film.mp4:
        find_ffmpeg(pixels)
    run, urdf, others, name = _read(bags)
    with progress() as bar:
        task = bar.add_task("drawing; the first time, kernels are compiled", total=None)

        def drawn(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, description="drawing")

        setup = recorded_setup(run)
        surfaces = surroundings(setup) if setup else []
        relief = next((s for s in surfaces if s.name == TERRAIN), None)
        pictures = films.Film(
            urdf,
            run.trajectory,
            fps=rate,
            size=pixels,
            speed=speed,
            terrain=(relief.vertices, relief.faces) if relief else None,
            surroundings=[(s.vertices, s.faces) for s in surfaces if s.name not in BACKDROPS],
            beside=others,
            name=name,
            aim=setup.robot.aim(setup) if setup else None,
            findings=run.findings,
            uncut=film.uncut,
        )
        if film.gif:
            write_gif(pictures, film.gif, drawn)
        if film.mp4:
            write_mp4(pictures, film.mp4, drawn)
    for file in filter(None, (film.gif, film.mp4)):
        size = filesize.decimal(file.stat().st_size)
        log.print(f"{file}: {len(pictures)} frames, {size}", soft_wrap=True)


def view_run(bags: Sequence[Path], speed: float, page: Page) -> None:
    """Show a bag in the browser, and others or its reference translucent.

    Raises:
        AccordError: if one is no bag, or holds no description to draw.
    """
    from roboaccord.bag.contact_markers import read_arrows
    from roboaccord.view.player import Player
    from roboaccord.view.stage import Stage

    run, urdf, others, _ = _read(bags)
    setup = recorded_setup(run)
    stage = Stage(urdf, page.port, page.host, surroundings(setup) if setup else [])
    arrows, aim = read_arrows(run.contacts), setup.robot.aim(setup) if setup else None
    player = Player(stage, run.trajectory, speed, arrows, others, aim, run.findings)
    with page.shown(stage):
        player.play(page.stay)


def simulate_in_view(setup: Setup, engine: str, speed: float, page: Page) -> None:
    """Simulate in the browser without recording, from when the page is open; then replay.

    Raises:
        AccordError: as the run does.
    """
    from roboaccord.run.factory import make_simulator, run_setup
    from roboaccord.scenario.controllers import make_controller
    from roboaccord.view.live import LiveView, open_stage

    simulator, controller = make_simulator(setup, engine), make_controller(setup)
    stage = open_stage(setup, page.port, page.host)
    with page.shown(stage):
        stage.wait_for_page(page.stay)
        live = LiveView(setup, stage, speed)
        trajectory = run_setup(setup, live.wrap(simulator), (live,), controller)
        live.replay(trajectory).play(page.stay)


def show_robot(name: str, base: str, packages: list[str] | None, page: Page) -> None:
    """Show a robot with a slider a joint, until interrupted."""
    from roboaccord.view.live import view_robot

    robot = find_robot(name)
    names = scenario_names(robot.package)
    if names:
        setup = load_setup(name, names[0], None, None, base, packages)
    else:
        setup = Setup.of(make_scenario({"robot": robot.key}))
    with page.shown(view_robot(setup, page.port, page.host)):
        threading.Event().wait(None if math.isinf(page.stay) else page.stay)


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


def recorded_setup(run: BagRun) -> Setup | None:
    """Return the setup of a run, of which surroundings and target are drawn; None without any."""
    if run.robot not in robot_names() or not run.scenario:
        return None
    try:
        return Setup.of(make_scenario({"robot": run.robot, **run.scenario}))
    except AccordError as error:
        log.print(f"the surroundings are not drawn: {error}", soft_wrap=True)
        return None


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
