"""MuJoCo: a scene in MJCF. Of two coefficients of friction it takes the larger."""

import math
from collections.abc import Iterator
from importlib.metadata import version

import mujoco
import numpy as np
from scipy.optimize import brentq

from roboaccord_bench.engine import Engine, Forces, Touch, World
from roboaccord_bench.scene import Body, Motion, Scene, mjcf, words

LEAST = math.exp(-1.999)  # restitution of a critically damped spring that does not pull


class MujocoWorld(World):
    """A scene in MuJoCo; options are attributes of MJCF's `option`, and `stiffness`.

    With a `stiffness` [1/s^2] each surface is a spring whose damping leaves the restitution asked
    for, but at least exp(-2), which is that of MuJoCo's own. Of two springs MuJoCo takes the larger
    damping. 1e4 is a time constant of 10 ms, half of MuJoCo's own: at 0.5 ms a bounce is right
    within 1 %, a box of 1 kg under one of 100 kg sinks 1.2 mm instead of 5.0 mm, and a box that
    slides stops where it did.
    """

    def __init__(self, scene: Scene, step: float, *, stiffness: float = 0.0, **option: str) -> None:
        attributes = " ".join(f'{key}="{value}"' for key, value in option.items())
        geoms = {body.name: spring(stiffness, body) for body in scene.bodies if stiffness}
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

    def contacts(self) -> Iterator[Touch]:
        for number, contact in enumerate(self.data.contact):
            force, axes = np.zeros(6), contact.frame.reshape(3, 3)
            mujoco.mj_contactForce(self.model, self.data, number, force)
            one, two = (self.model.body(self.model.geom_bodyid[g]).name for g in contact.geom)
            yield Touch(one, two, contact.pos, axes[0], force[:3] @ axes, contact.dist)


def spring(stiffness: float, body: Body) -> str:
    """Return `solref` of a surface, negative stiffness and damping [1/s^2, 1/s].

    A mass that hits a spring of damping ratio cos(angle), which does not pull, leaves with
    exp(-2 angle / tan(angle)) of its speed.
    """
    power = -0.5 * math.log(max(body.restitution or 0.0, LEAST))
    angle = brentq(lambda angle: angle / math.tan(angle) - power, 1e-3, 1.6)
    damping = 2.0 * math.sqrt(stiffness) * max(math.cos(angle), 0.0)
    return f'solref="{words((-stiffness, -damping))}"'


EXPERT = {"cone": "elliptic", "impratio": 10, "integrator": "implicitfast", "stiffness": 1e4}
OPTIONS = {"default": {}, "expert": EXPERT}
ENGINE = Engine(version=version("mujoco"), world=MujocoWorld, options=OPTIONS)
