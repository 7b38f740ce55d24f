"""Drake, a discrete plant from SDF. Of two coefficients of friction it takes 2 a b / (a + b).

Restitution beyond 0 is refused: Drake has dissipation instead. By default two shapes touch in one
point, so that a box rattles on a box as on a half space, and at 1 ms stops 96 % too early. The
expert setting is what Drake's documentation advises: hydroelastic contact of boxes, with a margin
of 0.1 mm. Boxes that move are compliant and fixed ones rigid, for an edge that slides over a
compliant ground is held back by its dissipation; a sphere stays a point, for as a mesh it rolls
like a polyhedron. The approximation of contact is the default, `lagged`: by `sap` and `similar` a
box that slides fast hops. A patch is taken as flat, and its gap, which Drake does not report, as 0.
"""

import logging
from collections.abc import Iterator
from importlib.metadata import version

import numpy as np
import pydrake.all as drake

from roboaccord_bench.engine import Engine, Forces, Touch, World
from roboaccord_bench.scene import Motion, Scene, sdf

logging.getLogger("drake").setLevel(logging.ERROR)  # it warns of what it does not read of SDF


class DrakeWorld(World):
    """A scene in Drake, with one of its contact models."""

    def __init__(self, scene: Scene, step: float, *, contact_model: str) -> None:
        builder = drake.RobotDiagramBuilder(time_step=step)
        builder.plant().set_contact_model(getattr(drake.ContactModel, contact_model))
        properties = drake.DefaultProximityProperties(margin=1e-4)
        config = drake.SceneGraphConfig(default_proximity_properties=properties)
        builder.scene_graph().set_config(config)
        builder.parser().AddModelsFromString(sdf(scene, step), "sdf")
        builder.plant().mutable_gravity_field().set_gravity_vector(scene.gravity)
        self.diagram = builder.Build()
        self.root = self.diagram.CreateDefaultContext()
        self.context = self.diagram.mutable_plant_context(self.root)
        self.plant = self.diagram.plant()
        for body in scene.moving:
            model = self.plant.GetModelInstanceByName(body.name)
            rates = body.rates if body.slide else [*body.spin, *body.velocity]
            self.plant.SetVelocities(self.context, model, rates)

    def advance(self, forces: Forces) -> None:
        acting = [drake.ExternallyAppliedSpatialForce() for _ in forces]
        for each, (name, force) in zip(acting, forces.items(), strict=True):
            each.body_index = self.plant.GetBodyByName(name).index()
            each.F_Bq_W = drake.SpatialForce(np.zeros(3), force)
        self.plant.get_applied_spatial_force_input_port().FixValue(self.context, acting)
        self.diagram.ExecuteForcedEvents(self.root, False)

    def motion(self, name: str) -> Motion:
        body = self.plant.GetBodyByName(name)
        pose = body.EvalPoseInWorld(self.context)
        rates = body.EvalSpatialVelocityInWorld(self.context)
        turn = pose.rotation().matrix()
        return Motion(pose.translation(), turn, rates.translational(), rates.rotational())

    def contacts(self) -> Iterator[Touch]:
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        for number in range(results.num_point_pair_contacts()):
            point = results.point_pair_contact_info(number)
            pair, place, force = point.point_pair(), point.contact_point(), point.contact_force()
            one, two = self._body(pair.id_A), self._body(pair.id_B)
            yield Touch(one, two, place, -pair.nhat_BA_W, force, -pair.depth)
        for number in range(results.num_hydroelastic_contacts()):
            patch = results.hydroelastic_contact_info(number)
            face, force = patch.contact_surface(), patch.F_Ac_W().translational()
            one, two = self._body(face.id_N()), self._body(face.id_M())
            yield Touch(one, two, face.centroid(), face.face_normal(0), force, 0.0)

    def _body(self, shape: drake.GeometryId) -> str:
        """Return the name of the body that has a shape."""
        query = self.plant.get_geometry_query_input_port().Eval(self.context)
        return str(query.inspector().GetName(shape).partition("::")[0])


DEFAULT, EXPERT = {"contact_model": "kPoint"}, {"contact_model": "kHydroelasticWithFallback"}
OPTIONS = {"default": DEFAULT, "expert": EXPERT}
ENGINE = Engine(
    version=version("drake"), world=DrakeWorld, options=OPTIONS, surface_restitution=None
)
