"""Map of dribbling over speed and turn rate, by simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from roboaccord.contract import Array, Contact, Json, Quantity, Seconds, Trajectory
from roboaccord.run import make_simulator, run_setup
from roboaccord.scenario import Setup, make_scenario
from roller_sphere.dribbling.dynamics import scratch, spread
from roller_sphere.model.ball import ball_spin, geometry, hold_of, turned_back
from roller_sphere.model.contact import LINKS
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.parameters import RollerSphereParameters

from roboaccord_studies.roller_sphere.statics import ball_acceleration, grip_shares


def slips_on_ground(parameters: RollerSphereParameters, trajectory: Trajectory) -> Array:
    """Return the slips of the ball against the rollers where they touch it (k, 2, 3) [m/s].

    From the rates of rollers, ball and carrier, the ball rolling on the ground.
    """
    p, t = parameters, trajectory
    row, along = geometry(p)
    rates = np.column_stack([ball_spin(t), t.qd])
    places = np.column_stack([t.position[:, :2], t.q[:, 2] - p.ball_ahead, t.q[:, 3], t.q[:, 4]])
    J, G, *others = scratch()
    found = np.empty((len(t), 2, 3))
    for i in range(len(t)):
        spread(row, along, places[i], rates[i], True, J, G, *others)
        found[i] = G @ rates[i]
    return found


def spins(trajectory: Trajectory) -> Array:
    """Return the ball's angular velocity relative to the carrier, in its frame (k, 3) [rad/s]."""
    world = ball_spin(trajectory)
    yaw, rate = trajectory.q[:, 4], trajectory.qd[:, 4]
    flat = turned_back(yaw, world[:, :2])
    return np.column_stack([flat, world[:, 2] - rate])


@dataclass(frozen=True)
class SlipFigures:
    """Hold means over a window of a motion.

    Args:
        slip: sizes of the slips of both rollers (2,) [m/s].
        model: what the model gives for the same velocity of the ball: |S|, alike for both.
        spin, model_spin: w_z of the ball in the carrier's frame, as it was and by (18).
        share: roller 1's of the sum of both slips; the model gives 0.5. At 0 the roller grips.
    """

    slip: Annotated[list[float], Quantity("m/s", "of both rollers", "slips", ".3f")]
    model: Annotated[float, Quantity("m/s", "the model's slip", "model", ".3f")]
    spin: Annotated[float, Quantity("rad/s", "of the ball", form=".2f")]
    model_spin: Annotated[float, Quantity("rad/s", "the model's spin", "model", ".2f")]
    share: Annotated[float, Quantity("1", "roller 1's of the slip, 0.5 in the model", form=".2f")]


def slip_figures(parameters: RollerSphereParameters, trajectory: Trajectory) -> SlipFigures:
    """Return the figures of a motion, or of a window of one."""
    kinematics = Kinematics(parameters.rig)
    turning = spins(trajectory)
    nu = turning[:, :2] @ kinematics.driving.T
    sizes = np.linalg.norm(slips_on_ground(parameters, trajectory), axis=2).mean(axis=0)
    return SlipFigures(
        slip=sizes.tolist(),
        model=float(np.abs(nu @ kinematics.slipping.T).mean()),
        spin=float(turning[:, 2].mean()),
        model_spin=float((nu @ kinematics.turning[2]).mean()),
        share=float(sizes[0] / max(sizes.sum(), 1e-12)),
    )


LAST = 1.0  # s at the end, over which slips are averaged


@dataclass(frozen=True)
class Cell:
    """Hold one run: straight ahead, then a continuous turn.

    Args:
        speed, turn_rate: that were asked.
        held: until when the ball was held.
        kept: whether to the end.
        largest_offset: of the ball from its place while it was held.
        grip: share of friction that statics ask of the rollers in the turn; above 1 they cannot.
        slip: means over the last second, None where the ball was lost.
    """

    speed: Annotated[float, Quantity("m/s", form="g")]
    turn_rate: Annotated[float, Quantity("rad/s", name="turn", form="g")]
    held: Seconds
    kept: bool
    largest_offset: Annotated[
        float, Quantity("m", "its largest distance from its place", "off", ".1f", "mm")
    ]
    grip: Annotated[
        float,
        Quantity("1", "share of friction that statics demands; above 1 it slips", form=".2f"),
    ]
    slip: SlipFigures | None

    @property
    def lasted(self) -> Annotated[str, Quantity("", "how long the ball was", "held")]:
        """How long the ball was held, in words."""
        return "kept" if self.kept else f"{self.held:.2f} s"


def run_cell(data: dict[str, Json], engine: str, speed: float, turn_rate: float) -> Cell:
    """Run one cell of the map: straight on until the speed is reached and half a second more."""
    setup = Setup.of(make_scenario(data))
    controller = {**setup.scenario.controller, "speed": speed, "turn_rate": turn_rate}
    ramp = speed / float(controller.get("acceleration", 2.0))
    controller.update(straight=ramp + 0.5, alternate=0.0)
    duration = math.ceil(ramp + 0.5) + LAST + 2.0
    setup = Setup.of(make_scenario({**data, "controller": controller, "duration": duration}))
    p = setup.parameters
    found = run_setup(setup, make_simulator(setup, engine))
    held, offset = hold_of(p, found)
    kept = bool(held >= found.time[-1])
    last = found.window(duration - LAST, duration)
    return Cell(
        speed=speed,
        turn_rate=turn_rate,
        held=held,
        kept=kept,
        largest_offset=offset,
        grip=grip_of(setup, speed, turn_rate),
        slip=slip_figures(p, last) if kept else None,
    )


def grip_of(setup: Setup, speed: float, turn_rate: float) -> float:
    """Return the fraction of friction that a steady turn requires of the rollers."""
    if setup.contact is None:
        return math.nan
    p = setup.parameters
    a = ball_acceleration(p.ball_ahead, speed, turn_rate)
    return max(grip_shares(p, *coefficients(setup.contact), a))


def coefficients(contact: Contact) -> tuple[float, float]:
    """Return the coefficients of friction of the ball with a roller and with the ground."""
    ball, roller, _ = LINKS
    return contact.mu((ball, roller)), contact.mu((ball, contact.fixtures[0].name))
