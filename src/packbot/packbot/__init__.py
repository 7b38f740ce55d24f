"""The arm of a Packbot: dynamics, convex hulls, contact."""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
