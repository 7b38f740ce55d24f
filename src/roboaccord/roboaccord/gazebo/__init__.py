"""Checks of what is given to Gazebo Sim, and SDFormat as a reader of descriptions.

What roboaccord_ros, robot packages and `make shared` may use is listed in `__init__.pyi`; no other
name leaves this folder. Nothing here starts Gazebo or imports its bindings: that is roboaccord_ros,
so all of this runs where there is no Gazebo. Text of SDF is in templates/, knowledge of systems in
systems.yaml.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
