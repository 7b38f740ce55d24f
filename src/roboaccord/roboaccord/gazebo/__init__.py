"""Worlds and descriptions for Gazebo Sim, and what is needed for the twin of a robot in it.

A twin is our model, computed with an engine's own time-stepping scheme, against which the engine is
checked. Inside are: a robot's URDF and meshes as Gazebo takes them (form, obj_files), worlds for a
run (world) with the window on the robot (window), what the twin needs (twin), and SDFormat's own
tool (tool).
SDF is written from templates/; after a change of templates or colours run `make shared`.

What must stay: the names in `__init__.pyi`, which are all that other packages may import
(test_door), and that nothing here starts Gazebo or imports its bindings, as roboaccord_ros does.
Tests: test_gazebo_form; test_worlds, test_twins and test_shared in test/, test_gazebo_twin of the
snake.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
