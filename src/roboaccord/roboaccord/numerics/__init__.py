"""Numerical methods, compiled kernels, and processes; no physics.

Methods: rotations, runge_kutta, newton, cholesky, lemke and pivoting (complementarity),
statistics, ranking. Kernels: jit.py compiles, jit_cache.py caches by kernel_digest.py,
jit_library.py links, native.py makes C functions. Processes: machine, isolation, fence. lazy.py
makes the doors of rooms.

Limits of time and memory may be tuned. The order of operations must stay: results of all runs
depend on it to the last bit, and hashes with them. A new method is a module that imports nothing of
the workspace but this room. Names may be added, as lines of `__init__.pyi` (test_door); those there
stay.

Tests: of the package test_numerics, test_complementarity, test_round_off, test_jit, test_fence.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
