"""Figures of a motion of the ball between its rollers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from roboaccord.contract import Array, Event, Tally, Trajectory
from roboaccord.scenario import Setup

from roller_sphere.dribbling.place import ball_spin, hold_of
from roller_sphere.model.parameters import RollerSphereParameters


def slips(parameters: RollerSphereParameters, trajectory: Trajectory) -> Array:
    """Return the slips zeta_i = w x P_i - nu_i e_i in a bearing (k, 2, 3) [m/s], (25)."""
    rig = parameters.rig
    nu = parameters.roller_radius * trajectory.qd[:, :2]
    surface = np.cross(ball_spin(trajectory)[:, None], rig.contacts)
    return np.asarray(surface - nu[..., None] * rig.directions)


class BallFigures(Tally):
    """Measure the path length of the ball, its distance from the start [m], and the slip.

    The slip is the largest of either roller [m/s], in a bearing. On the ground: until when the ball
    was held between the rollers [s], and how far it came off its place while it was [m].
    """

    def __init__(self, setup: Setup) -> None:
        self._base, self._parameters = setup.scenario.base, setup.parameters
        self._start: Array | None = None
        self._length = self._slip = self._held = self._offset = 0.0
        self._lost = False

    def add(self, part: Trajectory) -> None:
        """Take a part of the motion."""
        if self._start is None:
            self._start = part.position[0]
        steps = np.diff(part.position[:, :2], axis=0)
        self._length += float(np.linalg.norm(steps, axis=1).sum())
        self._distance = float(np.linalg.norm(part.position[-1] - self._start))
        if self._base == "ball":
            sizes = np.linalg.norm(slips(self._parameters, part), axis=2)
            self._slip = max(self._slip, float(sizes.max()))
        if self._base == "free" and not self._lost:
            self._held, offset = hold_of(self._parameters, part)
            self._lost = self._held < part.time[-1]
            self._offset = max(self._offset, offset)

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return the figures."""
        found = {"path_length": self._length, "closure": self._distance}
        if self._base == "ball":
            found["largest_slip"] = self._slip
        if self._base == "free":
            found |= {"held": self._held, "largest_offset": self._offset}
        return found
