"""Meshes and textures that an MJCF file names and that are not there.

MuJoCo refuses such a file. A cube stands for each mesh here, so that what has inertials can still
be read; bodies that a missing mesh would weigh are named, and their mass must not be used.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import mujoco
import numpy as np

CUBE = 0.1 * np.array([*product((-0.5, 0.5), repeat=3)]).ravel()  # [m]; any size will do


def compile_file(
    text: str, path: Path | None
) -> tuple[mujoco.MjModel, list[str], list[mujoco.MjsBody]]:
    """Return the model of an MJCF file, or of a text, with what `replace_missing` returns.

    Raises:
        ValueError: where MuJoCo refuses it.
    """
    if path and path.suffix != ".xml":  # MjSpec reads no other file
        return mujoco.MjModel.from_xml_path(str(path)), [], []
    load = mujoco.MjSpec.from_file if path else mujoco.MjSpec.from_string
    spec = load(str(path) if path else text)
    missing, bodies = replace_missing(spec)
    return spec.compile(), missing, bodies


def replace_missing(spec: mujoco.MjSpec) -> tuple[list[str], list[mujoco.MjsBody]]:
    """Put stand-ins for the meshes and textures that are not found.

    Args:
        spec: of a file, changed in place.

    Returns:
        Paths of the missing meshes and textures, and the bodies whose mass comes from the meshes.
    """
    folder, missing, names = Path(spec.modelfiledir), list[str](), set[str]()
    for mesh in spec.meshes:
        path = folder / spec.meshdir / (Path(mesh.file).name if spec.strippath else mesh.file)
        if mesh.file and not path.is_file():
            missing.append(str(path))
            names.add(mesh.name)
            mesh.file, mesh.scale, mesh.uservert = "", np.ones(3), CUBE
    for texture in spec.textures:
        files = [name for name in (texture.file, *texture.cubefiles) if name]
        paths = [folder / spec.texturedir / (Path(f).name if spec.strippath else f) for f in files]
        if absent := [str(path) for path in paths if not path.is_file()]:
            missing += absent
            flat = texture.type == mujoco.mjtTexture.mjTEXTURE_2D
            texture.file, texture.cubefiles = "", [""] * 6
            texture.builtin = mujoco.mjtBuiltin.mjBUILTIN_FLAT
            texture.width, texture.height = 1, 1 if flat else 6  # the faces of a cube
    bodies = [b for b in spec.bodies if any(_weighs(b, geom, names) for geom in b.geoms)]
    if spec.compiler.settotalmass > 0.0 and bodies:  # which scales all of them
        bodies = [body for body in spec.bodies if body is not spec.worldbody]
    return missing, bodies


def _weighs(body: mujoco.MjsBody, geom: mujoco.MjsGeom, meshes: set[str]) -> bool:
    """Return whether a shape of one of the meshes is part of a body's mass."""
    compiler, always = body.compiler, mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    counts = compiler.inertiafromgeom == always or not body.explicitinertial
    first, last = compiler.inertiagrouprange
    weight = geom.density if np.isnan(geom.mass) else geom.mass
    return bool(geom.meshname in meshes and counts and first <= geom.group <= last and weight)
