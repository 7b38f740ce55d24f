"""Fixed obstacles in MuJoCo: boxes, convex meshes and height fields."""

from __future__ import annotations

import mujoco
import numpy as np

from roboaccord.contract.contact import Fixture, HeightField, MeshFixture
from roboaccord.contract.errors import AccordError

GEOMETRY = mujoco.mjtGeom
BOTTOM = 0.1  # m: how far a height field goes on below its lowest point


def stand_still(spec: mujoco.MjSpec, fixture: Fixture | MeshFixture | HeightField) -> None:
    """Add a body with the one geometry of a fixture; it collides with nothing yet.

    Raises:
        AccordError: for a mesh that is not convex.
    """
    body = spec.worldbody.add_body(name=fixture.name, pos=fixture.position)
    apart = {"contype": 0, "conaffinity": 0}
    if isinstance(fixture, Fixture):
        body.add_geom(type=GEOMETRY.mjGEOM_BOX, size=0.5 * fixture.size, **apart)
    elif isinstance(fixture, MeshFixture):
        if not fixture.convex:
            raise AccordError(
                f"MuJoCo takes the convex hull of {fixture.name}; give it as a height field"
            )
        spec.add_mesh(
            name=fixture.name, uservert=fixture.vertices.ravel(), userface=fixture.faces.ravel()
        )
        body.add_geom(type=GEOMETRY.mjGEOM_MESH, meshname=fixture.name, **apart)
    else:
        _add_heights(spec, body, fixture, apart)


def _add_heights(
    spec: mujoco.MjSpec, body: mujoco.MjsBody, fixture: HeightField, apart: dict[str, int]
) -> None:
    """Add a height field, whose frame is in its middle, at its lowest height; rows are along y."""
    low = float(fixture.heights.min())
    span = max(float(np.ptp(fixture.heights)), 1e-6)
    half = 0.5 * fixture.spacing * (np.array(fixture.heights.shape) - 1)
    rows = fixture.heights.T
    spec.add_hfield(
        name=fixture.name,
        size=[*half, span, BOTTOM],
        nrow=rows.shape[0],
        ncol=rows.shape[1],
        userdata=((rows - low) / span).ravel(),
    )
    body.pos = fixture.position + np.array([*half, low])
    body.add_geom(type=GEOMETRY.mjGEOM_HFIELD, hfieldname=fixture.name, **apart)
