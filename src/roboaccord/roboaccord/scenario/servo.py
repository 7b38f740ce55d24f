"""Controllers that are servos of joints, and the control periods under which one chatters.

Controllers may be added to those checked: their class derives from `Servo` and sets `gains`. The
bounds in `chatter` are fixed by Jury's criterion (Astrom and Wittenmark 1997, 3.2); test_evidence
checks the period that it names. Its text stands in reports and in errors of runs that diverge.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.scenario.controllers import make_controller, shipped_factory
from roboaccord.scenario.setup import Setup


class Servo:
    """A controller by stiffness and damping of each joint.

    Attributes:
        gains: these (2, n) [N m/rad, N m s/rad].
    """

    gains: Array


def chatter(setup: Setup) -> str:
    """Return in words which servo chatters, and at which period it would not; "" where none does.

    Under efforts that are held over a period T, stiffnesses K and dampings D = r K map
    displacements of joints with the inertia M, as it is at the start, the base free to give way, to

        q+ = q + T v + T^2 a / 2,    v+ = v + T a,    a = -M^-1 (K q + D v).

    In a mode with M^-1 K = w^2 that is stable while T r w^2 <= 2, and T <= 2 r [Jury's criterion,
    as in Astrom and Wittenmark, Computer-Controlled Systems, 1997, 3.2]: with any damping only
    up to w T = 2, and without damping at no period, but for the friction of the joints.
    """
    factory = shipped_factory(setup, setup.scenario.controller.get("name", "none"))
    if not (isinstance(factory, type) and issubclass(factory, Servo) and setup.joints):
        return ""
    (stiffness, damping), start = cast(Servo, make_controller(setup)).gains, setup.initial
    tree = TreeDynamics(setup.tree, setup.joints, setup.scenario.base, 0.0)
    mass = tree.mass_matrix(start.q, start.position, quaternion_matrix(start.orientation))
    mobility = np.linalg.inv(mass)[-len(start.q) :, -len(start.q) :]
    values, shapes = np.linalg.eig(mobility * stiffness)
    fastest, ratio = values.real.argmax(), float(damping[0] / (stiffness[0] or 1.0))
    square = float(values.real[fastest])
    joint = int((np.abs(shapes[:, fastest]) / np.sqrt(np.diag(mobility))).argmax())
    most = min(2.0 * ratio, 2.0 / (ratio * square)) if ratio else 0.0
    if (period := setup.scenario.control_period) <= most or not square:
        return ""
    if ratio <= 0.0:
        servo = f"the servo of {setup.joints[joint]} is not damped"
        return f"{servo}: it oscillates at any control_period; give it damping"
    return (
        f"the servo of {setup.joints[joint]} chatters: {stiffness[joint]:.3g} N m/rad and "
        f"{damping[joint]:.3g} N m s/rad on {1.0 / mobility[joint, joint]:.2g} kg m^2 take a "
        f"control_period of at most {0.995 * most:.3g} s, it is {period:g} s"
    )
