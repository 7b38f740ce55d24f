"""`accord packbot fall`: the experiment of the source report (GRRC Technical Report 2010-02).

The command simulates a fall of the arm without torque, and with --perturb further falls of arms
with randomly drawn parameters. The experiment itself is in source/collapse.py.

Options and keys of the JSON output must stay (test_packbot_collapse).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from roboaccord import cli
from roboaccord.contract import Seconds, by_option, check_known
from roboaccord.run import run_pieces
from typer import Option

from packbot.source import collapse

CONTACT_HELP = "Contact model: normal; joint_clamp, the report's, in the reference alone; or none."
PERTURB_HELP = "Let N arms with randomly drawn parameters fall."
ContactLaw = Annotated[str, Option(metavar="LAW", help=CONTACT_HELP)]
Duration = Annotated[Seconds, Option(metavar="S", help="Duration of the fall.")]
ArmCount = Annotated[int, Option(metavar="N", min=0, help=PERTURB_HELP)]


# Options that are taken with --perturb alone, and with or without it; --cluster is in_pieces' own.
@by_option(
    "perturb",
    options_with="seed cluster",
    options_without="",
    options_always="engine contact duration set",
)
@cli.in_pieces()
def fall_command(
    engine: cli.Engine = "reference",
    contact: ContactLaw = "normal",
    duration: Duration = 5.0,
    perturb: ArmCount = 0,
    seed: cli.Seed = 0,
    changes: cli.Changes = None,
) -> cli.Result:
    """Let the arm fall from its drive pose, all joints without torque.

    Angles are over the horizontal, in degrees: link1 from shoulder to elbow 1, link2 from elbow 1
    to elbow 2, link3 from there on. The energy must not rise, for nothing drives the arm. With
    --perturb, lengths, radii and masses are drawn from their uncertainties in
    config/parameters.yaml, and shown is the spread.

    Examples:

      accord packbot fall

      accord packbot fall --engine mujoco --json

      accord packbot fall --contact joint_clamp

      accord packbot fall --perturb 100 --seed 1

      accord packbot fall --set friction.restitution=0.3 --duration 8
    """
    check_known("unknown contact ", contact, collapse.CONTACTS)
    setup = collapse.collapse_setup(contact, duration, changes or ())
    with cli.progress() as bar:
        watch = cli.ProgressObserver(bar, f"collapse in {engine}", setup.scenario.duration)
        result = collapse.run_collapse(setup, engine, [watch])
        if perturb:
            task = bar.add_task("drawn arms", total=perturb)
            drawn = collapse.draw_changes(perturb, seed)
            # What --set sets comes last, so that no draw changes it.
            calls = [([*draw, *(changes or ())], engine, contact, duration) for draw in drawn]
            draws = run_pieces(collapse.run_draw, calls, done=lambda draw: bar.advance(task))
            result = replace(result, perturbed=collapse.DrawnFigures.of(draws, seed))
    used = cli.used_by(setup, "physics_step") | ({} if perturb else {"perturb": None})
    return cli.Result(result, used=used)
