"""`accord packbot identify`: the arm's parameters from a recorded motion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from roboaccord.bag import read_run
from roboaccord.cli import Result, tables_of
from roboaccord.contract import AccordError

from roboaccord_studies.packbot.detection.uncertainty import Uncertainty
from roboaccord_studies.packbot.identification.report import Parameter, Unidentified, identify
from roboaccord_studies.packbot.recorded import recorded_motion, setup_of


def identify_command(
    bag: Annotated[Path, typer.Argument(metavar="BAG", help="Bag of a run of the Packbot.")],
) -> Result:
    """Identify the arm's base parameters, friction and payload from a recorded motion.

    Joint states and commanded efforts are enough. A quantity is identified where its 95 % interval
    is at most half as wide as that of what is known before: the uncertainties of the arm, keys of
    `controller.uncertainty` in the scenario. The scenario `identify` moves the arm for a minute so
    that most of it is. `accord identify packbot` is the same.

    Examples:

      accord run packbot identify --engine mujoco --out identified

      accord packbot identify identified/bag --json
    """
    run = read_run(bag)
    setup = setup_of(run)
    try:
        known = Uncertainty.read(setup.scenario.controller.get("uncertainty"))
    except ValueError as error:
        raise AccordError(str(error)) from None
    found = identify(setup, recorded_motion(setup, run), known)
    return Result(found, [
        *tables_of(
            [*found.parameters.values()], labels=found.parameters, kind=Parameter,
            title="identified",
        ),
        *tables_of(
            [*found.reasons.values()], labels=found.reasons, kind=Unidentified,
            title="not identified",
        ),
    ])  # fmt: skip
