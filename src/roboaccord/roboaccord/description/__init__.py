"""Descriptions of robots: files, parameters, xacro, URDF, meshes, and dynamics of trees.

Files: resources, yaml_files, parameters, xacro_file (apart.py runs it), urdf_file, meshes. Reading:
tree.py, rotors.py, base_kinds.py, degrees.py; broken.py and checks.py refuse. Drawing: scene.py,
solids.py, materials.py. Dynamics: kinematics.py, dynamics.py with the kernels of tuples.py,
bodies.py and articulated.py, merge.py, mimic.py and inverse.py.

Limits on files of strangers may be raised. Equations and the order of their operations are fixed by
hashes, the order of links and joints by arrays everywhere. With `contract` and `numerics` this room
is what all others import, so it imports no other room (test_layout). Names may be added, as lines
of `__init__.pyi` (test_door); those there stay.

Tests: of the package test_dynamics, test_kinematics, test_mimic, test_urdf_file, test_malformed,
test_resources, test_drawing.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
