"""`accord monkeybot`: the MonkeyBot's own commands, one module each."""

from __future__ import annotations

import typer

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

app = typer.Typer(help="Commands of the MonkeyBot.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Evaluate, search, refine and repeat the MonkeyBot's gaits."""


app.command("gait")(gait_command)
app.command("minimise")(minimise_command)
app.command("periodic")(periodic_command)
app.command("collisionless")(collisionless_command)
app.command("repeat")(repeat_command)
app.command("landscape")(landscape_command)
app.command("figures")(figures_command)
app.command("stable")(stable_command)
app.command("gaits")(gaits_command)
app.command("basin")(basin_command)
app.command("robust")(robust_command)
app.command("stability")(stability_command)
app.command("lqr")(lqr_command)
app.command("continue")(continue_command)
app.command("find")(find_command)
app.command("design")(design_command)
