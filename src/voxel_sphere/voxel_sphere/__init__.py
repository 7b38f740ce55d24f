"""A sphere that rolls over terrain given as voxel slices.

Nothing may be changed here but this text: robot.py is where the ball begins, by the entry point in
setup.cfg, and its name must stay. "The source" in docstrings is the description of MATLAB code of
docs/voxel_sphere.md; "our choice" is what this workspace has chosen, and may be changed.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
