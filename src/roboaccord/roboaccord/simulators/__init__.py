"""What every simulator derives from, and references of joint space and of trees."""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
