"""PhysX 5 by SAPIEN, in single precision. Of two coefficients it takes their mean.

By default PhysX damps the spin of bodies, and restitution acts above an impact speed of 2 m/s only;
by the expert setting bodies are not damped, and restitution acts above 0.01 m/s. Bodies are never
put to sleep. PhysX reports the pressing forces of contacts but no friction, so that there is
nothing to certify.
"""

import warnings
from importlib.metadata import version
from typing import Any

import numpy as np

from roboaccord_bench.engine import Engine, Forces, World
from roboaccord_bench.scene import Body, Motion, Scene

with warnings.catch_warnings(action="ignore"):  # of a missing library for pictures
    import sapien


class SapienWorld(World):
    """A scene in PhysX.

    Restitution acts above the speed `bounce` [m/s]; `damping` is that of spins [1/s].
    """

    def __init__(self, scene: Scene, step: float, *, bounce: float, damping: float) -> None:
        config = sapien.physx.PhysxSceneConfig()
        config.gravity, config.bounce_threshold = scene.gravity, bounce
        sapien.physx.set_scene_config(config)
        self.system, self.damping = sapien.physx.PhysxCpuSystem(), damping
        self.system.timestep = step
        self.scene = sapien.Scene([self.system])
        self.bodies = {body.name: self._add(body) for body in scene.bodies}

    def _add(self, body: Body) -> Any:
        """Return PhysX's component of a body."""
        builder = self.scene.create_actor_builder()
        pose = builder.initial_pose = sapien.Pose(body.position, np.roll(body.quaternion, 1))
        material = sapien.physx.PhysxMaterial(body.mu, body.mu, body.restitution)
        if body.is_sphere:
            builder.add_sphere_collision(radius=body.half[0], material=material)
        else:
            builder.add_box_collision(half_size=body.half, material=material)
        if not body.mass:
            return builder.build_static().components[0]
        builder.set_mass_and_inertia(body.mass, sapien.Pose(), body.inertia)
        part = builder.build().components[0]
        part.sleep_threshold, part.angular_damping = 0.0, self.damping
        part.linear_velocity, part.angular_velocity = body.velocity, body.spin
        if body.slide:  # along the x axis of a frame
            frame = sapien.Pose(q=sapien.math.shortest_rotation([1, 0, 0], body.slide))
            joint = sapien.physx.PhysxDriveComponent(part)
            joint.pose_in_parent, joint.pose_in_child = pose * frame, frame
            for fix in ("y", "z", "cone", "twist"):
                getattr(joint, f"set_limit_{fix}")(0.0, 0.0)
            part.entity.add_component(joint)
        return part

    def advance(self, forces: Forces) -> None:
        for name, force in forces.items():
            self.bodies[name].add_force_torque(force, np.zeros(3))
        self.system.step()

    def motion(self, name: str) -> Motion:
        body = self.bodies[name]
        pose = body.entity_pose.to_transformation_matrix()
        arrays = pose[:3, 3], pose[:3, :3], body.linear_velocity, body.angular_velocity
        return Motion(*(array.astype(float) for array in arrays))


DEFAULT, EXPERT = {"bounce": 2.0, "damping": 0.05}, {"bounce": 0.01, "damping": 0.0}
OPTIONS = {"default": DEFAULT, "expert": EXPERT}
ENGINE = Engine(version=version("sapien"), world=SapienWorld, options=OPTIONS)
