"""Show a robot's motion: an animation without a display, and a live view in the browser."""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
