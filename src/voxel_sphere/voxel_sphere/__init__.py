"""A sphere that rolls over terrain given as voxel slices.

Nothing to edit here: robot.py is where the ball begins, by the entry point in setup.cfg. "The
source" in docstrings is the description of MATLAB code of docs/voxel_sphere.md, "ours" what this
workspace has chosen.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
