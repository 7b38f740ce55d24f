"""Figures of a motion of the arm."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from roboaccord.contract.trajectory import Trajectory
from roboaccord.scenario.setup import Setup

from packbot.model.poses import pose

TOUCHING = ("contact", "impact")
LOOKS = 200  # states at which distances are measured, evenly over the run


def metrics(setup: Setup, trajectory: Trajectory) -> Mapping[str, float]:
    """Return the number of contact events, and the least signed distance [m].

    With a reach: how far the finger tips end from where they were to be [m], or where the camera
    looks. Distances are left out where the libraries for them are missing.
    """
    contacts = {"contacts": float(sum(event.kind in TOUCHING for event in trajectory.events))}
    try:
        from packbot.contact.clearance import Clearance
        from packbot.model.kinematics import Kinematics
    except ImportError:
        return contacts
    clearance = Clearance.of(setup)
    looks = np.unique(np.linspace(0, len(trajectory) - 1, LOOKS).round().astype(int))
    figures = {
        **contacts,
        "least_distance": min(clearance.closest(trajectory.q[i])[1] for i in looks),
    }
    spec = setup.scenario.controller
    if spec.get("name") in ("reach", "recover"):
        watch = spec.get("watch", 0.0) if spec["name"] == "recover" else 0.0
        kinematics = Kinematics(setup, watch)
        target = spec.get("target")
        goal = kinematics.tip(pose(spec["pose"])) if target is None else np.array(target)
        figures["tip_error"] = float(np.linalg.norm(kinematics.tip(trajectory.q[-1]) - goal))
    return figures
