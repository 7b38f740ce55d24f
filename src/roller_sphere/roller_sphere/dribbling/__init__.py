"""Dribbling: a carrier that keeps a ball on the ground by two rollers."""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
