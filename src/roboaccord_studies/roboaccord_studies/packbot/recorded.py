"""Recorded runs of the Packbot: their setup, and what was measured and commanded in them.

Which bags detection and identification take may be changed: identification refuses those that are
shorter than SHORTEST, that have a failed joint, or in which hulls come within TOUCHING of each
other; it looks at one state in LOOKED_AT. A `Motion` must have the rows that
`identification.estimate` reads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from packbot.contact.clearance import Clearance
from roboaccord.bag import BagRun
from roboaccord.contract import AccordError, Array, clip_efforts, fault_of
from roboaccord.scenario import Setup

SHORTEST = 5.0  # s
LOOKED_AT = 10  # ticks between the poses at which contact is looked for
TOUCHING = 2e-3  # m


class Motion(NamedTuple):
    """Times (k,) [s], measured angles and rates, and commanded efforts (k, 7)."""

    time: Array
    q: Array
    qd: Array
    effort: Array


def setup_of(run: BagRun) -> Setup:
    """Return the setup of a recorded run.

    Raises:
        AccordError: if it is of no run of the Packbot.
    """
    if run.robot != "packbot" or not run.scenario:
        raise AccordError("the bag is of no run of the Packbot")
    return run.setup()


def efforts_in_force(run: BagRun) -> Array:
    """Return the effort commanded up to each state (k, 7) [N m], 0 before the first command.

    Raises:
        AccordError: if the bag has no commands.
    """
    time, effort = run.commands
    if not len(time):
        raise AccordError(
            "the bag holds no commands, without which no missing effort can be detected"
        )
    last = np.searchsorted(time, run.trajectory.time - 1e-7) - 1
    return np.where((last >= 0)[:, None], effort[np.maximum(last, 0)], 0.0)


def recorded_motion(setup: Setup, run: BagRun) -> Motion:
    """Return what was measured and commanded.

    Raises:
        AccordError: for a motion from which nothing can be identified.
    """
    motion = run.trajectory
    if failed := [fault.joint for fault in map(fault_of, motion.events) if fault]:
        raise AccordError(f"{failed[0]} fails in the bag: identify takes a healthy arm")
    if motion.time[-1] - motion.time[0] < SHORTEST:
        raise AccordError(
            f"the motion is shorter than {SHORTEST:g} s, too short to identify the arm"
        )
    clearance = Clearance.of(setup)
    for time, q in zip(motion.time[::LOOKED_AT], motion.q[::LOOKED_AT], strict=True):
        pair, distance = clearance.closest(q)
        if distance < TOUCHING:
            a, b = clearance.pair_names(pair)
            raise AccordError(
                f"{a} touches {b} at {time:g} s: identify takes motion without contact"
            )
    efforts = clip_efforts(efforts_in_force(run), setup.effort_limits)
    return Motion(motion.time, motion.q, motion.qd, np.asarray(efforts))
