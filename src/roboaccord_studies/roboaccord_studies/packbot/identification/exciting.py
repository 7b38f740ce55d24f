"""Exciting motion for the identification of the arm, and the controller `identify` that tracks it.

A motion identifies masses and friction of the arm (estimate.py) the better, the more it excites
their effects on the efforts. The motion consists of straight lines in joint space from pose to
pose. Each next pose is chosen among random ones: the one after which the regressor of the motion so
far (the derivatives of the efforts by base parameters and friction) has the smallest condition
number [Armstrong 1989; Gautier and Khalil 1992].

The constants trade time for a better motion and may be tuned. test_identification requires a better
condition than that of random motions.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from packbot.controllers.torque import ComputedTorque
from packbot.model.arm import Arm
from packbot.planning.rrt import Planner
from packbot.planning.trajectories import TimedPath, in_time
from roboaccord.contract import AccordError, Array, Command, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from roboaccord_studies.packbot.identification import base_parameters as base

# s; time between the states of a motion at which the regressor is evaluated: half a period at BAND
# (estimate.py).
SAMPLING = 0.2
# Fraction of the limits of angles in which poses are drawn; the rest is for errors of zeros and
# tracking. By choice: a twentieth of the range at each end is more than either.
RANGE_FRACTION = 0.9
# Number of poses that are drawn for one line before giving up: if 1 % of the poses are free,
# 0.99^1000 = 4e-5 of the searches give up.
MOST_DRAWS = 1000
FRICTION_RATE = 0.02  # rad/s; below it dry friction falls smoothly to 0 (balance.DRY_RATE)


class Regressor:
    """Regressor: derivatives of the efforts by base parameters, viscous and dry friction.

    Its rows are divided by the effort limits, its columns by their root mean square at random
    states.

    Args:
        setup: robot and scenario.
    """

    def __init__(self, setup: Setup) -> None:
        p = setup.parameters
        self._arm, self._limits = Arm.of(setup), setup.effort_limits
        self._kept = base.BaseParameters(self._arm, p).kept
        # `rows` divides by the sizes of columns, which are themselves computed by it.
        self._sizes = np.ones(len(self._kept) + 2 * len(self._limits))
        self._sizes = np.sqrt((self.rows(base.random_states(p)) ** 2).mean(axis=0))

    def rows(self, states: Iterable[base.State]) -> Array:
        """Return the regressor (7 k, b + 14) of k states, with b base parameters."""
        stacked = []
        for q, qd, qdd in states:
            dry = qd / np.hypot(qd, FRICTION_RATE)
            inertial = self._arm.regressor(q, qd, qdd)[:, self._kept]
            stacked.append(np.hstack([inertial, np.diag(qd), np.diag(dry)]))
        return np.vstack(stacked) / np.tile(self._limits, len(stacked))[:, None] / self._sizes

    def of_path(self, path: TimedPath) -> Array:
        """Return the regressor along a motion."""
        times = np.arange(0.0, path.duration, SAMPLING)
        return self.rows(base.State(*path.at(float(time))) for time in times)


def exciting(setup: Setup, seed: int, *, speed: float, margin: float, tries: int) -> TimedPath:
    """Return a motion from the initial state that lasts as long as the scenario.

    Args:
        setup: robot and scenario.
        seed: seed of the random poses.
        speed: fraction of the speed limits that is used.
        margin: distance that the motion keeps from contact [m].
        tries: number of random poses from which each next one is chosen.
    """
    rng, planner = np.random.default_rng(seed), Planner(setup, margin=margin)
    regressor = Regressor(setup)
    corners, time = [setup.initial.q], 0.0
    # Sum of R^T R over the motion so far, with the regressor R; regular from the start.
    information = np.eye(regressor.rows(base.random_states(setup.parameters, 1)).shape[1])
    while time < setup.scenario.duration:
        paths = [_line(setup, planner, rng, corners[-1], speed) for _ in range(tries)]
        regressors = [regressor.of_path(path) for path in paths]
        sums = [information + rows.T @ rows for rows in regressors]
        best = int(np.argmin([np.linalg.cond(matrix) for matrix in sums]))
        information, path = sums[best], paths[best]
        corners.append(path.corners[-1])
        time += path.duration
    return in_time(setup, np.array(corners), speed)


def _line(
    setup: Setup, planner: Planner, rng: np.random.Generator, start: Array, speed: float
) -> TimedPath:
    """Return a straight line in joint space from `start` (7,) [rad] to a random pose.

    Raises:
        AccordError: if no such line keeps its distance from contact and needs few enough efforts.
    """
    for _ in range(MOST_DRAWS):
        goal = rng.uniform(*(RANGE_FRACTION * setup.parameters.limits))
        touches = planner.clearance.touches(goal, planner.margin)
        if not touches and planner.clear(start, goal):
            try:
                return in_time(setup, np.array([start, goal]), speed)
            except AccordError:  # a pose that takes too much effort
                continue
    margin = f"{1e3 * planner.margin:g} mm"
    raise AccordError(f"no straight line leads from the start that keeps {margin}")


class IdentificationController:
    """Controller that tracks a motion which excites the quantities to be identified.

    Args:
        setup: robot and scenario; the motion starts at its initial state.
        speed: part of the speed limits that is used.
        bandwidth: bandwidth of the control law.
        margin: distance that the motion keeps from contact; large, because the arm follows the
            motion only roughly.
        tries: number of random poses from which each next one is chosen.
    """

    def __init__(
        self,
        setup: Setup,
        speed: float = 0.9,
        bandwidth: si.RadiansPerSecond = 10.0,
        margin: si.Metres = 0.05,
        tries: int = 15,
    ) -> None:
        self._make_motion = partial(exciting, setup, speed=speed, margin=margin, tries=tries)
        self._control = ComputedTorque(setup, bandwidth, uncertain=True)
        self._motions: dict[int, TimedPath] = {}  # by seed

    def reset(self, seed: int) -> None:
        """Choose the motion; `seed` is that of its poses."""
        if seed not in self._motions:
            self._motions[seed] = self._make_motion(seed)
        self.motion = self._motions[seed]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the motion, and hold its end."""
        return self._control.command(state, *self.motion.at(state.time))
