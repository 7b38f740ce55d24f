"""Descriptions: files of a package, parameters, xacro, URDF, meshes, and dynamics of trees.

Names for robots and other packages may be added, as lines of `__init__.pyi` (test_door); those
there stay. Together with `contract` and `numerics` this folder is what all others import; so it
must import none of them (test_layout refuses circles), and what knows a scenario, a robot or an
engine goes into a folder above.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
