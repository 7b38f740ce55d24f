"""Numerical methods: compiled kernels, rotations, integrators, statistics."""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
