"""A sphere that rolls over terrain given as voxel slices.

`terrain` has voxels, their generation and meshes; `rolling` the motion on them; `simulators` the
reference and the engines; `source` what the document of the task describes and shows; `cli` the
commands. robot.py registers the robot by the entry point in setup.cfg, so its name stays.

In docstrings "the source" is the description of MATLAB code in docs/voxel_sphere.md, and "our
choice" is what this workspace has chosen and may change. Tests are in src/voxel_sphere/test.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
