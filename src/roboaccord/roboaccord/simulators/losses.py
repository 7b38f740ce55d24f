"""Energy losses: an account by channel, the power of friction laws, and a meter of an engine.

The names in CHANNELS stay: reports and their JSON contain them. To add a channel, add its name, and
call `LossAccount.add` where energy is lost; run/energy_book.py sums all. The trapezoidal rule of
`StepMeter` is of second order, and so says ORDER of crosscheck/levels/energy.py: change both or
none (test_energy compares closed forms). Measuring must not change a bit of a motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from roboaccord.contract.interfaces import ForceLaw
from roboaccord.contract.state import RobotState
from roboaccord.description.kinematics import TreeKinematics, motion_of

if TYPE_CHECKING:
    from roboaccord.contract.state import Array, RobotState
    from roboaccord.description.tree import Tree
    from roboaccord.simulators.friction import JointFriction

FRICTION, DAMPING, STOPS, IMPACTS = CHANNELS = ("friction", "damping", "stops", "impacts")


class LossAccount:
    """Accumulate energy losses by channel [J].

    Args:
        channels: that are measured.
    """

    def __init__(self, *channels: str) -> None:
        self._taken = dict.fromkeys(channels, 0.0)

    def add(self, channel: str, energy: float) -> None:
        """Note that a channel took `energy` [J]."""
        self._taken[channel] += energy

    def clear(self) -> None:
        """Begin again."""
        self._taken = dict.fromkeys(self._taken, 0.0)

    def take(self) -> Mapping[str, float]:
        """Return the losses by channel since the last call [J]."""
        taken = self._taken
        self.clear()
        return taken


class LawPower:
    """Compute the power dissipated by a force law.

    Args:
        tree: links and joints.
        joints: names, in the order of q.
        law: the force law.
    """

    def __init__(self, tree: Tree, joints: tuple[str, ...], law: ForceLaw) -> None:
        self._tree, self._law = tree, law
        self._kinematics = TreeKinematics(tree, joints)
        names = self._kinematics.names
        self._links = np.array([names.index(name) for name in law.links], dtype=int)

    def of(self, state: RobotState) -> float:
        """Return the power taken in a state [W]."""
        motion = motion_of(self._tree, self._kinematics, state).at(self._links)
        forces, torques = self._law.wrenches(motion)
        return -float((forces * motion.linear).sum() + (torques * motion.angular).sum())


class Losses(NamedTuple):
    """Losses of one physics step [J]: in stops, contacts, and their friction."""

    stops: float = 0.0
    impacts: float = 0.0
    friction: float = 0.0


class StepMeter:
    """Accumulate the energy losses of an engine.

    Losses by the force law and by friction of joints are integrated by the trapezoidal rule, whose
    error over a smooth motion is of second order. Losses in constraints come from the engine.

    Args:
        tree: links and joints.
        joints: names, in the order of q.
        step: physics step [s].
        law: that acts on the links, or None.
        friction: of the joints, or None.
        account: to add to.
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
        """Begin again."""
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
        before, qd=0.5 * (before.qd + after.qd), twist=0.5 * (before.twist + after.twist)
    )
    m = motion_of(tree, kinematics, mean)
    levers = points[None] - m.position[:, None]
    return np.asarray(m.linear[:, None] + np.cross(m.angular[:, None], levers))
