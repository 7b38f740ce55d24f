"""`accord monkeybot`: the MonkeyBot's own commands, one module each."""

from __future__ import annotations

import typer
from roboaccord.cli.command import add_command

from monkeybot.cli.basin import basin_command
from monkeybot.cli.continue_ import continue_command
from monkeybot.cli.design import design_command
from monkeybot.cli.figures import figures_command
from monkeybot.cli.find import find_command
from monkeybot.cli.gait import gait_command, minimise_command
from monkeybot.cli.landscape import landscape_command
from monkeybot.cli.lqr import lqr_command
from monkeybot.cli.periodic import collisionless_command, periodic_command
from monkeybot.cli.repeat import repeat_command
from monkeybot.cli.robust import robust_command
from monkeybot.cli.stability import stability_command
from monkeybot.cli.stable import gaits_command, stable_command

app = typer.Typer(help="Commands of the MonkeyBot.", no_args_is_help=True, add_completion=False)


@app.callback()
def group() -> None:
    """Evaluate, search, refine and repeat the MonkeyBot's gaits."""


add_command(app, "gait", gait_command)
add_command(app, "minimise", minimise_command)
add_command(app, "periodic", periodic_command)
add_command(app, "collisionless", collisionless_command)
add_command(app, "repeat", repeat_command)
add_command(app, "landscape", landscape_command)
add_command(app, "figures", figures_command)
add_command(app, "stable", stable_command)
add_command(app, "gaits", gaits_command)
add_command(app, "basin", basin_command)
add_command(app, "robust", robust_command)
add_command(app, "stability", stability_command)
add_command(app, "lqr", lqr_command)
add_command(app, "continue", continue_command)
add_command(app, "find", find_command)
add_command(app, "design", design_command)
