"""`accord packbot shapes`: the Packbot's own hulls from config/shapes.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli.command import Result
from roboaccord.cli.folder import results
from roboaccord.cli.options import Force
from roboaccord.description.resources import share

from packbot.hulls.solids import write_shapes


def shapes_command(
    folder: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Instead of the package's own folder."),
    ] = None,
    force: Force = False,
) -> Result:
    """Make meshes/*.obj and config/hulls.yaml of config/shapes.yaml.

    Run it after a change of config/shapes.yaml; the description takes its hulls and their moments
    from these files.

    Examples:

      accord packbot shapes

      accord packbot shapes --out tried --json
    """
    if folder is None:
        files = write_shapes(share("packbot"))
    else:
        with results(folder, "packbot_shapes", force=force) as place:
            files = write_shapes(place)
    names = [str(path) for path in files]
    return Result({"files": names}, names)
