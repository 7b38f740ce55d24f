"""A run as a function: `run` simulates and records a scenario, `read_bag` reads a recorded run.

`run` is what `ra.run` and the command `accord run` call. It loads robot and scenario, finds the
transport (the way in which controller and simulator exchange messages) by its entry point
(run/runner.py), and warns about servos that are unstable at the control period. A recorded run is
a bag, a file of messages with time stamps. RUN states which options go together, by modes
(contract/modes.py): a new argument is named there, too. Names of arguments and types of results
stay (docs/python.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from roboaccord.bag.reader import BagRun, read_run
from roboaccord.contract import ROBOTS, AnyController, Inputs, Modes, Observer
from roboaccord.door import arguments
from roboaccord.engines import check_engine
from roboaccord.run import NO_INPUTS, RecordedInputs
from roboaccord.run.output import fresh
from roboaccord.run.runner import Run, RunRequest, find_runner
from roboaccord.scenario.servo import chatter
from roboaccord.scenario.watch import TIMEOUT
from roboaccord.simulators.base import Simulator


def _modes(options: Mapping[str, Any]) -> list[str]:
    """Return the modes that options choose: how the robot is given, and `with --view`."""
    robot_mode = arguments.subject_mode(options["robot"])
    return [robot_mode, "with --view"] if options.get("view") else [robot_mode]


# Options of the command by mode, separated by blanks; those of the mode "" go with every mode.
RUN_OPTIONS = "engine transport controller inputs timeout view out force"
RUN = Modes(_modes, {**ROBOTS, "with --view": "speed stay", "": RUN_OPTIONS})


@RUN.check_arguments
def run(
    robot: arguments.Subject,
    scenario: str | Path | None = None,
    *,
    engine: str = "reference",
    settings: arguments.Settings | None = None,
    controller: AnyController = "",
    inputs: arguments.Recording | Inputs = NO_INPUTS,
    transport: str = "direct",
    timeout: float = TIMEOUT,
    observers: Sequence[Observer] = (),
    wrap: Callable[[Simulator], Simulator] = lambda simulator: simulator,
    tell: Callable[[str], None] = arguments.tell,
    out: str | Path | None = None,
    **options: Unpack[arguments.Keywords],
) -> Run:
    """Run a scenario, and record it, as `accord run` does.

    Args:
        robot: name or file (URDF, xacro, SDF, MJCF) of a robot, or a robot in a scenario.
        scenario: name, or a YAML file; not needed for a robot's file.
        engine: `reference`, or the name of an engine, such as `mujoco` or `dart`.
        settings: values by key of the scenario, as for `--set`: `{"friction.mu_along": 0.5}`.
        controller: in place of the scenario's: a class that is called with the setup, an object
            with `reset` and `update`, or `MODULE:CLASS`. Bags state its name and the hash of its
            source.
        inputs: inputs of the run, or a recorded run, whose inputs are repeated.
        transport: `direct`, `ros` or `ros_processes`.
        timeout: how long the controller may take for an answer [s of wall time].
        observers: follow the run, if the transport runs in this process.
        wrap: returns the simulator to use in place of the one made; by default the same.
        tell: called with each line about the run that a person should read.
        out: folder for the bag; by default a new one under runs/.
        **options: `duration`, `control_period`, `physics_step` [s] and `seed` of the scenario;
            `faults`, and `base`, `packages` and `arguments` of a robot that is a file: see
            `Keywords`.

    Returns:
        the run: `metrics` has its figures, `trajectory` its states as arrays [s, rad, rad/s, N m,
        m], `to_pandas` a table, and `plot` draws it.

    Raises:
        AccordError: in one line, if something that is needed is missing, an argument is wrong, or
            the run fails.

    Example:
        >>> run = ra.run("snake", "serpenoid", duration=5, settings={"friction.mu_along": 0.5})
        >>> run.metrics["speed"]  # [m/s]
        >>> run.plot("q/joint_01", out="joint.svg")
    """
    check_engine(engine)
    # A recorded run is repeated with its duration and faults, unless others are given.
    run_inputs = inputs if isinstance(inputs, Inputs) else RecordedInputs(arguments.bag_of(inputs))
    if isinstance(run_inputs, RecordedInputs):
        settings = {"duration": run_inputs.duration, **(settings or {})}
        options = {"faults": list(run_inputs.fault_texts), **options}
    setup = arguments.setup_of(robot, scenario, settings, **options)
    if isinstance(run_inputs, RecordedInputs):
        run_inputs.check(setup)
    runner = find_runner(transport)
    if not controller and (warning := chatter(setup)):
        tell(warning)
    request = RunRequest(
        setup=setup,
        engine=engine,
        bag=fresh(arguments.folder_of(out, setup, engine) / "bag"),
        controller=controller,
        inputs=run_inputs,
        observers=tuple(observers),
        wrap=wrap,
        tell=tell,
        timeout=timeout,
    )
    result = runner(request)
    if result.motion.divergence:
        tell(result.motion.divergence)
    return result


def read_bag(recording: arguments.Recording) -> BagRun:
    """Read a recorded run: motion, commands, events and scenario.

    Args:
        recording: folder of a run, its bag (a folder or a file, MCAP or sqlite3), or what `run`
            returned. Any bag of ROS 2 with joint states is read.

    Returns:
        the run, with its motion as `trajectory`: times [s], angles [rad], efforts [N m].

    Raises:
        AccordError: if it is not a bag, is damaged, or holds no joint states.

    Example:
        >>> bag = ra.read_bag("runs/snake_serpenoid_reference")
        >>> bag.trajectory.time[-1], bag.scenario["friction"]
    """
    from roboaccord.bag.folder import find_bag

    return read_run(find_bag(arguments.bag_of(recording)))
