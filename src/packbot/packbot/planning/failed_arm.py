"""The arm with failed joints: which joints can still move, and where loose joints come to rest.

A frozen joint is locked. A loose joint has no drive: it is in equilibrium where the torque of
gravity is zero, on a contact, or at its stop. The torque of gravity about a joint with the angle q
is A sin(q - s), with the stable equilibrium s; two torques a quarter turn apart give A and s. A
loose joint falls towards s, in steps that are checked for contact.

CONTACT_GAP must equal the margin of the contact law (0.5 mm). The other constants trade time
against missed equilibria and may be tuned. test_packbot_recovery compares equilibria with energies
and runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pinocchio as pin
from roboaccord.contract import AccordError, Array, Fault, Index
from roboaccord.scenario import Setup

from packbot.contact.clearance import Clearance
from packbot.model.arm import Kinematics
from packbot.model.parameters import JOINTS, check_limits
from packbot.planning.reaching import HAND_JOINTS
from packbot.planning.sight import Sight
from packbot.planning.trajectories import RESERVE

# Falls of loose joints:
CONTACT_GAP = 5e-4  # m; gap at which a loose joint rests on a contact: margin of the contact law
# rad; steps in which a fall is checked for contact; the tips move by up to 37 mm, less than the
# thickness of a tube, 50 to 60 mm.
FALL_STEP = 0.02
# rad; accuracy of the angle at a contact; the tips move by 0.2 mm, less than CONTACT_GAP
CONTACT_ANGLE_ACCURACY = 1e-4
# rad; bound of the angle by which a contact may push a loose joint at once: 11 times the angle by
# which a joint turns in a step of a path (failed_planner.py, MAX_FALL)
MAX_PUSH_ANGLE = 0.3
# Bound of the rounds over several loose joints until all rest, should they push each other on;
# a single one takes one round
MAX_ROUNDS = 30

# Equilibria of loose joints. A torque of gravity below TORQUE_ROUNDOFF is zero, and has no
# equilibrium; one below BALANCED_TORQUE is small, since the joint is near its equilibrium.
TORQUE_ROUNDOFF = 1e-9  # N m; torques of gravity, of up to 70 N m, are known to this
# rad; a loose joint this close to its stable equilibrium hangs there: far above the round-off of
# `hanging_pose`, and 2 mm at the tips
HANGING_ANGLE = 1e-3
# N m; a loose joint with a smaller torque of gravity is taken to hang: against its viscous friction
# it would fall at 0.04 rad/s. Others have 0.5 N m (tilt) to 24 N m (shoulder), medians of poses.
BALANCED_TORQUE = 0.02
# Usable fraction of the effort limits if the arm leans on something, and may slide: our choice, for
# the share that contacts bear is estimated without friction.
LEANING_RESERVE = 0.5
# rad; smallest distance of a loose joint from its unstable equilibrium: four times the 0.05 rad by
# which it leans while it follows (recovery.py, LOOSE_SPEED)
MIN_TIPPING_ANGLE = 0.2


class FailedArm:
    """The arm of a setup with failed joints.

    Args:
        setup: robot and scenario.
        faults: faults of the joints, at most one for each joint.
        q: angles (7,) [rad] at which joints froze whose faults have no angle; by default the start
            of the scenario.
        payload: mass at the finger tips [kg].
        clearance: distances of the setup, if made already.
        watch: if not 0, a point at this distance [m] before the lens replaces the finger tips.

    Attributes:
        setup, faults: as given.
        kinematics: position of the finger tips, or of the point before the lens, and its Jacobian.
        clearance: distances between the hulls of arm, chassis and obstacles.
        frozen, loose, active: indices of the joints of each kind.
        lower, upper: limits of the angles (7,) [rad]; both are the angle of a frozen joint.
        efforts: effort limits of the joints (7,) [N m].

    Raises:
        AccordError: for an unknown joint, one with two faults, or an angle outside the limits.
    """

    def __init__(
        self,
        setup: Setup,
        faults: Sequence[Fault],
        *,
        q: Array | None = None,
        payload: float = 0.0,
        clearance: Clearance | None = None,
        watch: float = 0.0,
    ) -> None:
        names = [fault.joint for fault in faults]
        for name in names:
            if name not in JOINTS or names.count(name) > 1:
                raise AccordError(f"{name} is not a joint of the arm, or fails twice")
        self.setup, self.faults = setup, tuple(faults)
        self.kinematics = Kinematics(setup, watch)
        self.clearance = clearance or Clearance.of(setup)
        self._sight = Sight(self.clearance) if watch else None
        if payload:
            self.kinematics.arm.carry(payload, setup.parameters.gripper_length)
        self._model, self._data = self.kinematics.arm.model, self.kinematics.arm.model.createData()
        fault_of = {JOINTS.index(fault.joint): fault for fault in faults}  # by index of the joint
        self.frozen = _indices(i for i, fault in fault_of.items() if fault.kind == "frozen")
        self.loose = _indices(i for i, fault in fault_of.items() if fault.kind == "loose")
        self.active = _indices({*range(len(JOINTS))} - {*fault_of})
        p = setup.parameters
        self.efforts = p.of_joints("effort_limit")
        self.lower, self.upper = p.limits
        angles = np.clip(setup.initial.q if q is None else q, self.lower, self.upper)
        for i in self.frozen.tolist():
            angle = fault_of[i].angle
            if angle is not None:
                angles[i] = angle
        check_limits(p, angles)
        self.lower[self.frozen] = self.upper[self.frozen] = angles[self.frozen]

    def gravity(self, q: Array) -> Array:
        """Return the efforts (7,) [N m] that hold the arm against gravity, without contact."""
        return np.asarray(pin.computeGeneralizedGravity(self._model, self._data, q)).copy()

    def pendulum(self, q: Array, joint: int) -> tuple[float, float]:
        """Return the angle q - s of a joint past its stable equilibrium [rad], and A [N m].

        By the torques A sin(q - s) at the angles q (7,), and A cos(q - s) a quarter turn further.
        """
        turned = q.copy()
        turned[joint] += 0.5 * np.pi
        sine, cosine = self.gravity(q)[joint], self.gravity(turned)[joint]
        amplitude = float(np.hypot(sine, cosine))
        angle_past = float(np.arctan2(sine, cosine)) if amplitude > TORQUE_ROUNDOFF else 0.0
        return angle_past, amplitude

    def hanging_pose(self, q: Array) -> Array:
        """Return the angles (7,) with loose joints in equilibrium or at a stop, without contact."""
        return self._settled(q, self._hang_joint)[0]

    def resting_pose(self, q: Array) -> Array | None:
        """Return the angles (7,) at which loose joints come to rest, on contacts, too.

        The other joints are held.

        Args:
            q: angles (7,) [rad] from which they fall. If a loose link overlaps something, it is
                first pushed out.

        Returns:
            angles (7,) [rad]; None if moving loose joints cannot end an overlap.
        """
        resting, is_settled = self._settled(q, self._drop_joint)
        return resting if is_settled else None

    def _settled(self, q: Array, move: Callable[[Array, int], bool]) -> tuple[Array, bool]:
        """Return the angles (7,) after moving loose joints in turn, and whether all rest.

        `move` moves one joint in an array of angles (7,), and returns whether it succeeded.
        """
        q = q.copy()
        for _ in range(MAX_ROUNDS):
            before = q[self.loose]
            if not all(move(q, joint) for joint in self.loose.tolist()):
                return q, False
            if len(self.loose) < 2 or np.abs(q[self.loose] - before).max() < CONTACT_ANGLE_ACCURACY:
                return q, True
        return q, False

    def _hang_joint(self, q: Array, joint: int) -> bool:
        """Move a loose joint in `q` to its equilibrium or stop, without contact; return True."""
        q[joint] = self._hanging_angle(q, joint)
        return True

    def _hanging_angle(self, q: Array, joint: int) -> float:
        """Return the angle [rad] of a joint in its stable equilibrium, or at the stop before it."""
        angle_past, _ = self.pendulum(q, joint)
        return float(np.clip(q[joint] - angle_past, self.lower[joint], self.upper[joint]))

    def _drop_joint(self, q: Array, joint: int) -> bool:
        """Move a loose joint in `q` to where it comes to rest; return False if it cannot be clear.

        `clear_angle` is the last angle without contact, `contact_angle` one with contact; the angle
        of the contact is found between them by bisection.
        """
        start, bottom = float(q[joint]), self._hanging_angle(q, joint)
        if self._touches_at(q, joint, start):
            contact_angle, clear_angle = start, self._pushed_angle(q, joint, bottom)
            if clear_angle is None:
                return False
        else:
            clear_angle = start
            angles = np.linspace(start, bottom, int(abs(bottom - start) / FALL_STEP) + 2)
            for contact_angle in angles[1:].tolist():
                if self._touches_at(q, joint, contact_angle):
                    break
                clear_angle = contact_angle
            else:
                return True
        while abs(contact_angle - clear_angle) > CONTACT_ANGLE_ACCURACY:
            middle = 0.5 * (clear_angle + contact_angle)
            if self._touches_at(q, joint, middle):
                contact_angle = middle
            else:
                clear_angle = middle
        q[joint] = clear_angle
        return True

    def _pushed_angle(self, q: Array, joint: int, bottom: float) -> float | None:
        """Return the first clear angle [rad] of a loose joint that is pushed out of a contact.

        It is pushed away from its equilibrium `bottom` [rad], or in either direction if it is near
        it. None if the contact reaches beyond MAX_PUSH_ANGLE.
        """
        start = float(q[joint])
        up = -1.0 if bottom > start else 1.0
        directions = (up, -up) if abs(bottom - start) < FALL_STEP else (up,)
        for step in np.arange(FALL_STEP, MAX_PUSH_ANGLE, FALL_STEP).tolist():
            for direction in directions:
                if not self._touches_at(q, joint, start + direction * step):
                    return float(q[joint])
        return None

    def _touches_at(self, q: Array, joint: int, angle: float) -> bool:
        """Set the angle [rad] of a joint in `q`, and return whether anything touches."""
        q[joint] = angle
        return self.clearance.touches(q, CONTACT_GAP)

    def hanging_joints(self, q: Array) -> Index:
        """Return the indices of loose joints in equilibrium without contact, if gravity acts."""
        pairs = [self.pendulum(q, joint) for joint in self.loose.tolist()]
        hangs = [abs(past) < HANGING_ANGLE and torque > TORQUE_ROUNDOFF for past, torque in pairs]
        return np.asarray(self.loose[np.array(hangs, dtype=np.bool_)])

    def holding_efforts(self, q: Array) -> Array:
        """Return the efforts (7,) [N m] that hold the arm at rest, against gravity and contacts.

        The torque of gravity on a loose joint is balanced by the forces of contacts, or by its
        stop.
        """
        efforts = self.gravity(q)
        pairs = self.propping_pairs(q)
        # Contact forces l >= 0 by J_p^T l = g_p of the loose joints p, with gravity's torques g.
        if len(pairs):
            jacobian = self.clearance.witness(q, pairs).jacobian
            forces = np.linalg.lstsq(jacobian[:, self.loose].T, efforts[self.loose], rcond=None)[0]
            efforts = efforts - np.maximum(forces, 0.0) @ jacobian
        efforts[self.loose] = 0.0
        return efforts

    def propping_pairs(self, q: Array) -> Index:
        """Return the indices of the pairs of hulls on which loose joints rest (k,)."""
        if not len(self.loose) or not (np.abs(self.gravity(q)[self.loose]) > BALANCED_TORQUE).any():
            return _indices(())
        near = self.clearance.near(q, 3.0 * CONTACT_GAP)
        return near[(self.clearance.reaches[near][:, self.loose] > 0.0).any(axis=1)]

    def can_hold(self, q: Array) -> bool:
        """Return whether the active joints can hold the arm still, and no loose joint tips over.

        Efforts must stay below a fraction of their limits, a smaller one if the arm leans on a
        contact, which may slide.
        """
        reserve = LEANING_RESERVE if len(self.propping_pairs(q)) else RESERVE
        if (np.abs(self.holding_efforts(q)) > reserve * self.efforts)[self.active].any():
            return False
        placing = [i for i in self.loose.tolist() if i < HAND_JOINTS]
        return all(abs(self.pendulum(q, i)[0]) < np.pi - MIN_TIPPING_ANGLE for i in placing)

    def sees(self, q: Array) -> bool:
        """Return whether the camera sees the point that it has to look at."""
        return not self._sight or self._sight.look(q, self.kinematics.tip(q)).visible

    def tip_jacobian(self, q: Array) -> Array:
        """Return the Jacobian of the tips by the active joints (3, 7), with loose joints following.

        A hanging loose joint p keeps g_p = 0, so that dq_p = -(dg_p/dq_p)^-1 dg_p/dq_a dq_a for the
        active joints a. One on a contact keeps the gap. One at a stop stays. Units: [m/rad].
        """
        jacobian = self.kinematics.jacobian("tip", q)[:3].copy()  # of the velocity
        hanging = self.hanging_joints(q)
        if len(hanging):
            model, data = self._model, self._data
            slopes = pin.computeGeneralizedGravityDerivatives(model, data, q)[hanging]
            follow = -np.linalg.solve(slopes[:, hanging], slopes[:, self.active])
            jacobian[:, self.active] += jacobian[:, hanging] @ follow
        pairs = self.propping_pairs(q)
        if len(pairs):
            gradient = self.clearance.witness(q, pairs[:1]).jacobian[0]  # of the gap
            leaning = self.loose[np.abs(gradient[self.loose]).argmax()]
            if gradient[leaning]:
                jacobian -= np.outer(jacobian[:, leaning] / gradient[leaning], gradient)
        jacobian[:, np.concatenate([self.frozen, self.loose])] = 0.0
        return jacobian


def _indices(joints: Iterable[int]) -> Index:
    """Return indices of joints as a sorted array."""
    return np.array(sorted(joints), dtype=np.int64)
