"""Figures of a motion of the arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from roboaccord.contract.interfaces import Tally
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.scenario.setup import Setup

from packbot.model.poses import pose

TOUCHING = ("contact", "impact")
LOOKS = 200  # states at which distances are measured, evenly over the run


class ArmFigures(Tally):
    """Measure the number of contact events, and the least signed distance [m].

    With a reach: how far the finger tips end from where they were to be [m], or where the camera
    looks. Distances are left out where the libraries for them are missing.

    Args:
        setup: robot and scenario.
        ticks: of the run, over which the states are chosen at which distances are measured.
    """

    def __init__(self, setup: Setup, ticks: int) -> None:
        self._setup = setup
        self._looks = np.unique(np.linspace(0, ticks, LOOKS).round().astype(int))
        self._seen = 0  # samples
        self._poses: list[Array] = []

    def add(self, part: Trajectory) -> None:
        """Take a part of the motion."""
        first = max(self._seen - 1, 0)
        end = first + len(part)
        due = self._looks[(self._looks >= self._seen) & (self._looks < end)]
        self._poses.extend(part.q[due - first])
        self._last, self._seen = part.q[-1], end

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return the figures."""
        contacts = {"contacts": float(sum(event.kind in TOUCHING for event in events))}
        try:
            from packbot.contact.clearance import Clearance
            from packbot.model.kinematics import Kinematics
        except ImportError:
            return contacts
        setup = self._setup
        clearance = Clearance.of(setup)
        figures = {
            **contacts,
            "least_distance": min(clearance.closest(q)[1] for q in (*self._poses, self._last)),
        }
        spec = setup.scenario.controller
        if spec.get("name") in ("reach", "recover"):
            watch = spec.get("watch", 0.0) if spec["name"] == "recover" else 0.0
            kinematics = Kinematics(setup, watch)
            target = spec.get("target")
            goal = kinematics.tip(pose(spec["pose"])) if target is None else np.array(target)
            figures["tip_error"] = float(np.linalg.norm(kinematics.tip(self._last) - goal))
        return figures
