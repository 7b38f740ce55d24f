"""`accord packbot shapes`: the Packbot's own hulls from config/shapes.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli.console import out, print_json
from roboaccord.description.resources import share

from packbot.cli.options import Json
from packbot.hulls.shapes import write_shapes


def shapes_command(
    folder: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Instead of the package's own folder."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make meshes/*.obj and config/hulls.yaml of config/shapes.yaml.

    Run it after a change of config/shapes.yaml; the description takes its hulls and their moments
    from these files.

    Examples:

      accord packbot shapes

      accord packbot shapes --out tried --json
    """
    files = [str(path) for path in write_shapes(folder or share("packbot"))]
    if as_json:
        print_json({"files": files})
    else:
        out.print("\n".join(files), highlight=False, soft_wrap=True)
