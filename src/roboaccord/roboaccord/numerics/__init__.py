"""Numerical methods: compiled kernels, rotations, integrators, statistics.

A name for other packages is a line of `__init__.pyi` (test_door holds them). A new method is a
module here that imports nothing of ours but `numerics`. Results of all runs depend on what is here
to the last bit, so a change of the order of operations changes hashes.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
