"""Deliberate errors of an engine, by which the cross-check is itself checked; known here alone.

broken = falsify.wrap("dart", after_step=lose_a_step)
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
