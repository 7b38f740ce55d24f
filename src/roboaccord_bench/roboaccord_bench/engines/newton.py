"""Newton on the CPU, in single precision. Of two coefficients it takes their mean.

By default XPBD with its defaults: two iterations, no restitution. The expert setting has more
iterations, and restitution; `featherstone` has contacts of springs and dampers, and no coefficient
of restitution either. Newton's third solver is MuJoCo Warp, here an engine of its own. Shapes have
no torsional or rolling friction. Featherstone reports no contact forces, XPBD approximate ones, so
that there is nothing to certify. Kernels are compiled for some 40 s at first: it runs only if it is
named.
"""

from importlib.metadata import version
from typing import Any

import warp as wp
from roboaccord.numerics import quaternion_matrix

from roboaccord_bench.engine import Engine, Forces, World
from roboaccord_bench.scene import Body, Motion, Scene

wp.config.log_level = wp.LOG_ERROR  # before Newton is imported, which warns of a missing GPU
import newton  # noqa: E402

AXIS = wp.vec3(1.0, 0.0, 0.0)


class NewtonWorld(World):
    """A scene in Newton; `solver` is the name of its solver, and options are that one's."""

    def __init__(self, scene: Scene, step: float, *, solver: str, **options: Any) -> None:
        builder = newton.ModelBuilder(gravity=wp.vec3(*scene.gravity))
        self.links = {body.name: self._add(builder, body) for body in scene.bodies}
        model = builder.finalize(device="cpu")
        self.step, self.states = step, [model.state(), model.state()]
        newton.eval_fk(model, model.joint_q, model.joint_qd, self.states[0])
        self.solver = getattr(newton.solvers, f"Solver{solver}")(model, **options)
        self.pipeline = newton.CollisionPipeline(model)
        self.hits = self.pipeline.contacts()

    def _add(self, builder: Any, body: Body) -> int:
        """Add a body with its joint, and return its number."""
        link, pose = -1, wp.transform(body.position, body.quaternion)
        if body.mass:
            inertia = wp.diag(wp.vec3(*body.inertia))
            link = builder.add_link(mass=body.mass, inertia=inertia, lock_inertia=True)
            if body.slide:  # along an axis of a frame: between axes XPBD does not hold a body
                frame = wp.transform(q=wp.quat_between_vectors(AXIS, wp.vec3(*body.slide)))
                frames = {"parent_xform": pose * frame, "child_xform": frame}
                joint = builder.add_joint_prismatic(-1, link, axis=AXIS, **frames)
            else:
                joint = builder.add_joint_free(link)
                builder.joint_q[-7:] = pose
            builder.add_articulation([joint])
            rates = body.rates if body.slide else [*body.velocity, *body.spin]
            builder.joint_qd[-len(rates) :] = rates
            pose = wp.transform()
        config = builder.ShapeConfig(density=0.0, mu_torsional=0.0, mu_rolling=0.0)
        config.mu, config.restitution = body.mu, body.restitution
        kind = newton.GeoType.SPHERE if body.is_sphere else newton.GeoType.BOX
        builder.add_shape(body=link, type=kind, xform=pose, scale=wp.vec3(*body.half), cfg=config)
        return int(link)

    def advance(self, forces: Forces) -> None:
        before, after = self.states
        before.clear_forces()
        for name, force in forces.items():
            before.body_f.numpy()[self.links[name], :3] = force
        self.pipeline.collide(before, self.hits)
        self.solver.step(before, after, None, self.hits, self.step)
        self.states.reverse()

    def motion(self, name: str) -> Motion:
        state, link = self.states[0], self.links[name]
        pose, rates = (a.numpy()[link].astype(float) for a in (state.body_q, state.body_qd))
        return Motion(pose[:3], quaternion_matrix(pose[3:]), rates[:3], rates[3:])


OPTIONS: dict[str, dict[str, Any]] = {
    "default": {"solver": "XPBD"},
    "expert": {"solver": "XPBD", "iterations": 32, "enable_restitution": True},
    "featherstone": {"solver": "Featherstone"},
}
ENGINE = Engine(version=version("newton"), world=NewtonWorld, options=OPTIONS, slow=True)
