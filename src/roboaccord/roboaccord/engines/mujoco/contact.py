"""Contact in MuJoCo: fixtures, free bodies, pairs that can touch, contact points, and losses.

`collide`, called when a model is compiled (model.py), adds the fixtures of a `Contact` (obstacles
that do not move), its free bodies and its pairs. For the simulator, `MujocoContact` reports contact
points in the order and with the sign of the contract, and `ConstraintMeter` measures how much
energy joint stops, impacts and friction take in a physics step.

Settings of the user are in settings.py. CONTACT_IMPEDANCE and BOTTOM_DEPTH may be changed; but the
first changes every motion with contact in MuJoCo, published figures, and the depth that test_cones
checks.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import mujoco
import numpy as np

from roboaccord.contract.contact import (
    AnyFixture,
    Contact,
    ContactPoint,
    CylinderFixture,
    Fixture,
    MeshFixture,
)
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import BODY_ORIENTATION, BODY_POSITION, ORIGIN, Array
from roboaccord.engines.mujoco.settings import MujocoSettings
from roboaccord.engines.touch_events import Pairs
from roboaccord.numerics.rotations import matrix_quaternion, yaw_matrix, yaw_quaternion
from roboaccord.simulators.losses import Losses

# MuJoCo's `solimp` of contacts: impedances dmin and dmax, width [m], midpoint, power. The defaults
# are 0.9, 0.95, 1e-3, 0.5 and 2; here 1 - dmin and the width are a tenth of these. A contact bears
# only its normal force, so it need not be as rigid as a stop (STOP_IMPEDANCE of simulator.py).
CONTACT_IMPEDANCE = (0.99, 0.999, 1e-4, 0.5, 2.0)
GEOMETRY = mujoco.mjtGeom
# [m] Thickness of a height field below its lowest point. It is more than a body sinks in a physics
# step, which is 1 cm at 10 m/s and 1 ms.
BOTTOM_DEPTH = 0.1
# [m] Height of a flat height field, because MuJoCo refuses 0: a hundredth of the width in
# CONTACT_IMPEDANCE.
FLAT_HEIGHT = 1e-6
# Weights of the stages of an integrator by their number: of Euler's method, and of Runge-Kutta 4.
STAGE_WEIGHTS = {1: (1.0,), 4: (1 / 6, 1 / 3, 1 / 3, 1 / 6)}
JOINT_LIMIT = mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT


def collide(spec: mujoco.MjSpec, contact: Contact, settings: MujocoSettings) -> None:
    """Add fixtures, free bodies and pairs of a contact to MuJoCo's specification of a model.

    A contact of MuJoCo is a spring with a damper that cannot pull, so a body rebounds with a
    fraction of its speed (`contact.rebound`).

    Raises:
        AccordError: for restitution, or a pair with a body that has no shape.
    """
    if contact.restitution:
        remedy = "use 0, or dart or the reference"
        raise AccordError(f"MuJoCo has no coefficient of restitution: {remedy}")
    turn = np.roll(yaw_quaternion(contact.yaw), 1)
    for fixture in contact.fixtures:
        body = spec.worldbody.add_body(name=fixture.name, pos=fixture.position, quat=turn)
        _add_shape(spec, body, fixture, contact.yaw)
    for free in contact.bodies:
        pose = free.start[BODY_POSITION], np.roll(free.start[BODY_ORIENTATION], 1)
        body = add_body(spec, free.name, free.mass, free.inertia, pos=pose[0], quat=pose[1])
        body.add_freejoint()
        _add_shape(spec, body, free.shape)
        body.geoms[0].pos = free.shape.position
    # In MuJoCo a pair consists of two geometries, not bodies, and refers to them by name.
    geometries: dict[str, list[str]] = {}
    for body in spec.bodies:
        for number, geom in enumerate(body.geoms):
            geom.name = f"{body.name}:{number}"
            geometries.setdefault(body.name, []).append(geom.name)
    Pairs(contact).check([*geometries])
    for pair in contact.pairs:
        mu = contact.mu(pair)
        for first, second in product(geometries[pair[0]], geometries[pair[1]]):
            spec.add_pair(
                geomname1=first,
                geomname2=second,
                condim=3 if mu > 0.0 else 1,
                friction=[mu, mu, 0.0, 0.0, 0.0],
                solref=[float(settings.contact_time), float(settings.contact_damping)],
                solimp=CONTACT_IMPEDANCE,
            )
    spec.option.cone = getattr(mujoco.mjtCone, f"mjCONE_{settings.cone.upper()}")
    spec.option.impratio = float(settings.impratio)
    if settings.diagexact:
        spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_DIAGEXACT


class MujocoContact:
    """Report the active contacts of a model.

    Args:
        model: MuJoCo's, with the pairs.
        contact: whose pairs were added.
    """

    def __init__(self, model: mujoco.MjModel, contact: Contact) -> None:
        self._model = model
        self._pairs = Pairs(contact)
        self._bodies = [model.body(body).name for body in model.geom_bodyid]  # by geometry

    def points(self, data: mujoco.MjData) -> list[ContactPoint]:
        """Return the contacts of the last step."""
        points, wrench = [], np.zeros(6)
        for i in range(data.ncon):
            touch = data.contact[i]
            bodies = self._bodies[touch.geom[0]], self._bodies[touch.geom[1]]
            mujoco.mj_contactForce(self._model, data, i, wrench)
            normal, at, depth = np.array(touch.frame[:3]), np.array(touch.pos), -float(touch.dist)
            friction = wrench[1:3] @ touch.frame[3:].reshape(2, 3) if touch.dim > 1 else ORIGIN
            points.append(self._pairs.point(bodies, at, normal, float(wrench[0]), depth, friction))
        return points


def add_body(
    spec: mujoco.MjSpec, name: str, mass: float, inertia: Array, **more: Any
) -> mujoco.MjsBody:
    """Add a body whose centre of mass is its origin, with its inertia (3, 3), and return it."""
    # MuJoCo 4.0.0 sorts the moments of a body's `fullinertia`, and forgets to turn their axes.
    moments, axes = np.linalg.eigh(inertia)
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    turn = np.roll(matrix_quaternion(axes), 1)
    inertial = {"mass": mass, "inertia": moments, "iquat": turn, "explicitinertial": True}
    # Without `ipos`, MuJoCo 4.0.0 replaces both it and `iquat` by the pose of the body.
    return spec.worldbody.add_body(name=name, ipos=ORIGIN, **inertial, **more)


def _add_shape(
    spec: mujoco.MjSpec, body: mujoco.MjsBody, fixture: AnyFixture, yaw: float = 0.0
) -> None:
    """Add the geometry of a fixture to its body, which a height field moves.

    Raises:
        AccordError: for a mesh that is not convex.
    """
    no_collision = {"contype": 0, "conaffinity": 0}
    if isinstance(fixture, Fixture):
        body.add_geom(type=GEOMETRY.mjGEOM_BOX, size=0.5 * fixture.size, **no_collision)
    elif isinstance(fixture, CylinderFixture):
        size = [fixture.radius, 0.5 * fixture.height, 0.0]
        body.add_geom(type=GEOMETRY.mjGEOM_CYLINDER, size=size, **no_collision)
    elif isinstance(fixture, MeshFixture):
        if not fixture.convex:
            remedy = "give it as a height field"
            raise AccordError(f"MuJoCo takes the convex hull of {fixture.name}; {remedy}")
        vertices, faces = fixture.vertices.ravel(), fixture.faces.ravel()
        spec.add_mesh(name=fixture.name, uservert=vertices, userface=faces)
        body.add_geom(type=GEOMETRY.mjGEOM_MESH, meshname=fixture.name, **no_collision)
    else:  # MuJoCo's frame is in the middle of the field, at its lowest height; rows are along y
        low, heights = float(fixture.heights.min()), fixture.heights.T
        span = max(float(np.ptp(heights)), FLAT_HEIGHT)
        half_size = 0.5 * fixture.spacing * (np.array(fixture.heights.shape) - 1)
        spec.add_hfield(
            name=fixture.name,
            size=[*half_size, span, BOTTOM_DEPTH],
            nrow=heights.shape[0],
            ncol=heights.shape[1],
            userdata=((heights - low) / span).ravel(),
        )
        body.pos = fixture.position + yaw_matrix(yaw) @ np.array([*half_size, low])
        body.add_geom(type=GEOMETRY.mjGEOM_HFIELD, hfieldname=fixture.name, **no_collision)


class ConstraintMeter:
    """Measure the energy that constraint forces take in one physics step.

    The forces of all stages, with the integrator's weights, add up to an impulse P. It takes the
    energy -P . (v0 + v1) / 2 between the velocities before and after the step.

    Args:
        model, data: MuJoCo's.
        stages: number of stages of the integrator, 1 or 4.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, *, stages: int) -> None:
        self._model, self._data = model, data
        self._weights = STAGE_WEIGHTS[stages]
        self._stage = 0  # number of stages that have begun in this step
        self._rates_before = np.zeros(model.nv)  # at the start of the step
        self._impulse = np.zeros(model.nv)  # of the stages that have ended [N s, N m s]

    def begin_stage(self) -> None:
        """Add the forces of the last stage, which are still in the data as the next one begins."""
        if self._stage == 0:
            self._rates_before[:] = self._data.qvel
            self._impulse[:] = 0.0
        else:
            self._add_impulse(self._weights[self._stage - 1])
        self._stage += 1

    def end_step(self) -> Losses:
        """Return the losses in stops, contacts and their friction in the step [J].

        After several stages only the constraints of the last are known one by one: if there are
        contacts then, all losses count as those of impacts.
        """
        self._add_impulse(self._weights[-1])
        self._stage = 0
        mean_rates = 0.5 * (self._rates_before + self._data.qvel)
        loss = -float(self._impulse @ mean_rates)
        if self._data.ncon == 0:
            return Losses(stops=loss)
        if len(self._weights) > 1:
            return Losses(impacts=loss)
        return self._losses_by_kind(mean_rates)

    def _add_impulse(self, weight: float) -> None:
        """Add the impulse of the present constraint forces with a stage's weight [N s, N m s]."""
        self._impulse += weight * self._model.opt.timestep * self._data.qfrc_constraint

    def _losses_by_kind(self, mean_rates: Array) -> Losses:
        """Return the losses by kind of constraint, at the mean rates of a step (nv,).

        The first row of a contact is along its normal, the others are friction.
        """
        data = self._data
        rows = data.efc_J.reshape(data.nefc, self._model.nv)
        losses = -self._model.opt.timestep * data.efc_force * (rows @ mean_rates)
        is_stop = np.asarray(data.efc_type) == JOINT_LIMIT
        is_normal = np.zeros(data.nefc, dtype=bool)
        starts = np.array([contact.efc_address for contact in data.contact[: data.ncon]])
        is_normal[starts[starts >= 0]] = True
        return Losses(
            stops=float(losses[is_stop].sum()),
            impacts=float(losses[is_normal].sum()),
            friction=float(losses[~is_stop & ~is_normal].sum()),
        )
