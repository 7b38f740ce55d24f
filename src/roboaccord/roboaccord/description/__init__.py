"""Descriptions of robots: files, parameters, URDF and xacro, meshes, and dynamics of trees.

Files: resources.py finds them, yaml_files, parameters, xacro_file, urdf_file and meshes read them
(strangers' in a process of its own, isolated.py). Trees: tree.py with rotors, base_kinds and
degrees; broken.py and checks.py refuse mistakes. Drawing: scene, solids, materials. Dynamics:
kinematics; dynamics with its kernels (tuples, bodies, articulated), merge, mimic; inverse.

Limits on files of strangers may be raised. Equations and the order of their operations are fixed by
hashes, the order of links and joints by arrays everywhere. All other rooms import this one, so it
imports only `contract` and `numerics` (test_layout). Names may be added, as lines of `__init__.pyi`
(test_door); those there stay.

Tests: of the package test_dynamics, test_kinematics, test_mimic, test_urdf_file, test_malformed,
test_resources, test_drawing.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
