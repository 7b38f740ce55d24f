"""Energy losses of a motion: an account by channel, the power of force laws, and an engine's meter.

A channel is a cause of energy losses: friction, damping, stops or impacts. A simulator adds losses
to its `LossAccount` when they occur; run/energy_book.py compares their sum with the change of the
robot's energy. `StepMeter` measures an engine in each physics step: the work of force law and joint
friction by the trapezoidal rule, that of constraints as the engine reports it. A measurement does
not change the motion.

The names in CHANNELS stay: reports and their JSON contain them. The trapezoidal rule is of second
order, as ORDER of crosscheck/levels/energy.py says: change both or none (test_energy).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from roboaccord.contract.interfaces import ForceLaw
from roboaccord.contract.state import Array, RobotState
from roboaccord.description.kinematics import TreeKinematics, motion_of
from roboaccord.description.tree import Tree
from roboaccord.simulators.friction import JointFriction

# Channels: friction by force laws and contacts, damping in joints, joint stops, and contacts.
FRICTION, DAMPING, STOPS, IMPACTS = "friction", "damping", "stops", "impacts"
CHANNELS = (FRICTION, DAMPING, STOPS, IMPACTS)


class LossAccount:
    """Accumulate energy losses by channel [J].

    Args:
        channels: names of those that are measured.
    """

    def __init__(self, *channels: str) -> None:
        self._losses = dict.fromkeys(channels, 0.0)

    def add(self, channel: str, energy: float) -> None:
        """Add an energy [J] that was lost in a channel."""
        self._losses[channel] += energy

    def clear(self) -> None:
        """Set all losses to 0."""
        self._losses = dict.fromkeys(self._losses, 0.0)

    def take(self) -> Mapping[str, float]:
        """Return the losses by channel since the last call [J], and set them to 0."""
        losses = self._losses
        self.clear()
        return losses


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
        """Return the power [W] that the law takes from the motion in a state."""
        motion = motion_of(self._tree, self._kinematics, state).at(self._links)
        forces, torques = self._law.wrenches(motion)
        return -float((forces * motion.linear).sum() + (torques * motion.angular).sum())


class Losses(NamedTuple):
    """Losses of one physics step [J]: in stops, contacts, and their friction."""

    stops: float = 0.0
    impacts: float = 0.0
    friction: float = 0.0


class StepMeter:
    """Measure the energy losses of an engine, step by step.

    Losses by the force law and by friction of joints are integrated by the trapezoidal rule, whose
    error over a smooth motion is of second order. Losses in constraints come from the engine.

    Args:
        tree: links and joints.
        joints: names, in the order of q.
        step: physics step [s].
        law: force law that acts on the links, or None.
        friction: friction of the joints, or None.
        account: the account to which losses are added.
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
        self._physics_step, self._friction, self._account = step, friction, account
        self._law = LawPower(tree, joints, law) if law else None
        self._last_powers = (0.0, 0.0)  # of force law and joint friction, after the last step [W]
        self._last_rates: Array | None = None  # of the joints, after the last step (n,) [rad/s]

    def reset(self) -> None:
        """Forget the last step."""
        self._last_rates = None

    def add_step(self, before: RobotState, after: RobotState, constraints: Losses) -> None:
        """Add the losses of a physics step.

        Args:
            before, after: states around it.
            constraints: losses in stops and contacts, by the engine.
        """
        # Powers at the start are those at the end of the last step, unless the rates have changed
        # since then, for instance because a joint froze.
        if self._last_rates is None or not np.array_equal(before.qd, self._last_rates):
            self._last_powers = self._powers(before)
        law_before, joints_before = self._last_powers
        self._last_powers = self._powers(after)
        law_after, joints_after = self._last_powers
        self._last_rates = after.qd
        half_step = 0.5 * self._physics_step
        self._account.add(FRICTION, half_step * (law_before + law_after))
        self._account.add(DAMPING, half_step * (joints_before + joints_after))
        self._account.add(FRICTION, constraints.friction)
        self._account.add(STOPS, constraints.stops)
        self._account.add(IMPACTS, constraints.impacts)

    def _powers(self, state: RobotState) -> tuple[float, float]:
        """Return the power dissipated by the force law and by joint friction in a state [W]."""
        by_law = self._law.of(state) if self._law else 0.0
        in_joints = -float(self._friction.efforts(state.qd) @ state.qd) if self._friction else 0.0
        return by_law, in_joints
