"""Fixtures and free bodies in DART, each as a skeleton of its own.

`fixture_skeleton` makes an obstacle that does not move, `body_skeleton` a body that moves freely;
both are called by contact.py. Another kind of shape is a branch of `_add_shape`. dartpy makes the
shape of a mesh only from a description that names a file, so the mesh is written to a temporary STL
file first. test_hulls_in_engines and test_pegs check contact with fixtures, test_bodies_in_engines
that with bodies.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import dartpy
import numpy as np

from roboaccord.contract import AccordError, Array
from roboaccord.contract.contact import (
    AnyFixture,
    CylinderFixture,
    Fixture,
    FreeBody,
    HeightField,
    MeshFixture,
)
from roboaccord.numerics.rotations import yaw_matrix

# URDF of a robot whose only link has a mesh.
DESCRIPTION = """<robot name="{name}"><link name="{name}"><collision><geometry>
<mesh filename="file://{path}"/></geometry></collision></link></robot>"""
# Record of a triangle in a binary STL file.
TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def fixture_skeleton(
    fixture: AnyFixture, turn: Array, scale: float = 1.0, yaw: float = 0.0
) -> dartpy.dynamics.Skeleton:
    """Return the skeleton of a fixture, which does not move.

    Args:
        fixture: box, cylinder or mesh.
        turn: from the world's axes to DART's (3, 3).
        scale: factor on lengths.
        yaw: angle by which the fixture is turned about the vertical [rad].

    Raises:
        AccordError: for a height field, which cannot be given to the detector through dartpy.
    """
    static = dartpy.dynamics.Skeleton(fixture.name)
    joint, body = static.createWeldJointAndBodyNodePair()
    body.setName(fixture.name)
    pose = dartpy.math.Isometry3()
    pose.set_rotation(turn @ yaw_matrix(yaw))
    pose.set_translation(turn @ fixture.position * scale)
    joint.setTransformFromParentBodyNode(pose)
    _add_shape(body, fixture, scale)
    static.setMobile(False)
    return static


def body_skeleton(free: FreeBody, scale: float) -> dartpy.dynamics.Skeleton:
    """Return the skeleton of a free body, whose lengths are multiplied by `scale`."""
    skeleton = dartpy.dynamics.Skeleton(free.name)
    joint, body = skeleton.createFreeJointAndBodyNodePair()
    joint.setName(free.name)
    body.setName(free.name)
    inertia = free.inertia * scale**2
    body.setInertia(dartpy.dynamics.Inertia(free.mass, np.zeros(3), inertia))
    node = _add_shape(body, free.shape, scale)
    node.setRelativeTranslation(free.shape.position * scale)
    return skeleton


def _add_shape(
    body: dartpy.dynamics.BodyNode, fixture: AnyFixture, scale: float
) -> dartpy.dynamics.ShapeNode:
    """Add the shape of a fixture to a body, for collisions, and return it.

    Raises:
        AccordError: for a height field.
    """
    if isinstance(fixture, HeightField):
        raise AccordError(f"DART takes {fixture.name} as a mesh, and not as a height field")
    if isinstance(fixture, Fixture):
        node = body.createShapeNode(dartpy.dynamics.BoxShape(fixture.size * scale))
    elif isinstance(fixture, CylinderFixture):
        size = fixture.radius * scale, fixture.height * scale
        node = body.createShapeNode(dartpy.dynamics.CylinderShape(*size))
    else:
        node = body.createShapeNode(mesh_shape(fixture, scale))
    node.createCollisionAspect()
    node.createDynamicsAspect()
    return node


def mesh_shape(fixture: MeshFixture, scale: float = 1.0) -> dartpy.dynamics.MeshShape:
    """Return the shape of a mesh, `scale` times as large.

    Raises:
        AccordError: if its faces point inwards: a sphere would sink into it.
    """
    corners = fixture.vertices[fixture.faces]
    a, b, c = np.moveaxis(corners - fixture.vertices.mean(axis=0), 1, 0)
    if not np.einsum("ij,ij->", a, np.cross(b, c)) > 0.0:
        raise AccordError(f"the mesh of {fixture.name} faces inwards: turn its triangles over")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mesh.stl")
        path.write_bytes(stl(corners * scale))
        text = DESCRIPTION.format(name=fixture.name, path=path)
        loaded = dartpy.utils.DartLoader().parseSkeletonString(text, "")
    return loaded.getBodyNode(0).getShapeNode(0).getShape()


def stl(corners: Array) -> bytes:
    """Return triangles (k, 3, 3) [m] as a binary STL file."""
    rows = np.zeros(len(corners), TRIANGLE)
    rows["corners"] = corners
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    rows["normal"] = normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    return bytes(80) + np.uint32(len(rows)).tobytes() + rows.tobytes()
