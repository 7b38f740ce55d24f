"""MuJoCo: a scene in MJCF. Of two coefficients of friction it takes the larger."""

from __future__ import annotations

import math
from importlib.metadata import version

import mujoco
import numpy as np

from roboaccord_bench.engine import Engine, Forces, Touch, World
from roboaccord_bench.scene import Motion, Scene, mjcf


class MujocoWorld(World):
    """A scene in MuJoCo; options are attributes of MJCF's `option`, and `stiffness`.

    Contacts with a `stiffness` [1/s^2] have the damping with which a linear spring that is hit
    leaves with the restitution asked for; by default MuJoCo has no restitution.
    """

    def __init__(self, scene: Scene, step: float, *, stiffness: float = 0.0, **option: str) -> None:
        attributes = " ".join(f'{key}="{value}"' for key, value in option.items())
        bounce = max(body.restitution or 0.0 for body in scene.bodies) if stiffness else 0.0
        solref = ""
        if bounce > 0.0:
            ratio = -math.log(bounce) / math.hypot(math.pi, math.log(bounce))
            damping = 2.0 * ratio * math.sqrt(stiffness) + 1e-12  # 0 would be another format
            solref = f'solref="{-stiffness!r} {-damping!r}"'
        geoms = dict.fromkeys((body.name for body in scene.bodies), solref)
        text = mjcf(scene, f'timestep="{step!r}" {attributes}', geoms)
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        self._update()
        for body in scene.moving:
            joint = self.data.joint(self.model.body(body.name).jntadr[0])
            joint.qvel = body.rates

    def _update(self) -> None:
        for update in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
            update(self.model, self.data)

    def advance(self, forces: Forces) -> None:
        for name, force in forces.items():
            self.data.body(name).xfrc_applied[:3] = force
        mujoco.mj_step(self.model, self.data)

    def motion(self, name: str) -> Motion:
        self._update()  # a step leaves positions of bodies at its start
        body, rates, kind = self.data.body(name), np.zeros(6), mujoco.mjtObj.mjOBJ_BODY
        mujoco.mj_objectVelocity(self.model, self.data, kind, body.id, rates, 0)
        return Motion(body.xpos.copy(), body.xmat.reshape(3, 3).copy(), rates[3:], rates[:3])

    def contacts(self) -> list[Touch]:
        touches = []
        for number, contact in enumerate(self.data.contact):
            force, axes = np.zeros(6), contact.frame.reshape(3, 3)
            mujoco.mj_contactForce(self.model, self.data, number, force)
            one, two = (self.model.body(self.model.geom_bodyid[g]).name for g in contact.geom)
            touches.append(Touch(one, two, contact.pos, axes[0], force[:3] @ axes, contact.dist))
        return touches


EXPERT = {"cone": "elliptic", "impratio": 10, "integrator": "implicitfast"}
OPTIONS = {"default": {}, "expert": EXPERT}
ENGINE = Engine(version=version("mujoco"), world=MujocoWorld, options=OPTIONS)
