"""`accord packbot collapse`: the report's experiment, with each of its contacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.command import Result, used_by
from roboaccord.cli.console import ProgressObserver, make_table, progress
from roboaccord.cli.options import Changes, Engine, Seed
from roboaccord.cli.pieces import in_pieces
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.results import IF_ANY, Metres, Quantity, Seconds
from roboaccord.contract.trajectory import Event

from packbot.source.collapse import (
    CONTACTS,
    LINKS,
    Collapse,
    Draw,
    collapse_setup,
    run_collapse,
    run_draws,
    spread,
)


@in_pieces()
def collapse_command(
    engine: Engine = "reference",
    contact: Annotated[
        str,
        typer.Option(
            metavar="LAW",
            help="normal; joint_clamp, the report's, in the reference alone; or none.",
        ),
    ] = "normal",
    duration: Annotated[Seconds, typer.Option(metavar="S", help="Of the fall.")] = 5.0,
    perturb: Annotated[
        int, typer.Option(metavar="N", min=0, help="Let N arms fall, with drawn parameters.")
    ] = 0,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Let the arm fall from its drive pose, all joints without torque.

    Angles are over the horizontal, in degrees: link1 from shoulder to elbow 1, link2 from elbow 1
    to elbow 2, link3 from there on. The energy must not rise, for nothing drives the arm. With
    --perturb, lengths, radii and masses are drawn from their uncertainties in
    config/parameters.yaml, and shown is the spread.

    Examples:

      accord packbot collapse

      accord packbot collapse --engine mujoco --json

      accord packbot collapse --contact joint_clamp

      accord packbot collapse --perturb 100 --seed 1

      accord packbot collapse --set friction.restitution=0.3 --duration 8
    """
    if contact not in CONTACTS:
        raise AccordError(f"unknown contact {contact}{did_you_mean(contact, CONTACTS)}")
    setup = collapse_setup(contact, duration, changes or ())
    with progress() as bar:
        watch = ProgressObserver(bar, f"collapse in {engine}", setup.scenario.duration)
        found = run_collapse(setup, engine, [watch])
        draws: list[Draw] = []
        if perturb:
            task = bar.add_task("drawn arms", total=perturb)
            draws = run_draws(
                perturb, seed, engine=engine, contact=contact, duration=duration,
                changes=changes or (), done=lambda draw: bar.advance(task),
            )  # fmt: skip
    data = Fall.of(found, Drawn.of(draws, seed) if draws else None)
    used = used_by(setup, "physics_step") | ({} if perturb else {"seed": None, "perturb": None})
    title = f"collapse in {engine}, contact {contact}"
    return Result(data, shown_of(data, title, found.last_speed), used=used)


@dataclass(frozen=True)
class Drawn:
    """Hold the figures of drawn arms."""

    count: int
    seed: int
    absolute_deg: Annotated[Mapping[str, Mapping[str, float]], Quantity("deg")]
    at_rest: int
    refused: list[str]

    @classmethod
    def of(cls, draws: Sequence[Draw], seed: int) -> Drawn:
        """Count them."""
        refused = [draw.refused for draw in draws if draw.refused]
        at_rest = sum(draw.settle_time is not None for draw in draws)
        return cls(len(draws), seed, spread(draws), at_rest, refused)


@dataclass(frozen=True)
class Fall:
    """Hold the figures of a collapse."""

    absolute_deg: Annotated[Mapping[str, float], Quantity("deg")]
    settle_time: Annotated[float | None, Quantity("s")]
    energy_rise: Annotated[float, Quantity("J")]
    worst_penetration: Metres
    events: Sequence[Event]
    perturbed: Drawn | None = field(default=None, metadata=IF_ANY)

    @classmethod
    def of(cls, found: Collapse, drawn: Drawn | None = None) -> Fall:
        """Return those of a collapse."""
        return cls(
            found.absolute_deg, found.settle_time, found.energy_rise, found.worst_penetration,
            found.trajectory.events, drawn,
        )  # fmt: skip

    @property
    def rest(self) -> str:
        """When the links are at rest, in words."""
        settled = self.settle_time
        return f"at rest after {settled:.2f} s" if settled is not None else "not at rest"


def shown_of(found: Fall, title: str, last_speed: float) -> list[RenderableType]:
    """Return the figures for people; `last_speed` is that of the fastest joint [rad/s]."""
    angles, drawn = found.absolute_deg, found.perturbed
    words = ("mean", "std", "min", "max") if drawn else ()
    table = make_table("link", "angle\n[deg]", *words, title=title)
    for link in LINKS:
        row = drawn.absolute_deg[link].values() if drawn else ()
        table.add_row(link, f"{angles[link]:.2f}", *(f"{value:.2f}" for value in row))
    say = (
        f"links {found.rest}, the fastest joint at {last_speed:.2g} rad/s in the end; "
        f"{len(found.events)} events; energy rose by {found.energy_rise:.2g} J in all; "
        f"hulls overlapped by {1e3 * found.worst_penetration:.3g} mm at most"
    )
    lines = [Text("angle: of each link over the horizontal at the end"), Text(say)]
    if drawn:
        of_drawn = (
            f"mean, std, min, max: of {drawn.count} drawn arms (seed {drawn.seed}), "
            f"{drawn.at_rest} at rest, {len(drawn.refused)} touched something at the start"
        )
        lines.append(Text(of_drawn))
    return [table, *lines]
