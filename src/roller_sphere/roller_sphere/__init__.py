"""A sphere driven by two constraint rollers, with slip."""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
