"""The arm with failed joints: what is left to move, and where loose joints come to rest.

A frozen joint is a lock. A loose joint bears no torque: it is in equilibrium where gravity's is
zero, on a contact, or at its stop. About a single joint gravity's torque is A sin(q - s) with s its
stable zero, so that two torques a quarter turn apart give s in closed form; the joint falls towards
it by less than half a turn, in steps that look for contact.

GAP must equal the margin of the contact law (0.5 mm). The other constants trade time against missed
equilibria and may be tuned. The conditions of rest are fixed: test_packbot_recovery compares them
with energies and runs.
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
from packbot.planning.reaching import ARM
from packbot.planning.sight import Sight
from packbot.planning.trajectories import RESERVE

GAP = 5e-4  # m at which a loose joint rests on a contact: the margin of the contact law
FALL = 0.02  # rad: steps in which a fall looks for contact; the tips move by 37 mm at most
FINE = 1e-4  # rad: to which the angle at a contact is found
LIFT = 0.3  # rad by which a contact may push a loose joint at once
WEIGHTLESS = 1e-9  # N m: smaller torques of gravity are rounding
HANGING = 1e-3  # rad from the zero of its torque, within which a loose joint hangs there
LIGHT = 0.02  # N m: a loose joint on which gravity has less torque is taken to hang
LEANING = 0.5  # fraction of the effort limits for an arm that leans on something, which may slide
TIPPING = 0.2  # rad that a loose joint keeps from where it would fall to the other side
ROUNDS = 30  # over several loose joints, until all rest


class FailedArm:
    """The arm of a setup with failed joints.

    Args:
        setup: robot and scenario.
        faults: of the joints, one each.
        q: angles (7,) [rad] at which joints froze whose fault names none; the scenario's start if
            not given.
        payload: mass at the finger tips [kg].
        clearance: of the setup, if one was made already.
        watch: distance [m] of a point before the lens that takes the place of the finger tips.

    Attributes:
        frozen, loose, active: indices of the joints of each kind.
        lower, upper: limits of the angles (7,) [rad]; of frozen joints both are where they are.
        efforts: limits of the joints (7,) [N m].

    Raises:
        AccordError: for an unknown joint, one with two faults, or an angle outside the limits.
    """

    def __init__(
        self, setup: Setup, faults: Sequence[Fault], *, q: Array | None = None,
        payload: float = 0.0, clearance: Clearance | None = None, watch: float = 0.0,
    ) -> None:  # fmt: skip
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
        kinds = {JOINTS.index(fault.joint): fault for fault in faults}
        self.frozen = _indices(i for i, f in kinds.items() if f.kind == "frozen")
        self.loose = _indices(i for i, f in kinds.items() if f.kind == "loose")
        self.active = _indices({*range(len(JOINTS))} - {*kinds})
        self.efforts = setup.parameters.of_joints("effort_limit")
        p = setup.parameters
        self.lower, self.upper = p.limits
        angles = np.clip(setup.initial.q if q is None else q, self.lower, self.upper)
        for i in self.frozen.tolist():
            angle = kinds[i].angle
            angles[i] = angles[i] if angle is None else angle
        check_limits(p, angles)
        self.lower[self.frozen] = self.upper[self.frozen] = angles[self.frozen]

    def gravity(self, q: Array) -> Array:
        """Return the efforts (7,) [N m] that hold the arm against gravity, without contact."""
        return np.asarray(pin.computeGeneralizedGravity(self._model, self._data, q)).copy()

    def swing(self, q: Array, joint: int) -> tuple[float, float]:
        """Return how far a joint is past its stable zero torque [rad], and A [N m]; see above."""
        turned = q.copy()
        turned[joint] += 0.5 * np.pi
        here, there = self.gravity(q)[joint], self.gravity(turned)[joint]
        size = float(np.hypot(here, there))
        return (float(np.arctan2(here, there)) if size > WEIGHTLESS else 0.0), size

    def hang(self, q: Array) -> Array:
        """Return the angles (7,) with loose joints at zero torque or a stop, whatever touches."""
        return self._settled(q, self._swings)[0]

    def rest(self, q: Array) -> Array | None:
        """Return where loose joints come to rest, the others held: at zero torque, stop or contact.

        Args:
            q: angles (7,) [rad] from which they fall; a contact that has moved into a loose link
                pushes it.

        Returns:
            angles (7,) [rad]; None where loose joints alone cannot part what touches.
        """
        rest, settled = self._settled(q, self._fall)
        return rest if settled else None

    def _settled(self, q: Array, move: Callable[[Array, int], bool]) -> tuple[Array, bool]:
        """Return the angles (7,) after moves of loose joints in turn, and whether all rest."""
        q = q.copy()
        for _ in range(ROUNDS):
            before = q[self.loose]
            if not all(move(q, joint) for joint in self.loose.tolist()):
                return q, False
            if len(self.loose) < 2 or np.abs(q[self.loose] - before).max() < FINE:
                return q, True
        return q, False

    def _swings(self, q: Array, joint: int) -> bool:
        """Move a loose joint in `q` to its zero torque or stop, whatever touches."""
        q[joint] = self._bottom(q, joint)
        return True

    def _bottom(self, q: Array, joint: int) -> float:
        """Return the angle [rad] of a joint at its stable zero of torque, or at the stop before."""
        past, _ = self.swing(q, joint)
        return float(np.clip(q[joint] - past, self.lower[joint], self.upper[joint]))

    def _fall(self, q: Array, joint: int) -> bool:
        """Move a loose joint in `q` to its equilibrium; return whether it is clear there."""
        bottom = self._bottom(q, joint)
        down = 1.0 if bottom > q[joint] else -1.0

        def touches(angle: float) -> bool:
            q[joint] = angle
            return self.clearance.touches(q, GAP)

        clear = float(q[joint])
        if touches(clear):
            steps = np.arange(FALL, LIFT, FALL)
            up = [clear - down * step for step in steps]
            if abs(bottom - clear) < FALL:  # it may be pushed past its zero in either direction
                up = [clear + side * step for step in steps for side in (-down, down)]
            lifted = next((angle for angle in up if not touches(angle)), None)
            if lifted is None:
                return False
            clear, end = lifted, clear
        else:
            angles = np.linspace(clear, bottom, int(abs(bottom - clear) / FALL) + 2)[1:].tolist()
            hit = next((i for i, angle in enumerate(angles) if touches(angle)), None)
            if hit is None:
                return True
            clear, end = angles[hit - 1] if hit else clear, angles[hit]
        while abs(end - clear) > FINE:
            middle = 0.5 * (clear + end)
            clear, end = (clear, middle) if touches(middle) else (middle, end)
        q[joint] = clear
        return True

    def hanging(self, q: Array) -> Index:
        """Return the loose joints at a zero of gravity's torque, those without weight left out."""
        swings = [(i, *self.swing(q, i)) for i in self.loose.tolist()]
        return _indices(i for i, past, size in swings if abs(past) < HANGING and size > WEIGHTLESS)

    def holding(self, q: Array) -> Array:
        """Return the efforts (7,) [N m] at rest: against gravity, and against contacts.

        What a loose joint lacks is borne by the pair that touches, or by its stop.
        """
        efforts = self.gravity(q)
        pairs = self.propping(q)
        if len(pairs):
            lines = self.clearance.witness(q, pairs).jacobian
            forces = np.linalg.lstsq(lines[:, self.loose].T, efforts[self.loose], rcond=None)[0]
            efforts = efforts - np.maximum(forces, 0.0) @ lines
        efforts[self.loose] = 0.0
        return efforts

    def propping(self, q: Array) -> Index:
        """Return the pairs (k,) on which loose joints rest."""
        if not len(self.loose) or not (np.abs(self.gravity(q)[self.loose]) > LIGHT).any():
            return _indices(())
        near = self.clearance.near(q, 3.0 * GAP)
        return near[(self.clearance.reaches[near][:, self.loose] > 0.0).any(axis=1)]

    def bears(self, q: Array) -> bool:
        """Return whether the active joints can hold the arm still, and no loose one tips over.

        They have a reserve, a greater one where something leans on a contact, which may slide.
        """
        reserve = LEANING if len(self.propping(q)) else RESERVE
        if (np.abs(self.holding(q)) > reserve * self.efforts)[self.active].any():
            return False
        placing = [i for i in self.loose.tolist() if i < ARM]
        return all(abs(self.swing(q, i)[0]) < np.pi - TIPPING for i in placing)

    def sees(self, q: Array) -> bool:
        """Return whether nothing hides the point that the camera is to look at."""
        return not self._sight or self._sight.look(q, self.kinematics.tip(q)).visible

    def tip_jacobian(self, q: Array) -> Array:
        """Return the change of the tips with active joints (3, 7) [m/rad], loose ones following.

        A loose joint at its zero torque follows by dq_p = -(dg_p/dq_p)^-1 dg_p/dq_a dq_a, one on a
        contact so that the gap stays; one at a stop stays.
        """
        jacobian = self.kinematics.jacobian("tip", q)[:3].copy()
        hanging = self.hanging(q)
        if len(hanging):
            model, data = self._model, self._data
            slopes = pin.computeGeneralizedGravityDerivatives(model, data, q)[hanging]
            follow = -np.linalg.solve(slopes[:, hanging], slopes[:, self.active])
            jacobian[:, self.active] += jacobian[:, hanging] @ follow
        pairs = self.propping(q)
        if len(pairs):
            line = self.clearance.witness(q, pairs[:1]).jacobian[0]
            leaning = self.loose[np.abs(line[self.loose]).argmax()]
            if line[leaning]:
                jacobian -= np.outer(jacobian[:, leaning] / line[leaning], line)
        jacobian[:, np.concatenate([self.frozen, self.loose])] = 0.0
        return jacobian


def _indices(joints: Iterable[int]) -> Index:
    return np.array(sorted(joints), dtype=np.int64)
