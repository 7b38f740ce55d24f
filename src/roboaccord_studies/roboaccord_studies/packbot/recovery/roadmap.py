"""Second opinion on what a failed arm can reach: equilibria, contacts, statics and paths by MuJoCo.

`recovery` is judged by it, and shares nothing with it but limits and the pose at the start. Angles
are Halton points; a tree of equilibria grows from the start through `NODES` of them; poses at a
target are found by Gauss-Newton steps on finite differences, and joined to the nearest nodes by
straight lines of the active joints.
"""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
from packbot.planning.failed_arm import FailedArm
from packbot.planning.reaching import ARM
from roboaccord.contract import Array, Index
from roboaccord.description import Tree
from roboaccord.engines import EngineModel, MujocoSettings, compile_model
from scipy.stats import qmc

NODES = 1000  # samples of the tree: its budget
DRAWN = 400  # poses apart from it
SEEDS = 24  # poses from which a target is looked for
JOINS = 12  # nodes from which a pose is joined
EDGE = 1.0  # m of motion by which the tree grows at once
PACE = 0.02  # m of motion between poses that are checked, and the distance that pairs keep
CLOSE = 5e-4  # m: gap at which a loose joint rests on a contact
THERE = 5e-3  # m from a target
SHARE = 0.9  # of the effort limits
FALL, FINE = 0.02, 5e-5  # rad: steps of a falling joint, and to which its rest is found
FALLS = 400  # steps at most
DROP = 0.15  # rad: a loose joint that moves by more in a step falls
SAME = 0.02  # rad
LIGHT, WEIGHTLESS = 0.02, 1e-9  # N m: less is hanging, or no weight about the axis
PROBE = 1e-3  # rad, of finite differences
TURN = 0.3  # rad of a Gauss-Newton step
STEPS = 15  # of them


class Roadmap:
    """Judge targets of a failed arm.

    Args:
        arm: with its failures, of which names, limits and indices are taken.
        start: angles (7,) [rad] of its resting pose.
        nodes: samples of the tree.
    """

    def __init__(self, arm: FailedArm, start: Array, nodes: int = NODES) -> None:
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
        self._moving = arm.active[arm.active < ARM]
        hand = p.wrist_x + p.gripper_length
        elbow1 = p.elbow1_a + hand
        self._radii = np.array([p.shoulder_a + elbow1, p.shoulder_a + elbow1, elbow1, hand])
        self._carries = self._carried()
        swung = [self._gravity(_with(start, i, start[i] + a))[i] for i in arm.loose for a in (0, 1)]
        heavy = np.abs(np.array(swung).reshape(-1, 2)).max(axis=1) > WEIGHTLESS
        self._loose = arm.loose[heavy].tolist()
        self._grow(nodes)

    @property
    def nodes(self) -> Array:
        """Poses (n, 7) [rad] to which the start leads."""
        return self._nodes[: self._size]

    def verdict(self, target: Array) -> str:
        """Return "" if a target (3,) [m] is reachable, else the reason why not."""
        there = [*self._poses(target)]
        if not there:
            strong = self._poses(target, held=False) if self._loose else ()  # had they torque
            return "torque" if any(True for _ in strong) else "out_of_reach"
        held = [q for q in there if self._bears(q)]
        if not held:
            return "torque"
        clear = [q for q in held if not self._touches(q, 0.5 * CLOSE)]
        if not clear:
            return "collision"
        return "" if any(self._joined(q) for q in clear) else "no_path"

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
                if not self._touches(_with(q, i, q[i] + size)):
                    q[i] += size
                    break
            else:
                return False
        for _ in range(FALLS):
            torque = self._gravity(q)[i]
            slope = (self._gravity(_with(q, i, q[i] + PROBE))[i] - torque) / PROBE
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

    def _grow(self, count: int) -> None:
        """Grow the tree: each sample extends the nearest node, as far as the path is free."""
        moving = self._moving
        points = qmc.Halton(max(len(moving), 1), seed=7).random(count)
        low, high = self._lower[moving], self._upper[moving]
        self._nodes, self._size = np.tile(self._start, (count + 1, 1)), 1
        for point in points if len(moving) else []:
            goal = self._start.copy()
            goal[moving] = low + point * (high - low)
            (i,) = self._near(goal, 1)
            part = min(1.0, EDGE / self._motion(self._nodes[i], goal))
            end = self._walk(self._nodes[i], self._nodes[i] + part * (goal - self._nodes[i]))
            if self._motion(self._nodes[i], end) > PACE:
                self._nodes[self._size] = end
                self._size += 1
        drawn = self._lower + qmc.Halton(len(self._start), seed=8).random(DRAWN) * (
            self._upper - self._lower
        )
        drawn[:, ARM:] = self._start[ARM:]
        still = [i for i in range(ARM) if i not in self._moving and i not in self._loose]
        drawn[:, still] = self._start[still]
        settled = [self._settle(q) for q in drawn] if self._loose else list(drawn)
        poses = [*self.nodes, *(q for q in settled if q is not None)]
        self._bank, self._tips = np.array(poses), np.array([self._tip(q) for q in poses])

    def _motion(self, a: Array, b: Array) -> float:
        return float(np.abs(b - a)[self._moving] @ self._radii[self._moving])

    def _near(self, q: Array, count: int) -> list[int]:
        away = np.abs(self.nodes - q)[:, :ARM] @ self._radii
        return [int(i) for i in away.argsort(kind="stable")[:count]]

    def _walk(self, a: Array, b: Array) -> Array:
        """Return how far the active joints come from a towards b (7,), loose ones following."""
        count = int(np.ceil(self._motion(a, b) / PACE))
        line, q = np.zeros(len(a)), a
        line[self._moving] = (b - a)[self._moving] / max(count, 1)
        for _ in range(count):
            there = self._settle(q + line) if self._loose else q + line
            if there is None or np.abs(there - q).max() > DROP:
                return q
            if not (self._bears(there) and (self._loose or not self._touches(there))):
                return q
            q = there
        return q

    def _joined(self, q: Array) -> bool:
        ends = (self._walk(self._nodes[i], q) for i in self._near(q, JOINS))
        return any(np.abs(end - q)[:ARM].max() < SAME for end in ends)

    def _poses(self, target: Array, *, held: bool = True) -> Iterator[Array]:
        """Yield poses (7,) with the finger tips at a target, loose joints at rest if `held`."""
        bank, tips = self._bank, self._tips
        base = np.array([self._arm.setup.parameters.base_x, 0.0])
        turning = 0 in self._moving
        flat, aim = tips[:, :2] - base, target[:2] - base
        off = np.linalg.norm(tips - target, axis=1)
        if turning:
            off = np.hypot(np.hypot(*flat.T) - np.hypot(*aim), tips[:, 2] - target[2])
        joints = self._moving if held else np.union1d(self._moving, self._arm.loose)
        for k in off.argsort(kind="stable")[:SEEDS].tolist():
            q = bank[k].copy()
            if turning:
                turn = np.arctan2(aim[1], aim[0]) - np.arctan2(flat[k, 1], flat[k, 0])
                turned = (q[0] + turn + np.pi) % (2.0 * np.pi) - np.pi
                q[0] = np.clip(turned, self._lower[0], self._upper[0])
            there = self._solved(q, target, joints, held=held and bool(self._loose))
            if there is not None:
                yield there

    def _solved(self, q: Array, target: Array, joints: Index, *, held: bool) -> Array | None:
        """Return the pose (7,) to which Gauss-Newton steps lead, if its tips are at the target."""
        for _ in range(STEPS):
            error = target - self._tip(q)
            if np.linalg.norm(error) < 0.2 * THERE:
                break
            lines = np.zeros((3, len(joints)))
            for column, i in enumerate(joints.tolist()):
                probe = PROBE if q[i] + PROBE <= self._upper[i] else -PROBE
                near = _with(q, i, q[i] + probe)
                there = self._settle(near) if held else near
                if there is None:
                    return None
                lines[:, column] = (self._tip(there) - target + error) / probe
            step = np.linalg.lstsq(lines, error, rcond=1e-3)[0]
            step *= min(1.0, TURN / max(float(np.abs(step).max(initial=0.0)), 1e-9))
            q = q.copy()
            q[joints] = np.clip(q[joints] + step, self._lower[joints], self._upper[joints])
            rest = self._settle(q) if held else q
            if rest is None:
                return None
            q = rest
        return q if np.linalg.norm(target - self._tip(q)) < THERE else None


def _with(q: Array, i: int, angle: float) -> Array:
    q = q.copy()
    q[i] = angle
    return q
