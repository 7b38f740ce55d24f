"""Newton on the CPU, in single precision. Of two coefficients it takes their mean.

By default XPBD with its defaults: two iterations, no restitution. The expert setting has more
iterations, and restitution; `featherstone` has contacts of springs and dampers, and no coefficient
of restitution either. Newton's third solver is MuJoCo Warp, here an engine of its own. Shapes have
no torsional or rolling friction. Featherstone reports no contact forces, XPBD approximate ones, so
that there is nothing to certify. Kernels are compiled for some 40 s at first: it runs only if it is
named.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import warp as wp
from roboaccord.numerics import quaternion_matrix

from roboaccord_bench.engine import Engine, Forces, World
from roboaccord_bench.scene import Body, Motion, Scene

wp.config.log_level = wp.LOG_ERROR  # before Newton is imported, which warns of a missing GPU
import newton  # noqa: E402


class NewtonWorld(World):
    """A scene in Newton; `solver` is the name of its solver, and options are that one's."""

    def __init__(self, scene: Scene, step: float, *, solver: str, **options: Any) -> None:
        self.step, self.links = step, dict[str, int]()
        builder = newton.ModelBuilder(gravity=wp.vec3(*scene.gravity))
        for body in scene.bodies:
            self._add(builder, body)
        model = builder.finalize(device="cpu")
        self.solver = getattr(newton.solvers, f"Solver{solver}")(model, **options)
        self.pipeline = newton.CollisionPipeline(model)
        self.contacts_now, self.states = self.pipeline.contacts(), [model.state(), model.state()]
        start = self.states[0]
        newton.eval_fk(model, start.joint_q, start.joint_qd, start)

    def _add(self, builder: Any, body: Body) -> None:
        """Add a body, with its joint."""
        link, pose = -1, wp.transform(body.position, body.quaternion)
        if body.mass:
            inertia = wp.mat33(*np.diag(body.inertia).ravel())
            link = builder.add_link(mass=body.mass, inertia=inertia, lock_inertia=True)
            self.links[body.name] = link
            if body.slide:
                joint = builder.add_joint_prismatic(-1, link, parent_xform=pose, axis=body.slide)
            else:
                joint = builder.add_joint_free(link)
                builder.joint_q[-7:] = [*body.position, *body.quaternion]
            rates = body.rates if body.slide else [*body.velocity, *body.spin]
            builder.joint_qd[-len(rates) :] = rates
            builder.add_articulation([joint])
            pose = wp.transform()
        surface = {"mu": body.mu, "restitution": body.restitution}
        config = builder.ShapeConfig(density=0.0, mu_torsional=0.0, mu_rolling=0.0, **surface)
        half = body.half
        if body.is_sphere:
            builder.add_shape_sphere(link, xform=pose, radius=half[0], cfg=config)
        else:
            hx, hy, hz = half
            builder.add_shape_box(link, xform=pose, hx=hx, hy=hy, hz=hz, cfg=config)

    def advance(self, forces: Forces) -> None:
        before, after = self.states
        before.clear_forces()
        for name, force in forces.items():
            before.body_f.numpy()[self.links[name], :3] = force
        self.pipeline.collide(before, self.contacts_now)
        self.solver.step(before, after, None, self.contacts_now, self.step)
        self.states.reverse()

    def motion(self, name: str) -> Motion:
        state, link = self.states[0], self.links[name]
        pose, rates = (a.numpy()[link].astype(float) for a in (state.body_q, state.body_qd))
        return Motion(pose[:3], quaternion_matrix(pose[3:]), rates[:3], rates[3:])


ENGINE = Engine(
    version=version("newton"),
    world=NewtonWorld,
    options={
        "default": {"solver": "XPBD"},
        "expert": {"solver": "XPBD", "iterations": 32, "enable_restitution": True},
        "featherstone": {"solver": "Featherstone"},
    },
    slow=True,
)
