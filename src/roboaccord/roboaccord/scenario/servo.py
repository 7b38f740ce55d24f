"""Controllers that are servos of joints, and the control periods at which one becomes unstable.

A servo drives a joint to a target by an effort with a stiffness and a damping, as a spring and a
damper would. Because efforts are constant over a control period, a stiff servo oscillates
("chatters") if the period is too long; `chatter` predicts that before a run, for warnings and for
errors of runs that diverge. A controller is checked if its class derives from `Servo` and sets
`gains` (test_evidence).
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.scenario.controllers import make_controller, shipped_factory
from roboaccord.scenario.setup import Setup

# Share of the longest stable period that the message names, so that three digits stay stable.
PROPOSED_SHARE = 0.995


class Servo:
    """A controller with a stiffness and a damping for each joint.

    Attributes:
        gains: stiffness and damping of the joints (2, n) [N m/rad, N m s/rad].
    """

    gains: Array


def chatter(setup: Setup) -> str:
    """Return a sentence on the servo that chatters, with a period at which it does not; "" if none.

    Let K be the stiffnesses, D = r K the dampings, and M the mass matrix at the start, in which the
    base moves along. With efforts that are constant over a period T, small displacements q and
    rates v of the joints become after one period

        q+ = q + T v + T^2 a / 2,    v+ = v + T a,    a = -M^-1 (K q + D v).

    A mode, where M^-1 K = w^2, is stable if T r w^2 <= 2 and T <= 2 r [Jury's criterion, as in
    Astrom and Wittenmark, Computer-Controlled Systems, 1997, 3.2]. So w T <= 2 is necessary with
    any damping, and without damping no period is stable, unless joints have friction.
    """
    factory = shipped_factory(setup, setup.scenario.controller.get("name", "none"))
    if not (isinstance(factory, type) and issubclass(factory, Servo) and setup.joints):
        return ""
    stiffness, damping = cast(Servo, make_controller(setup)).gains
    damping_time = float(damping[0] / (stiffness[0] or 1.0))  # r [s]
    mode = _fastest_mode(setup, stiffness)
    longest_period = 0.0  # that is stable [s]
    if damping_time:
        longest_period = min(2.0 * damping_time, 2.0 / (damping_time * mode.omega_squared))
    period = setup.scenario.control_period
    if period <= longest_period or not mode.omega_squared:
        return ""
    joint = mode.joint
    servo = f"the servo of {setup.joints[joint]}"
    if damping_time <= 0.0:
        return f"{servo} is not damped: it oscillates at any control_period; give it damping"
    return (
        f"{servo} chatters: {stiffness[joint]:.3g} N m/rad and "
        f"{damping[joint]:.3g} N m s/rad on {mode.inertia:.2g} kg m^2 take a "
        f"control_period of at most {PROPOSED_SHARE * longest_period:.3g} s, it is {period:g} s"
    )


class _Mode(NamedTuple):
    """A mode of joints with stiffness: w^2 [1/s^2], and the joint that moves most in it."""

    omega_squared: float
    joint: int
    inertia: float
    """Inertia that acts at this joint, with all others and the base free to move [kg m^2]."""


def _fastest_mode(setup: Setup, stiffness: Array) -> _Mode:
    """Return the fastest mode of a robot at its start, for stiffnesses (n,) [N m/rad]."""
    start = setup.initial
    tree = TreeDynamics(setup.tree, setup.joints, setup.scenario.base, 0.0)
    mass = tree.mass_matrix(start.q, quaternion_matrix(start.orientation))
    # M^-1: accelerations of the joints per effort (n, n), with the base free to move.
    mobility = np.linalg.inv(mass)[-len(start.q) :, -len(start.q) :]
    values, shapes = np.linalg.eig(mobility * stiffness)
    fastest = values.real.argmax()
    joint = int((np.abs(shapes[:, fastest]) / np.sqrt(np.diag(mobility))).argmax())
    return _Mode(float(values.real[fastest]), joint, 1.0 / mobility[joint, joint])
