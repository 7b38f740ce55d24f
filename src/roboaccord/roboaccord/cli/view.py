"""`accord view`: a recorded run or a robot, in the browser or as an animation."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
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
    read_packages,
)
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Quantity
from roboaccord.door.arguments import subject_mode
from roboaccord.door.views import (
    VIEW,
    pose_robot,
    setup_to_pose,
    simulate_in_view,
    view_runs,
    write_films,
)
from roboaccord.scenario.setup import Setup
from roboaccord.view.stage import HOST

if TYPE_CHECKING:
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
        help="Further runs, shown translucent; of a FILE, too; or a scenario to simulate and push.",
        autocompletion=complete_bag_or_scenario,
    ),
]


@dataclass(frozen=True)
class FilmOptions:
    """Options of films of a run: their files, and what these are to be like."""

    gif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an animated GIF instead.")
    ] = None
    mp4: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an MP4 instead; needs ffmpeg.")
    ] = None
    fps: Annotated[
        Annotated[float, Quantity("1/s")] | None,
        typer.Option(
            min=0.1, max=240.0, help="Frames per second of the film [25]; of a GIF, 50 at most."
        ),
    ] = None
    size: Annotated[
        str | None,
        typer.Option(metavar="WIDTH[xHEIGHT]", help="Size of the frames [720x404 pixels]."),
    ] = None
    uncut: Annotated[
        bool, typer.Option("--uncut", help="Include the time in which nothing moves.")
    ] = False


@dataclass(frozen=True)
class Page:
    """Options of a page in the browser: how long it stays [s], and where it is."""

    stay: Stay = math.inf
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the browser view.")] = 8080
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on; 0.0.0.0 lets other machines watch and steer.",
        ),
    ] = HOST

    @property
    def place(self) -> tuple[float, int, str]:
        """How long it stays, port and host."""
        return self.stay, self.port, self.host

    @contextmanager
    def shown(self, stage: Stage) -> Iterator[None]:
        """Report where a page is, do what lasts until interrupted, and close it."""
        tell(stage.url, self.host, self.stay)
        with closing(stage), until_interrupted():
            yield


NO_FILM, PAGE = FilmOptions(), Page()


@VIEW
def view_command(
    what: What,
    beside: Beside = None,
    film: FilmOptions = NO_FILM,
    speed: Speed = 1.0,
    engine: Engine = "reference",
    changes: Changes = None,
    base: Base = "",
    packages: Packages = None,
    robot: Annotated[
        str, typer.Option(metavar="FILE", help="Robot file of a BAG, whose meshes are drawn.")
    ] = "",
    collision: Annotated[
        bool, typer.Option("--collision", help="Draw collision shapes, not visual ones.")
    ] = False,
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

      accord view arm.urdf.xacro --collision

      accord view runs/arm_released_reference/bag --robot arm.urdf
    """
    path, others = Path(what), beside or []
    bags = _bags(path, others) if subject_mode(what) == "BAG" else []
    drawn = load_setup(robot, "", None, None, base, packages) if robot else None
    if film.gif or film.mp4:
        write_files(bags, film, speed, collision, drawn)
    elif bags:
        view_runs(bags, speed, *page.place, page.shown, log_line, collision=collision, robot=drawn)
    elif others:
        if len(others) > 1:
            raise AccordError(f"one scenario is simulated: leave out {' '.join(others[1:])}")
        setup = load_setup(what, others[0], changes, None, base, packages)
        simulate_in_view(setup, engine, speed, *page.place, page.shown, collision=collision)
    else:
        setup = setup_to_pose(what, base=base, packages=read_packages(packages or ()))
        pose_robot(setup, *page.place, page.shown, collision=collision)


def _bags(first: Path, others: Sequence[str]) -> list[Path]:
    for other in others:
        if not Path(other).exists():
            raise AccordError(f"no bag {other}")
    return [first, *map(Path, others)]


def write_files(
    bags: Sequence[Path], film: FilmOptions, speed: float, collision: bool, robot: Setup | None
) -> None:
    """Write films of bags, with a progress bar."""
    with progress() as bar:
        task = bar.add_task("drawing; the first time, kernels are compiled", total=None)
        frames = write_films(
            bags,
            film.gif,
            film.mp4,
            fps=film.fps,
            size=film.size,
            uncut=film.uncut,
            collision=collision,
            speed=speed,
            drawn=lambda done, total: bar.update(
                task, completed=done, total=total, description="drawing"
            ),
            tell=log_line,
            robot=robot,
        )
    for file in filter(None, (film.gif, film.mp4)):
        size = filesize.decimal(file.stat().st_size)
        log.print(f"{file}: {frames} frames, {size}", soft_wrap=True)


def log_line(line: str) -> None:
    """Print a line on stderr."""
    log.print(line, soft_wrap=True)


def tell(url: str, host: str = HOST, stay: float = math.inf) -> None:
    """Report where the view is, how to leave it, and who else can open it."""
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
