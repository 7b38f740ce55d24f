"""A terrain as a model and a world for Gazebo.

The model has the mesh as STL for contacts and as OBJ for pictures; its origin is the grid's corner.
The world loads the physics engine DART with the ODE collision detector, which needs a mesh whose
faces are turned outward. Both files are made from the templates below, in which `write_world` fills
`{}` and `{name}`.

Texts in COMMENT and DESCRIPTION may be changed. Names of files and the detector stay; a change of
what is written needs a new VERSION in simulators/world.py.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from roboaccord import gazebo
from roboaccord.contract import AccordError
from roboaccord.run import make_folder

from voxel_sphere.terrain.mesh import Mesh, mesh_file, write_whole

AUTHOR = "accord voxel-sphere world"  # of model.config
DESCRIPTION = "Voxel terrain, {} triangles, from the corner of the grid."
MODEL = """<?xml version="1.0"?>
<!-- Terrain of voxels, its origin in the corner of the grid. Contacts take the smaller friction of
     both surfaces: mu = {friction:g} here. What is seen has the squares of model://ground. -->
<sdf version="1.9">{model}</sdf>
"""
MESH = "<mesh><uri>meshes/terrain.{}</uri></mesh>"
VISUAL = "<geometry>{}</geometry>\n          {}"
COMMENT = """A terrain of voxels: physics alone, without sensors, so that it needs no GPU.

     export GZ_SIM_RESOURCE_PATH=$PWD/models
     gz sim -s -r worlds/{name}.sdf

     Physics: DART, steps of 1 ms, at most real time. Its ODE detector takes an outward mesh."""
CONTENTS = """
    <include>
      <uri>model://{name}</uri>
    </include>
"""
WRENCH = {"apply-link-wrench": "ApplyLinkWrench"}  # system of Gazebo that takes torques on links


def world_name(terrain: str) -> str:
    """Return the name of a terrain's model and world."""
    return re.sub(r"\W+", "_", f"terrain_{terrain}", flags=re.ASCII)


def write_world(
    mesh: Mesh, folder: Path, name: str, *, voxel_size: float, friction: float,
    detector: str = "ode",
) -> tuple[Path, Path]:  # fmt: skip
    """Write FOLDER/models/NAME and FOLDER/worlds/NAME.sdf, replacing others, and return both.

    Args:
        mesh: mesh of the terrain, outward.
        folder: with models/ and worlds/.
        name: name of model and world.
        voxel_size: edge of a voxel [m].
        friction: coefficient of the terrain.
        detector: detector of contacts, ode or bullet.

    Raises:
        AccordError: if they cannot be written.
    """
    model, world = folder / "models" / name, folder / "worlds" / f"{name}.sdf"
    visual = VISUAL.format(MESH.format("obj"), gazebo.SQUARED.format(colour=gazebo.PLAIN))
    collision = MESH.format("stl")
    static_model = gazebo.static_model(
        name, (0, 0, 0), collision, mu=friction, mu2=friction, visual=visual
    )
    try:
        with tempfile.TemporaryDirectory(prefix=".", dir=make_folder(folder, "models")) as draft:
            new = Path(draft, "new")
            write_whole(new / "meshes" / "terrain.stl", mesh_file(mesh, "stl", voxel_size))
            vertices = mesh.vertices * voxel_size
            gazebo.write_squared(new / "meshes" / "terrain.obj", vertices, mesh.faces)
            description = DESCRIPTION.format(len(mesh.faces))
            config = gazebo.MODEL_CONFIG.format(
                name=name, file="model.sdf", author=AUTHOR, description=description
            )
            (new / "model.config").write_text(config, encoding="utf-8")
            text = MODEL.format(friction=friction, model=static_model)
            (new / "model.sdf").write_text(text, encoding="utf-8")
            if model.exists():
                shutil.move(model, Path(draft, "old"))
            new.replace(model)
    except OSError as error:
        raise AccordError(f"cannot write {model}: {error.strerror}") from None
    comment, contents = (text.format(name=name) for text in (COMMENT, CONTENTS))
    text = gazebo.world_text(name, comment, contents, detector=detector, systems=WRENCH)
    write_whole(world, text.encode())
    return model, world
