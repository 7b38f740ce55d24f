"""What a command does, as a function: from a robot or a recorded run to a result with its type."""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
