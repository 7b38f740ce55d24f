"""Recorded runs of the Packbot: their setup, measured states and commanded efforts.

They are what `accord packbot detect` and `identify` read of a bag, the recording of a run.
Detection of failures accepts any run with commands. Identification refuses runs that are shorter
than SHORTEST, that have a failed joint, or in which hulls come within TOUCHING of each other.

test_identification and test_commands test the refusals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from packbot.contact.clearance import Clearance
from roboaccord.bag import BagRun
from roboaccord.contract import AccordError, Array, clip_efforts, fault_of
from roboaccord.scenario import Setup

SHORTEST = 5.0  # s; long enough for 20 sines below 2 Hz (`estimate.BAND`)
# Ticks (control periods) from one pose that is checked for contact to the next: 0.1 s with periods
# of 10 ms, the default.
CONTACT_EVERY = 10
TOUCHING = 2e-3  # m; closer hulls may touch between these poses, as touching.MARGIN
ROUND_OFF = 1e-7  # s; rounding errors of times: messages have ns, and a period 1e-3 or more


class Motion(NamedTuple):
    """Times (k,) [s], measured angles and rates, and commanded efforts (k, 7)."""

    time: Array
    q: Array
    qd: Array
    effort: Array


def setup_of(run: BagRun) -> Setup:
    """Return the setup of a recorded run.

    Raises:
        AccordError: if it is not a run of the Packbot.
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
        need = "without which no missing effort can be detected"
        raise AccordError(f"the bag holds no commands, {need}")
    last = np.searchsorted(time, run.trajectory.time - ROUND_OFF) - 1
    return np.where((last >= 0)[:, None], effort[np.maximum(last, 0)], 0.0)


def recorded_motion(setup: Setup, run: BagRun) -> Motion:
    """Return what was measured and commanded in a run.

    Raises:
        AccordError: for a motion from which nothing can be identified.
    """
    motion = run.trajectory
    failed = [fault.joint for fault in map(fault_of, motion.events) if fault]
    if failed:
        raise AccordError(f"{failed[0]} fails in the bag: identify takes a healthy arm")
    if motion.time[-1] - motion.time[0] < SHORTEST:
        limit = f"{SHORTEST:g} s, too short to identify the arm"
        raise AccordError(f"the motion is shorter than {limit}")
    clearance = Clearance.of(setup)
    for time, q in zip(motion.time[::CONTACT_EVERY], motion.q[::CONTACT_EVERY], strict=True):
        pair, distance = clearance.closest(q)
        if distance < TOUCHING:
            a, b = clearance.pair_names(pair)
            contact = f"{a} touches {b} at {time:g} s"
            raise AccordError(f"{contact}: identify takes motion without contact")
    efforts = clip_efforts(efforts_in_force(run), setup.effort_limits)
    return Motion(motion.time, motion.q, motion.qd, np.asarray(efforts))
