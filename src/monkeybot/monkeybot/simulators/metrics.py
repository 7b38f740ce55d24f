"""Figures of a motion along the wall."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.scenario.setup import Setup

from monkeybot.model.parameters import MonkeyBotParameters


def metrics(setup: Setup, trajectory: Trajectory) -> Mapping[str, float]:
    """Return travel to the right and rise [m], the number of grips, and the largest impulse [N s].

    Travel and rise are those of the centre of mass, from the first sample to the last.
    """
    centre = centre_of_mass(setup.parameters, trajectory)
    grips = [event for event in trajectory.events if event.kind == "magnet_on"]
    return {
        "travel": float(centre[-1, 0] - centre[0, 0]),
        "rise": float(centre[-1, 1] - centre[0, 1]),
        "grips": float(len(grips)),
        "largest_impulse": max((event.impulse for event in grips), default=0.0),
    }


def centre_of_mass(p: MonkeyBotParameters, trajectory: Trajectory) -> Array:
    """Return the centre of mass, to the right and up (k, 2) [m]."""
    th1 = 2.0 * np.arctan2(trajectory.orientation[:, 0], trajectory.orientation[:, 3])
    th12 = th1 + trajectory.q[:, 0]
    along_a = (p.mass_a * p.centre_a + p.mass_b * p.length_a) / p.mass
    along_b = p.mass_b * p.centre_b / p.mass
    right = along_a * np.sin(th1) + along_b * np.sin(th12)
    up = -along_a * np.cos(th1) - along_b * np.cos(th12)
    return trajectory.position[:, 1:] + np.column_stack([right, up])
