"""Descriptions: files of a package, parameters, xacro, URDF, meshes, and dynamics of trees.

A name for robots and other packages is a line of `__init__.pyi` (test_door). Together with
`contract` and `numerics` this room is what all others import; so it may import none of them
(test_layout refuses circles), and what knows a scenario, a robot or an engine goes into a room
above.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
