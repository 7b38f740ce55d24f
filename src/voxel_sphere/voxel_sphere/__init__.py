"""A sphere that rolls over terrain given as voxel slices."""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
