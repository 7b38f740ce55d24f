"""The command `accord servo FILE`: how servos of joints answer in every engine.

This module reads the options, makes the servos, lets compare.py run them, and writes the pictures.
Gains are the file's where it has position actuators, else such that each joint has the natural
frequency FREQUENCY and the damping ratio RATIO.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli import Result, options, results
from roboaccord.cli.console import counted, file_line
from roboaccord.contract import AccordError, check_known
from roboaccord.contract.errors import need
from roboaccord.engines import REFERENCE
from roboaccord.scenario import is_file
from roboaccord.scenario.setups import load_setup

from roboaccord_files.excitation.command import RobotFile, XacroArguments, velocity_limits
from roboaccord_files.servo.compare import Comparison, statics
from roboaccord_files.servo.linear import MODES, NO_LIMIT, Servo

FREQUENCY, RATIO = 10.0, 0.7  # rad/s; of servos for which neither the file nor an option has gains
STEPS = {"prismatic": 0.02}  # m; sizes of steps by kind of joint
STEP = 0.1  # rad
FINE = 1e-3  # s; physics steps are at most so long, unless they are set
# Springs, stops and dry friction are left out: with them the response has no closed form.
LINEAR = ("dry_friction", "springs", "actuators", "stops")
Joints = Annotated[str, typer.Option("--joint", metavar="LIST", help="Joints that move; all.")]
Stiffness = Annotated[float | None, typer.Option(min=1e-9, help="Of each joint [N m/rad, N/m].")]
Damping = Annotated[float | None, typer.Option(min=0.0, help="Of each joint [N m s/rad, N s/m].")]
MODE_HELP = (
    "own: the engine's actuator; explicit: held over a control tick; limited: within limits of "
    "effort and velocity; line: within a torque-speed line."
)
Mode = Annotated[str, typer.Option(metavar="LIST", help=MODE_HELP)]
Delay = Annotated[int, typer.Option(min=0, max=100, help="Control ticks by which a servo is late.")]
Armature = Annotated[float, typer.Option(min=0.0, help="Inertia of a rotor, added to each joint.")]
Size = Annotated[float | None, typer.Option(min=1e-6, help="Of the step; 0.1 rad or 0.02 m.")]
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
    base: options.Base = "fixed",
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
    if not free and base != "fixed":
        raise AccordError("--base planar and free are for --free: a held robot is fixed")
    need("pictures need", "report")
    period, settings = 1.0 / rate, [f"parameters.{name}=0" for name in LINEAR]
    settings += [
        f"control_period={period!r}",
        f"physics_step={period / math.ceil(period / FINE)!r}",
    ]
    settings += changes or []
    folders, (_, arguments) = options.read_packages(packages or []), options.split_arguments(words or [])
    setup, weightless = (
        load_setup(what, "", [*settings, *no], base=base, packages=folders, arguments=arguments)
        for no in ((), ("parameters.gravity=0",))
    )
    names, modes = options.listed(joint) or [*setup.joints], options.listed(mode)
    if not names:
        raise AccordError(f"{what}: it has no joint that moves")
    for name in names:
        check_known("unknown joint ", name, setup.joints)
    for name in modes:
        check_known("unknown mode ", name, MODES)
    chosen = [n for n in options.choose_engines(engines) if n != REFERENCE]
    chosen = [REFERENCE] * free + chosen
    wanted, _, wanted_mode = origin.partition(":")
    for name, known in ((wanted, chosen), (wanted_mode, modes)):
        if name:
            check_known("--as names what is not compared: ", name, known)
    moving = {each.name: each for each in setup.tree.moving}
    kinds = [moving[name].kind for name in setup.joints]
    added, servos = np.full(len(kinds), armature), list[Servo]()
    inertias, velocities = statics(setup, setup.initial.q)[0] + added, velocity_limits(setup)
    for i, inertia in enumerate(inertias.tolist()):
        described = moving[setup.joints[i]].servo
        stiffness = kp or described[0] or inertia * FREQUENCY**2
        by_ratio = 2.0 * RATIO * math.sqrt(stiffness * inertia)
        damping = kd if kd is not None else described[1] or by_ratio
        limits = float(setup.effort_limits[i]) or NO_LIMIT, float(velocities[i])
        servos.append(Servo(stiffness, damping, "explicit", delay, *limits))
    sizes = np.array([step or STEPS.get(kind, STEP) for kind in kinds])
    numbers = [setup.joints.index(name) for name in names]
    comparison = Comparison(
        setup, weightless, servos, added, sizes, numbers, chosen, modes, held=not free
    )
    with counted((len(chosen) + 1) * len(modes) * len(numbers), "servos") as done:
        data = comparison.run((wanted, wanted_mode), lambda: done(1))
    if not data["versions"]:
        raise AccordError("; ".join(data["refused"]) or "no engine is installed")
    from roboaccord_files.servo import shown  # draws, by libraries that not everybody has

    with results(folder, "servo", force=force) as target:
        files = [target / f"{name}.svg" for name in names]
        for name, path in zip(names, files, strict=True):
            unit = "m" if moving[name].kind == "prismatic" else "rad"
            shown.draw(comparison, name, unit, path)
        data |= {"file": what, "rate": rate, "physics_step": setup.scenario.physics_step}
        data["files"] = [str(path) for path in files]
        return Result(data, [*shown.lines(data), file_line(files)])
