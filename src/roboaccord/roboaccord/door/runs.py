"""A run as a function: simulated and recorded, or read from a bag.

Arguments may be added, with a default and an entry in RUN; the command takes it from there. Names
of arguments and types of results stay (docs/python.md). A transport or an engine needs no change
here: they are entry points `roboaccord.runners` and `roboaccord.engines`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from roboaccord.bag.reader import BagRun, read_run
from roboaccord.contract.interfaces import Inputs, Observer
from roboaccord.contract.modes import ROBOTS, Modes
from roboaccord.door import arguments
from roboaccord.engines import check_engine
from roboaccord.run.inputs import RecordedInputs
from roboaccord.run.loop import NO_INPUTS
from roboaccord.run.output import fresh
from roboaccord.run.runner import Run, RunRequest, find_runner
from roboaccord.scenario.servo import chatter
from roboaccord.scenario.watch import TIMEOUT
from roboaccord.simulators.base import Simulator


def _modes(given: Mapping[str, Any]) -> list[str]:
    return [arguments.subject_mode(given["robot"]), *(["with --view"] if given.get("view") else [])]


RUN = Modes(_modes, {
    **ROBOTS,
    "with --view": "speed stay",
    "": "engine transport controller inputs timeout view out force",
})  # fmt: skip


@RUN.guard
def run(
    robot: arguments.Subject,
    scenario: str | Path | None = None,
    *,
    engine: str = "reference",
    settings: arguments.Settings | None = None,
    controller: str = "",
    inputs: arguments.Recording | Inputs = NO_INPUTS,
    transport: str = "direct",
    timeout: float = TIMEOUT,
    observers: Sequence[Observer] = (),
    wrap: Callable[[Simulator], Simulator] = lambda simulator: simulator,
    tell: Callable[[str], None] = arguments.tell,
    out: str | Path | None = None,
    **options: Unpack[arguments.Options],
) -> Run:
    """Run a scenario, and record it, as `accord run` does.

    Args:
        robot: by name or file, or already in its scenario.
        scenario: name, or a YAML file; a robot's file needs none.
        engine: `reference`, or the name of an engine.
        settings: values by key.
        controller: `MODULE:CLASS`, instead of the scenario's.
        inputs: a driven run, whose inputs are repeated.
        transport: `direct`, `ros` or `ros_processes`.
        timeout, observers, wrap, tell: as in `RunRequest`.
        out: folder for the bag; None: a new one under runs/.
        **options: of the robot.

    Raises:
        AccordError: if something that is needed is missing, or the run fails.
    """
    check_engine(engine)
    given = inputs if isinstance(inputs, Inputs) else RecordedInputs(arguments.bag_of(inputs))
    if isinstance(given, RecordedInputs):
        settings = {"duration": given.duration, **(settings or {})}
        options = {"faults": list(given.fault_texts), **options}
    setup = arguments.setup_of(robot, scenario, settings, **options)
    if isinstance(given, RecordedInputs):
        given.check(setup)
    runner = find_runner(transport)
    if not controller and (servo := chatter(setup)):
        tell(servo)
    bag = fresh(arguments.folder_of(out, setup, engine) / "bag")
    result = runner(RunRequest(
        setup=setup, engine=engine, bag=bag, controller=controller, inputs=given, wrap=wrap,
        observers=tuple(observers), tell=tell, timeout=timeout,
    ))  # fmt: skip
    if result.motion.divergence:
        tell(result.motion.divergence)
    return result


def read_bag(recording: arguments.Recording) -> BagRun:
    """Read a run from its folder or bag; errors as in `bag.reader.read_run`."""
    from roboaccord.bag.folder import find_bag

    return read_run(find_bag(arguments.bag_of(recording)))
