"""Slip of a dribbled ball in a run, against the model's slip for the same motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from roboaccord.contract.results import Quantity
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.numerics.rotations import quaternion_matrix

from roller_sphere.dribbling.dynamics import RATES, spread
from roller_sphere.dribbling.place import STROKE, spins
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.parameters import RollerSphereParameters


def slips_on_ground(parameters: RollerSphereParameters, trajectory: Trajectory) -> Array:
    """Return the slips of the ball against the rollers where they touch it (k, 2, 3) [m/s].

    From the rates of rollers, ball and carrier, the ball rolling on the ground.
    """
    p, t = parameters, trajectory
    row = (p.radius, p.roller_radius, p.ball_ahead, STROKE * p.roller_radius)
    along = np.stack([p.rig.normals, -p.rig.axes])
    world = np.einsum("kij,kj->ki", quaternion_matrix(t.orientation), t.twist[:, 3:])
    rates = np.column_stack([world, t.qd])
    places = np.column_stack([t.position[:, :2], t.q[:, 2] - p.ball_ahead, t.q[:, 3], t.q[:, 4]])
    J, G = np.empty((2, 2, 3, RATES))
    k, (bias, u, n) = np.empty((2, RATES)), np.empty((3, 2, 3))
    found = np.empty((len(t), 2, 3))
    for i in range(len(t)):
        spread(row, along, places[i], rates[i], True, J, G, k, bias, u, n)
        found[i] = G @ rates[i]
    return found


@dataclass(frozen=True)
class SlipFigures:
    """Hold means over a window of a motion.

    Args:
        slip: sizes of the slips of both rollers (2,) [m/s].
        model: what the model says for the same velocity of the ball: |S|, alike for both.
        spin, model_spin: w_z of the ball in the carrier's frame, as it was and by (18).
        share: roller 1's of the sum of both slips; the model says 0.5. At 0 the roller grips.
    """

    slip: tuple[float, float]
    model: Annotated[float, Quantity("m/s", "the model's slip", "model", ".3f")]
    spin: Annotated[float, Quantity("rad/s", "of the ball", form=".2f")]
    model_spin: Annotated[float, Quantity("rad/s", "the model's spin", "model", ".2f")]
    share: Annotated[float, Quantity("1", "roller 1's of the slip, 0.5 in the model", form=".2f")]

    @property
    def first(self) -> Annotated[float, Quantity("m/s", "of roller 1", "slip 1", ".3f")]:
        """The slip of the first roller."""
        return self.slip[0]

    @property
    def second(self) -> Annotated[float, Quantity("m/s", "of roller 2", "slip 2", ".3f")]:
        """The slip of the second roller."""
        return self.slip[1]


def slip_figures(parameters: RollerSphereParameters, trajectory: Trajectory) -> SlipFigures:
    """Return the figures of a motion, or of a window of one."""
    kinematics = Kinematics(parameters.rig)
    turning = spins(trajectory)
    nu = turning[:, :2] @ kinematics.driving.T
    sizes = np.linalg.norm(slips_on_ground(parameters, trajectory), axis=2).mean(axis=0)
    return SlipFigures(
        slip=(float(sizes[0]), float(sizes[1])),
        model=float(np.abs(nu @ kinematics.slipping.T).mean()),
        spin=float(turning[:, 2].mean()),
        model_spin=float((nu @ kinematics.turning[2]).mean()),
        share=float(sizes[0] / max(sizes.sum(), 1e-12)),
    )
