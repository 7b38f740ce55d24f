"""Worlds and descriptions for Gazebo Sim, and the twin of a robot in it.

Other packages may import what `__init__.pyi` lists, and nothing else (test/test_door.py); add a
name there. Nothing here may start Gazebo or import its bindings, which roboaccord_ros does: this
must work where there is no Gazebo. SDF is written by templates/, which may be edited.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
