"""`accord identify packbot`: what a recorded motion tells of the arm."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord.bag import BagRun, read_run
from roboaccord.cli import Result, tables_of
from roboaccord.contract import AccordError, clip_efforts, fault_of
from roboaccord.scenario import Setup, make_scenario

from packbot.cli.detect import efforts_in_force
from packbot.contact.clearance import Clearance
from packbot.detection.uncertainty import Uncertainty
from packbot.identification.estimate import Motion
from packbot.identification.report import Parameter, Unidentified, identify

SHORTEST = 5.0  # s
EVERY = 10  # ticks between the poses at which contact is looked for
TOUCHING = 2e-3  # m


def identify_command(
    bag: Annotated[Path, typer.Argument(metavar="BAG", help="Of a Packbot's run.")],
) -> Result:
    """Identify the arm's base parameters, friction and payload from a recorded motion.

    Joint states and commanded efforts are enough. A quantity is identified where its 95 % interval
    is at most half as wide as that of what is known before: the uncertainties of the arm, keys of
    `controller.uncertainty` in the scenario. The scenario `identify` moves the arm for a minute so
    that most of it is. `accord packbot identify` is the same.

    Examples:

      accord run packbot identify --engine mujoco --out identified

      accord identify packbot identified/bag --json
    """
    run = read_run(bag)
    if run.robot != "packbot" or not run.scenario:
        raise AccordError("the bag is of no run of the Packbot")
    setup = Setup.of(make_scenario(run.scenario))
    try:
        known = Uncertainty.read(setup.scenario.controller.get("uncertainty"))
    except ValueError as error:
        raise AccordError(str(error)) from None
    found = identify(setup, _motion(setup, run), known)
    names = ("value", "low", "high", "unit")
    tables = tables_of(
        [*found.parameters.values()], *names, labels=found.parameters, kind=Parameter,
        title="identified",
    )  # fmt: skip
    tables += tables_of(
        [*found.reasons.values()], "left", "why", labels=found.reasons, kind=Unidentified,
        title="not identified",
    )  # fmt: skip
    return Result(found, tables)


def _motion(setup: Setup, run: BagRun) -> Motion:
    """Return what was measured and commanded.

    Raises:
        AccordError: for a motion from which nothing can be identified.
    """
    motion = run.trajectory
    if failed := [fault.joint for fault in map(fault_of, motion.events) if fault]:
        raise AccordError(f"{failed[0]} fails in the bag: identify takes a healthy arm")
    if motion.time[-1] - motion.time[0] < SHORTEST:
        raise AccordError(
            f"the motion is shorter than {SHORTEST:g} s, too short to identify the arm"
        )
    clearance = Clearance.of(setup)
    for time, q in zip(motion.time[::EVERY], motion.q[::EVERY], strict=True):
        pair, distance = clearance.closest(q)
        if distance < TOUCHING:
            a, b = clearance.pair_names(pair)
            raise AccordError(
                f"{a} touches {b} at {time:g} s: identify takes motion without contact"
            )
    efforts = clip_efforts(efforts_in_force(run), setup.effort_limits)
    return Motion(motion.time, motion.q, motion.qd, np.asarray(efforts))
