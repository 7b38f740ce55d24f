"""Numerical methods, compiled kernels, and processes; no physics.

Methods: rotations, runge_kutta, newton, cholesky, lemke and pivoting (complementarity problems),
statistics, ranking. Kernels (functions that numba compiles): jit.py has the decorator, jit_cache.py
keeps the code on disk by kernel_digest.py, jit_library.py links it, native.py makes C functions.
Processes: machine, isolation, fence. lazy.py imports names of rooms on first access.

Limits of time and memory may be tuned. The order of operations stays: results of all runs, and
hashes with them, depend on it to the last bit. A new method is a module that imports nothing of the
workspace but this room. Names may be added, as lines of `__init__.pyi` (test_door); those there
stay.

Tests: of the package test_numerics, test_complementarity, test_round_off, test_jit, test_fence.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
