"""Torque and state as seen from the held hand, in which the report states its controllers.

Seen from hand B the elbow's angle has the other sign, and so has the torque. The signs are fixed by
the report and tested by test_controllers.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract import NO_SWITCHES, Array, Command, RobotState

from monkeybot.model.coordinates import Mode, mode_of, pack

HALF_TICK = 5e-10  # s: a time that is due within this is due now


def other_hand(mode: Mode) -> Mode:
    """Return the swing on the other hand."""
    return Mode.SWING_A if mode is Mode.SWING_B else Mode.SWING_B


def command(mode: Mode, torque: float, state: RobotState, *, hand: Mode | None = None) -> Command:
    """Return a command whose torque is in the frame of the held hand, as in the report.

    Seen from hand B the elbow's angle has the other sign, and so has the torque.

    Args:
        mode: what the magnets are to hold.
        torque: of the motor [N m].
        state: at this tick.
        hand: whose frame it is where no hand holds.
    """
    effort = np.array([-torque if (hand or mode) is Mode.SWING_B else torque])
    changed = mode is not mode_of(state.switches)
    return Command(effort, mode.switches if changed else NO_SWITCHES)


def seen_from(mode: Mode, state: RobotState) -> Array:
    """Return (th1, th2, w1, w2) as seen from the held hand (4,) [rad, rad/s].

    Both angles are in (-pi, pi]; th1 is that of the held link from hanging straight down.
    """
    th1, th2, w1, w2 = pack(state)[:4]
    if mode is Mode.SWING_B:
        th1, th2, w1, w2 = th1 + th2 + math.pi, -th2, w1 + w2, -w2
    return np.array(
        [math.remainder(th1, 2.0 * math.pi), math.remainder(th2, 2.0 * math.pi), w1, w2]
    )
