"""Options of films and of pages, with their checks.

An option is a field here, a parameter of `ra.view` in door.py, and a word of the table VIEW there.
Names of options stay. The defaults FPS and SIZE (which the help states) and the bounds MIN_SIDE and
MAX_SIDE may be changed.
"""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli import Stay, until_interrupted
from roboaccord.contract import AccordError, Quantity

from roboaccord_view.stage import HOST, PORT, Stage

FPS = 25  # pictures per second: 0.04 s, which a GIF has exactly (film_files.py)
SIZE = 720, 404  # pixels; about 16 to 9 with even sides, which an MP4 needs
# Pixels; bounds of the sides of a picture: texts need room, and pictures memory. 4096 x 4096 pixels
# take 0.6 GB for depths alone (float32), with 3 x 3 samples each (raster.OVERSAMPLING).
MIN_SIDE, MAX_SIDE = 64, 4096
# A function that shows a line to the user.
Tell = Callable[[str], None]

# What `accord view --help` says about the options.
GIF_HELP = "Write an animated GIF instead."
MP4_HELP = "Write an MP4 instead; needs ffmpeg."
FPS_HELP = "Frames per second of the film [25]; of a GIF, 50 at most."
SIZE_HELP = "Size of the frames [720x404 pixels]."
UNCUT_HELP = "Include the time in which nothing moves."
HOST_HELP = "Address to listen on; 0.0.0.0 lets other machines watch and steer."
Rate = Annotated[float, Quantity("1/s")]


@dataclass(frozen=True)
class FilmOptions:
    """Options of films of a run: their files, rate, size and times."""

    gif: Annotated[Path | None, typer.Option(metavar="FILE", help=GIF_HELP)] = None
    mp4: Annotated[Path | None, typer.Option(metavar="FILE", help=MP4_HELP)] = None
    fps: Annotated[Rate | None, typer.Option(min=0.1, max=240.0, help=FPS_HELP)] = None
    size: Annotated[str | None, typer.Option(metavar="WIDTH[xHEIGHT]", help=SIZE_HELP)] = None
    uncut: Annotated[bool, typer.Option("--uncut", help=UNCUT_HELP)] = False


@dataclass(frozen=True)
class Page:
    """Options of a page in the browser: how long it stays [s], its port and address."""

    stay: Stay = math.inf
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the browser view.")] = PORT
    host: Annotated[str, typer.Option(metavar="ADDRESS", help=HOST_HELP)] = HOST

    @contextmanager
    def shown(self, stage: Stage, tell: Tell) -> Iterator[None]:
        """Tell the user the page's address and who can open it; close it after the block."""
        if not _is_local(self.host):
            port = stage.url.rpartition(":")[2]
            tell(f"warning: whoever reaches {self.host} on port {port} can watch and steer")
        always = math.isinf(self.stay)
        end = "Ctrl-C ends the view" if always else f"the view ends after {self.stay:g} s"
        tell(f"open {stage.url} in a browser; {end}")
        with closing(stage), until_interrupted():
            yield


def _is_local(host: str) -> bool:
    """Return whether an address is reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_film(fps: float, size: tuple[int, int], speed: float) -> None:
    """Check rate, size [pixels] and speed of a film.

    Raises:
        AccordError: for figures out of range.
    """
    if not 0.0 < fps <= 240.0:
        raise AccordError(f"fps is {fps:g}, and must be above 0, and 240 at most")
    if not all(MIN_SIDE <= side <= MAX_SIDE for side in size):
        sides = f"its sides are {MIN_SIDE} to {MAX_SIDE} pixels"
        raise AccordError(f"size is {size[0]}x{size[1]}; {sides}")
    if not (speed > 0.0 and math.isfinite(speed)):
        raise AccordError(f"speed is {speed:g}, and must be above 0")


def parse_size(text: str) -> tuple[int, int]:
    """Return the size of pictures [pixels]: `720x404`, or a width, with sides of 16 to 9.

    Raises:
        AccordError: for a text that is no size.
    """
    width, cross, height = text.lower().partition("x")
    if not width.isdecimal() or not (height.isdecimal() or not cross):
        raise AccordError(f"size is {text}, and must be WIDTHxHEIGHT or WIDTH in pixels")
    # 9 / 16 of the width, rounded to an even number.
    return int(width), int(height) if cross else 2 * round(int(width) * 9 / 32)
