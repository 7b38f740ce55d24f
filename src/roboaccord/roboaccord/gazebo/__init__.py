"""Checks of what is given to Gazebo Sim, and SDFormat as a reader of descriptions."""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
