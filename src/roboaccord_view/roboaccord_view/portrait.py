"""The picture of a robot for reports, with links in red (entry point `draw.robot`)."""

from __future__ import annotations

import io
from collections.abc import Mapping

from PIL import Image
from roboaccord.contract import Trajectory
from roboaccord.scenario import Setup, surfaces_around

from roboaccord_view.film import Film
from roboaccord_view.film_files import COLOURS


def draw_robot(
    setup: Setup, run: Trajectory, shares: Mapping[str, float], size: tuple[int, int]
) -> bytes:
    """Return a PNG of a robot at the start of a run.

    Args:
        setup: robot and scenario, whose surroundings are drawn.
        run: its motion.
        shares: by link, how red it is, 0 to 1.
        size: of the picture [pixels].

    Raises:
        AccordError: if the robot cannot be drawn.
    """
    film = Film(setup.urdf(), run, size=size, surfaces=surfaces_around(setup), uncut=True)
    file = io.BytesIO()
    Image.fromarray(film.portrait(shares)).quantize(COLOURS).save(file, "PNG", optimize=True)
    return file.getvalue()
