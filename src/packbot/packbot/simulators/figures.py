"""Figures of a run of the arm: contacts, smallest distance, and how far a reach missed its target.

A run arrives piece by piece. `ArmFigures` keeps some of its poses, and measures distances of hulls
in these at the end. Figures are keys of `--json` and must stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from roboaccord.contract import Array, Event, Tally, Trajectory
from roboaccord.numerics import quaternion_matrix
from roboaccord.scenario import Setup

from packbot.model.parameters import pose

TOUCHING = ("contact", "impact")  # kinds of events that are counted as contacts
# Number of states at which distances are measured, evenly over the run: at 0.1 to 0.3 ms each they
# take 20 to 60 ms a run.
SAMPLES = 200


class ArmFigures(Tally):
    """Figures of a run: number of contact events, and the smallest signed distance [m].

    For a reach, also the distance of the finger tips (or of the point that the camera watches) from
    their target [m]. Distances are left out if the libraries for them are missing. Beside free
    bodies, of the one that went farthest: horizontal `travel` and `rise` [m], and `tilt`, the angle
    of its z axis from where it was at the start [rad].

    Args:
        setup: robot and scenario.
        ticks: number of control periods of the run, over which the measured states are spread.
    """

    def __init__(self, setup: Setup, ticks: int) -> None:
        self._setup = setup
        # Indices of the states at which distances are measured.
        self._selected = np.unique(np.linspace(0, ticks, SAMPLES).round().astype(int))
        self._count = 0  # number of states so far
        self._poses: list[Array] = []  # angles (7,) of the selected states so far [rad]
        self._last = setup.initial.q  # angles of the last state [rad]
        self._bodies = setup.initial.bodies  # motion of the bodies in the last state (b, 13)

    def add(self, piece: Trajectory) -> None:
        """Add the next piece of the motion, which begins with the last state of the one before."""
        first = max(self._count - 1, 0)
        end = first + len(piece)
        is_new = (self._selected >= self._count) & (self._selected < end)
        self._poses.extend(piece.q[self._selected[is_new] - first])
        self._last, self._count = piece.q[-1], end
        if piece.bodies is not None:
            self._bodies = piece.bodies[-1]

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return the figures by name."""
        figures = {"contacts": float(sum(event.kind in TOUCHING for event in events))}
        if len(self._bodies):
            figures |= self._of_bodies()
        try:
            from packbot.contact.clearance import Clearance
            from packbot.model.arm import Kinematics
        except ImportError:
            return figures
        setup = self._setup
        clearance = Clearance.of(setup)
        distances = [clearance.closest(q)[1] for q in (*self._poses, self._last)]
        figures["least_distance"] = min(distances)
        spec = setup.scenario.controller
        if spec.get("name") in ("reach", "recover"):
            watch = spec.get("watch", 0.0) if spec["name"] == "recover" else 0.0
            kinematics = Kinematics(setup, watch)
            target = spec.get("target")
            goal = kinematics.tip(pose(spec["pose"])) if target is None else np.array(target)
            figures["tip_error"] = float(np.linalg.norm(kinematics.tip(self._last) - goal))
        return figures

    def _of_bodies(self) -> Mapping[str, float]:
        """Return travel, rise and tilt of the body that went farthest."""
        starts, ends = self._setup.initial.bodies, self._bodies
        moved = ends[:, :3] - starts[:, :3]
        travels = np.hypot(moved[:, 0], moved[:, 1])
        i = int(travels.argmax())
        first, last = (quaternion_matrix(rows[i, 3:7]) for rows in (starts, ends))
        tilt = float(np.arccos(np.clip(first[:, 2] @ last[:, 2], -1.0, 1.0)))
        return {"travel": float(travels[i]), "rise": float(moved[i, 2]), "tilt": tilt}
