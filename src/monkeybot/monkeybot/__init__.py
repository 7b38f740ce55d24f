"""A two-link brachiating robot with switchable magnets: its hybrid model, gaits and controllers."""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
