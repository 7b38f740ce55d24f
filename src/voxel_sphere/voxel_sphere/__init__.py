"""A sphere that rolls over terrain given as voxel slices.

Nothing to edit here: robot.py is where the ball begins, by the entry point in setup.cfg.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
