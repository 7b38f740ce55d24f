"""What is run: robots, scenarios, and the setup that brings the two together."""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
