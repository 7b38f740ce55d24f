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

from roboaccord_files.excitation.command import RobotFile, XacroArguments
from roboaccord_files.excitation.suitable import check_joints
from roboaccord_files.servo.compare import Responses, statics
from roboaccord_files.servo.linear import MODES, NO_LIMIT, Servo

FREQUENCY, RATIO = 10.0, 0.7  # rad/s; of servos for which neither the file nor an option has gains
# rad, m; sizes of steps. s; physics steps are at most so long, unless they are set.
STEP, SLIDE, FINE = 0.1, 0.02, 1e-3
# Springs, stops and dry friction are left out: with them the response has no closed form.
LINEAR = ("dry_friction", "springs", "actuators", "stops")
Joints = Annotated[str, typer.Option("--joint", metavar="LIST", help="Joints that move; all.")]
Gain = Annotated[float | None, typer.Option(min=1e-9, help="Of the servo of each joint, SI.")]
Mode = Annotated[str, typer.Option(metavar="LIST", help=f"Of {', '.join(MODES)}.")]
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
    kp: Gain = None,
    kd: Gain = None,
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
    if not free and base not in ("", "fixed"):
        raise AccordError("--base planar and free are for --free: a held robot is fixed")
    need("pictures need", "report")
    keys = {f"parameters.{name}": 0.0 for name in LINEAR} | {"control_period": 1.0 / rate}
    keys["physics_step"] = 1.0 / rate / math.ceil(1.0 / rate / FINE)
    settings = [*(f"{key}={value!r}" for key, value in keys.items()), *(changes or ())]
    folders, base = options.read_packages(packages or []), base or "fixed"
    _, arguments = options.split_arguments(words or [])
    setup = load_setup(what, "", settings, base=base, packages=folders, arguments=arguments)
    check_joints(setup, what, "servos are compared")
    names, modes = options.listed(joint) or [*setup.joints], options.listed(mode) or [*MODES]
    chosen = [REFERENCE] * free + [e for e in options.choose_engines(engines) if e != REFERENCE]
    wanted, _, wanted_mode = origin.partition(":")
    asked = [word for word in (wanted, wanted_mode) if word]
    checks = ("joint", names, setup.joints), ("mode", modes, MODES)
    for label, given, known in (*checks, ("word of --as:", asked, (*chosen, *modes))):
        for name in given:
            check_known(f"unknown {label} ", name, known)
    kinds = [moving.kind for moving in setup.tree.moving]
    added, servos = np.full(len(kinds), armature), []
    inertias = (statics(setup, setup.initial.q)[0] + added).tolist()
    for moving, inertia, effort in zip(setup.tree.moving, inertias, setup.effort_limits.tolist()):
        stiffness = kp or moving.servo[0] or inertia * FREQUENCY**2
        damping = kd or moving.servo[1] or 2.0 * RATIO * math.sqrt(stiffness * inertia)
        limits = effort or NO_LIMIT, moving.velocity or NO_LIMIT
        servos.append(Servo(stiffness, damping, "explicit", delay, *limits))
    sizes = np.array([step or (SLIDE if kind == "prismatic" else STEP) for kind in kinds])
    numbers = [setup.joints.index(name) for name in names]
    responses = Responses(setup, servos, added, sizes, numbers, chosen, modes, not free)
    with counted((len(chosen) + (not free)) * len(modes) * len(numbers), "servos") as done:
        data = responses.run((wanted, wanted_mode), lambda: done(1))
    if not {*data["versions"]} - {REFERENCE}:
        raise AccordError("; ".join(data["refused"]) or "no engine is installed")
    from roboaccord_files.servo import shown  # draws, by libraries that not everybody has

    with results(folder, "servo", force=force) as target:
        files = [target / f"{name}.svg" for name in names]
        for number, path in zip(numbers, files, strict=True):
            unit = "m" if kinds[number] == "prismatic" else "rad"
            shown.draw(responses, setup.joints[number], unit, path)
        data |= {"file": what, "rate": rate, "physics_step": setup.scenario.physics_step}
        data["files"] = [str(path) for path in files]
        return Result(data, [*shown.lines(data), file_line(files)])
