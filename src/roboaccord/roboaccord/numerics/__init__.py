"""Numerical methods, compiled kernels, and processes; no physics.

    rotations, runge_kutta, newton         methods of mechanics and analysis
    cholesky, lemke, pivoting              systems of equations, and complementarity problems
    statistics, ranking                    statistics of samples; order by size despite round-off
    jit, jit_cache, jit_library, native    kernels: functions that numba compiles and caches on disk
    kernel_digest                          key of a kernel in that cache
    machine, isolation, fence              resources, worker processes, protection from files
    arrays, lazy                           the type `Array`; names imported on first access

Limits of time and memory may be tuned. The order of operations must stay: results of all runs, and
hashes with them, depend on it to the last bit. A new method is a module that imports nothing of the
workspace but this package. Names may be added, as lines of `__init__.pyi` (test_door); existing
ones stay.

Tests: of the package test_numerics, test_complementarity, test_round_off, test_jit, test_fence.
"""

from roboaccord.numerics.lazy import lazy_names

# The names of `__init__.pyi`, each imported on first access.
__getattr__, __dir__, __all__ = lazy_names(__name__)
