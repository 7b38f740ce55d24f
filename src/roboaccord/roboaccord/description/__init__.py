"""Descriptions: files of a package, parameters, xacro, URDF, meshes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.description.base_kinds import KINDS as KINDS
    from roboaccord.description.base_kinds import FixedBase as FixedBase
    from roboaccord.description.degrees import DEGREES as DEGREES
    from roboaccord.description.materials import BLUE as BLUE
    from roboaccord.description.materials import RED as RED
    from roboaccord.description.meshes import FILE as FILE
    from roboaccord.description.meshes import FORMATS as FORMATS
    from roboaccord.description.meshes import mesh_path as mesh_path
    from roboaccord.description.meshes import read_mesh as read_mesh
    from roboaccord.description.meshes import ships as ships
    from roboaccord.description.parameters import Parameters as Parameters
    from roboaccord.description.parameters import load_parameters as load_parameters
    from roboaccord.description.parameters import parameter_file as parameter_file
    from roboaccord.description.resources import share as share
    from roboaccord.description.scene import VISUAL as VISUAL
    from roboaccord.description.scene import Scene as Scene
    from roboaccord.description.scene import Shape as Shape
    from roboaccord.description.solids import BACKDROPS as BACKDROPS
    from roboaccord.description.solids import GROUND as GROUND
    from roboaccord.description.solids import TERRAIN as TERRAIN
    from roboaccord.description.solids import WALL as WALL
    from roboaccord.description.solids import Faces as Faces
    from roboaccord.description.solids import Geometry as Geometry
    from roboaccord.description.solids import Surface as Surface
    from roboaccord.description.solids import box as box
    from roboaccord.description.solids import facets as facets
    from roboaccord.description.solids import read_geometry as read_geometry
    from roboaccord.description.source import parse_lines as parse_lines
    from roboaccord.description.tree import Joint as Joint
    from roboaccord.description.tree import Link as Link
    from roboaccord.description.tree import Tree as Tree
    from roboaccord.description.tree_text import HERE as HERE
    from roboaccord.description.tree_text import UP as UP
    from roboaccord.description.tree_text import WORLD as WORLD
    from roboaccord.description.tree_text import Converted as Converted
    from roboaccord.description.tree_text import Pose as Pose
    from roboaccord.description.tree_text import make_tree as make_tree
    from roboaccord.description.tree_text import write_tree as write_tree
    from roboaccord.description.urdf_file import find_root as find_root
    from roboaccord.description.yaml_files import read_yaml as read_yaml

__getattr__, __dir__, __all__ = lazy_names(__name__)
