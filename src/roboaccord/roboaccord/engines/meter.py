"""Energy losses of an engine by channel, physics step by physics step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from roboaccord.contract.interfaces import ForceLaw
from roboaccord.simulators.losses import (
    DAMPING,
    FRICTION,
    IMPACTS,
    STOPS,
    LawPower,
    LossAccount,
    motion_of,
)

if TYPE_CHECKING:
    from roboaccord.contract.state import Array, RobotState
    from roboaccord.description.kinematics import TreeKinematics
    from roboaccord.description.tree import Tree
    from roboaccord.simulators.joints import JointFriction


class Losses(NamedTuple):
    """Hold the losses of one physics step [J]: stops, contacts, and contact friction."""

    stops: float = 0.0
    impacts: float = 0.0
    friction: float = 0.0


class StepMeter:
    """Accumulate the energy losses of an engine.

    What force law and friction of joints take is integrated by the trapezoidal rule, whose error
    over a smooth motion is of second order; what constraints take comes from the engine.

    Args:
        tree: links and joints.
        joints: names of the columns of q.
        step: physics step [s].
        law: that acts on the links, or None.
        friction: of the joints, or None.
        account: that is kept.
    """

    def __init__(
        self,
        tree: Tree,
        joints: tuple[str, ...],
        step: float,
        law: ForceLaw | None,
        friction: JointFriction | None,
        account: LossAccount,
    ) -> None:
        self._step, self._friction, self._account = step, friction, account
        self._law = LawPower(tree, joints, law) if law else None
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._last = (0.0, 0.0)
        self._rates: Array | None = None  # at which the last powers were

    def see(self, before: RobotState, after: RobotState, constraints: Losses) -> None:
        """Record a physics step: the states around it, and the losses in constraints.

        Where a joint freezes between two steps, the rates jump.
        """
        if self._rates is None or not np.array_equal(before.qd, self._rates):
            self._last = self._powers(before)
        (ground, joints), self._rates = self._last, after.qd
        self._last = self._powers(after)
        self._account.add(FRICTION, 0.5 * self._step * (ground + self._last[0]))
        self._account.add(DAMPING, 0.5 * self._step * (joints + self._last[1]))
        self._account.add(FRICTION, constraints.friction)
        self._account.add(STOPS, constraints.stops)
        self._account.add(IMPACTS, constraints.impacts)

    def _powers(self, state: RobotState) -> tuple[float, float]:
        """Return the power dissipated by the force law and by joint friction in a state [W]."""
        ground = self._law.of(state) if self._law else 0.0
        joints = -float(self._friction.efforts(state.qd) @ state.qd) if self._friction else 0.0
        return ground, joints


def mean_velocities(
    tree: Tree, kinematics: TreeKinematics, before: RobotState, after: RobotState, points: Array
) -> Array:
    """Return the velocities of points on each link, half of them before and half after a step.

    Args:
        tree: of the links.
        kinematics: of the tree.
        before, after: states around the step.
        points: in the world, at the start of the step (p, 3) [m].

    Returns:
        (links, p, 3) [m/s].
    """
    mean = replace(
        before,
        qd=0.5 * (before.qd + after.qd),
        twist=0.5 * (before.twist + after.twist),
    )
    m = motion_of(tree, kinematics, mean)
    levers = points[None] - m.position[:, None]
    return np.asarray(m.linear[:, None] + np.cross(m.angular[:, None], levers))
