"""The command `accord servo FILE`: how servos of joints answer in every engine.

This module reads the options, makes the servos, lets compare.py run them, and writes the pictures.
Gains are the file's where it has position actuators, else such that each joint has the natural
frequency FREQUENCY and the damping ratio RATIO.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli import Result, options, results
from roboaccord.cli.console import counted
from roboaccord.contract import AccordError, Array, check_known
from roboaccord.engines import check_engine
from roboaccord.scenario import Setup, is_file
from roboaccord.scenario.setups import load_setup

from roboaccord_files.excitation.command import RobotFile, XacroArguments, velocity_limits
from roboaccord_files.servo import figure, shown
from roboaccord_files.servo.compare import Comparison, inertias
from roboaccord_files.servo.law import MODES, Servo
from roboaccord_files.servo.result import Servos

FREQUENCY, RATIO = 10.0, 0.7  # rad/s; of servos for which neither the file nor an option has gains
STEP, SLIDE = 0.1, 0.02  # rad, m; size of a step
Joints = Annotated[str, typer.Option("--joint", metavar="LIST", help="Joints that move; all.")]
Stiffness = Annotated[float | None, typer.Option(min=0.0, help="Of each joint [N m/rad or N/m].")]
Damping = Annotated[float | None, typer.Option(min=0.0, help="Of each joint [N m s/rad or N s/m].")]
Mode = Annotated[
    str,
    typer.Option(
        metavar="LIST",
        help="own: the engine's actuator; explicit: held over a control tick; limited: within "
        "limits of effort and velocity; line: within a torque-speed line.",
    ),
]
Delay = Annotated[int, typer.Option(min=0, max=100, help="Control ticks by which a servo is late.")]
Armature = Annotated[float, typer.Option(min=0.0, help="Inertia of a rotor, added to each joint.")]
Size = Annotated[float | None, typer.Option(min=0.0, help="Of the step; 0.1 rad or 0.02 m.")]
Rate = Annotated[float, typer.Option(min=1.0, max=1e5, help="Control rate [Hz].")]
Origin = Annotated[str, typer.Option("--as", metavar="ENGINE[:MODE]", help="What others match.")]
Free = Annotated[bool, typer.Option("--free", help="Hold nothing; the reference is exact.")]


# Longer than 60 lines by its options and the help that it prints.
def servo_command(
    what: RobotFile,
    words: XacroArguments = None,
    engines: options.Engines = "",
    joint: Joints = "",
    kp: Stiffness = None,
    kd: Damping = None,
    mode: Mode = "own,explicit",
    delay: Delay = 0,
    armature: Armature = 0.0,
    step: Size = None,
    rate: Rate = 250.0,
    origin: Origin = "",
    free: Free = False,
    base: options.Base = "",
    changes: options.Changes = None,
    packages: options.Packages = None,
    folder: options.Out = None,
    force: options.Force = False,
) -> Result:
    """Compare how the servos of a robot's joints answer in every engine, and match them.

    One joint moves under a PD servo and the others are held: a step and a ramp without weight, and
    a pose that is held against it. The exact response is known in closed form. Overshoot, settling
    within 2 %, what the weight leaves, damping ratio, and the stiffness at which the servo becomes
    unstable; then the gains by which other engines answer as the first. What an engine's servo does
    otherwise is named: efforts that are late or held, or a rotor that is left out.

    Examples:

      accord servo arm.urdf

      accord servo arm.urdf --engines mujoco,dart,sapien --rate 50 --delay 1 --out servo

      accord servo arm.urdf --joint elbow --kp 40 --kd 2 --as mujoco:explicit --json
    """
    if not is_file(what):
        raise AccordError(f"{what}: name a robot's file (URDF, xacro, SDF or MJCF)")
    _, arguments = options.split_arguments(words or [])
    settings = [*(changes or ()), f"control_period={1.0 / rate!r}", "parameters.dry_friction=0"]
    settings += ["parameters.springs=0", "parameters.actuators=0", "parameters.stops=0"]
    if not any(change.startswith("physics_step=") for change in settings):
        settings.append(f"physics_step={1.0 / rate / math.ceil(1e3 / rate)!r}")
    folders = options.read_packages(packages or [])
    setup, weightless = (
        load_setup(
            what, "", [*settings, *more], base=base or "fixed", packages=folders,
            arguments=arguments,
        )
        for more in ((), ("parameters.gravity=0",))
    )  # fmt: skip
    if not free and setup.scenario.base != "fixed":
        raise AccordError("--base planar and free are for --free: a held robot is fixed")
    chosen, modes = options.listed(joint) or [*setup.joints], options.listed(mode)
    for name, known in [(n, setup.joints) for n in chosen] + [(m, MODES) for m in modes]:
        check_known("unknown joint " if known is setup.joints else "unknown mode ", name, known)
    numbers = [setup.joints.index(name) for name in chosen]
    if not numbers:
        raise AccordError(f"{what}: it has no joint that moves")
    added = np.full(len(setup.joints), armature)
    comparison = Comparison(
        setup=setup,
        weightless=weightless,
        servos=[replace(servo, delay=delay) for servo in servos_of(setup, added, kp, kd)],
        armature=added,
        steps=np.array([step or (SLIDE if slides(setup, n) else STEP) for n in setup.joints]),
        chosen=numbers,
        engines=engines_of(engines, free),
        modes=modes,
        held=not free,
    )
    wanted, _, wanted_mode = origin.partition(":")
    if wanted:
        check_known("--as: not in --engines: ", wanted, comparison.engines)
    result = Servos(what, rate, setup.scenario.physics_step)
    with counted(len(comparison.engines) * len(modes) * len(numbers), "servos") as done:
        comparison.run(result, (wanted, wanted_mode), lambda: done(1))
    if not result.versions:
        raise AccordError("; ".join(result.refused) or "no engine is installed")
    with results(folder, "servo", force=force) as target:
        files = []
        for name in result.curves:
            files.append(str(target / f"{name}.svg"))
            unit = "m" if slides(setup, name) else "rad"
            figure.draw(result, name, unit, target / f"{name}.svg")
        result.files = files
        return Result(result.to_json(), shown.lines(result, files))


def engines_of(names: str, free: bool) -> list[str]:
    """Return the engines of a list; those that are installed by default."""
    chosen = options.choose_engines(names)
    for name in chosen:
        check_engine(name)
    reference = ["reference"] if free else []
    return [*reference, *(name for name in chosen if name != "reference")]


def slides(setup: Setup, name: str) -> bool:
    """Return whether a joint is prismatic."""
    return next(joint for joint in setup.tree.moving if joint.name == name).kind == "prismatic"


def servos_of(
    setup: Setup, armature: Array, kp: float | None, kd: float | None
) -> list[Servo]:
    """Return the servos of all joints, with the limits of the file.

    Args:
        setup: robot and scenario.
        armature: added inertia of rotors (n,).
        kp, kd: gains of all joints; None for those of the file, or by FREQUENCY and RATIO.
    """
    servos, velocities = list[Servo](), velocity_limits(setup)
    joints = {joint.name: joint for joint in setup.tree.moving}
    for i, inertia in enumerate(inertias(setup) + armature):
        described = joints[setup.joints[i]]
        stiffness = kp or described.servo[0] or float(inertia) * FREQUENCY**2
        damping = kd or described.servo[1] or 2.0 * RATIO * (stiffness * float(inertia)) ** 0.5
        effort = float(setup.effort_limits[i]) or math.inf
        servos.append(Servo(stiffness, damping, "explicit", 0, effort, float(velocities[i])))
    return servos
