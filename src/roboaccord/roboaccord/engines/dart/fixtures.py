"""Fixed obstacles in DART: boxes and meshes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import dartpy
import numpy as np

from roboaccord.contract.contact import Fixture, HeightField, MeshFixture
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array

# A mesh comes into dartpy by the file of a description alone.
DESCRIPTION = """<robot name="{name}"><link name="{name}"><collision><geometry>
<mesh filename="file://{path}"/></geometry></collision></link></robot>"""
TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def stand_still(
    fixture: Fixture | MeshFixture | HeightField, turn: Array, scale: float = 1.0
) -> dartpy.dynamics.Skeleton:
    """Return the skeleton of a fixture, in axes turned by `turn` (3, 3) from the world's.

    Its lengths are `scale` times as large.

    Raises:
        AccordError: for a height field, which the detector of contacts does not take from here.
    """
    if isinstance(fixture, HeightField):
        raise AccordError(f"DART takes {fixture.name} as a mesh, and not as a height field")
    static = dartpy.dynamics.Skeleton(fixture.name)
    joint, body = static.createWeldJointAndBodyNodePair()
    body.setName(fixture.name)
    pose = dartpy.math.Isometry3()
    pose.set_rotation(turn)
    pose.set_translation(turn @ fixture.position * scale)
    joint.setTransformFromParentBodyNode(pose)
    if isinstance(fixture, Fixture):
        node = body.createShapeNode(dartpy.dynamics.BoxShape(fixture.size * scale))
    else:
        node = body.createShapeNode(mesh_shape(fixture, scale))
    node.createCollisionAspect()
    node.createDynamicsAspect()
    static.setMobile(False)
    return static


def mesh_shape(fixture: MeshFixture, scale: float = 1.0) -> dartpy.dynamics.MeshShape:
    """Return the shape of a mesh, `scale` times as large.

    Raises:
        AccordError: if it is not outward: a sphere would sink into it.
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
