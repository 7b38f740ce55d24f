"""Command `accord roller-sphere dribble-map`: whether a ball is held, over speed and turn rate.

A carrier dribbles: it holds a ball between two driven rollers and rolls it over the ground. Each
cell of the map is a simulated run: straight ahead, then a turn. It is compared with statics
(statics.py), which says whether friction can hold the ball, and with the model of slip. A ball
counts as lost once a roller cannot touch it within the stroke of its slide
(`roller_sphere.model.hold`). Numbers in brackets are equations of the paper
(roller_sphere/model/rig.py).

Fields of `Cell`, `SlipFigures` and `Limits` are JSON keys, explained in docs/roller_dribble.md, and
stay. AVERAGING_TIME, SETTLING_TIME, TURNING_TIME, CELLS and SLIPS may be changed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from roboaccord import cli
from roboaccord.contract import AccordError, Array, Contact, Json, Quantity, Seconds, Trajectory
from roboaccord.run import make_simulator, run_pieces, run_setup
from roboaccord.scenario import Setup, make_scenario
from roller_sphere import Kinematics, RollerSphereParameters
from roller_sphere.controllers.dribble import ACCELERATION
from roller_sphere.dribbling.dynamics import configure
from roller_sphere.model.contact import LINKS
from roller_sphere.model.hold import geometry_of, held_time_and_offset, in_carrier_frame
from roller_sphere.model.odometry import ball_spin

from roboaccord_studies.roller_sphere import statics

# Half and twice of each was measured in DART in three cells (0.5 and 1 m/s at 1 rad/s, 2 m/s at 2
# rad/s): the same balls are kept.
# s; time at the end of a run over which slips are averaged: half and twice as long, they differ by
# up to 7 %
AVERAGING_TIME = 1.0
# s; time straight ahead at full speed, before the turn: half and twice as long, slips differ by up
# to 7 %
SETTLING_TIME = 0.5
# s; shortest time of the turn before AVERAGING_TIME: slips still grow in it, by 6 to 20 % with
# twice as long a turn, which takes half as long again to simulate
TURNING_TIME = 2.0
MIN_SLIP = 1e-12  # m/s; smallest slip by which is divided, below what moves anything
# How two fields of Cell are printed: unit, explanation, heading, format, and unit shown.
OFFSET = Quantity("m", "its largest distance from its place", "off", ".1f", "mm")
GRIP = Quantity("1", "share of friction that statics demands; above 1 it slips", form=".2f")
# Columns of the printed table: fields of Cell, and of its slip.
CELLS = ("speed", "turn_rate", "lasted", "largest_offset", "grip")
SLIPS = ("slip.slip", "slip.model", "slip.spin", "slip.model_spin", "slip.share")


def slips_on_ground(parameters: RollerSphereParameters, trajectory: Trajectory) -> Array:
    """Return the slips of the ball against the rollers at their contacts (k, 2, 3) [m/s].

    They follow from the rates of rollers, ball and carrier, for a ball that rolls on the ground.
    """
    p, t = parameters, trajectory
    geometry = geometry_of(p)
    rates = np.column_stack([ball_spin(t), t.qd])
    # As `configure` takes them: x and y of the ball and of the carrier's middle [m], and yaw [rad].
    # Joints 2 to 4 move the carrier; joint 2 is 0 with its middle `ball_ahead` behind the origin.
    positions = np.column_stack([t.position[:, :2], t.q[:, 2] - p.ball_ahead, t.q[:, 3], t.q[:, 4]])
    slips = np.empty((len(t), 2, 3))
    for i in range(len(t)):
        configuration, _ = configure(geometry, positions[i], rates[i], True)
        slips[i] = configuration.G @ rates[i]
    return slips


def relative_spin(trajectory: Trajectory) -> Array:
    """Return the ball's angular velocity relative to the carrier, in its frame (k, 3) [rad/s]."""
    world = ball_spin(trajectory)
    yaw, rate = trajectory.q[:, 4], trajectory.qd[:, 4]
    return np.column_stack([in_carrier_frame(yaw, world[:, :2]), world[:, 2] - rate])


@dataclass(frozen=True)
class SlipFigures:
    """Means over a window of a motion.

    Args:
        slip: sizes of the slips of both rollers (2,) [m/s].
        model: |S| of the model for the same velocity of the ball, equal for both [m/s].
        spin, model_spin: w_z of the ball in the carrier's frame, measured and by (18) [rad/s].
        share: roller 1's share of both slips; 0.5 in the model, 0 if the roller grips.
    """

    slip: Annotated[list[float], Quantity("m/s", "of both rollers", "slips", ".3f")]
    model: Annotated[float, Quantity("m/s", "the model's slip", "model", ".3f")]
    spin: Annotated[float, Quantity("rad/s", "of the ball", form=".2f")]
    model_spin: Annotated[float, Quantity("rad/s", "the model's spin", "model", ".2f")]
    share: Annotated[float, Quantity("1", "roller 1's of the slip, 0.5 in the model", form=".2f")]


def slip_figures(parameters: RollerSphereParameters, trajectory: Trajectory) -> SlipFigures:
    """Return the figures of a motion, or of a window of one."""
    kinematics = Kinematics(parameters.rig)
    spin = relative_spin(trajectory)
    nu = spin[:, :2] @ kinematics.driving.T
    sizes = np.linalg.norm(slips_on_ground(parameters, trajectory), axis=2).mean(axis=0)
    return SlipFigures(
        slip=sizes.tolist(),
        model=float(np.abs(nu @ kinematics.slipping.T).mean()),
        spin=float(spin[:, 2].mean()),
        model_spin=float((nu @ kinematics.turning[2]).mean()),
        share=float(sizes[0] / max(sizes.sum(), MIN_SLIP)),
    )


@dataclass(frozen=True)
class Cell:
    """One run: straight ahead, then a continuous turn.

    Args:
        speed, turn_rate: commanded.
        held: until when the ball was held.
        kept: whether the ball was held to the end.
        largest_offset: of the ball while it was held.
        grip: share of friction that the turn needs by statics; above 1 no friction is enough.
        slip: means over the last second, None if the ball was lost.
    """

    speed: Annotated[float, Quantity("m/s", form="g")]
    turn_rate: Annotated[float, Quantity("rad/s", name="turn", form="g")]
    held: Seconds
    kept: bool
    largest_offset: Annotated[float, OFFSET]
    grip: Annotated[float, GRIP]
    slip: SlipFigures | None

    @property
    def lasted(self) -> Annotated[str, Quantity("", "how long the ball was", "held")]:
        """How long the ball was held, in words."""
        return "kept" if self.kept else f"{self.held:.2f} s"


def run_cell(data: dict[str, Json], engine: str, speed: float, turn_rate: float) -> Cell:
    """Run one cell of the map: straight ahead to the speed and for SETTLING_TIME, then the turn."""
    setup = Setup.of(make_scenario(data))
    controller = {**setup.scenario.controller, "speed": speed, "turn_rate": turn_rate}
    ramp = speed / float(controller.get("acceleration", ACCELERATION))  # s
    controller.update(straight=ramp + SETTLING_TIME, alternate=0.0)
    duration = math.ceil(ramp + SETTLING_TIME) + AVERAGING_TIME + TURNING_TIME
    setup = Setup.of(make_scenario({**data, "controller": controller, "duration": duration}))
    p = setup.parameters
    motion = run_setup(setup, make_simulator(setup, engine))
    held, offset = held_time_and_offset(p, motion)
    kept = bool(held >= motion.time[-1])
    last = motion.window(duration - AVERAGING_TIME, duration)
    acceleration = statics.ball_acceleration(p.ball_ahead, speed, turn_rate)
    assert setup.contact is not None  # the command refuses other laws
    return Cell(
        speed=speed,
        turn_rate=turn_rate,
        held=held,
        kept=kept,
        largest_offset=offset,
        grip=max(statics.grip_shares(p, *coefficients(setup.contact), acceleration)),
        slip=slip_figures(p, last) if kept else None,
    )


def coefficients(contact: Contact) -> tuple[float, float]:
    """Return the coefficients of friction of the ball with a roller and with the ground."""
    ball, roller, _ = LINKS
    return contact.mu((ball, roller)), contact.mu((ball, contact.fixtures[0].name))


@dataclass(frozen=True)
class Limits:
    """Limits by statics: gain and loss of speed, and the turn rate [rad/s] by the speed [m/s]."""

    acceleration: Annotated[float, Quantity("m/s^2", "straight ahead, by statics", form=".2f")]
    braking: Annotated[float, Quantity("m/s^2", "likewise", form=".2f")]
    turn_rate: dict[str, float]

    @property
    def turning(self) -> Annotated[str, Quantity("rad/s", "by statics, at a speed in m/s")]:
        """The turn rates in words."""
        return ", ".join(f"{rate:.2f} at {speed}" for speed, rate in self.turn_rate.items())


@dataclass(frozen=True)
class Dribbling:
    """The map of an engine, and the limits."""

    engine: str
    limits: Limits
    cells: list[Cell]


SPEEDS = typer.Option("--speeds", metavar='"V ..."', help="Of the carrier.")
TURN_RATES = typer.Option("--turn-rates", metavar='"W ..."', help="Of the carrier.")


@cli.in_pieces()
def dribble_map_command(
    speeds: Annotated[str, Quantity("m/s"), SPEEDS] = "0.5 1 1.5 2",
    turn_rates: Annotated[str, Quantity("rad/s"), TURN_RATES] = "0 0.5 1 1.5 2",
    engine: cli.Engine = "dart",
    changes: cli.Changes = None,
) -> cli.Result:
    """Dribble at every speed and turn rate, and compare with statics and with the model of slip.

    Each run goes straight ahead and then into a continuous turn. It shows whether the ball is still
    held at the end; the share of the available friction that statics demands of the rollers in the
    turn (above 1 nothing holds the ball); the slips and the ball's spin over the last second, next
    to those that the model gives for the same velocity of the ball; and roller 1's share of the
    slip, which is a half in the model.

    Examples:

      accord roller-sphere dribble-map

      accord roller-sphere dribble-map --engine mujoco --speeds "1 2" --turn-rates "0 1" --json

      accord roller-sphere dribble-map --set friction.mu=0.8 --set parameters.press_force=20
    """
    all_speeds, rates = cli.numbers(speeds, "--speeds"), cli.numbers(turn_rates, "--turn-rates")
    if min(all_speeds) <= 0:
        raise AccordError("--speeds are above 0")
    setup = cli.load_setup("roller_sphere", "dribble", changes)
    if setup.contact is None:
        raise AccordError("friction.law must be contact: the limits are those of its coefficients")
    p, (mu, ground) = setup.parameters, coefficients(setup.contact)
    data = setup.scenario.data()
    calls = [(data, engine, speed, rate) for speed in all_speeds for rate in rates]
    with cli.counted(len(calls), "dribbling") as done:
        cells = run_pieces(run_cell, calls, done=lambda cell: done(1))
    limits = Limits(
        statics.largest_gain(p, mu, ground),
        statics.largest_gain(p, mu, ground, -1.0),
        {f"{speed:g}": statics.largest_turn_rate(p, mu, ground, speed) for speed in all_speeds},
    )
    tables = cli.tables_of(cells, *CELLS, *SLIPS, title=f"dribbling in {engine}")
    tables += cli.lines_of(limits)
    used = cli.used_by(setup, "physics_step", "seed")
    return cli.Result(Dribbling(engine, limits, cells), tables, used=used)
