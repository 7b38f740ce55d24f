"""Free bodies of a scenario: shape, mass, inertia and start of each entry of the key `bodies`.

    bodies:
      box: {size: [0.12, 0.2, 0.16], mass: 1.5, position: [0.8, 0.0, 0.48]}  # m, kg

The density is uniform, so that shape and mass determine the rest. Another kind of shape is another
field of `BodySpec` and a branch of `_shape` (test_bodies compares inertias with trimesh).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from roboaccord.contract import AccordError, CylinderFixture, Fixture, FreeBody, MeshFixture
from roboaccord.contract.state import ORIGIN, Array
from roboaccord.description.meshes import read_mesh
from roboaccord.description.solids import BACKDROPS, volume_moments
from roboaccord.numerics.rotations import quaternion_matrix, rpy_quaternion
from roboaccord.scenario.scenario import BodySpec

MAX_BODIES = 3  # what an arm handles, and what a reader can follow
MAX_DENT = 1e-6  # m; a corner may be that far outside of a face: STL files have seven digits
# First words of signals and columns (report/signals.py, bag/columns.py), frames, and backdrops.
TAKEN = {*"base com contact effort energy link odom q qd switch world".split(), *BACKDROPS}
Shape = Fixture | CylinderFixture | MeshFixture


def make_bodies(specs: Mapping[str, BodySpec], meshes: Path) -> tuple[FreeBody, ...]:
    """Return the free bodies of a scenario, in the order of their names.

    Args:
        specs: entries of the key `bodies`, by name.
        meshes: folder in which files are searched, before the working directory.

    Raises:
        AccordError: for too many, one whose name is taken, or one without a shape that has a volume
            and is convex.
    """
    if len(specs) > MAX_BODIES:
        raise AccordError(f"bodies: there are {len(specs)}, and at most {MAX_BODIES} are simulated")
    for name in TAKEN & specs.keys():
        raise AccordError(f"bodies: the name {name} is taken")
    # A recorded scenario has its keys in this order, too.
    return tuple(_body(name, spec, meshes) for name, spec in sorted(specs.items()))


def _body(name: str, spec: BodySpec, meshes: Path) -> FreeBody:
    """Return the body of an entry."""
    shape, moments = _shape(name, spec, meshes)
    orientation = rpy_quaternion(spec.roll, spec.pitch, spec.yaw)
    centre = np.array(spec.position) - quaternion_matrix(orientation) @ shape.position
    inertia = spec.mass * (np.trace(moments) * np.eye(3) - moments)
    start = np.concatenate([centre, orientation, spec.twist])
    return FreeBody(shape=shape, mass=spec.mass, inertia=inertia, start=start)


def _shape(name: str, spec: BodySpec, meshes: Path) -> tuple[Shape, Array]:
    """Return a shape about its centre of mass, and the mean of x x^T there (3, 3) [m^2]."""
    forms = spec.size, spec.radius and spec.height, spec.file
    if sum(form is not None for form in forms) != 1:
        raise AccordError(f"bodies.{name}: give size, or radius and height, or file")
    if spec.size is not None:
        size = np.array(spec.size)
        if not (size > 0.0).all():
            raise AccordError(f"bodies.{name}.size: three positive lengths [m] are needed")
        return Fixture(name=name, size=size, position=ORIGIN), np.diag(size**2 / 12.0)
    if spec.radius is not None and spec.height is not None:
        moments = np.diag([spec.radius**2 / 4.0, spec.radius**2 / 4.0, spec.height**2 / 12.0])
        shape = CylinderFixture(name=name, radius=spec.radius, height=spec.height, position=ORIGIN)
        return shape, moments
    path = meshes / str(spec.file)
    return _mesh(name, path if path.is_file() else Path(str(spec.file)))


def _mesh(name: str, path: Path) -> tuple[MeshFixture, Array]:
    """Return a convex mesh about its centre of mass, and the mean of x x^T there."""
    vertices, faces = read_mesh(path)
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    heights = normals @ vertices.T - (normals * corners[:, 0]).sum(axis=1)[:, None]
    if not heights.max() < MAX_DENT:
        raise AccordError(f"bodies.{name}.file: {path.name} is not a convex mesh facing outwards")
    _, centre, moments = volume_moments(vertices, faces)
    moments -= np.outer(centre, centre)
    mesh = MeshFixture(name=name, vertices=vertices, faces=faces, position=-centre, convex=True)
    return mesh, moments
