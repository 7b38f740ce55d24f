"""Conversion of torque and state between the joint and the frame of the held hand.

The report is the student project of docs/monkeybot.md. It states its controllers in the frame of
the held hand, in which the link of that hand comes first. If hand B holds, the elbow's angle and
the torque have the opposite sign there.
"""

import math

import numpy as np
from roboaccord.contract import NO_SWITCHES, Array, Command, RobotState

from monkeybot.model.coordinates import Mode, mode_of, pack

# s: tolerance in comparisons of times, half of the nanosecond in which ROS and bags count them
HALF_TICK = 5e-10


def other_hand(mode: Mode) -> Mode:
    """Return the mode of the swing on the other hand."""
    return Mode.SWING_A if mode is Mode.SWING_B else Mode.SWING_B


def command(mode: Mode, torque: float, state: RobotState, *, hand: Mode | None = None) -> Command:
    """Return a command whose torque is in the frame of the held hand, as in the report.

    Args:
        mode: which hands the magnets are to hold.
        torque: of the motor, in the frame of the held hand [N m].
        state: at this tick.
        hand: mode of the swing on the hand whose frame it is, if no hand holds.
    """
    effort = np.array([-torque if (hand or mode) is Mode.SWING_B else torque])
    changes = mode is not mode_of(state.switches)
    return Command(effort, mode.switches if changes else NO_SWITCHES)


def seen_from(mode: Mode, state: RobotState) -> Array:
    """Return (th1, th2, w1, w2) in the frame of the held hand (4,) [rad, rad/s].

    Both angles are in (-pi, pi]; th1 is that of the held link from hanging straight down.
    """
    th1, th2, w1, w2 = pack(state)[:4]
    if mode is Mode.SWING_B:  # the link of hand B points from its hand to the elbow
        th1, th2, w1, w2 = th1 + th2 + math.pi, -th2, w1 + w2, -w2
    th1, th2 = math.remainder(th1, math.tau), math.remainder(th2, math.tau)
    return np.array([th1, th2, w1, w2])
