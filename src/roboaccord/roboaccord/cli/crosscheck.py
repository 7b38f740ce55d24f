"""`accord crosscheck`: engines against the analytical reference, level by level.

An engine is a physics engine such as DART or MuJoCo; the reference is the project's own simulator,
whose equations of motion are written out. A level is one way of comparing the two, such as
accelerations in random states or whole trajectories.

`crosscheck_command` reads the options, loads the robot and the scenario, runs the check
(`door.checks.crosscheck`) and returns its report for printing; of a recorded run (BAG) it checks
the recording instead. Half of its lines are its options. How the levels judge is in the folder
crosscheck/, what is printed in levels.py, the page in report/.

A new option is also added to CROSSCHECK (door/checks.py), which states whether it goes with a
robot, a file or a bag. Names of options and values of `Profile` stay, as users type them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roboaccord.cli import options
from roboaccord.cli.completion import complete_robot
from roboaccord.cli.console import COMPILING, command_line, log, note, progress
from roboaccord.cli.folder import results
from roboaccord.cli.result import Result, used_by
from roboaccord.contract import AccordError, Engine, plugins, to_json
from roboaccord.contract.errors import missing
from roboaccord.contract.outcome import Code
from roboaccord.crosscheck.runs import Progress
from roboaccord.door import read_bag, subject_mode
from roboaccord.door.checks import CROSSCHECK, check_recording, crosscheck
from roboaccord.engines import REFERENCE, name_of, spec
from roboaccord.robots.file import FileRobot
from roboaccord.run.runner import model_of
from roboaccord.scenario.setup import Setup

if TYPE_CHECKING:
    from roboaccord.crosscheck.report import Report

# Findings of the rules for robot files that are printed at most; `accord check` lists all. They
# must leave the table of levels on a screen of 24 lines: any number from 3 to 12 would do.
MOST_FINDINGS = 10
NO_EFFORT = "no effort acted: --set controller.name=random moves and tests every joint"


class Profile(StrEnum):
    """Which settings engines run with: the workspace's, their authors', or each in turn."""

    DEFAULT = "default"
    EXPERT = "expert"
    BOTH = "both"


_subject = typer.Argument(
    metavar="ROBOT|FILE|BAG|LOG",
    autocompletion=complete_robot,
    help="See `accord list`; a URDF, xacro, SDF or MJCF file; a recorded run; or the log "
    "of your own simulator or robot: CSV, NPZ, MAT, Parquet or a bag.",
)
Subject = Annotated[str, _subject]
_refine = typer.Option(min=1, max=6, help="Number of physics steps: dt, dt/2, dt/4, ...")
Refine = Annotated[int, _refine]
_perturb = typer.Option(
    metavar="ENGINE:KIND[:WHERE]=VALUE",
    help="Falsify one engine, to see whether the check finds it: its mass, inertia, axis, "
    "gravity, friction, gear, delay, ... at a link or joint, or at all if none is named.",
)
Perturb = Annotated[list[str] | None, _perturb]
_profile = typer.Option(
    help="Engines with the workspace's settings, with those that their authors would "
    "choose, or both side by side."
)
ProfileName = Annotated[Profile, _profile]
_robot = typer.Option("--robot", metavar="FILE", help="Robot file of a LOG, or robot of a BAG.")
RobotOfRecording = Annotated[str, _robot]
_all = typer.Option("--all", help="Look at every tick of a motion; by default levels draw 2,000.")
EveryTick = Annotated[bool, _all]
_verbose = typer.Option("--verbose", help="Show what engines print as they load the model.")
Verbose = Annotated[bool, _verbose]


@CROSSCHECK
def crosscheck_command(
    what: Subject,
    words: options.ScenarioIfAny = None,
    engines: options.Engines = "",
    refine: Refine = 3,
    changes: options.Changes = None,
    faults: options.Faults = None,
    base: options.Base = "",
    packages: options.Packages = None,
    perturb: Perturb = None,
    profile: ProfileName = Profile.DEFAULT,
    of: RobotOfRecording = "",
    every: EveryTick = False,
    verbose: Verbose = False,
    folder: options.Out = None,
    force: options.Force = False,
) -> Result:
    """Check engines against the analytical reference, level by level.

    Accelerations at random states; every recorded control period against the equations of motion
    under the engine's own scheme, and against the reference; the same run again, and in a world
    that is turned, mirrored or shifted; events; the energy book; whole trajectories at dt, dt/2,
    dt/4 with their order of convergence, or, for a scenario that is marked as chaotic, medians over
    seeds. Each level of each engine is within, outside, not judged or excused, or does not apply.
    Exit status 1 if one is outside (fail) or not judged (undecided). With no engine there is no
    verdict, and the status is 0.

    Of a BAG every control period is compared with the reference's, as the node `crosscheck` does
    during a run. A BAG without a scenario needs its name as second argument.

    Examples:

      accord crosscheck snake serpenoid

      accord crosscheck snake serpenoid --engines reference,dart --refine 4 --json

      accord crosscheck snake serpenoid --perturb dart:mass:base_link=1.01

      accord crosscheck arm.urdf --engines dart,mujoco --set crosscheck.duration=0.5

      accord crosscheck arm.urdf.xacro length:=0.5

      accord crosscheck roller_sphere headings --profile both

      accord crosscheck runs/snake_serpenoid_dart/bag
    """
    scenario, arguments = options.one_scenario(words)
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(message)s")
    if subject_mode(what) == "BAG":
        return recording_result(what, of, scenario, changes or ())
    setup = options.load_setup(what, scenario, changes, faults, base, packages, arguments=arguments)
    findings = apply_rules(setup)
    is_file = isinstance(setup.robot, FileRobot)
    names = options.choose_engines(engines)
    # Engines with deliberate errors, where --perturb asks for them.
    specs = in_profile(with_errors(names, perturb or []), profile)
    default = f"{setup.robot.name}_{setup.scenario.name}_crosscheck"
    with results(folder, default, force=force) as out, progress_bar() as callbacks:
        report = crosscheck(
            setup,
            engines=specs,
            refine=refine,
            out=out,
            command=command_line(),
            refused=print_left_out if is_file or not engines else None,
            changed=bool(changes or faults),
            progress=callbacks,
            every=every,
        )
    result = report_result(setup, report, out, names, findings)
    # Of a file, engines that were named and could not run let the check fail.
    required = {name_of(engine) for engine in specs} if is_file and engines else set()
    return replace(result, ok=report.ok and required <= set(report.engines))


def recording_result(bag: str, robot: str, scenario: str, changes: Sequence[str]) -> Result:
    """Check a recorded run, and return the result of the command.

    Args:
        bag: path of the bag.
        robot, scenario: names, where the bag has none.
        changes: of keys of the scenario.
    """
    run = read_bag(bag)
    report = check_recording(run, robot, scenario, changes)
    return Result(report.to_json(), [report.line()], used={"engines": run.engine}, ok=report.ok)


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show a progress bar; yield the callbacks by which a check reports its jobs."""
    with progress() as bar:
        task = bar.add_task(COMPILING, total=None)

        def show_job(engine: str, dt: float) -> None:
            bar.update(task, advance=1, description=f"{engine} {dt:g} s")

        yield Progress(lambda jobs: bar.update(task, total=jobs), show_job)


def report_result(
    setup: Setup,
    report: Report,
    folder: Path,
    engines: Sequence[str],
    findings: Sequence[Any] | None,
) -> Result:
    """Return the result of the command: what `--json` has, and the printed report.

    Args:
        setup: robot and scenario.
        report: of the check.
        folder: folder with the files of the check.
        engines: names of the engines that were asked for.
        findings: of the rules for robot files; None where they were not applied.
    """
    from roboaccord.cli.levels import shown_of

    page: Path | None = folder / "report.html"
    if missing_library := missing("report"):
        page = None
        note(f"no report.html beside {folder / 'summary.json'}: it needs {missing_library}")
    data = {**report.to_json(), "report": str(page or ""), **model_of(setup)}
    if findings is not None:
        data["findings"] = to_json(findings)
    used = used_by(setup, "control_period", "physics_step", "seed") | {"engines": engines}
    output = shown_of(report, page)
    own_names = dict[str, str]()
    if isinstance(setup.robot, FileRobot):
        own_names |= setup.robot.own_names(setup)
        has_controller = setup.scenario.controller.get("name") != "none"
        if not has_controller and Code.EXCITED not in [note.code for note in report.notes]:
            output.append(NO_EFFORT)
    return Result(data, output, used=used, ok=report.ok, names=own_names)


def apply_rules(setup: Setup) -> Sequence[Any] | None:
    """Apply the rules for robot files, print errors and warnings, and return all findings.

    Return None for a robot that is no file, and where no installed package has rules. Rules are the
    entry point `findings` of `roboaccord.functions`.
    """
    if not isinstance(setup.robot, FileRobot) or "findings" not in plugins.entries("functions"):
        return None
    findings: Sequence[Any] = plugins.load("functions", "findings")(setup.robot.file(setup))
    severe = [finding for finding in findings if finding.severity != "note"]
    for finding in severe[:MOST_FINDINGS]:
        log.print(finding, soft_wrap=True)
    if len(severe) > MOST_FINDINGS:
        note(f"{len(severe) - MOST_FINDINGS} more: accord check {setup.robot.path}")
    return findings


def print_left_out(name: str, error: AccordError) -> None:
    """Print on stderr that an engine is left out, and why."""
    reason = str(error).removeprefix(f"{name}: ")
    log.print(f"left out: {name}: {reason}", soft_wrap=True)


def with_errors(engines: list[str], texts: list[str]) -> list[Engine]:
    """Return the engines; those that `ENGINE:KIND[:WHERE]=VALUE` texts name have these errors.

    Raises:
        AccordError: for a text that cannot be read, or names an engine that is not checked.
    """
    if not texts:
        return [*engines]
    from roboaccord.falsify import parse_perturbation, wrap

    errors = [parse_perturbation(text) for text in texts]
    for error in errors:
        if error.engine not in engines or error.engine == REFERENCE:
            raise AccordError(f"--perturb {error}: {error.engine} is not an engine of this check")
    perturbed = {error.engine for error in errors}
    return [wrap(name, perturbations=errors) if name in perturbed else name for name in engines]


def in_profile(engines: list[Engine], profile: Profile) -> list[Engine]:
    """Return the engines with the settings of a profile; with BOTH, each one twice.

    An engine that has no expert settings, and the reference, is returned once.
    """
    if profile == Profile.DEFAULT:
        return engines
    by_name = dict[str, Engine]()
    for engine in engines:
        expert = engine if engine == REFERENCE else spec(engine).as_expert()
        if profile == Profile.BOTH:
            by_name[name_of(engine)] = engine
        by_name[name_of(expert)] = expert
    return [*by_name.values()]
