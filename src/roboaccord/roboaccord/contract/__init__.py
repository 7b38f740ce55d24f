"""Contract between controllers, simulators and everything that records them."""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
__all__ += ["lazy_names"]
