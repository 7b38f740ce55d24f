"""Numerical methods: compiled kernels, rotations, integrators, statistics.

Names for other packages may be added, as lines of `__init__.pyi` (test_door); those there stay. A
new method is a module here that imports nothing of the workspace but `numerics`. The order of
operations must stay: results of all runs depend on it to the last bit, and hashes with them.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
