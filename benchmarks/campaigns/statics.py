"""Statics and contacts of a failed arm by MuJoCo, which shares nothing with those that plan.

Where loose joints come to rest, what active ones have to hold, and which hulls touch, by angles. It
takes names, limits and indices of joints from the arm, and finite differences for derivatives.
"""

from __future__ import annotations

import mujoco
import numpy as np
from packbot.planning.failed_arm import FailedArm
from packbot.planning.reaching import HAND_JOINTS
from roboaccord.contract import Array
from roboaccord.description import Tree
from roboaccord.engines import EngineModel, MujocoSettings, compile_model

# m of motion between poses that are checked, and the distance that pairs keep; below it contact of
# hulls is not passed through.
PACE = 0.02
CLOSE = 5e-4  # m: gap at which a loose joint rests on a contact, as the margin of the contact law
SHARE = 0.9  # of the effort limits; the rest is for errors of the model
# rad: steps of a falling joint, and to which its rest is found: 1 degree, and 10 seconds of arc.
FALL, FINE = 0.02, 5e-5
FALLS = 400  # steps at most: 8 rad, more than a turn
# N m: less is hanging, or no weight about the axis, below dry friction.
LIGHT, WEIGHTLESS = 0.02, 1e-9
PROBE = 1e-3  # rad, of finite differences: errors of 1e-6 by truncation, and of 1e-13 by round-off


class FailedStatics:
    """Find rests, loads and contacts of a failed arm.

    Args:
        arm: with its failures, of which names, limits and indices are taken.
        start: angles (7,) [rad] of its resting pose.
    """

    def __init__(self, arm: FailedArm, start: Array) -> None:
        setup, p = arm.setup, arm.setup.parameters
        model = EngineModel.of(setup, urdf=setup.urdf(more={"stops": "true"}))
        tree, settings = Tree.parse(model.urdf, root=model.root), MujocoSettings(contact_time=1.0)
        self._model = compile_model(model, tree, settings)
        self._model.pair_margin[:] = PACE
        self._data = mujoco.MjData(self._model)
        joints = map(self._model.joint, setup.joints)
        places = [(each.id, each.qposadr[0], each.dofadr[0]) for each in joints]
        self._joints, self._q, self._v = np.array(places).T
        self._hand = self._model.body("gripper_link").id
        self._length: float = p.gripper_length
        self._arm, self._start, self._efforts = arm, start, arm.efforts
        self._lower, self._upper = arm.lower, arm.upper
        self._moving = arm.active[arm.active < HAND_JOINTS]
        hand = p.wrist_x + p.gripper_length
        elbow1 = p.elbow1_a + hand
        self._radii = np.array([p.shoulder_a + elbow1, p.shoulder_a + elbow1, elbow1, hand])
        self._carries = self._carried()
        swung = [
            self._gravity(with_angle(start, i, start[i] + a))[i] for i in arm.loose for a in (0, 1)
        ]
        heavy = np.abs(np.array(swung).reshape(-1, 2)).max(axis=1) > WEIGHTLESS
        self._loose = arm.loose[heavy].tolist()

    def _carried(self) -> Array:
        """Return which joints carry which bodies (7, bodies)."""
        model = self._model
        found = np.zeros((len(self._q), model.nbody), dtype=bool)
        found[np.arange(len(self._q)), model.jnt_bodyid[self._joints]] = True
        for body in range(1, model.nbody):
            found[:, body] |= found[:, model.body_parentid[body]]
        return found

    def _place(self, q: Array) -> None:
        self._data.qpos[self._q] = q
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)

    def _tip(self, q: Array) -> Array:
        self._place(q)
        turn = self._data.xmat[self._hand].reshape(3, 3)
        return np.asarray(self._data.xpos[self._hand] + self._length * turn[:, 0])

    def _gravity(self, q: Array) -> Array:
        self._place(q)
        found = np.zeros(self._model.nv)
        mujoco.mj_rne(self._model, self._data, 0, found)
        return np.asarray(found[self._v])

    def _touches(self, q: Array, gap: float = CLOSE) -> bool:
        """Return whether some pair is closer than a gap, or than `PACE` where none is loose."""
        self._place(q)
        mujoco.mj_collision(self._model, self._data)
        found = self._data.contact
        if not len(found.dist):
            return False
        return bool((found.dist < np.where(self._led(found.geom), gap, PACE)).any())

    def _led(self, geoms: Array) -> Array:
        """Return between which geometries (k, 2) loose joints are."""
        a, b = self._model.geom_bodyid[geoms].T
        carries = self._carries[self._arm.loose]
        return np.asarray((carries[:, a] != carries[:, b]).any(axis=0))

    def _settle(self, q: Array) -> Array | None:
        """Return where loose joints rest (7,) [rad], the others held; None if they are caught."""
        q = q.copy()
        for _ in range(1 + 10 * (len(self._loose) > 1)):
            before = q.copy()
            if not all(self._falls(q, i) for i in self._loose):
                return None
            if np.abs(q - before).max() < FINE:
                break
        return None if self._touches(q, 0.5 * CLOSE) else q

    def _falls(self, q: Array, i: int) -> bool:
        """Let a loose joint of `q` go down to zero torque, a contact or a stop."""
        if self._touches(q):  # a contact moved into it: it is lifted off
            for size in np.outer(np.arange(1, 9) * FALL, (-1.0, 1.0)).ravel():
                if not self._touches(with_angle(q, i, q[i] + size)):
                    q[i] += size
                    break
            else:
                return False
        for _ in range(FALLS):
            torque = self._gravity(q)[i]
            slope = (self._gravity(with_angle(q, i, q[i] + PROBE))[i] - torque) / PROBE
            step = -torque / slope if slope > 0.0 else -np.sign(torque) * FALL
            clear, end = q[i], q[i] + np.clip(step, -FALL, FALL)
            q[i] = end = np.clip(end, self._lower[i], self._upper[i])
            if self._touches(q):
                while abs(end - clear) > FINE:
                    q[i] = 0.5 * (clear + end)
                    clear, end = (clear, q[i]) if self._touches(q) else (q[i], end)
                q[i] = clear
                break
            if abs(end - clear) < FINE:
                break
        return True

    def _bears(self, q: Array) -> bool:
        """Return whether the active joints hold the arm, contacts of loose joints included."""
        efforts = self._gravity(q)
        for i in self._loose:
            if abs(efforts[i]) > LIGHT and self._lower[i] + FINE < q[i] < self._upper[i] - FINE:
                line = self._line(q, i)
                efforts -= 0.0 if line is None else efforts[i] / line[i] * line
        active = self._arm.active
        return bool((np.abs(efforts[active]) <= SHARE * self._efforts[active]).all())

    def _line(self, q: Array, i: int) -> Array | None:
        """Return the change (7,) [m/rad] of the gap on which a loose joint rests."""
        self._touches(q)
        found, n = self._data.contact, self._model.nv
        for touch in np.argsort(found.dist).tolist():
            if not self._led(found.geom[touch : touch + 1])[0]:
                continue
            jacobians = np.zeros((2, 3, n))
            for jacobian, geom in zip(jacobians, found.geom[touch], strict=True):
                body = self._model.geom_bodyid[geom]
                mujoco.mj_jac(self._model, self._data, jacobian, None, found.pos[touch], body)
            line = found.frame[touch][:3] @ (jacobians[1] - jacobians[0])[:, self._v]
            return np.asarray(line) if line[i] else None
        return None


def with_angle(q: Array, i: int, angle: float) -> Array:
    """Return angles with another one of joint `i`."""
    q = q.copy()
    q[i] = angle
    return q
