"""Loading of MJCF files (MuJoCo's format) whose meshes or textures are missing.

MuJoCo refuses such a file. Here a cube replaces each missing mesh and a plain colour each missing
texture, so that everything else can still be read, by convert.py and reader.py. Bodies whose mass
MuJoCo computes from a missing mesh are returned: their mass is that of the cube and must not be
used.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import mujoco
import numpy as np

# [m] Coordinates x, y, z of the eight corners, one corner after the other (24,), of the cube that
# replaces a mesh; any size would do.
CUBE = 0.1 * np.array([*product((-0.5, 0.5), repeat=3)]).ravel()


def compile_file(
    text: str, path: Path | None
) -> tuple[mujoco.MjModel, list[str], list[mujoco.MjsBody]]:
    """Return the compiled model of an MJCF file or text, and the results of `replace_missing`.

    Raises:
        ValueError: if MuJoCo refuses the file.
    """
    if path and path.suffix != ".xml":  # MjSpec reads no other file
        return mujoco.MjModel.from_xml_path(str(path)), [], []
    load = mujoco.MjSpec.from_file if path else mujoco.MjSpec.from_string
    spec = load(str(path) if path else text)
    missing, bodies = replace_missing(spec)
    return spec.compile(), missing, bodies


def replace_missing(spec: mujoco.MjSpec) -> tuple[list[str], list[mujoco.MjsBody]]:
    """Put a cube for each mesh that is not found, and a plain colour for each texture.

    Args:
        spec: specification of a file, changed in place.

    Returns:
        Paths of the missing meshes and textures, and the bodies whose mass comes from the meshes.
    """
    missing, meshes = list[str](), set[str]()
    for mesh in spec.meshes:
        path = _asset_path(spec, spec.meshdir, mesh.file)
        if mesh.file and not path.is_file():
            missing.append(str(path))
            meshes.add(mesh.name)
            mesh.file, mesh.scale, mesh.uservert = "", np.ones(3), CUBE
    # A texture of a cube map may have a file for each of six faces.
    for texture in spec.textures:
        files = [name for name in (texture.file, *texture.cubefiles) if name]
        paths = [_asset_path(spec, spec.texturedir, name) for name in files]
        if absent := [str(path) for path in paths if not path.is_file()]:
            missing += absent
            is_image = texture.type == mujoco.mjtTexture.mjTEXTURE_2D
            texture.file, texture.cubefiles = "", [""] * 6
            texture.builtin = mujoco.mjtBuiltin.mjBUILTIN_FLAT  # one colour
            texture.width = 1
            texture.height = 1 if is_image else 6  # the faces of a cube, one above the other
    # Bodies that MuJoCo would weigh by a missing mesh; a total mass scales all bodies.
    bodies = [b for b in spec.bodies if any(_uses_mesh(b, geom, meshes) for geom in b.geoms)]
    if spec.compiler.settotalmass > 0.0 and bodies:
        bodies = [body for body in spec.bodies if body is not spec.worldbody]
    return missing, bodies


def _asset_path(spec: mujoco.MjSpec, folder: str, name: str) -> Path:
    """Return the path of a mesh or texture by its name in the file, in the folder of its kind."""
    return Path(spec.modelfiledir) / folder / (Path(name).name if spec.strippath else name)


def _uses_mesh(body: mujoco.MjsBody, geom: mujoco.MjsGeom, meshes: set[str]) -> bool:
    """Return whether a geom has one of the meshes and counts for the mass of its body.

    MuJoCo weighs a body by its geoms if `inertiafromgeom` is true or the body has no inertial; only
    geoms with a mass or density, in the groups of `inertiagrouprange` (XML reference, `compiler`).
    """
    compiler, always = body.compiler, mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    uses_geoms = compiler.inertiafromgeom == always or not body.explicitinertial
    first, last = compiler.inertiagrouprange
    weight = geom.density if np.isnan(geom.mass) else geom.mass
    return bool(geom.meshname in meshes and uses_geoms and first <= geom.group <= last and weight)
