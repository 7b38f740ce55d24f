"""Figures of a motion along the wall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from roboaccord.contract.interfaces import Tally
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.scenario.setup import Setup

from monkeybot.model.parameters import MonkeyBotParameters


class MotionFigures(Tally):
    """Measure travel to the right and rise [m], the number of grips, and the largest impulse [N s].

    Travel and rise are those of the centre of mass, from the first sample to the last.
    """

    def __init__(self, setup: Setup) -> None:
        self._parameters = setup.parameters
        self._start: Array | None = None

    def add(self, part: Trajectory) -> None:
        """Take a part of the motion."""
        centre = centre_of_mass(self._parameters, part)
        if self._start is None:
            self._start = centre[0]
        self._moved = centre[-1] - self._start

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return the figures."""
        grips = [event for event in events if event.kind == "magnet_on"]
        return {
            "travel": float(self._moved[0]),
            "rise": float(self._moved[1]),
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
